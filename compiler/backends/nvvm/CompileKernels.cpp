// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Optimised kernels to PTX, and that to a cubin where ptxas is at hand.

#include "CompileKernels.h"

#include "Capabilities.h"
#include "Ptxas.h"

#include "backends/common/CodeGen.h"
#include "backends/common/Kernels.h"
#include "backends/common/ObjectFacts.h"
#include "backends/common/Resources.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

namespace tilejit::nvvm {

namespace {

std::unique_ptr<llvm::TargetMachine> makeMachine(const TargetSpec &target, std::string &error) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  return backends::makeTargetMachine(target, llvm::TargetOptions(), error);
}

void prepare(llvm::Module &, const TargetSpec &) {}

constexpr llvm::StringRef driverFunctions[] = {"vprintf"}; ///< Which the driver links in.

const backends::GpuVendor vendor = {
    {"an NVIDIA GPU", NVVM::NVVMDialect::getDialectNamespace(), driverFunctions}, capabilities, makeMachine, prepare};

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

} // namespace

void registerKernelDialects(DialectRegistry &registry) {
  backends::registerKernelDialects(registry);
  registry.insert<NVVM::NVVMDialect>();
  registerNVVMDialectTranslation(registry);
}

FailureOr<BackendResult> compileKernels(BackendJob job, const abi::GpuLaunch &launch) {
  Expected<std::string> ptxas = findPtxas(realSystem());
  if (!ptxas)
    return report(job.module, ptxas.status());
  if (ptxas->empty() && job.emit == abi::EmitKind::Object)
    return report(job.module, Status(StatusCode::CompileFailed, "a cubin needs ptxas, and none was found")
                                  .withHint("install the CUDA toolkit, run tools/setup --with-ptxas, or name a ptxas "
                                            "in TILEJIT_PTXAS; PTX is made without it: --emit=ptx"));
  FailureOr<backends::OptimizedKernels> kernels = backends::optimizeKernels(job, vendor);
  if (failed(kernels))
    return failure();
  BackendResult result;
  if (job.emit == abi::EmitKind::Llvm) {
    result.text = backends::printModule(*kernels->module);
    return result;
  }
  bool isPackage = job.emit == abi::EmitKind::Package;
  std::string bitcode = isPackage && job.withBitcode ? backends::writeBitcode(*kernels->module) : "";
  job.stages.begin("codegen");
  std::string error;
  std::string ptx = backends::generateCode(*kernels->module, *kernels->machine, backends::CodeForm::Assembly, error);
  if (!error.empty())
    return job.module.emitError(error);
  if (abi::isText(job.emit)) {
    result.text = std::move(ptx);
    return result;
  }
  if (isPackage)
    result.payloads.push_back({abi::PayloadKind::Ptx, ptx});
  if (!bitcode.empty())
    result.payloads.push_back({abi::PayloadKind::Bitcode, std::move(bitcode)});
  result.resources = backends::collectResources({}, job.target, launch);
  if (!ptxas->empty() && failed(addCubin(job, *ptxas, ptx, launch, result)))
    return failure();
  return result;
}

} // namespace tilejit::nvvm
