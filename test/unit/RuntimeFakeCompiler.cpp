// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A compiler library for tests of worker and context: it answers every request with the same payload, or does what the
// request's config asks for (RuntimeTrouble.h): crash, hang, exit, answer garbage, refuse, fail to allocate.

#include "RuntimeTrouble.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Base/File.h"
#include "tilejit/Target/TargetSpec.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

using namespace tilejit;

namespace {

std::string ownFolder() {
  Dl_info info;
  return dladdr(reinterpret_cast<void *>(&ownFolder), &info) ? parentPath(info.dli_fname) : "";
}

/// Tells a test that the compile has begun.
void announce() {
  if (const char *fifo = getenv("TILEJIT_TEST_FIFO"))
    if (FILE *file = std::fopen(fifo, "r+")) {
      std::fputc('b', file);
      std::fclose(file);
    }
}

int64_t troubleOf(const abi::CompileRequest &request) {
  auto found = request.config.find("bn");
  return found == request.config.end() ? int64_t{test::NoTrouble} : found->second;
}

void misbehave(int64_t trouble) {
  switch (trouble) {
  case test::Crash:
    std::fputs("Stack dump: a pretended crash\n", stderr);
    std::abort();
  case test::Exit:
    _exit(3);
  case test::Hang:
    announce();
    while (true)
      ::pause();
  case test::Spin:
    for (std::atomic<uint64_t> i = 0;;)
      ++i;
  case test::Greedy: {
    char *volatile memory = new char[size_t{1} << 42]; // Volatile: the host's compiler must not see through it.
    memory[0] = 1;
    break;
  }
  case test::Chatter:
    for (int i = 0; i < 100'000; ++i)
      std::fputs("a line of noise from the compiler\n", stderr);
    break;
  default:
    break;
  }
}

/// What a tile file means: its lines that are no comments.
std::string withoutComments(std::string_view text) {
  std::string kept;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    if (std::string_view line = text.substr(begin, end - begin); !line.starts_with("//"))
      kept.append(line).append("\n");
  }
  return kept;
}

abi::CompileResponse answer(const abi::CompileRequest &request) {
  abi::CompileResponse response;
  if (troubleOf(request) == test::Refuse) {
    response.status = Status(StatusCode::CompileFailed, "elementwise: pretended refusal").at("/outputs/c");
    return response;
  }
  bool packs = request.source.find("\"constant\"") != std::string::npos;
  auto payload = readFile(realSystem(), joinPath(ownFolder(), packs ? "fake-packing-kernel.so" : "fake-kernel.so"));
  auto target = decodeTarget(request.target);
  if (!payload || !target) {
    response.status = Status(StatusCode::Internal, "the fake compiler has no kernel or no target");
    return response;
  }
  if (troubleOf(request) == test::DamagedPayload)
    payload->resize(payload->size() / 2);
  response.manifest.resources["code_bytes"] = static_cast<int64_t>(payload->size());
  if (abi::isText(request.emit))
    response.text = request.emit == abi::EmitKind::Tile ? withoutComments(request.source) : "text of assembly\n";
  else
    response.payloads.push_back({abi::PayloadKind::Elf, *std::move(payload)});
  response.manifest.op = "elementwise";
  response.manifest.target = target->keyText();
  response.manifest.abiVersion = abi::kernelAbiVersion;
  for (const char *name : {"x0", "x1", "y0"}) {
    abi::OperandInfo operand{name, "f32", 1, name[0] == 'y', {}, {}, 0};
    if (request.sourceKind == abi::SourceKind::TileIR) {
      operand.shape = {-1};
      operand.strides = {1};
      operand.align = 16;
    }
    response.manifest.operands.push_back(operand);
  }
  response.manifest.hasLaunchRule = request.sourceKind == abi::SourceKind::Description;
  response.manifest.paths = {"plain", "doubled"};
  if (packs)
    response.manifest.packs = {1, 32};
  response.manifest.config = request.config;
  response.manifest.assertions = {"a must not begin with 666 at kernel.mlir:3:5"};
  response.stagesMs = {{"parse", 0.25}, {"codegen", 1.5}};
  return response;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int tilejit_compiler_compile(const char *bytes, size_t count,
                                                                               char **out, size_t *outCount) {
  auto request = abi::decodeRequest({bytes, count});
  std::string text = "garbage";
  if (request) {
    misbehave(troubleOf(*request));
    if (troubleOf(*request) == test::Silent)
      return -1;
    if (troubleOf(*request) != test::Garbage)
      text = abi::encode(answer(*request));
  }
  *out = static_cast<char *>(std::malloc(text.size()));
  std::memcpy(*out, text.data(), text.size());
  *outCount = text.size();
  return 0;
}
