// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Hands modules that have fat pointers to the library that lowers them.

#include "amd/FatPointers.h"

#include "amd/FatPointerPass.h"
#include "tilejit/Base/File.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

namespace tilejit::sim {

namespace {

constexpr unsigned fatPointerSpace = 7, stridedPointerSpace = 9;

bool isFat(const llvm::Type *type) {
  type = type->getScalarType();
  if (!type->isPointerTy())
    return false;
  unsigned space = type->getPointerAddressSpace();
  return space == fatPointerSpace || space == stridedPointerSpace;
}

bool usesFatPointers(const llvm::Module &module) {
  for (const llvm::Function &function : module) {
    for (const llvm::Argument &argument : function.args())
      if (isFat(argument.getType()))
        return true;
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (isFat(instruction.getType()))
        return true;
  }
  return false;
}

} // namespace

/// The pass, from the library beside the plug-in.
static Expected<FatPointerPass> findPass() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void *>(&usesFatPointers), &self))
    return Status(StatusCode::Internal, "can't tell where the simulator was loaded from");
  std::string path = parentPath(parentPath(self.dli_fname)) + "/" + fatPointerPassFile;
  void *handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!handle)
    return Status(StatusCode::Unavailable, std::string("can't open what lowers fat buffer pointers: ") + dlerror());
  auto pass = reinterpret_cast<FatPointerPass>(dlsym(handle, fatPointerPassSymbol));
  if (!pass)
    return Status(StatusCode::Unavailable, path + " has no function " + fatPointerPassSymbol);
  return pass;
}

Status lowerFatPointers(std::unique_ptr<llvm::Module> &module, std::string_view chip) {
  if (!usesFatPointers(*module))
    return Status::ok();
  TILEJIT_ASSIGN_OR_RETURN(FatPointerPass pass, findPass());
  std::string before, after;
  llvm::raw_string_ostream stream(before);
  llvm::WriteBitcodeToFile(*module, stream);
  if (!pass(before, std::string(chip).c_str(), after))
    return Status(StatusCode::Internal, "can't lower fat buffer pointers: " + after);
  auto lowered =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(after, module->getModuleIdentifier()), module->getContext());
  if (!lowered)
    return Status(StatusCode::Internal,
                  "can't read the module with lowered fat buffer pointers: " + llvm::toString(lowered.takeError()));
  module = std::move(*lowered);
  return Status::ok();
}

} // namespace tilejit::sim
