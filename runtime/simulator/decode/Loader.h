// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reads an LLVM module, finds out whether it is for the chip, and prepares its kernels: calls of functions with a body
// are inlined, so that a kernel is one function.

#ifndef TILEJIT_SIMULATOR_DECODE_LOADER_H
#define TILEJIT_SIMULATOR_DECODE_LOADER_H

#include "core/Chip.h"
#include "core/Program.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace tilejit::sim {

class LoadedIr final : public Module {
public:
  LoadedIr();
  ~LoadedIr() override;

  std::span<const KernelInfo> kernels() const override { return kernels_; }
  /// Decodes a kernel at its first use.
  Expected<std::shared_ptr<const Program>> program(const std::string &kernel) const;

  static Expected<std::shared_ptr<LoadedIr>> read(std::string_view bytes, std::string_view name, const Chip &chip);

private:
  Status checkTarget(std::string_view name);
  void listKernels();

  const Chip *chip_ = nullptr;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
  std::vector<KernelInfo> kernels_;
  mutable std::map<std::string, std::shared_ptr<const Program>> programs_;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_LOADER_H
