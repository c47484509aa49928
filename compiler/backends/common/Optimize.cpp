// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// LLVM's own pipeline with the target's passes in it, less the vectorisers: accesses arrive with the width that they
// shall have, and lanes of a GPU have no wider registers for anything else.

#include "Optimize.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"

namespace tilejit::backends {

/// Takes VectorCombine out of the pipeline, which has no other switch for it: where a chip has no vector registers it
/// turns the loads of vectors into loads of elements, which then merge with those of other branches.
static void keepWideLoads() {
  [[maybe_unused]] static const bool done = [] {
    auto &options = llvm::cl::getRegisteredOptions();
    if (auto found = options.find("disable-vector-combine"); found != options.end())
      static_cast<llvm::cl::opt<bool> *>(found->second)->setValue(true);
    return true;
  }();
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  keepWideLoads();
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // Tiles arrive as vectors of registers: each becomes a value of its own before anything else looks at them.
  builder.registerPipelineStartEPCallback([](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
    llvm::ScalarizerPassOptions options;
    options.ScalarizeLoadStore = false;
    llvm::FunctionPassManager early;
    early.addPass(llvm::ScalarizerPass(options));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(early)));
  });
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

} // namespace tilejit::backends
