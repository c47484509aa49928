// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Symbols and sections, by way of LLVM's object reader.

#include "ObjectFacts.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

namespace tilejit::backends {

namespace {

/// .stack_sizes: for each function eight bytes of address, then a LEB128 number.
int64_t largestFrame(llvm::StringRef bytes) {
  int64_t largest = 0;
  const auto *at = bytes.bytes_begin(), *end = bytes.bytes_end();
  while (end - at > 8) {
    unsigned length = 0;
    const char *error = nullptr;
    uint64_t frame = llvm::decodeULEB128(at + 8, &length, end, &error);
    if (error)
      break;
    largest = std::max(largest, static_cast<int64_t>(frame));
    at += 8 + length;
  }
  return largest;
}

} // namespace

bool readObjectFacts(std::string_view object, ObjectFacts &facts) {
  auto parsed = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "kernel.o"));
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return false;
  }
  for (const llvm::object::SymbolRef &symbol : (*parsed)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return false;
    }
    bool undefined = *flags & llvm::object::SymbolRef::SF_Undefined;
    if (undefined && !(*flags & llvm::object::SymbolRef::SF_FormatSpecific) && !name->empty())
      facts.undefined.push_back(name->str());
  }
  std::sort(facts.undefined.begin(), facts.undefined.end());
  for (const llvm::object::SectionRef &section : (*parsed)->sections()) {
    if (section.isText())
      facts.codeBytes += static_cast<int64_t>(section.getSize());
    auto name = section.getName();
    auto contents = section.getContents();
    if (name && contents && *name == ".stack_sizes")
      facts.stackBytes = std::max(facts.stackBytes, largestFrame(*contents));
    if (!name)
      llvm::consumeError(name.takeError());
    if (!contents)
      llvm::consumeError(contents.takeError());
  }
  return true;
}

} // namespace tilejit::backends
