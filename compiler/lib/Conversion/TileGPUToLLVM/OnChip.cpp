// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Places in on-chip memory. A place's layout and a tile's layout compose to a linear map from registers and threads to
// offsets; accesses are as wide as neighbouring registers have neighbouring offsets.

#include "KernelEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;
using tilegpu::MemoryAttr;
using tilegpu::SharedType;

namespace {

/// Where a tile's registers lie in a place.
class PlaceAccess {
public:
  /// `elementOf` numbers the tile's elements in the place: the same as in the tile unless it is a part.
  PlaceAccess(KernelEmitter &e, SharedType type, LayoutAttr layout, function_ref<int64_t(int64_t)> elementOf)
      : e(e), type(type), bytes(type.elementBytes()), offsetOfBits(type.getMemory().offsetOfElementBits()) {
    for (int64_t element : layout.getRegisters())
      registers.push_back(offsetOf(elementOf(element)));
    for (ArrayRef<int64_t> part : {layout.getLanes(), layout.getWarps()})
      for (int64_t element : part) {
        threadColumns.push_back(offsetOf(elementOf(element)));
        threadBits |= threadColumns.back();
      }
    findVector();
  }

  /// The offset of an element, counted in elements.
  int64_t offsetOf(int64_t element) const {
    int64_t offset = 0;
    for (auto [bit, column] : llvm::enumerate(offsetOfBits))
      if (element >> bit & 1)
        offset ^= column;
    return offset;
  }

  Type memory() const { return e.memoryType(type.getElementType()); }
  int64_t width() const { return int64_t{1} << vectorRegisters.size(); }

  /// Registers of one access, in the order of their offsets, for each access.
  SmallVector<SmallVector<int64_t>> groups() const {
    SmallVector<int64_t> others;
    for (size_t bit = 0; bit < registers.size(); ++bit)
      if (!llvm::is_contained(vectorRegisters, int64_t(bit)))
        others.push_back(int64_t(bit));
    SmallVector<SmallVector<int64_t>> result;
    for (int64_t rest = 0; rest < int64_t{1} << others.size(); ++rest) {
      SmallVector<int64_t> &group = result.emplace_back();
      for (int64_t lane = 0; lane < width(); ++lane)
        group.push_back(spread(rest, others) | spread(lane, vectorRegisters));
    }
    return result;
  }

  /// How far (xor) a part's offsets lie from those of the part at coordinates 0.
  struct Shift {
    int64_t known = 0;
    Value dynamic; ///< i32; null: nothing more.
  };
  /// Address of a register's element in a place at `base`.
  Value address(Value base, const Shift &shift, int64_t reg) {
    Type i32 = e.b.getI32Type();
    if (!thread) {
      PrologueGuard guard(e);
      thread = e.threadCombination(threadColumns);
    }
    int64_t own = shift.known;
    for (auto [bit, offset] : llvm::enumerate(registers))
      if (reg >> bit & 1)
        own ^= offset;
    Value from = thread;
    if (shift.dynamic) {
      if (!shifted)
        shifted = arith::XOrIOp::create(e.b, e.loc, thread, shift.dynamic);
      from = shifted;
    }
    bool meets = shift.dynamic || (own & threadBits) != 0;
    if (meets && own != 0)
      from = arith::XOrIOp::create(e.b, e.loc, from, e.integer(i32, own));
    Value scaled = bytes == 1 ? from : Value(arith::MulIOp::create(e.b, e.loc, from, e.integer(i32, bytes)));
    Value at = LLVM::GEPOp::create(e.b, e.loc, base.getType(), e.b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{scaled});
    return meets ? at : e.address(at, own * bytes, e.b.getI8Type());
  }

  KernelEmitter &e;
  SharedType type;
  int64_t bytes;

private:
  /// The bits of `number` at the places of `bits`.
  static int64_t spread(int64_t number, ArrayRef<int64_t> bits) {
    int64_t result = 0;
    for (auto [i, bit] : llvm::enumerate(bits))
      if (number >> i & 1)
        result |= int64_t{1} << bit;
    return result;
  }

  /// Register bits with offsets 1, 2, 4, ...: as long as nothing else touches those low bits of the offset.
  void findVector() {
    constexpr int64_t mostBytes = 16;
    while ((int64_t{2} << vectorRegisters.size()) * bytes <= mostBytes) {
      int64_t offset = int64_t{1} << vectorRegisters.size();
      auto found = llvm::find(registers, offset);
      if (found == registers.end() || (threadBits & offset) != 0)
        return;
      for (int64_t other : registers)
        if (other != offset && (other & offset) != 0)
          return;
      vectorRegisters.push_back(found - registers.begin());
    }
  }

  SmallVector<int64_t> offsetOfBits, registers, threadColumns, vectorRegisters;
  int64_t threadBits = 0;
  Value thread, shifted;
};

} // namespace

static LogicalResult lowerAlloc(KernelEmitter &e, Operation *op) {
  auto alloc = cast<tilegpu::SharedAllocOp>(op);
  if (!alloc.getOffset())
    return e.refuse(op, "its memory is not planned (tile-gpu-plan-memory)");
  e.set(alloc.getResult(), e.address(e.onChip(), *alloc.getOffset(), e.b.getI8Type()));
  return success();
}

static LogicalResult lowerBarrier(KernelEmitter &e, Operation *) {
  e.threads.barrier(e.b, e.loc);
  return success();
}

static LogicalResult lowerSharedStore(KernelEmitter &e, Operation *op) {
  auto store = cast<tilegpu::SharedStoreOp>(op);
  auto tile = tileTypeOf(store.getValue());
  LayoutAttr layout = tilegpu::layoutOf(tile);
  PlaceAccess access(e, store.getPlace().getType(), layout, [](int64_t element) { return element; });
  SmallVector<Value> values = e.scalars(e.toMemory(e.get(store.getValue()), tile.getElementType()));
  Value base = e.get(store.getPlace());
  return e.when(e.isOriginal(layout), [&] {
    for (ArrayRef<int64_t> group : access.groups()) {
      SmallVector<Value> part = llvm::map_to_vector(group, [&](int64_t reg) { return values[reg]; });
      Value value = part.size() == 1 ? part[0] : e.fromScalars(part);
      e.storeTo(value, access.address(base, {}, group.front()), access.width() * access.bytes);
    }
    return success();
  });
}

/// The number, in the whole place, of a part's element.
static int64_t elementOfPart(int64_t element, ArrayRef<int64_t> part, ArrayRef<int64_t> whole) {
  int64_t result = 0, weight = 1;
  for (int64_t dim = int64_t(part.size()) - 1; dim >= 0; --dim) {
    result += element % part[dim] * weight;
    element /= part[dim];
    weight *= whole[dim];
  }
  return result;
}

/// What coordinates, counted in parts, do to the offset.
static PlaceAccess::Shift shiftOf(KernelEmitter &e, PlaceAccess &access, ValueRange coordinates,
                                  ArrayRef<int64_t> part) {
  ArrayRef<int64_t> whole = access.type.getMemory().getShape();
  Type i32 = e.b.getI32Type();
  int64_t weight = 1;
  PlaceAccess::Shift shift;
  for (int64_t dim = int64_t(part.size()) - 1; dim >= 0; weight *= whole[dim--]) {
    int64_t parts = whole[dim] / part[dim];
    if (parts == 1)
      continue;
    Value at = e.get(coordinates[dim]);
    if (auto constant = getConstantIntValue(at)) {
      shift.known ^= access.offsetOf(*constant * part[dim] * weight);
      continue;
    }
    Value bits = e.resize(at, i32, /*isSigned=*/false);
    for (int64_t bit = 0; (int64_t{1} << bit) < parts; ++bit) {
      Value one = arith::ShRUIOp::create(e.b, e.loc, bits, e.integer(i32, bit));
      one = arith::AndIOp::create(e.b, e.loc, one, e.integer(i32, 1));
      int64_t column = access.offsetOf((part[dim] * weight) << bit);
      Value term = arith::MulIOp::create(e.b, e.loc, one, e.integer(i32, column));
      shift.dynamic = shift.dynamic ? Value(arith::XOrIOp::create(e.b, e.loc, shift.dynamic, term)) : term;
    }
  }
  return shift;
}

static LogicalResult lowerSharedLoad(KernelEmitter &e, Operation *op) {
  auto load = cast<tilegpu::SharedLoadOp>(op);
  auto tile = tileTypeOf(load.getResult());
  LayoutAttr layout = tilegpu::layoutOf(tile);
  SharedType type = load.getPlace().getType();
  ArrayRef<int64_t> part = layout.getShape(), whole = type.getMemory().getShape();
  PlaceAccess access(e, type, layout, [&](int64_t element) { return elementOfPart(element, part, whole); });
  Value base = e.get(load.getPlace());
  PlaceAccess::Shift shift = shiftOf(e, access, load.getCoordinates(), part);
  SmallVector<Value> values(layout.numRegisters());
  for (ArrayRef<int64_t> group : access.groups()) {
    Value address = access.address(base, shift, group.front());
    Type moved = access.memory();
    if (group.size() > 1)
      moved = VectorType::get({int64_t(group.size())}, moved);
    Value value = e.loadFrom(moved, address, access.width() * access.bytes);
    SmallVector<Value> elements = group.size() > 1 ? e.scalars(value) : SmallVector<Value>{value};
    for (auto [reg, element] : llvm::zip(group, elements))
      values[reg] = element;
  }
  e.set(load.getResult(), e.fromMemory(e.fromScalars(values), tile.getElementType()));
  return success();
}

/// Each element's own coordinates, with the index in place of the one along the axis.
static LogicalResult lowerSharedGather(KernelEmitter &e, Operation *op) {
  auto gather = cast<tilegpu::SharedGatherOp>(op);
  auto tile = tileTypeOf(gather.getResult());
  LayoutAttr layout = tilegpu::layoutOf(tile);
  SharedType type = gather.getPlace().getType();
  ArrayRef<int64_t> whole = type.getMemory().getShape();
  PlaceAccess access(e, type, layout, [](int64_t) { return int64_t{0}; });
  Value index = e.get(gather.getIndices());
  auto indexType = cast<VectorType>(index.getType()).clone(e.b.getI64Type());
  index = e.resize(index, indexType, /*isSigned=*/false);
  // What lies beyond the tile reads element 0 of the axis.
  if (Value inside = e.insideTile(layout, tile.getShape()))
    index = arith::SelectOp::create(e.b, e.loc, inside, index, e.integer(indexType, 0));
  Value number = whole.size() == 1 ? index : e.integer(indexType, 0);
  for (auto [dim, size] : llvm::enumerate(whole)) {
    if (whole.size() == 1)
      break;
    Value at = int64_t(dim) == int64_t(gather.getAxis()) ? index : e.coordinateVector(layout, int(dim));
    number = arith::MulIOp::create(e.b, e.loc, number, e.integer(indexType, size));
    number = arith::AddIOp::create(e.b, e.loc, number, at);
  }
  Value base = e.get(gather.getPlace());
  SmallVector<Value> values;
  for (Value element : e.scalars(number)) {
    Value offset = e.index(0);
    for (int64_t bit = 0; (int64_t{1} << bit) < ShapedType::getNumElements(whole); ++bit) {
      Value one =
          arith::AndIOp::create(e.b, e.loc, arith::ShRUIOp::create(e.b, e.loc, element, e.index(bit)), e.index(1));
      offset = arith::XOrIOp::create(e.b, e.loc, offset, e.mul(one, e.index(access.offsetOf(int64_t{1} << bit))));
    }
    values.push_back(e.loadFrom(access.memory(), e.address(base, offset, access.memory()), access.bytes));
  }
  e.set(gather.getResult(), e.fromMemory(e.fromScalars(values), tile.getElementType()));
  return success();
}

void gpu::registerOnChip(LoweringTable &table) {
  table[tilegpu::SharedAllocOp::getOperationName()] = lowerAlloc;
  table[tilegpu::SharedStoreOp::getOperationName()] = lowerSharedStore;
  table[tilegpu::SharedLoadOp::getOperationName()] = lowerSharedLoad;
  table[tilegpu::SharedGatherOp::getOperationName()] = lowerSharedGather;
  table[tilegpu::BarrierOp::getOperationName()] = lowerBarrier;
}
