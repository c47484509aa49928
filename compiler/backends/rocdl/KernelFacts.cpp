// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The note NT_AMDGPU_METADATA: a MessagePack map whose "amdhsa.kernels" has a map for each kernel.

#include "KernelFacts.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"

namespace tilejit::rocdl {

namespace {

using ElfFile = llvm::object::ELFFile<llvm::object::ELF64LE>;

int64_t numberOf(llvm::msgpack::MapDocNode &map, const char *key) {
  auto found = map.find(key);
  if (found == map.end())
    return 0;
  llvm::msgpack::DocNode &node = found->second;
  if (node.getKind() == llvm::msgpack::Type::UInt)
    return static_cast<int64_t>(node.getUInt());
  return node.getKind() == llvm::msgpack::Type::Int ? node.getInt() : 0;
}

bool readMetadata(llvm::StringRef blob, std::vector<KernelFacts> &kernels) {
  llvm::msgpack::Document document;
  if (!document.readFromBlob(blob, /*Multi=*/false) || !document.getRoot().isMap())
    return false;
  llvm::msgpack::DocNode &list = document.getRoot().getMap()["amdhsa.kernels"];
  if (!list.isArray())
    return false;
  for (llvm::msgpack::DocNode &node : list.getArray()) {
    if (!node.isMap())
      return false;
    llvm::msgpack::MapDocNode &map = node.getMap();
    KernelFacts facts;
    facts.name = map[".name"].toString();
    facts.vectorRegisters = numberOf(map, ".vgpr_count");
    facts.accumulationRegisters = numberOf(map, ".agpr_count");
    facts.scalarRegisters = numberOf(map, ".sgpr_count");
    facts.vectorSpills = numberOf(map, ".vgpr_spill_count");
    facts.scalarSpills = numberOf(map, ".sgpr_spill_count");
    facts.privateBytes = numberOf(map, ".private_segment_fixed_size");
    facts.sharedBytes = numberOf(map, ".group_segment_fixed_size");
    kernels.push_back(std::move(facts));
  }
  return true;
}

} // namespace

bool readKernelFacts(std::string_view codeObject, std::vector<KernelFacts> &kernels) {
  auto file = ElfFile::create(llvm::StringRef(codeObject.data(), codeObject.size()));
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  auto sections = file->sections();
  if (!sections) {
    llvm::consumeError(sections.takeError());
    return false;
  }
  bool found = false;
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (auto note : file->notes(section, error))
      if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA)
        found |= readMetadata(note.getDescAsStringRef(section.sh_addralign), kernels);
    if (error) {
      llvm::consumeError(std::move(error));
      return false;
    }
  }
  return found;
}

} // namespace tilejit::rocdl
