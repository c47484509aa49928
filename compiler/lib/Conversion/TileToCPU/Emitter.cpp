// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Small steps of emitting code, see Emitter.h.

#include "Emitter.h"

#include "mlir/IR/Matchers.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tilejit::cpu;

Value Emitter::constant(TypedAttr attr) {
  Value &slot = constants[attr];
  if (!slot) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(constantBlock);
    slot = arith::ConstantOp::create(b, loc, attr);
  }
  return slot;
}

Value Emitter::intConstant(Type type, const llvm::APInt &value) {
  if (auto vector = dyn_cast<VectorType>(type))
    return constant(DenseElementsAttr::get(vector, value));
  return constant(b.getIntegerAttr(type, value));
}

Value Emitter::intConstant(Type type, int64_t value) {
  return intConstant(type, llvm::APInt(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), value, true, true));
}

Value Emitter::floatConstant(Type type, const llvm::APFloat &value) {
  if (auto vector = dyn_cast<VectorType>(type))
    return constant(DenseElementsAttr::get(vector, value));
  return constant(b.getFloatAttr(type, value));
}

Value Emitter::floatConstant(Type type, double value) {
  llvm::APFloat number(value);
  bool loses = false;
  number.convert(cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &loses);
  return floatConstant(type, number);
}

//===-- i64 arithmetic
//---------------------------------------------------------------------------------------------===//

static constexpr auto noWrap = arith::IntegerOverflowFlags::nsw;

Value Emitter::value(Index index) {
  if (!index.value)
    return constant(index.constant);
  if (index.constant == 0)
    return index.value;
  return arith::AddIOp::create(b, loc, index.value, constant(index.constant), noWrap);
}

Index Emitter::known(Value value) {
  llvm::APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Index(constant.getSExtValue());
  return Index(value);
}

Index Emitter::add(Index x, Index y) {
  if (x.value && y.value)
    return Index(arith::AddIOp::create(b, loc, x.value, y.value, noWrap), x.constant + y.constant);
  return Index(x.value ? x.value : y.value, x.constant + y.constant);
}

Index Emitter::sub(Index x, Index y) {
  if (!y.value)
    return Index(x.value, x.constant - y.constant);
  if (x.value == y.value)
    return Index(x.constant - y.constant);
  Value left = x.value ? x.value : constant(0);
  return Index(arith::SubIOp::create(b, loc, left, y.value, noWrap), x.constant - y.constant);
}

Index Emitter::mul(Index x, Index y) {
  if (!x.value)
    std::swap(x, y);
  if (!y.value) {
    if (y.constant == 0 || !x.value)
      return Index(x.constant * y.constant);
    if (y.constant == 1)
      return x;
    return Index(arith::MulIOp::create(b, loc, x.value, constant(y.constant), noWrap), x.constant * y.constant);
  }
  return Index(arith::MulIOp::create(b, loc, value(x), value(y), noWrap));
}

Index Emitter::min(Index x, Index y) {
  if (x.value == y.value)
    return Index(x.value, std::min(x.constant, y.constant));
  return Index(arith::MinSIOp::create(b, loc, value(x), value(y)));
}

Index Emitter::max(Index x, Index y) {
  if (x.value == y.value)
    return Index(x.value, std::max(x.constant, y.constant));
  return Index(arith::MaxSIOp::create(b, loc, value(x), value(y)));
}

Index Emitter::roundDown(Index x, int64_t power) {
  if (!x.value)
    return Index(x.constant & -power);
  if (power == 1)
    return x;
  return Index(arith::AndIOp::create(b, loc, value(x), constant(-power)));
}

Index Emitter::divide(Index x, Index y) {
  if (!x.value && !y.value)
    return Index(x.constant / y.constant);
  if (y.is(1))
    return x;
  return Index(arith::DivUIOp::create(b, loc, value(x), value(y)));
}

Index Emitter::remainder(Index x, Index y) {
  if (!x.value && !y.value)
    return Index(x.constant % y.constant);
  if (y.is(1))
    return Index(0);
  return Index(arith::RemUIOp::create(b, loc, value(x), value(y)));
}

Index Emitter::roundUp(Index x, int64_t y) {
  if (y == 1)
    return x;
  return mul(divide(add(x, y - 1), y), y);
}

Value Emitter::less(Index x, Index y) {
  if (x.value == y.value) {
    if (x.constant < y.constant)
      return {};
    return constant(b.getBoolAttr(false));
  }
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, value(x), value(y));
}

Value Emitter::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

Index Emitter::select(Value condition, Index x, Index y) {
  if (!condition || x == y)
    return x;
  return Index(arith::SelectOp::create(b, loc, condition, value(x), value(y)));
}

//===-- memory
//-----------------------------------------------------------------------------------------------------===//

Value Emitter::address(Value base, Index offset, Type element) {
  constexpr auto flags = LLVM::GEPNoWrapFlags::none;
  if (offset.value)
    base = LLVM::GEPOp::create(b, loc, pointer(), element, base, ArrayRef<LLVM::GEPArg>{offset.value}, flags);
  // A displacement beyond 2^31 bytes is no displacement for any CPU; keep it an ordinary operand then.
  if (offset.constant > INT32_MAX || offset.constant < INT32_MIN)
    return LLVM::GEPOp::create(b, loc, pointer(), element, base, ArrayRef<LLVM::GEPArg>{constant(offset.constant)},
                               flags);
  if (offset.constant)
    base = LLVM::GEPOp::create(b, loc, pointer(), element, base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset.constant)}, flags);
  return base;
}

static unsigned alignmentOf(Type type) { return byteSize(getElementTypeOrSelf(type)); }

Value Emitter::load(Type type, Value address) { return LLVM::LoadOp::create(b, loc, type, address, alignmentOf(type)); }

void Emitter::store(Value value, Value address) {
  LLVM::StoreOp::create(b, loc, value, address, alignmentOf(value.getType()));
}

Value Emitter::load(VectorType type, Value address, Value mask, Value other) {
  if (!mask)
    return load(type, address);
  return LLVM::MaskedLoadOp::create(b, loc, type, address, mask, other, alignmentOf(type));
}

/// The only lane of a constant mask that is set.
static std::optional<int64_t> onlyLane(Value mask) {
  DenseElementsAttr bits;
  if (!matchPattern(mask, m_Constant(&bits)) || llvm::count(bits.getValues<bool>(), true) != 1)
    return std::nullopt;
  auto lanes = bits.getValues<bool>();
  return std::distance(lanes.begin(), llvm::find(lanes, true));
}

/// LLVM 22.1 makes a scalar store of a masked one with a single constant lane, of the type before a truncation: it
/// overwrites what follows.
void Emitter::store(Value value, Value address, Value mask) {
  if (!mask)
    return store(value, address);
  if (std::optional<int64_t> only = onlyLane(mask))
    return store(lane(value, *only), this->address(address, *only, getElementTypeOrSelf(value.getType())));
  LLVM::MaskedStoreOp::create(b, loc, value, address, mask, alignmentOf(value.getType()));
}

void Emitter::stream(Value value, Value address) {
  LLVM::StoreOp::create(b, loc, value, address, byteSize(value.getType()), /*isVolatile=*/false,
                        /*isNonTemporal=*/true);
}

void Emitter::streamFence() {
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86.sse.sfence"), ValueRange());
}

void Emitter::prefetch(Value address, int level) {
  LLVM::Prefetch::create(b, loc, address, /*rw=*/0, /*hint=*/level == 1 ? 3 : 2, /*cache=*/1);
}

Value Emitter::gather(VectorType type, Value addresses, Value mask, Value other) {
  if (!mask)
    mask = intConstant(vector(b.getI1Type(), type.getNumElements()), 1);
  return LLVM::masked_gather::create(b, loc, type, addresses, mask, other, b.getI32IntegerAttr(alignmentOf(type)));
}

void Emitter::scatter(Value value, Value addresses, Value mask) {
  if (!mask)
    mask = intConstant(vector(b.getI1Type(), cast<VectorType>(value.getType()).getNumElements()), 1);
  LLVM::masked_scatter::create(b, loc, value, addresses, mask, b.getI32IntegerAttr(alignmentOf(value.getType())));
}

//===-- lanes
//------------------------------------------------------------------------------------------------------===//

Value Emitter::iota(VectorType type) {
  SmallVector<llvm::APInt> numbers;
  unsigned bits = type.getElementTypeBitWidth();
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i)
    numbers.push_back(llvm::APInt(bits, i, false, true));
  return constant(DenseElementsAttr::get(type, numbers));
}

Value Emitter::laneMask(Index count, int64_t lanes) {
  VectorType maskType = vector(b.getI1Type(), lanes);
  if (count.isConstant()) {
    if (count.constant >= lanes)
      return {};
    SmallVector<bool> bits(lanes);
    for (int64_t i = 0; i < std::max<int64_t>(count.constant, 0); ++i)
      bits[i] = true;
    return constant(DenseElementsAttr::get(maskType, bits));
  }
  // The constant part goes to the lane numbers, so that masks side by side share the rest.
  constexpr int64_t far = 1 << 30;
  if (count.constant > far || count.constant < -far)
    count = Index(value(count));
  Value clamped = value(max(min(Index(count.value), far), -far));
  Value narrow = arith::TruncIOp::create(b, loc, b.getI32Type(), clamped);
  VectorType type = vector(b.getI32Type(), lanes);
  SmallVector<int32_t> numbers;
  for (int64_t i = 0; i < lanes; ++i)
    numbers.push_back(static_cast<int32_t>(i - count.constant));
  Value lane = constant(DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lane, splat(narrow, lanes));
}

Value Emitter::splat(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(b, loc, vector(scalar.getType(), lanes), scalar);
}

Value Emitter::shuffle(Value x, Value y, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(b, loc, x, y, lanes);
}

Value Emitter::upperLanes(Value x, int64_t from, int64_t valid) {
  SmallVector<int64_t> lanes(cast<VectorType>(x.getType()).getNumElements(), vector::ShuffleOp::kPoisonIndex);
  for (int64_t i = 0; from + i < valid; ++i)
    lanes[i] = from + i;
  return shuffle(x, x, lanes);
}

Value Emitter::lane(Value vector, int64_t index) { return vector::ExtractOp::create(b, loc, vector, index); }

Value Emitter::fromLanes(ArrayRef<Value> lanes) {
  return vector::FromElementsOp::create(b, loc, vector(lanes.front().getType(), lanes.size()), lanes);
}

void Emitter::transposeSquare(MutableArrayRef<Value> rows) {
  // Butterfly: stage s exchanges, between rows that differ in bit s, the lanes that differ in bit s.
  int64_t n = rows.size();
  for (int64_t stage = n / 2; stage >= 1; stage /= 2) {
    SmallVector<int64_t> low(n), high(n);
    for (int64_t i = 0; i < n; ++i) {
      low[i] = (i & stage) ? n + (i ^ stage) : i;
      high[i] = (i & stage) ? n + i : (i | stage);
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i & stage)
        continue;
      Value x = rows[i], y = rows[i | stage];
      rows[i] = shuffle(x, y, low);
      rows[i | stage] = shuffle(x, y, high);
    }
  }
}

//===-- types
//------------------------------------------------------------------------------------------------------===//

int64_t tilejit::cpu::byteSize(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 8;
  if (auto vector = dyn_cast<VectorType>(type))
    return byteSize(vector.getElementType()) * vector.getNumElements();
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

Type tilejit::cpu::memoryType(Type element) {
  MLIRContext *context = element.getContext();
  if (isa<tile::PtrType>(element) || element.isIndex())
    return IntegerType::get(context, 64);
  unsigned bits = element.getIntOrFloatBitWidth();
  // Half-width floats as integers: CPUs move these under masks where they don't move those.
  if (bits < 32)
    return IntegerType::get(context, bits <= 8 ? 8 : 16);
  return element;
}

Type tilejit::cpu::registerType(Type element, bool scalar) {
  MLIRContext *context = element.getContext();
  if (isa<tile::PtrType>(element)) {
    if (scalar)
      return LLVM::LLVMPointerType::get(context);
    return IntegerType::get(context, 64);
  }
  return element.isIndex() ? IntegerType::get(context, 64) : element;
}
