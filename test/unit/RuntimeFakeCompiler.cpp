// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A compiler library for tests of worker and context: it answers every request with the same payload, or does what the
// request's config asks for: crash, hang, exit, answer garbage, refuse, fail to allocate.

#include "tilejit/ABI/Compile.h"
#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Base/File.h"
#include "tilejit/Target/TargetSpec.h"

#include <csignal>
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

/// Tells a test that the compile has begun: opening a fifo waits for the test's end.
void announce() {
  if (const char *fifo = getenv("TILEJIT_TEST_FIFO"))
    if (FILE *file = std::fopen(fifo, "w"))
      std::fclose(file);
}

void misbehave(const abi::Config &config) {
  if (config.contains("announce"))
    announce();
  if (config.contains("crash")) {
    std::fputs("Stack dump: a pretended crash\n", stderr);
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  if (config.contains("exit"))
    _exit(3);
  if (config.contains("hang"))
    while (true)
      ::pause();
  if (config.contains("spin"))
    for (volatile uint64_t i = 0;; i = i + 1)
      ;
  if (config.contains("greedy")) {
    // More than any limit that a test sets; the compiler must not see through it.
    char *volatile memory = new char[size_t{1} << 42];
    memory[0] = 1;
  }
  if (config.contains("chatter"))
    for (int i = 0; i < 100'000; ++i)
      std::fputs("a line of noise from the compiler\n", stderr);
}

abi::CompileResponse answer(const abi::CompileRequest &request) {
  abi::CompileResponse response;
  if (request.config.contains("refuse")) {
    response.status = Status(StatusCode::CompileFailed, "elementwise: pretended refusal").at("/outputs/c");
    return response;
  }
  auto payload = readFile(realSystem(), joinPath(ownFolder(), "fake-kernel.so"));
  auto target = decodeTarget(request.target);
  if (!payload || !target) {
    response.status = Status(StatusCode::Internal, "the fake compiler has no kernel or no target");
    return response;
  }
  response.payload = request.emit == abi::EmitKind::Asm ? "text of assembly\n" : *payload;
  if (request.config.contains("damaged"))
    response.payload.resize(response.payload.size() / 2);
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
  response.manifest.config = request.config;
  response.manifest.resources["code_bytes"] = static_cast<int64_t>(response.payload.size());
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
    misbehave(request->config);
    if (request->config.contains("silent"))
      return -1;
    if (!request->config.contains("garbage"))
      text = abi::encode(answer(*request));
  }
  *out = static_cast<char *>(std::malloc(text.size()));
  std::memcpy(*out, text.data(), text.size());
  *outCount = text.size();
  return 0;
}
