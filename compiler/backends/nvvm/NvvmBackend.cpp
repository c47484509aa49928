// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The NVIDIA back end: optimised kernels to PTX, and that to a cubin where ptxas is at hand.

#include "Capabilities.h"
#include "Ptxas.h"

#include "backends/common/CodeGen.h"
#include "backends/common/GpuBackend.h"
#include "backends/common/ObjectFacts.h"
#include "backends/common/Resources.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace mlir;

namespace tilejit::nvvm {

namespace {

void initialize() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const TargetSpec &target, std::string &error) {
  static std::once_flag once;
  std::call_once(once, initialize);
  return backends::makeTargetMachine(target, llvm::TargetOptions(), error);
}

void prepare(llvm::Module &, const TargetSpec &) {}

void registerDialect(DialectRegistry &registry) {
  registry.insert<NVVM::NVVMDialect>();
  registerNVVMDialectTranslation(registry);
}

std::vector<backends::KernelResources> resourcesOf(const PtxasReport &report) {
  std::vector<backends::KernelResources> resources;
  for (const PtxasKernel &kernel : report.kernels)
    resources.push_back({kernel.name,
                         {{"registers", kernel.registers},
                          {"barriers", kernel.barriers},
                          {"spill_bytes", kernel.spillStoreBytes + kernel.spillLoadBytes},
                          {"stack_bytes", kernel.stackBytes},
                          {"shared_bytes", kernel.sharedBytes}}});
  return resources;
}

/// A status as an error of the module, its hint as a note.
LogicalResult report(ModuleOp module, const Status &status) {
  InFlightDiagnostic diagnostic = module.emitError(status.message());
  if (!status.hint().empty())
    diagnostic.attachNote() << status.hint();
  return diagnostic;
}

/// Puts the cubin before the other payloads.
LogicalResult addCubin(BackendJob &job, const std::string &ptxas, std::string_view ptx, const abi::GpuLaunch &launch,
                       BackendResult &result) {
  job.stages.begin("ptxas");
  Expected<Cubin> cubin = assemble(ptxas, ptx, job.target.cpu);
  if (!cubin)
    return report(job.module, cubin.status());
  for (const std::string &warning : cubin->report.warnings)
    job.module.emitWarning("ptxas: " + warning);
  result.resources = backends::collectResources(resourcesOf(cubin->report), job.target, launch);
  backends::ObjectFacts facts;
  if (backends::readObjectFacts(cubin->bytes, facts))
    result.resources["code_bytes"] = facts.codeBytes;
  result.payloads.insert(result.payloads.begin(), {abi::PayloadKind::Cubin, std::move(cubin->bytes)});
  return success();
}

/// Package: PTX, and the cubin where ptxas is found; Object: the cubin; text: PTX.
LogicalResult generate(BackendJob &job, backends::OptimizedKernels &kernels, const abi::GpuLaunch &launch,
                       BackendResult &result) {
  std::string error;
  std::string ptx = backends::generateCode(*kernels.module, *kernels.machine, backends::CodeForm::Assembly, error);
  if (!error.empty())
    return job.module.emitError(error);
  if (abi::isText(job.emit)) {
    result.text = std::move(ptx);
    return success();
  }
  Expected<std::string> ptxas = findPtxas(realSystem());
  if (!ptxas)
    return report(job.module, ptxas.status());
  if (ptxas->empty() && job.emit == abi::EmitKind::Object)
    return report(job.module, Status(StatusCode::CompileFailed, "a cubin needs ptxas, and none was found")
                                  .withHint("install the CUDA toolkit, run tools/setup --with-ptxas, or name a ptxas "
                                            "in TILEJIT_PTXAS; PTX is made without it: --emit=ptx"));
  if (abi::isPackage(job.emit))
    result.payloads.push_back({abi::PayloadKind::Ptx, ptx});
  result.resources = backends::collectResources({}, job.target, launch);
  return ptxas->empty() ? success() : addCubin(job, *ptxas, ptx, launch, result);
}

constexpr llvm::StringRef driverFunctions[] = {"vprintf"}; ///< Which the driver links in.

} // namespace

} // namespace tilejit::nvvm

namespace tilejit {

const Backend &nvvmBackend() {
  static const backends::GpuBackend backend(
      {.backEnd = "nvvm",
       .kind = TargetKind::Nvidia,
       .sharedAtLaunch = true,
       .hasLdexp = false,
       .kernelConvention = llvm::CallingConv::PTX_Kernel,
       .codeForm = backends::CodeForm::Assembly,
       .recipient = {"an NVIDIA GPU", NVVM::NVVMDialect::getDialectNamespace(), nvvm::driverFunctions},
       .capabilities = nvvm::capabilities,
       .registerDialect = nvvm::registerDialect,
       .makeMachine = nvvm::makeMachine,
       .prepare = nvvm::prepare,
       .generate = nvvm::generate});
  return backend;
}

} // namespace tilejit
