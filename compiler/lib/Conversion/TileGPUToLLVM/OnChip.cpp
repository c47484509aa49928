// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Places in on-chip memory. A place's layout and a tile's layout compose to a linear map from registers and threads to
// offsets; accesses are as wide as neighbouring registers have neighbouring offsets.

#include "ConvertLayout.h"

#include "tilejit/Transforms/LayoutConversion.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;
using namespace tilejit::tilegpu;

namespace {

/// Where a tile's registers lie in a place, and by which accesses they move.
class PlaceAccess {
public:
  /// `elementOf` numbers the tile's elements in the place: the same as in the tile unless it is a part.
  PlaceAccess(KernelEmitter &e, SharedType type, LayoutAttr layout, function_ref<int64_t(int64_t)> elementOf,
              bool isStore)
      : e(e), type(type), bytes(type.elementBytes()) {
    gf2::Vectors columns;
    for (ArrayRef<int64_t> part : {layout.getRegisters(), layout.getLanes(), layout.getWarps()})
      for (int64_t element : part)
        columns.push_back(uint64_t(elementOf(element)));
    LinearLayout memory = type.getMemory().toLinear();
    LinearLayout places(layout.toLinear().ins(), memory.outs(), columns);
    ConversionOptions options;
    options.elementBits = int(8 * bytes);
    options.banks = &e.banks;
    int widest = hasWholeBytes(type.getElementType()) ? 4 : 0;
    plan = planMemoryAccess(places, memory, SharedAccess::Plain, isStore, options, widest);
    if (plan)
      for (uint64_t column : plan->threadOffset)
        threadBits |= int64_t(column);
  }

  /// The offset of an element, counted in elements.
  int64_t offsetOf(int64_t element) {
    if (offsetOfBits.empty())
      offsetOfBits = type.getMemory().offsetOfElementBits();
    int64_t offset = 0;
    for (auto [bit, column] : llvm::enumerate(offsetOfBits))
      if (element >> bit & 1)
        offset ^= column;
    return offset;
  }

  Type memory() const { return e.memoryType(type.getElementType()); }
  int64_t width() const { return plan->vectorElements; }

  /// How far (xor) a part's offsets lie from those of the part at coordinates 0.
  struct Shift {
    int64_t known = 0;
    Value dynamic;           ///< i32; null: nothing more.
    int64_t dynamicBits = 0; ///< Which of its bits can be set.
  };
  /// Address of an access in a place at `base`.
  Value address(Value base, const Shift &shift, const AccessGroup &group) {
    Type i32 = e.b.getI32Type();
    if (!thread) {
      PrologueGuard guard(e);
      thread = e.threadCombination(SmallVector<int64_t>(plan->threadOffset.begin(), plan->threadOffset.end()));
    }
    int64_t own = shift.known ^ int64_t(group.offset);
    Value from = thread;
    if (shift.dynamic) {
      if (!shifted)
        shifted = arith::XOrIOp::create(e.b, e.loc, thread, shift.dynamic);
      from = shifted;
    }
    bool meets = (own & (threadBits | shift.dynamicBits)) != 0;
    if (meets)
      from = arith::XOrIOp::create(e.b, e.loc, from, e.integer(i32, own));
    Value scaled = bytes == 1 ? from : Value(arith::MulIOp::create(e.b, e.loc, from, e.integer(i32, bytes)));
    Value at = LLVM::GEPOp::create(e.b, e.loc, base.getType(), e.b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{scaled});
    return meets ? at : e.address(at, own * bytes, e.b.getI8Type());
  }

  KernelEmitter &e;
  SharedType type;
  int64_t bytes;
  std::optional<MemoryAccess> plan; ///< None: the layout does not lead to the place.

private:
  SmallVector<int64_t> offsetOfBits; ///< Computed when it is first asked for.
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
  PlaceAccess access(
      e, store.getPlace().getType(), tilegpu::layoutOf(tile), [](int64_t element) { return element; },
      /*isStore=*/true);
  if (!access.plan)
    return e.refuse(op, "its layout does not lead to the place");
  SmallVector<Value> values = e.scalars(e.toMemory(e.get(store.getValue()), tile.getElementType()));
  applySelects(e, access.plan->selects, values);
  Value base = e.get(store.getPlace()), writes;
  if (access.plan->writeMask != 0) {
    Type i32 = e.b.getI32Type();
    Value bits = arith::AndIOp::create(e.b, e.loc, e.thread(), e.integer(i32, int64_t(access.plan->writeMask)));
    writes = e.equal(bits, 0);
  }
  return e.when(writes, [&] {
    for (const AccessGroup &group : access.plan->groups) {
      SmallVector<Value> part = llvm::map_to_vector(group.registers, [&](unsigned reg) { return values[reg]; });
      Value value = part.size() == 1 ? part[0] : e.fromScalars(part);
      e.storeTo(value, access.address(base, {}, group), access.width() * access.bytes);
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
      shift.dynamicBits |= column;
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
  PlaceAccess access(
      e, type, layout, [&](int64_t element) { return elementOfPart(element, part, whole); },
      /*isStore=*/false);
  if (!access.plan)
    return e.refuse(op, "its layout does not lead to the place");
  Value base = e.get(load.getPlace());
  PlaceAccess::Shift shift = shiftOf(e, access, load.getCoordinates(), part);
  SmallVector<Value> values(layout.numRegisters());
  for (const AccessGroup &group : access.plan->groups) {
    Value address = access.address(base, shift, group);
    Type moved = access.memory();
    if (group.registers.size() > 1)
      moved = VectorType::get({int64_t(group.registers.size())}, moved);
    Value value = e.loadFrom(moved, address, access.width() * access.bytes);
    SmallVector<Value> elements = group.registers.size() > 1 ? e.scalars(value) : SmallVector<Value>{value};
    for (auto [reg, element] : llvm::zip(group.registers, elements))
      values[reg] = element;
  }
  applySelects(e, access.plan->selects, values);
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
  Type memory = e.memoryType(type.getElementType());
  SmallVector<Value> values;
  for (Value element : e.scalars(number)) {
    Value offset = e.index(0);
    for (auto [bit, column] : llvm::enumerate(type.getMemory().offsetOfElementBits())) {
      Value one = arith::ShRUIOp::create(e.b, e.loc, element, e.index(int64_t(bit)));
      one = arith::AndIOp::create(e.b, e.loc, one, e.index(1));
      offset = arith::XOrIOp::create(e.b, e.loc, offset, e.mul(one, e.index(column)));
    }
    values.push_back(e.loadFrom(memory, e.address(base, offset, memory), type.elementBytes()));
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
