// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tiles of views in global memory.
//
// A tile that lies inside its view and is aligned is moved without a mask by wide accesses; whether it does is the same
// question for all threads of a block. Of one that is cut only across its rows, which wide accesses run along, the rows
// inside are moved in the same way. Otherwise elements are moved one by one. A load reads the nearest element inside
// for each one outside and replaces it by the padding, so that no thread branches; a store branches for each access.
// Nothing is read of a tile that lies outside altogether.

#include "KernelEmitter.h"

#include "../Common/PadValue.h"
#include "../TileToTileGPU/LayoutAssignment.h"

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

  /// Whether all elements of the layout lie inside the view and wide accesses are aligned; null where that is known.
  Value isWhole() {
    Value whole = isAligned();
    if (isPromised)
      return whole;
    whole = both(whole, isBefore);
    for (auto [dim, extent] : llvm::enumerate(extents))
      whole = both(whole, e.less(e.index(layout.getShape()[dim] - 1), extent));
    return whole;
  }
  /// Whether a tile that is not whole may be made of whole rows: wide accesses run along a dimension that is not cut.
  bool hasRows() { return rank() > 1 && vectorWidth() > 1 && !isPromised && !isPadded(unsigned(rowDim())); }
  /// Whether one that is touched is, and they are aligned; null where that is known.
  Value hasWholeRows() {
    int dim = rowDim();
    return both(isAligned(), e.less(e.index(layout.getShape()[dim] - 1), extents[dim]));
  }
  /// From here to leaveBranch(), hasWholeRows() holds.
  void enterRows() { wholeDim = rowDim(); }
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

  /// At an edge of a tile that is touched: the address of the element, or of the nearest one inside; whether it is the
  /// element itself.
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
  bool isPromised = false; ///< All elements lie inside: the program says so.
  Value isBefore;          ///< That the tile's first element is not before the view's; null: known.

private:
  int rowDim() { return accessOrder(type).front(); }

  /// The first element's address and the strides, in bytes, are multiples of the wide access; null where that is known.
  Value isAligned() {
    int64_t width = vectorWidth();
    if (isKnownAligned(type, int(llvm::Log2_64(uint64_t(width)))))
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

  /// What a register's coordinate adds to the offset, and whether it lies inside along the dimension (null: known).
  /// Counted in 32 bits, in which the extent of a tile that is touched fits: chips have no wider comparisons.
  std::pair<Value, Value> edgeOffset(unsigned dim, int64_t reg) {
    Value at = e.coordinate(layout, dim, reg);
    if ((isPromised || int(dim) == wholeDim) && !isPadded(dim))
      return {e.mul(at, view.strides[dim]), {}};
    Value narrow = e.resize(at, e.b.getI32Type(), false), extent = e.resize(extents[dim], e.b.getI32Type(), false);
    Value inside = e.less(narrow, extent);
    Value last = arith::SubIOp::create(e.b, e.loc, extent, e.integer(e.b.getI32Type(), 1));
    Value nearest = e.resize(e.min(narrow, last), e.b.getI64Type(), false);
    return {e.mul(nearest, view.strides[dim]), inside};
  }

  int wholeDim = -1; ///< A dimension along which all elements lie inside; -1: none that is known.
  Value origin;      ///< Address of the thread's first element of a whole tile.
  Value corner;      ///< Address of the tile's first element.
  llvm::DenseMap<std::pair<int64_t, int64_t>, std::pair<Value, Value>> edges;
};

} // namespace

//===--- load ---------------------------------------------------------------------------------------------------===//

static Value loadWhole(Access &access) {
  KernelEmitter &e = access.e;
  int64_t width = access.vectorWidth(), count = access.layout.numRegisters(), bytes = access.bytes();
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < count; reg += width) {
    Value address = access.wholeAddress(reg);
    if (width == 1) {
      elements.push_back(e.loadFrom(access.memory(), address, bytes));
      continue;
    }
    Value vector = e.loadFrom(VectorType::get({width}, access.memory()), address, width * bytes);
    if (width == count)
      return vector;
    elements.append(e.scalars(vector));
  }
  return e.fromScalars(elements);
}

static Value loadAtEdge(Access &access, Value pad) {
  KernelEmitter &e = access.e;
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < access.layout.numRegisters(); ++reg) {
    auto [address, inside] = access.edgeAddress(reg);
    Value element = e.loadFrom(access.memory(), address, access.bytes());
    elements.push_back(inside ? Value(arith::SelectOp::create(e.b, e.loc, inside, element, pad)) : element);
  }
  return e.fromScalars(elements);
}

/// The rows inside of a tile whose rows are whole.
static Value loadRows(Access &access, Value pad) {
  KernelEmitter &e = access.e;
  int64_t width = access.vectorWidth(), bytes = access.bytes();
  auto type = VectorType::get({width}, access.memory());
  Value padding = e.splat(pad, width);
  SmallVector<Value> elements;
  access.enterRows();
  for (int64_t reg = 0; reg < access.layout.numRegisters(); reg += width) {
    auto [address, inside] = access.edgeAddress(reg);
    Value part = e.loadFrom(type, address, width * bytes);
    elements.append(e.scalars(inside ? Value(arith::SelectOp::create(e.b, e.loc, inside, part, padding)) : part));
  }
  access.leaveBranch();
  return e.fromScalars(elements);
}

static LogicalResult lowerLoad(KernelEmitter &e, Operation *op) {
  auto load = cast<tile::LoadOp>(op);
  auto tile = tileTypeOf(load.getResult());
  Access access(e, load.getView(), load.getCoordinates(), tile);
  int64_t count = access.layout.numRegisters();
  auto type = VectorType::get({count}, access.memory());
  access.isPromised = load.getPad() == tile::Pad::None;
  Value pad = arith::ConstantOp::create(e.b, e.loc, padAttr(load.getPad(), tile.getElementType()));
  pad = e.toMemory(pad, tile.getElementType());
  // Addresses that both branches may use are made before them.
  auto inPieces = [&] {
    Value result = loadAtEdge(access, pad);
    access.leaveBranch();
    return result;
  };
  auto touched = [&] {
    return access.hasRows() ? e.choose(
                                  access.hasWholeRows(), type, [&] { return loadRows(access, pad); }, inPieces)
                            : inPieces();
  };
  auto atEdge = [&] { return e.choose(access.isTouched(), type, touched, [&] { return e.splat(pad, count); }); };
  Value result;
  if (access.isNeverWhole())
    result = atEdge();
  else
    result = e.choose(
        access.isWhole(), type,
        [&] {
          Value whole = loadWhole(access);
          access.leaveBranch();
          return whole;
        },
        atEdge);
  e.set(load.getResult(), e.fromMemory(result, tile.getElementType()));
  return success();
}

//===--- store --------------------------------------------------------------------------------------------------===//

static void storeWhole(Access &access, Value value) {
  KernelEmitter &e = access.e;
  int64_t width = access.vectorWidth(), count = access.layout.numRegisters(), bytes = access.bytes();
  SmallVector<Value> elements = e.scalars(value);
  for (int64_t reg = 0; reg < count; reg += width) {
    Value part = elements[reg];
    if (width > 1)
      part = width == count ? value : e.fromScalars(ArrayRef(elements).slice(reg, width));
    e.storeTo(part, access.wholeAddress(reg), width * bytes);
  }
}

static LogicalResult storeAtEdge(Access &access, Value value) {
  KernelEmitter &e = access.e;
  SmallVector<Value> elements = e.scalars(value);
  for (int64_t reg = 0; reg < access.layout.numRegisters(); ++reg) {
    auto [address, inside] = access.edgeAddress(reg);
    auto write = [&, address = address] { return e.storeTo(elements[reg], address, access.bytes()), success(); };
    if (failed(e.when(inside, write)))
      return failure();
  }
  return success();
}

static LogicalResult storeRows(Access &access, Value value) {
  KernelEmitter &e = access.e;
  int64_t width = access.vectorWidth(), bytes = access.bytes();
  SmallVector<Value> elements = e.scalars(value);
  access.enterRows();
  for (int64_t reg = 0; reg < access.layout.numRegisters(); reg += width) {
    auto [address, inside] = access.edgeAddress(reg);
    auto write = [&, address = address] {
      return e.storeTo(e.fromScalars(ArrayRef(elements).slice(reg, width)), address, width * bytes), success();
    };
    if (failed(e.when(inside, write)))
      return failure();
  }
  access.leaveBranch();
  return success();
}

/// What is inside of a tile that may be cut.
static LogicalResult storeTouched(Access &access, Value value) {
  KernelEmitter &e = access.e;
  if (!access.hasRows())
    return storeAtEdge(access, value);
  Value whole = access.hasWholeRows();
  if (!whole)
    return storeRows(access, value);
  auto branch = scf::IfOp::create(e.b, e.loc, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  if (failed(storeRows(access, value)))
    return failure();
  e.b.setInsertionPointToStart(branch.elseBlock());
  return storeAtEdge(access, value);
}

static LogicalResult lowerStore(KernelEmitter &e, Operation *op) {
  auto store = cast<tile::StoreOp>(op);
  auto tile = tileTypeOf(store.getValue());
  Access access(e, store.getView(), store.getCoordinates(), tile);
  Value value = e.toMemory(e.get(store.getValue()), tile.getElementType());
  return e.when(e.isOriginal(access.layout), [&]() -> LogicalResult {
    if (access.isNeverWhole())
      return e.when(access.isTouched(), [&] { return storeTouched(access, value); });
    Value whole = access.isWhole();
    if (!whole)
      return storeWhole(access, value), success();
    auto branch = scf::IfOp::create(e.b, e.loc, whole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    storeWhole(access, value);
    access.leaveBranch();
    e.b.setInsertionPointToStart(branch.elseBlock());
    return e.when(access.isTouched(), [&] { return storeTouched(access, value); });
  });
}

/// The addresses of a tile's elements and which of them are inside the view: for atomic updates.
LogicalResult gpu::forEachInside(KernelEmitter &e, Value view, ValueRange coordinates, RankedTensorType tile,
                                 function_ref<LogicalResult(int64_t, Value)> body) {
  Access access(e, view, coordinates, tile);
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
