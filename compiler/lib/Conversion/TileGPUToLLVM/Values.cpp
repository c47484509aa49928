// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Small pieces of code that every family of operations uses. Everything known folds.

#include "KernelEmitter.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

RankedTensorType gpu::tileTypeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static std::optional<int64_t> known(Value value) {
  IntegerAttr constant;
  if (value && matchPattern(value, m_Constant(&constant)))
    return constant.getInt();
  return std::nullopt;
}

Value KernelEmitter::index(int64_t value) {
  Value &constant = indexConstants_[value];
  if (!constant) {
    PrologueGuard guard(*this);
    constant = arith::ConstantIntOp::create(b, loc, b.getI64Type(), value);
  }
  return constant;
}

Value KernelEmitter::integer(Type type, int64_t value) {
  auto element = getElementTypeOrSelf(type);
  TypedAttr attr = b.getIntegerAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, loc, attr);
}

Value KernelEmitter::add(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c && x.getType().isInteger(64))
    return index(*a + *c);
  if (a == 0)
    return y;
  if (c == 0)
    return x;
  return arith::AddIOp::create(b, loc, x, y);
}

Value KernelEmitter::sub(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c && x.getType().isInteger(64))
    return index(*a - *c);
  return c == 0 ? x : Value(arith::SubIOp::create(b, loc, x, y));
}

Value KernelEmitter::mul(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c && x.getType().isInteger(64))
    return index(*a * *c);
  if (a == 1 || c == 0)
    return y;
  if (c == 1 || a == 0)
    return x;
  return arith::MulIOp::create(b, loc, x, y);
}

Value KernelEmitter::min(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c && x.getType().isInteger(64))
    return index(std::min(*a, *c));
  return arith::MinSIOp::create(b, loc, x, y);
}

Value KernelEmitter::max(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c && x.getType().isInteger(64))
    return index(std::max(*a, *c));
  return arith::MaxSIOp::create(b, loc, x, y);
}

Value KernelEmitter::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

Value KernelEmitter::less(Value x, Value y) {
  auto a = known(x), c = known(y);
  if (a && c && *a < *c)
    return {};
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
}

Value KernelEmitter::equal(Value x, int64_t y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, integer(x.getType(), y));
}

int64_t KernelEmitter::divisorOf(Value x) {
  constexpr int64_t most = 1 << 16; // More than any access has elements.
  if (auto constant = known(x))
    return *constant == 0 ? most : std::abs(*constant);
  if (auto product = x.getDefiningOp<arith::MulIOp>())
    return std::min(most, divisorOf(product.getLhs())) * std::min(most, divisorOf(product.getRhs()));
  return 1;
}

Value KernelEmitter::resize(Value value, Type type, bool isSigned) {
  unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (from > to)
    return arith::TruncIOp::create(b, loc, type, value);
  if (from == to)
    return value;
  return isSigned ? Value(arith::ExtSIOp::create(b, loc, type, value))
                  : Value(arith::ExtUIOp::create(b, loc, type, value));
}

Value KernelEmitter::toIndex(Value value) { return resize(value, b.getI64Type(), /*isSigned=*/false); }

Value KernelEmitter::splat(Value scalar, int64_t count) {
  return vector::BroadcastOp::create(b, loc, VectorType::get({count}, scalar.getType()), scalar);
}

Value KernelEmitter::fromScalars(ArrayRef<Value> scalars) {
  auto type = VectorType::get({int64_t(scalars.size())}, scalars.front().getType());
  return vector::FromElementsOp::create(b, loc, type, scalars);
}

SmallVector<Value> KernelEmitter::scalars(Value vector) {
  if (auto made = vector.getDefiningOp<vector::FromElementsOp>())
    return SmallVector<Value>(made.getElements());
  SmallVector<Value> result;
  for (int64_t i = 0, count = cast<VectorType>(vector.getType()).getNumElements(); i < count; ++i)
    result.push_back(vector::ExtractOp::create(b, loc, vector, i));
  return result;
}

Value KernelEmitter::pick(Value x, Value y, ArrayRef<int64_t> elements) {
  int64_t width = cast<VectorType>(x.getType()).getNumElements();
  if (!y && int64_t(elements.size()) == width && llvm::equal(elements, llvm::seq<int64_t>(0, width)))
    return x;
  return vector::ShuffleOp::create(b, loc, x, y ? y : x, elements);
}

//===--- memory -------------------------------------------------------------------------------------------------===//

Value KernelEmitter::address(Value base, Value offset, Type element) {
  if (auto constant = known(offset))
    return address(base, *constant, element);
  return LLVM::GEPOp::create(b, loc, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{offset});
}

Value KernelEmitter::address(Value base, int64_t offset, Type element) {
  if (offset == 0)
    return base;
  if (offset == int32_t(offset))
    return LLVM::GEPOp::create(b, loc, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  Value wide = arith::ConstantIntOp::create(b, loc, b.getI64Type(), offset);
  return LLVM::GEPOp::create(b, loc, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{wide});
}

Value KernelEmitter::loadFrom(Type type, Value address, int64_t alignment) {
  return LLVM::LoadOp::create(b, loc, type, address, unsigned(alignment));
}

void KernelEmitter::storeTo(Value value, Value address, int64_t alignment) {
  LLVM::StoreOp::create(b, loc, value, address, unsigned(alignment));
}

Type KernelEmitter::memoryType(Type element) const {
  if (!element.isIntOrFloat())
    return b.getI64Type();
  if (element.getIntOrFloatBitWidth() <= 8)
    return b.getI8Type();
  return isa<FloatTF32Type>(element) ? Type(b.getF32Type()) : element;
}

static Type like(Type shape, Type element) {
  if (auto vector = dyn_cast<VectorType>(shape))
    return VectorType::get(vector.getShape(), element);
  return element;
}

Value KernelEmitter::toMemory(Value value, Type element) {
  Type memory = like(value.getType(), memoryType(element));
  if (value.getType() == memory)
    return value;
  unsigned bits = element.getIntOrFloatBitWidth();
  if (isa<FloatType>(element))
    value = arith::BitcastOp::create(b, loc, like(value.getType(), b.getIntegerType(bits)), value);
  return bits < 8 ? Value(arith::ExtUIOp::create(b, loc, memory, value)) : value;
}

Value KernelEmitter::fromMemory(Value value, Type element) {
  Type type = like(value.getType(), lowered(element));
  if (value.getType() == type || !element.isIntOrFloat())
    return value;
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits == 1) // Any byte but 0 is true.
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, integer(value.getType(), 0));
  if (bits < 8)
    value = arith::TruncIOp::create(b, loc, like(type, b.getIntegerType(bits)), value);
  return isa<FloatType>(element) ? Value(arith::BitcastOp::create(b, loc, type, value)) : value;
}

//===--- branches -----------------------------------------------------------------------------------------------===//

LogicalResult KernelEmitter::when(Value condition, function_ref<LogicalResult()> then) {
  if (!condition)
    return then();
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  return then();
}

Value KernelEmitter::choose(Value condition, Type type, function_ref<Value()> then, function_ref<Value()> otherwise) {
  if (!condition)
    return then();
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, condition, true, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, then());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise());
  return branch.getResult(0);
}
