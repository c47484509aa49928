// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tiles of views in global memory.
//
// Neighbours in a thread's registers are moved by one wide access. Where sides of views are multiples of it, an access
// is inside or outside as a whole: a thread with few of them, and not in a loop, asks for each and needs no other path.
//
// Otherwise there are several paths. A tile that lies inside its view, and is aligned where the chip wants that, is
// moved without a mask, which is the same question for all threads of a block. Of one that is cut only across its rows,
// which wide accesses run along, the rows inside are moved by wide accesses, too; of others elements one by one. At an
// edge a load reads the nearest place inside for each one outside and replaces it by the padding, so that no thread
// branches; a store branches for each place. Nothing is read of a tile that lies outside altogether.

#include "KernelEmitter.h"

#include "../Common/PadValue.h"
#include "../TileToTileGPU/LayoutAssignment.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

namespace {

/// A tile's place in a view.
class Access {
public:
  Access(KernelEmitter &e, Value view, ValueRange coordinates, RankedTensorType tile)
      : e(e), view(e.view(view)), type(cast<tile::ViewType>(view.getType())), tile(tile),
        layout(tilegpu::layoutOf(tile)) {
    for (auto [dim, at] : llvm::enumerate(coordinates)) {
      Value first = e.mul(e.get(at), e.index(tile.getShape()[dim]));
      firsts.push_back(first);
      // Elements from the tile's first on: fewer than a tile's at an edge, none or less outside.
      Value extent = e.min(e.sub(this->view.sizes[dim], first), e.index(tile.getShape()[dim]));
      extents.push_back(extent);
      isBefore = both(isBefore, e.less(e.index(-1), first));
    }
  }

  Type memory() const { return e.memoryType(tile.getElementType()); }
  int64_t bytes() const { return tilegpu::storageBytes(tile.getElementType()); }
  unsigned rank() const { return extents.size(); }

  /// Whether all elements of the layout lie inside the view; null where that is known.
  Value isWhole() {
    if (isPromised)
      return {};
    Value whole = isBefore;
    for (auto [dim, extent] : llvm::enumerate(extents))
      whole = both(whole, e.less(e.index(layout.getShape()[dim] - 1), extent));
    return whole;
  }
  /// Whether any element lies inside.
  Value isTouched() {
    if (isPromised)
      return {};
    Value touched = isBefore;
    for (Value extent : extents)
      touched = both(touched, e.less(e.index(0), extent));
    return touched;
  }
  /// Whether a dimension's layout goes beyond the tile.
  bool isPadded(unsigned dim) const { return tile.getShape()[dim] != layout.getShape()[dim]; }
  /// Known never to be whole: a side is no power of two, so that some registers lie beyond the tile.
  bool isNeverWhole() const {
    return llvm::any_of(llvm::zip(tile.getShape(), layout.getShape()),
                        [](auto sides) { return std::get<0>(sides) != std::get<1>(sides); });
  }

  /// Neighbouring elements that one access moves, and where their registers lie: register bits with the neighbours.
  int64_t vectorWidth() {
    if (width == 0)
      width = findWidth();
    return width;
  }
  /// Whether every access of vectorWidth() elements lies inside the view or outside as a whole. Of accesses that are no
  /// words nothing is gained from that, and LLVM would take loads of packed values to pieces of 4 bits.
  bool movesWhole() {
    if (vectorWidth() * bytes() < 4)
      return false;
    if (width == 1)
      return true;
    int dim = rowDim();
    return tile.getShape()[dim] % width == 0 && (isPromised || e.divisorOf(view.sizes[dim]) % width == 0);
  }
  /// In bytes, of a wide access where isAligned().
  int64_t alignment() { return e.threads.movesUnaligned() && !hasAlignedType() ? bytes() : vectorWidth() * bytes(); }
  /// Whether a tile at an edge may be made of whole rows: wide accesses run along a dimension that is not cut.
  bool hasRows() {
    return rank() > 1 && vectorWidth() > 1 && width * bytes() >= 4 && !isPromised && !isPadded(unsigned(rowDim()));
  }
  /// Whether one that is touched is; null where that is known.
  Value hasWholeRows() { return e.less(e.index(layout.getShape()[rowDim()] - 1), extents[rowDim()]); }
  /// From here to leaveBranch(), hasWholeRows() holds.
  void enterRows() { wholeDim = rowDim(); }
  /// Elements that an access moves at an edge.
  int64_t edgeWidth() { return !isByElement && (wholeDim >= 0 || movesWhole()) ? vectorWidth() : 1; }
  int64_t accesses() { return layout.numRegisters() / vectorWidth(); }
  /// Whether wide accesses are aligned: the first element's address and the strides, in bytes, are multiples of them;
  /// null where that is known, or where the chip does not care.
  Value isAligned() {
    if (e.threads.movesUnaligned() || hasAlignedType())
      return {};
    Value offset = e.index(0);
    for (unsigned dim = 0; dim < rank(); ++dim)
      offset = e.add(offset, e.mul(firsts[dim], view.strides[dim]));
    Value first = e.address(view.base, offset, memory());
    Value bits = LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI64Type(), first);
    for (int dim : ArrayRef(accessOrder(type)).drop_front())
      if (type.getShape()[dim] != 1 && ShapedType::isDynamic(type.getStaticStride(dim)))
        bits = arith::OrIOp::create(e.b, e.loc, bits, e.mul(view.strides[dim], e.index(bytes())));
    bits = arith::AndIOp::create(e.b, e.loc, bits, e.index(width * bytes() - 1));
    return e.equal(bits, 0);
  }
  /// Address of a register's element where the whole tile lies inside.
  Value wholeAddress(int64_t reg) {
    if (!origin) {
      Value offset = e.index(0);
      for (unsigned dim = 0; dim < rank(); ++dim)
        offset = e.add(offset, e.mul(e.add(firsts[dim], e.coordinates(layout, dim).ofThread), view.strides[dim]));
      origin = e.address(view.base, offset, memory());
    }
    Value offset = e.index(0);
    for (unsigned dim = 0; dim < rank(); ++dim) {
      const auto &along = e.coordinates(layout, dim);
      int64_t ofRegister = along.ofRegisters[reg];
      Value own = e.index(ofRegister);
      if ((ofRegister & along.threadBits) != 0)
        own = e.sub(e.coordinate(layout, dim, reg), along.ofThread);
      offset = e.add(offset, e.mul(own, view.strides[dim]));
    }
    return e.address(origin, offset, memory());
  }

  /// Whether the access that begins with a register's element is inside the view; null: known. Of any tile.
  Value isInside(int64_t reg) {
    Value inside = isPromised ? Value() : isBefore;
    for (unsigned dim = 0; dim < rank(); ++dim) {
      if (isPromised && !isPadded(dim))
        continue;
      Value extent = e.resize(e.max(extents[dim], e.index(0)), e.b.getI32Type(), false);
      inside = both(inside, e.less(e.resize(e.coordinate(layout, dim, reg), e.b.getI32Type(), false), extent));
    }
    return inside;
  }

  /// At an edge of a tile that is touched: the address of the access that begins with a register's element, or of the
  /// nearest one inside; whether it is the access itself.
  std::pair<Value, Value> edgeAddress(int64_t reg) {
    Value offset = e.index(0), inside;
    for (unsigned dim = 0; dim < rank(); ++dim) {
      auto [found, isNew] = edges.try_emplace({dim, e.coordinates(layout, dim).ofRegisters[reg]});
      if (isNew)
        found->second = edgeOffset(dim, reg);
      offset = e.add(offset, found->second.first);
      inside = both(inside, found->second.second);
    }
    if (!corner) {
      Value ofTile = e.index(0);
      for (unsigned dim = 0; dim < rank(); ++dim)
        ofTile = e.add(ofTile, e.mul(firsts[dim], view.strides[dim]));
      corner = e.address(view.base, ofTile, memory());
    }
    return {e.address(corner, offset, memory()), inside};
  }
  /// Forgets values made in a branch that has ended.
  void leaveBranch() {
    wholeDim = -1;
    edges.clear();
    origin = corner = {};
  }

  Value both(Value x, Value y) { return e.both(x, y); }

  KernelEmitter &e;
  ViewValue view;
  tile::ViewType type;
  RankedTensorType tile;
  LayoutAttr layout;
  SmallVector<Value, 4> firsts, extents;
  bool isPromised = false;  ///< All elements lie inside: the program says so.
  bool isByElement = false; ///< At an edge every element is asked for by itself.
  Value isBefore;           ///< That the tile's first element is not before the view's; null: known.

private:
  int rowDim() { return accessOrder(type).front(); }
  bool hasAlignedType() { return isKnownAligned(type, int(llvm::Log2_64(uint64_t(vectorWidth())))); }
  int64_t findWidth() {
    SmallVector<int> order = accessOrder(type);
    if (order.empty())
      return 1;
    int most = accessVectorBits(type, tile.getShape()), bits = 0;
    int64_t weight = int64_t{1} << layout.shiftOf(order.front());
    int64_t threadBits = e.coordinates(layout, order.front()).threadBits;
    ArrayRef<int64_t> registers = layout.getRegisters();
    while (bits < most && bits < int(registers.size()) && registers[bits] == weight << bits &&
           (threadBits >> bits & 1) == 0)
      ++bits;
    return int64_t{1} << bits;
  }

  /// What a register's coordinate adds to the offset, and whether it lies inside along the dimension (null: known).
  /// Counted in 32 bits, in which the extent of a tile that is touched fits: chips have no wider comparisons.
  std::pair<Value, Value> edgeOffset(unsigned dim, int64_t reg) {
    Value at = e.coordinate(layout, dim, reg);
    if ((isPromised || int(dim) == wholeDim) && !isPadded(dim))
      return {e.mul(at, view.strides[dim]), {}};
    Value narrow = e.resize(at, e.b.getI32Type(), false), extent = e.resize(extents[dim], e.b.getI32Type(), false);
    Value inside = e.less(narrow, extent);
    bool isAlong = edgeWidth() > 1 && rowDim() == int(dim);
    Value last = arith::SubIOp::create(e.b, e.loc, extent, e.integer(e.b.getI32Type(), isAlong ? width : 1));
    Value nearest = e.resize(e.min(narrow, last), e.b.getI64Type(), false);
    return {e.mul(nearest, view.strides[dim]), inside};
  }

  int wholeDim = -1; ///< A dimension along which all elements lie inside; -1: none that is known.
  int64_t width = 0; ///< vectorWidth(), once it is known.
  Value origin;      ///< Address of the thread's first element of a whole tile.
  Value corner;      ///< Address of the tile's first element.
  llvm::DenseMap<std::pair<int64_t, int64_t>, std::pair<Value, Value>> edges;
};

} // namespace

//===--- accesses -----------------------------------------------------------------------------------------------===//

/// How the elements of one access are held between paths: as words where they are narrower, so that joining paths and
/// choosing between elements and padding costs no more for narrow elements.
static Type heldType(Access &access, int64_t width) {
  int64_t bytes = access.bytes() * width;
  if (access.bytes() < 4 && bytes % 4 == 0)
    return VectorType::get({bytes / 4}, access.e.b.getI32Type());
  return VectorType::get({width}, access.memory());
}

static Value bitcast(KernelEmitter &e, Value vector, Type type) {
  return vector.getType() == type ? vector
                                  : Value(vector::BitCastOp::create(e.b, e.loc, cast<VectorType>(type), vector));
}

/// What a thread's accesses loaded, one after the other.
static Value concatenate(Access &access, SmallVector<Value> parts) {
  KernelEmitter &e = access.e;
  int64_t width = cast<VectorType>(parts.front().getType()).getNumElements();
  if (width == 1) {
    SmallVector<Value> elements;
    for (Value part : parts)
      elements.append(e.scalars(part));
    parts = {e.fromScalars(elements)};
  }
  for (; parts.size() > 1; width *= 2) {
    SmallVector<Value> pairs;
    for (size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(e.pick(parts[i], parts[i + 1], llvm::to_vector(llvm::seq<int64_t>(0, 2 * width))));
    parts = std::move(pairs);
  }
  return bitcast(e, parts.front(), heldType(access, access.layout.numRegisters()));
}

/// `width` elements from an address, by one access or by one for each.
static Value loadElements(Access &access, Value address, int64_t width, bool isWide) {
  KernelEmitter &e = access.e;
  Type held = heldType(access, width);
  if (isWide && width > 1)
    return e.loadFrom(held, address, access.alignment());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < width; ++i)
    elements.push_back(e.loadFrom(access.memory(), e.address(address, i, access.memory()), access.bytes()));
  return bitcast(e, e.fromScalars(elements), held);
}

/// Stores registers from `reg` on to an address, by one access or by one for each.
static void storeElements(Access &access, Value value, int64_t reg, int64_t width, Value address, bool isWide) {
  KernelEmitter &e = access.e;
  if (isWide && width > 1) {
    Value elements = e.pick(value, {}, llvm::to_vector(llvm::seq<int64_t>(reg, reg + width)));
    return e.storeTo(bitcast(e, elements, heldType(access, width)), address, access.alignment());
  }
  auto made = value.getDefiningOp<vector::FromElementsOp>();
  for (int64_t i = 0; i < width; ++i) {
    Value element = made ? made.getElements()[reg + i] : vector::ExtractOp::create(e.b, e.loc, value, reg + i);
    e.storeTo(element, e.address(address, i, access.memory()), access.bytes());
  }
}

/// Whether each access is asked for by itself, which needs no second path: where a thread has few, and only once.
static bool asksEach(Access &access, Operation *op) {
  constexpr int64_t few = 2;
  return access.movesWhole() && access.accesses() <= few && !op->getParentOfType<LoopLikeOpInterface>();
}

//===--- load ---------------------------------------------------------------------------------------------------===//

/// A tile whose accesses all lie inside.
static Value loadWhole(Access &access, bool isWide) {
  SmallVector<Value> parts;
  int64_t width = access.vectorWidth();
  for (int64_t reg = 0; reg < access.layout.numRegisters(); reg += width)
    parts.push_back(loadElements(access, access.wholeAddress(reg), width, isWide));
  return concatenate(access, parts);
}

static Value padding(Access &access, Value pad, int64_t width) {
  return bitcast(access.e, access.e.splat(pad, width), heldType(access, width));
}

static Value loadEach(Access &access, Value pad, bool isWide) {
  KernelEmitter &e = access.e;
  SmallVector<Value> parts;
  int64_t width = access.vectorWidth();
  for (int64_t reg = 0; reg < access.layout.numRegisters(); reg += width) {
    Value address = access.wholeAddress(reg);
    parts.push_back(e.choose(
        access.isInside(reg), heldType(access, width), [&] { return loadElements(access, address, width, isWide); },
        [&] { return padding(access, pad, width); }));
  }
  return concatenate(access, parts);
}

static Value loadAtEdge(Access &access, Value pad, bool isWide) {
  KernelEmitter &e = access.e;
  SmallVector<Value> parts;
  int64_t width = access.edgeWidth();
  Value padded = width == 1 ? pad : padding(access, pad, width);
  for (int64_t reg = 0; reg < access.layout.numRegisters(); reg += width) {
    auto [address, inside] = access.edgeAddress(reg);
    Value part = width == 1 ? e.loadFrom(access.memory(), address, access.bytes())
                            : loadElements(access, address, width, isWide);
    parts.push_back(inside ? Value(arith::SelectOp::create(e.b, e.loc, inside, part, padded)) : part);
  }
  return concatenate(access, width == 1 ? SmallVector<Value>{e.fromScalars(parts)} : parts);
}

/// What is inside of a tile that is touched.
static Value loadTouched(Access &access, Value pad, Value aligned) {
  Type held = heldType(access, access.layout.numRegisters());
  auto path = [&](bool isWide) {
    Value loaded = loadAtEdge(access, pad, isWide);
    access.leaveBranch();
    return loaded;
  };
  if (!access.movesWhole() && !access.hasRows())
    return path(false);
  bool byRows = !access.movesWhole();
  return access.e.choose(
      byRows ? access.both(aligned, access.hasWholeRows()) : aligned, held,
      [&] {
        if (byRows)
          access.enterRows();
        return path(true);
      },
      [&] { return path(false); });
}

static LogicalResult lowerLoad(KernelEmitter &e, Operation *op) {
  auto load = cast<tile::LoadOp>(op);
  auto tile = tileTypeOf(load.getResult());
  Access access(e, load.getView(), load.getCoordinates(), tile);
  int64_t count = access.layout.numRegisters();
  Type held = heldType(access, count);
  access.isPromised = load.getPad() == tile::Pad::None;
  Value pad = arith::ConstantOp::create(e.b, e.loc, padAttr(load.getPad(), tile.getElementType()));
  pad = e.toMemory(pad, tile.getElementType());
  auto inBranch = [&](Value loaded) {
    access.leaveBranch();
    return loaded;
  };
  // Conditions and addresses that both branches may use are made before them.
  Value result, aligned = access.isAligned();
  auto atEdge = [&] {
    return e.choose(
        access.isTouched(), held, [&] { return loadTouched(access, pad, aligned); },
        [&] { return padding(access, pad, count); });
  };
  if (asksEach(access, op)) {
    result = e.choose(
        aligned, held, [&] { return inBranch(loadEach(access, pad, true)); },
        [&] { return inBranch(loadEach(access, pad, false)); });
  } else if (access.isNeverWhole()) {
    result = atEdge();
  } else {
    Value whole = access.both(aligned, access.isWhole());
    result = e.choose(whole, held, [&] { return inBranch(loadWhole(access, true)); }, atEdge);
  }
  Type elements = VectorType::get({count}, access.memory());
  e.set(load.getResult(), e.fromMemory(bitcast(e, result, elements), tile.getElementType()));
  return success();
}

//===--- store --------------------------------------------------------------------------------------------------===//

static LogicalResult storeWhole(Access &access, Value value) {
  int64_t width = access.vectorWidth();
  for (int64_t reg = 0; reg < access.layout.numRegisters(); reg += width)
    storeElements(access, value, reg, width, access.wholeAddress(reg), true);
  access.leaveBranch();
  return success();
}

static LogicalResult storeEach(Access &access, Value value, bool isWide) {
  KernelEmitter &e = access.e;
  int64_t width = access.vectorWidth();
  for (int64_t reg = 0; reg < access.layout.numRegisters(); reg += width) {
    Value address = access.wholeAddress(reg);
    auto write = [&] { return storeElements(access, value, reg, width, address, isWide), success(); };
    if (failed(e.when(access.isInside(reg), write)))
      return failure();
  }
  access.leaveBranch();
  return success();
}

static LogicalResult storeAtEdge(Access &access, Value value, bool isWide) {
  KernelEmitter &e = access.e;
  int64_t width = access.edgeWidth();
  for (int64_t reg = 0; reg < access.layout.numRegisters(); reg += width) {
    auto [address, inside] = access.edgeAddress(reg);
    auto write = [&, address = address] {
      return storeElements(access, value, reg, width, address, isWide), success();
    };
    if (failed(e.when(inside, write)))
      return failure();
  }
  access.leaveBranch();
  return success();
}

/// Either of two paths; a null condition is true.
static LogicalResult eitherPath(KernelEmitter &e, Value condition, function_ref<LogicalResult()> then,
                                function_ref<LogicalResult()> otherwise) {
  if (!condition)
    return then();
  auto branch = scf::IfOp::create(e.b, e.loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  if (failed(then()))
    return failure();
  e.b.setInsertionPointToStart(branch.elseBlock());
  return otherwise();
}

/// What is inside of a tile that is touched.
static LogicalResult storeTouched(Access &access, Value value, Value aligned) {
  if (!access.movesWhole() && !access.hasRows())
    return storeAtEdge(access, value, false);
  bool byRows = !access.movesWhole();
  return eitherPath(
      access.e, byRows ? access.both(aligned, access.hasWholeRows()) : aligned,
      [&] {
        if (byRows)
          access.enterRows();
        return storeAtEdge(access, value, true);
      },
      [&] { return storeAtEdge(access, value, false); });
}

static LogicalResult lowerStore(KernelEmitter &e, Operation *op) {
  auto store = cast<tile::StoreOp>(op);
  auto tile = tileTypeOf(store.getValue());
  Access access(e, store.getView(), store.getCoordinates(), tile);
  Value value = e.toMemory(e.get(store.getValue()), tile.getElementType());
  return e.when(e.isOriginal(access.layout), [&]() -> LogicalResult {
    Value aligned = access.isAligned();
    if (asksEach(access, op))
      return eitherPath(
          e, aligned, [&] { return storeEach(access, value, true); }, [&] { return storeEach(access, value, false); });
    auto atEdge = [&] { return e.when(access.isTouched(), [&] { return storeTouched(access, value, aligned); }); };
    if (access.isNeverWhole())
      return atEdge();
    return eitherPath(e, access.both(aligned, access.isWhole()), [&] { return storeWhole(access, value); }, atEdge);
  });
}

/// The addresses of a tile's elements and which of them are inside the view: for atomic updates.
LogicalResult gpu::forEachInside(KernelEmitter &e, Value view, ValueRange coordinates, RankedTensorType tile,
                                 function_ref<LogicalResult(int64_t, Value)> body) {
  Access access(e, view, coordinates, tile);
  access.isByElement = true;
  return e.when(e.both(e.isOriginal(access.layout), access.isTouched()), [&]() -> LogicalResult {
    for (int64_t reg = 0; reg < access.layout.numRegisters(); ++reg) {
      auto [address, inside] = access.edgeAddress(reg);
      if (failed(e.when(inside, [&, address = address] { return body(reg, address); })))
        return failure();
    }
    return success();
  });
}

void gpu::registerGlobalMemory(LoweringTable &table) {
  table[tile::LoadOp::getOperationName()] = lowerLoad;
  table[tile::StoreOp::getOperationName()] = lowerStore;
}
