// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// TargetMachine and the code generator.

#include "CodeGen.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace tilejit::backends {

namespace {

/// Keeps the first error; warnings and remarks are of no interest to a kernel's author.
class ErrorKeeper : public llvm::DiagnosticHandler {
public:
  explicit ErrorKeeper(std::string &error) : error_(error) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && error_.empty()) {
      llvm::raw_string_ostream stream(error_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

private:
  std::string &error_;
};

/// Leaves passes out that look for common parts of addresses, and that only GPUs' code generators run. In kernels whose
/// addresses are a base and constants they find next to nothing, and for NVIDIA they took 45% of the time.
class PassFilter : public llvm::OptPassGate {
public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return pass != "slsr" && pass != "nary-reassociate";
  }
};

/// The target's features as LLVM takes them: "+a,-b".
std::string joinFeatures(const TargetSpec &target) {
  std::string text;
  for (const std::string &feature : target.features)
    text += (text.empty() ? "" : ",") + feature;
  return text;
}

} // namespace

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const TargetSpec &target, const llvm::TargetOptions &options,
                                                       std::string &error) {
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(triple, target.cpu, joinFeatures(target),
                                                                          options, llvm::Reloc::PIC_, std::nullopt,
                                                                          llvm::CodeGenOptLevel::Default));
  if (!machine)
    error = "LLVM has no code generator for " + target.triple;
  return machine;
}

void prepareModule(llvm::Module &module, const llvm::TargetMachine &machine, const TargetSpec &target) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  std::string features = joinFeatures(target);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!features.empty())
      function.addFnAttr("target-features", features);
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

std::string printModule(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::string printWithoutPlaces(const llvm::Module &module) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::StripDebugInfo(*copy);
  return printModule(*copy);
}

std::string generateCode(llvm::Module &module, llvm::TargetMachine &machine, CodeForm form, std::string &error) {
  static PassFilter filter;
  module.getContext().setDiagnosticHandler(std::make_unique<ErrorKeeper>(error));
  module.getContext().setOptPassGate(filter);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  auto type = form == CodeForm::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    error = "LLVM can't emit this form for the target";
    return {};
  }
  passes.run(module);
  if (!error.empty())
    return {};
  return std::string(bytes.data(), bytes.size());
}

} // namespace tilejit::backends
