// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Contractions: checks of the matrix product and of the regions of reductions and scans.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilejit::tile;

//===--- dot ----------------------------------------------------------------------------------------------------===//

/// Checks that the sizes of a matrix product fit together.
static LogicalResult verifyDotShapes(DotOp op) {
  RankedTensorType a = op.getA().getType(), b = op.getB().getType(), acc = op.getAcc().getType();
  for (RankedTensorType type : {a, b, acc})
    if (type.getRank() != 2)
      return op.emitOpError("expected tiles of rank 2, got ") << type;
  if (a.getDimSize(1) != b.getDimSize(0))
    return op.emitOpError("expected ") << a.getDimSize(1) << " rows of b, got " << b.getDimSize(0);
  if (acc.getDimSize(0) != a.getDimSize(0) || acc.getDimSize(1) != b.getDimSize(1))
    return op.emitOpError("expected an accumulator of ")
           << a.getDimSize(0) << "x" << b.getDimSize(1) << ", got " << acc.getDimSize(0) << "x" << acc.getDimSize(1);
  return success();
}

/// The accumulator's element type for two operand element types; null where there is no such product.
static Type getAccumulatorElement(Type a, Type b) {
  if (a.isInteger(8) && b.isInteger(8))
    return IntegerType::get(a.getContext(), 32);
  auto isByteFloat = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType>(type);
  };
  if (a != b && !(isByteFloat(a) && isByteFloat(b)))
    return {};
  if (isa<Float64Type>(a))
    return a;
  if (isa<Float32Type, Float16Type, BFloat16Type>(a) || isByteFloat(a))
    return Float32Type::get(a.getContext());
  return {};
}

LogicalResult DotOp::verify() {
  if (failed(verifyDotShapes(*this)))
    return failure();
  Type a = getA().getType().getElementType(), b = getB().getType().getElementType();
  Type actual = getAcc().getType().getElementType(), expected = getAccumulatorElement(a, b);
  if (!expected)
    return emitOpError("expected operands of one element type (i8, f64, f32, f16, bf16 or 8-bit floats), got ")
           << a << " and " << b;
  if (actual != expected)
    return emitOpError("expected an accumulator of ") << expected << ", got " << actual;
  if (getPrecision() != Precision::Ieee && !a.isF32())
    return emitOpError("expected f32 operands for precision '") << stringifyPrecision(getPrecision()) << "', got " << a;
  if ((getUnsignedA() || getUnsignedB()) && !a.isInteger())
    return emitOpError("expected integers for 'unsigned_a' and 'unsigned_b', got ") << a;
  return success();
}

//===--- reduce, scan -------------------------------------------------------------------------------------------===//

/// Checks the operands' axis and the results' number, element types and shapes.
template <typename OpTy>
static LogicalResult verifyCombination(OpTy op, llvm::function_ref<void(SmallVectorImpl<int64_t> &)> changeShape) {
  if (op.getResults().size() != op.getInputs().size())
    return op.emitOpError("expected ") << op.getInputs().size() << " results, got " << op.getResults().size();
  auto first = cast<RankedTensorType>(op.getInputs().front().getType());
  if (int64_t(op.getAxis()) >= first.getRank())
    return op.emitOpError("expected an axis below ") << first.getRank() << ", got " << op.getAxis();
  SmallVector<int64_t> shape(first.getShape());
  changeShape(shape);
  for (auto [input, result] : llvm::zip(op.getInputs().getTypes(), op.getResults().getTypes())) {
    Type element = cast<RankedTensorType>(input).getElementType();
    auto actual = cast<RankedTensorType>(result);
    Type expected = RankedTensorType::get(shape, element);
    if (actual.getShape() != ArrayRef(shape) || actual.getElementType() != element)
      return op.emitOpError("expected a result of ") << expected << ", got " << result;
  }
  return success();
}

/// Checks that the region takes two values for each operand, gives one, and does nothing else.
template <typename OpTy> static LogicalResult verifyCombiner(OpTy op) {
  Block &block = op.getCombiner().front();
  SmallVector<Type> elements;
  for (Type input : op.getInputs().getTypes())
    elements.push_back(cast<RankedTensorType>(input).getElementType());
  size_t count = elements.size();
  if (block.getNumArguments() != 2 * count)
    return op.emitOpError("expected a region with ") << 2 * count << " arguments, got " << block.getNumArguments();
  for (auto [index, type] : llvm::enumerate(block.getArgumentTypes()))
    if (type != elements[index % count])
      return op.emitOpError("expected ") << elements[index % count] << " as region argument " << index << ", got "
                                         << type;
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().getTypes() != TypeRange(elements)) {
    auto error = op.emitOpError("expected a region that ends in a yield of ");
    llvm::interleaveComma(elements, error);
    error.attachNote(block.getTerminator()->getLoc()) << "the region ends here";
    return error;
  }
  for (Operation &inner : block.without_terminator())
    if (!isMemoryEffectFree(&inner)) {
      auto error = op.emitOpError("expected a pure region, got '") << inner.getName() << "'";
      error.attachNote(inner.getLoc()) << "this operation has effects";
      return error;
    }
  return success();
}

LogicalResult ReduceOp::verify() {
  return verifyCombination(*this, [&](SmallVectorImpl<int64_t> &shape) { shape.erase(shape.begin() + getAxis()); });
}

LogicalResult ReduceOp::verifyRegions() { return verifyCombiner(*this); }

LogicalResult ScanOp::verify() {
  return verifyCombination(*this, [](SmallVectorImpl<int64_t> &) {});
}

LogicalResult ScanOp::verifyRegions() { return verifyCombiner(*this); }
