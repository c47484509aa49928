// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Two conversions with upstream's patterns: structured control flow to branches, then everything to the LLVM dialect.
// Only the patterns that our loops need are registered; the time to build larger sets shows in a cold compile.

#include "LowerToLLVM.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilejit::backends {

namespace {

/// Vector operations that upstream lowers to simpler ones of its own before they can become LLVM's.
bool needsVectorLowering(Operation *op) {
  return isa<vector::CreateMaskOp, vector::ConstantMaskOp, vector::StepOp, vector::InsertStridedSliceOp,
             vector::ExtractStridedSliceOp, vector::ShapeCastOp, vector::TransposeOp, vector::GatherOp>(op);
}

LogicalResult lowerVectors(ModuleOp module) {
  WalkResult found = module.walk(
      [](Operation *op) { return needsVectorLowering(op) ? WalkResult::interrupt() : WalkResult::advance(); });
  if (!found.wasInterrupted())
    return success();
  RewritePatternSet patterns(module.getContext());
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorTransposeLoweringPatterns(patterns, vector::VectorTransposeLowering::EltWise);
  vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/false);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// Quotients that no processor rounds that way.
LogicalResult lowerDivisions(ModuleOp module) {
  WalkResult found = module.walk([](Operation *op) {
    return isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op) ? WalkResult::interrupt()
                                                                                : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  RewritePatternSet patterns(module.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

LogicalResult lowerControlFlow(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

LogicalResult lowerTheRest(ModuleOp module, const Recipient &recipient) {
  MLIRContext *context = module.getContext();
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  if (!recipient.dialect.empty())
    target.addLegalDialect(recipient.dialect);
  if (failed(applyPartialConversion(module, target, std::move(patterns))))
    return failure();
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  SmallVector<UnrealizedConversionCastOp> left;
  reconcileUnrealizedCasts(casts, &left);
  if (!left.empty())
    return left.front().emitOpError("joins types that have no common form in LLVM");
  return success();
}

/// Replaces half floats that the recipient's registers don't hold by integers of the same bits.
class HalfFloatsAsIntegers {
public:
  explicit HalfFloatsAsIntegers(const Recipient &recipient) : recipient(recipient) {}

  LogicalResult run(ModuleOp module) {
    if (recipient.hasF16 && recipient.hasBf16)
      return success();
    WalkResult result = module.walk([&](Operation *op) -> WalkResult {
      bool touches = anyReplaced(op->getOperandTypes()) || anyReplaced(op->getResultTypes());
      if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op); call && touches)
        calls.push_back({call, llvm::to_vector(call->getOperandTypes())});
      else if (touches && isa<LLVM::FastmathFlagsInterface>(op) && !isa<LLVM::SelectOp>(op))
        return op->emitOpError("computes in half floats, which registers of this CPU don't hold");
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    module.walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setType(replaced(argument.getType()));
      if (!isa<LLVM::CallIntrinsicOp>(op))
        replaceResults(op);
    });
    for (Call call : calls)
      castAround(call);
    return success();
  }

private:
  struct Call {
    LLVM::CallIntrinsicOp op;
    SmallVector<Type> operands; ///< As the intrinsic takes them.
  };

  Type replaced(Type type) const {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(replaced(vector.getElementType()));
    bool replace = (isa<Float16Type>(type) && !recipient.hasF16) || (isa<BFloat16Type>(type) && !recipient.hasBf16);
    return replace ? IntegerType::get(type.getContext(), 16) : type;
  }

  template <typename Types> bool anyReplaced(Types types) const {
    return llvm::any_of(types, [&](Type type) { return replaced(type) != type; });
  }

  static TypedAttr withBitsOf(Attribute value, Type type) {
    if (auto number = dyn_cast<FloatAttr>(value))
      return IntegerAttr::get(getElementTypeOrSelf(type), number.getValue().bitcastToAPInt());
    return cast<DenseElementsAttr>(value).bitcast(getElementTypeOrSelf(type));
  }

  void replaceResults(Operation *op) const {
    for (Value value : op->getResults()) {
      Type type = replaced(value.getType());
      if (auto constant = dyn_cast<LLVM::ConstantOp>(op); constant && type != value.getType())
        constant.setValueAttr(withBitsOf(constant.getValue(), type));
      value.setType(type);
    }
  }

  /// An intrinsic's signature is given, so what it takes and returns is cast next to it.
  void castAround(Call call) const {
    OpBuilder builder(call.op);
    for (auto [operand, type] : llvm::zip_equal(call.op->getOpOperands(), call.operands))
      if (operand.get().getType() != type)
        operand.set(LLVM::BitcastOp::create(builder, call.op.getLoc(), type, operand.get()));
    builder.setInsertionPointAfter(call.op);
    for (Value value : call.op->getResults())
      if (Type type = replaced(value.getType()); type != value.getType()) {
        auto cast = LLVM::BitcastOp::create(builder, call.op.getLoc(), type, value);
        value.replaceAllUsesExcept(cast, cast);
      }
  }

  const Recipient &recipient;
  SmallVector<Call> calls;
};

} // namespace

void registerLoopDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                  ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void loadLoopDialects(MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect, math::MathDialect,
                      scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
}

LogicalResult checkSupported(ModuleOp module, const Recipient &recipient) {
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    Dialect *dialect = op->getDialect();
    if (isa<ModuleOp>(op) || (dialect && dialect->getNamespace() == recipient.dialect))
      return WalkResult::advance();
    if (!isa_and_nonnull<LLVM::LLVMDialect, arith::ArithDialect, math::MathDialect, vector::VectorDialect,
                         scf::SCFDialect, cf::ControlFlowDialect, ub::UBDialect>(dialect))
      return op->emitOpError("has no lowering to ") << recipient.name;
    if (isa<LLVM::InlineAsmOp>(op))
      return op->emitOpError("is not allowed in kernels");
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (function && function.isExternal() && !llvm::is_contained(recipient.calls, function.getName()))
      return op->emitOpError("is declared and not defined: kernels can't call functions outside of their module");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult lowerToLLVM(ModuleOp module, const Recipient &recipient) {
  if (failed(lowerVectors(module)) || failed(lowerDivisions(module)) || failed(lowerControlFlow(module)) ||
      failed(lowerTheRest(module, recipient)) || failed(HalfFloatsAsIntegers(recipient).run(module)))
    return failure();
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    Dialect *dialect = op->getDialect();
    if (isa<ModuleOp>(op) || isa_and_nonnull<LLVM::LLVMDialect>(dialect) ||
        (dialect && dialect->getNamespace() == recipient.dialect))
      return WalkResult::advance();
    return op->emitOpError("has no lowering to ") << recipient.name;
  });
  return failure(result.wasInterrupted());
}

} // namespace tilejit::backends
