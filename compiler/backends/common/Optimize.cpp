// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A pipeline of our own, a third as long as LLVM's. Kernels arrive inlined, unrolled, with the width of access that
// they shall have and without anything in memory but tiles, so that what is left to do is to take values apart, to fold
// and to share them, and to bring loops into form; the passes that look for more find nothing, and their time was most
// of a compile. The vendors' own passes run where they ask to.

#include "Optimize.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace tilejit::backends {

using namespace llvm;

namespace {
/// Takes vectors of registers apart, each value for itself; into pairs in functions that compute with vectors of f32
/// and for chips with instructions for two of them.
class TakeApartPass : public PassInfoMixin<TakeApartPass> {
public:
  explicit TakeApartPass(bool hasPackedF32) : hasPackedF32_(hasPackedF32) {}

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    ScalarizerPassOptions options;
    options.ScalarizeMinBits = hasPackedF32_ && any_of(instructions(function), isOfPairs) ? 64 : 0;
    options.ScalarizeLoadStore = false;
    return ScalarizerPass(options).run(function, analyses);
  }

private:
  static bool isOfPairs(const Instruction &instruction) {
    auto *type = dyn_cast<FixedVectorType>(instruction.getType());
    if (!type || !type->getElementType()->isFloatTy())
      return false;
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    return instruction.isBinaryOp() || (call && call->getIntrinsicID() == Intrinsic::fma);
  }

  bool hasPackedF32_;
};
} // namespace

/// Takes vectors apart and finds what is the same.
static void addValuePasses(FunctionPassManager &passes, PassBuilder &builder, bool hasPackedF32) {
  passes.addPass(TakeApartPass(hasPackedF32));
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InstCombinePass());
  builder.invokePeepholeEPCallbacks(passes, OptimizationLevel::O2);
}

/// Tests at the end of loops, what does not change before them, counters as simple as they can be.
static void addLoopPasses(FunctionPassManager &passes) {
  LoopPassManager invariants;
  invariants.addPass(LoopRotatePass());
  invariants.addPass(LICMPass(LICMOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(invariants), /*UseMemorySSA=*/true));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
}

/// Folds again what the others made foldable, and what the two sides of a branch have in common. Constants of addresses
/// come last in them, where instructions take them.
static void addFinalPasses(FunctionPassManager &passes, PassBuilder &builder) {
  passes.addPass(InstCombinePass());
  builder.invokePeepholeEPCallbacks(passes, OptimizationLevel::O2);
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions().hoistCommonInsts(true).sinkCommonInsts(true)));
  passes.addPass(SeparateConstOffsetFromGEPPass());
}

void optimize(Module &module, TargetMachine &machine, const GpuFacts &facts) {
  PassBuilder builder(&machine);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  FunctionPassManager ofFunctions;
  addValuePasses(ofFunctions, builder, facts.hasPackedF32);
  addLoopPasses(ofFunctions);
  addFinalPasses(ofFunctions, builder);
  ModulePassManager passes;
  builder.invokePipelineStartEPCallbacks(passes, OptimizationLevel::O2);
  builder.invokePipelineEarlySimplificationEPCallbacks(passes, OptimizationLevel::O2, ThinOrFullLTOPhase::None);
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(ofFunctions)));
  builder.invokeOptimizerLastEPCallbacks(passes, OptimizationLevel::O2, ThinOrFullLTOPhase::None);
  passes.run(module, modules);
}

} // namespace tilejit::backends
