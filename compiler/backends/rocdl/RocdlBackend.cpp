// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The AMD back end: optimised kernels to AMDGPU code, linked to a HSACO in this process, with the numbers that its
// metadata tells.

#include "Capabilities.h"
#include "KernelFacts.h"

#include "backends/common/CodeGen.h"
#include "backends/common/GpuBackend.h"
#include "backends/common/Link.h"
#include "backends/common/ObjectFacts.h"
#include "backends/common/Resources.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/TargetParser.h"

#include <mutex>

using namespace mlir;

namespace tilejit::rocdl {

namespace {

/// The code generator's search for common parts of addresses (straight-line strength reduction and what belongs to it)
/// finds none in kernels whose addresses are a base and constants, and took a sixth of its time. To be said before each
/// code generation: lld puts every option of the process back to its default, and what a worker had linked before would
/// show in the code.
void skipAddressSearch() {
  auto found = llvm::cl::getRegisteredOptions().find("amdgpu-scalar-ir-passes");
  if (found != llvm::cl::getRegisteredOptions().end())
    static_cast<llvm::cl::opt<bool> *>(found->second)->setValue(false);
}

void initialize() {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmPrinter();
  LLVMInitializeAMDGPUAsmParser(); // Some intrinsics become text that the code generator assembles.
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const TargetSpec &target, std::string &error) {
  static std::once_flag once;
  std::call_once(once, initialize);
  skipAddressSearch();
  return backends::makeTargetMachine(target, llvm::TargetOptions(), error);
}

/// Version 5 is what every runtime since ROCm 5 loads; only generic targets need 6.
uint32_t codeObjectVersion(const TargetSpec &target) {
  llvm::AMDGPU::GPUKind kind = llvm::AMDGPU::parseArchAMDGCN(target.cpu);
  return kind >= llvm::AMDGPU::GK_AMDGCN_GENERIC_FIRST ? 600 : 500;
}

void prepare(llvm::Module &module, const TargetSpec &target) {
  module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", codeObjectVersion(target));
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("uniform-work-group-size", "true"); // Blocks are all of one size.
}

void registerDialect(DialectRegistry &registry) {
  registry.insert<ROCDL::ROCDLDialect>();
  registerROCDLDialectTranslation(registry);
}

std::vector<backends::KernelResources> resourcesOf(const std::vector<KernelFacts> &kernels) {
  std::vector<backends::KernelResources> resources;
  for (const KernelFacts &facts : kernels)
    resources.push_back({facts.name,
                         {{"registers", facts.vectorRegisters},
                          {"scalar_registers", facts.scalarRegisters},
                          {"accumulation_registers", facts.accumulationRegisters},
                          {"spill_bytes", 4 * facts.vectorSpills},
                          {"scalar_spills", facts.scalarSpills},
                          {"stack_bytes", facts.privateBytes},
                          {"shared_bytes", facts.sharedBytes}}});
  return resources;
}

LogicalResult link(BackendJob &job, std::string object, const abi::GpuLaunch &launch, BackendResult &result) {
  job.stages.begin("link");
  std::string error;
  std::string code = backends::linkSharedObject(std::span(&object, 1), "elf64_amdgpu", error);
  if (!error.empty())
    return job.module.emitError(error);
  std::vector<KernelFacts> kernels;
  backends::ObjectFacts facts;
  if (!readKernelFacts(code, kernels) || !backends::readObjectFacts(code, facts))
    return job.module.emitError("the linker gave no code object with metadata");
  result.resources = backends::collectResources(resourcesOf(kernels), job.target, launch);
  result.resources["code_bytes"] = facts.codeBytes;
  result.payloads.push_back({abi::PayloadKind::Hsaco, std::move(code)});
  return success();
}

LogicalResult generate(BackendJob &job, backends::OptimizedKernels &kernels, const abi::GpuLaunch &launch,
                       BackendResult &result) {
  bool text = abi::isText(job.emit);
  std::string error;
  skipAddressSearch(); // Again, since a kept machine may be older than the last link.
  std::string code = backends::generateCode(*kernels.module, *kernels.machine,
                                            text ? backends::CodeForm::Assembly : backends::CodeForm::Object, error);
  if (!error.empty())
    return job.module.emitError(error);
  if (!text)
    return link(job, std::move(code), launch, result);
  result.text = std::move(code);
  return success();
}

} // namespace

} // namespace tilejit::rocdl

namespace tilejit {

const Backend &rocdlBackend() {
  static const backends::GpuBackend backend(
      {.backEnd = "rocdl",
       .kind = TargetKind::Amd,
       .sharedAtLaunch = false,
       .hasLdexp = true,
       .kernelConvention = llvm::CallingConv::AMDGPU_KERNEL,
       .codeForm = backends::CodeForm::Object,
       .recipient = {"an AMD GPU", ROCDL::ROCDLDialect::getDialectNamespace(), {}},
       .capabilities = rocdl::capabilities,
       .registerDialect = rocdl::registerDialect,
       .makeMachine = rocdl::makeMachine,
       .prepare = rocdl::prepare,
       .generate = rocdl::generate});
  return backend;
}

} // namespace tilejit
