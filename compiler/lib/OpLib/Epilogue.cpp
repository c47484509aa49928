// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Epilogue steps: operands that broadcast against the result, activations, the turn from integers to f32.

#include "Epilogue.h"

#include "Functions.h"

using namespace mlir;

namespace tilejit::oplib {

using Kind = EpilogueStep::Kind;

/// Whether a step on integers gives integers.
static bool staysInteger(const Description &description, const EpilogueStep &step) {
  if (step.input >= 0)
    return !isFloat(description.inputs[step.input].dtype);
  return step.kind == Kind::Relu || step.kind == Kind::Clamp;
}

Value loadBroadcast(KernelBuilder &b, const EpilogueTile &tile, int slot, DType compute) {
  const Access &access = tile.space.accesses[slot];
  DType dtype = tile.space.operand(access.operand).dtype;
  Value view = b.slice(tile.space, slot, tile.dims, tile.position);
  SmallVector<Value> coordinates;
  SmallVector<int64_t> shape;
  for (auto [dim, coordinate, size] : llvm::zip(tile.dims, tile.coordinates, tile.shape)) {
    bool moves = access.axes[dim].moves();
    coordinates.push_back(moves ? coordinate : b.index(0));
    shape.push_back(moves ? size : 1);
  }
  Value value = convert(b, load(b, view, coordinates, shape, dtype), dtype, compute);
  return broadcastTo(b, value, tile.shape);
}

static Value combine(KernelBuilder &b, Kind kind, Value x, Value y, DType dtype) {
  if (isFloat(dtype)) {
    if (kind == Kind::Mul)
      return arith::MulFOp::create(b, x, y);
    return kind == Kind::Add ? arith::AddFOp::create(b, x, y).getResult() : arith::SubFOp::create(b, x, y).getResult();
  }
  if (kind == Kind::Mul)
    return arith::MulIOp::create(b, x, y);
  return kind == Kind::Add ? arith::AddIOp::create(b, x, y).getResult() : arith::SubIOp::create(b, x, y).getResult();
}

/// Bounds of an integer are whole numbers; what no i32 reaches bounds nothing.
static Value bound(KernelBuilder &b, Value like, double value, DType dtype) {
  if (isFloat(dtype))
    return splatLike(b, like, value);
  double inRange = std::clamp(value, double(minValue(dtype)), double(maxValue(dtype)));
  return splatIntLike(b, like, int64_t(inRange));
}

static Value applyFunction(KernelBuilder &b, const EpilogueStep &step, Value x, DType dtype) {
  switch (step.kind) {
  case Kind::Scale:
    return arith::MulFOp::create(b, x, splatLike(b, x, step.value));
  case Kind::Clamp:
    x = maximum(b, x, bound(b, x, step.min, dtype), dtype);
    return minimum(b, x, bound(b, x, step.max, dtype), dtype);
  case Kind::Relu:
    return relu(b, x, dtype);
  case Kind::Silu:
    return silu(b, x);
  case Kind::Sigmoid:
    return sigmoid(b, x);
  case Kind::Tanh:
    return math::TanhOp::create(b, x);
  case Kind::Gelu:
    return gelu(b, x);
  case Kind::GeluTanh:
    return geluTanh(b, x);
  default:
    return x;
  }
}

TypedValue applyEpilogue(KernelBuilder &b, const EpilogueTile &tile, TypedValue result) {
  const Description &description = b.description();
  for (auto [number, step] : llvm::enumerate(description.epilogue)) {
    b.setPlace("epilogue/" + std::to_string(number));
    if (!isFloat(result.dtype) && !staysInteger(description, step))
      result = {convert(b, result.value, result.dtype, DType::F32), DType::F32};
    if (step.input >= 0)
      result.value = combine(b, step.kind, result.value,
                             loadBroadcast(b, tile, tile.firstSlot + step.input, result.dtype), result.dtype);
    else
      result.value = applyFunction(b, step, result.value, result.dtype);
  }
  return result;
}

} // namespace tilejit::oplib
