// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Kernels, their launch rules and grids, loops. Views of operands are in Slices.cpp.

#include "KernelBuilder.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;

namespace tilejit::oplib {

static tile::ViewType viewType(MLIRContext *context, const Operand &operand) {
  SmallVector<int64_t> shape, strides;
  for (const Dim &dim : operand.shape)
    shape.push_back(dim.isSymbolic() ? ShapedType::kDynamic : dim.size);
  if (operand.strides)
    for (const Stride &stride : *operand.strides)
      strides.push_back(stride.kind == Stride::Kind::Constant ? stride.value : ShapedType::kDynamic);
  return tile::ViewType::get(shape, storageType(context, operand.dtype), strides, operand.align);
}

KernelBuilder::KernelBuilder(ModuleOp module, const Description &description, StringRef backEnd)
    : ImplicitLocOpBuilder(module.getLoc(), module.getBodyRegion()), description_(&description), module_(module),
      backEnd_(backEnd) {
  launchDim_.assign(description.dims.size(), -1);
  auto addOperand = [&](const Operand &operand) {
    for (auto [dim, size] : llvm::enumerate(operand.shape))
      if (size.isSymbolic() && launchDim_[size.symbol] < 0) {
        launchDim_[size.symbol] = launchSizes_.size() / 2;
        launchSizes_.append({int64_t(operandTypes_.size()), int64_t(dim)});
      }
    operandTypes_.push_back(viewType(getContext(), operand));
  };
  llvm::for_each(description.inputs, addOperand);
  llvm::for_each(description.outputs, addOperand);
}

//===--- launch rules -------------------------------------------------------------------------------------------===//

AffineExpr KernelBuilder::sizeExpr(const Size &size) {
  if (size.isStatic())
    return getAffineConstantExpr(size.factor);
  return getAffineDimExpr(launchDim_[size.symbol]) * size.factor;
}

/// Spreads grid dimensions over at most three axes, innermost first. Each axis has at most one count that is not a
/// constant, since launch rules are affine. Dimensions beyond that are left to loops inside the kernel.
SmallVector<KernelBuilder::Axis, 3> KernelBuilder::assignAxes(ArrayRef<GridDim> grid) {
  SmallVector<Axis, 3> axes;
  for (int d = grid.size() - 1; d >= 0; --d) {
    AffineExpr count = countExpr(grid[d]);
    bool fits = !axes.empty() && (isa<AffineConstantExpr>(count) || isa<AffineConstantExpr>(axes.back().count));
    if (fits) {
      axes.back().count = axes.back().count * count;
    } else {
      if (axes.size() == 3)
        break;
      axes.push_back({{}, count});
    }
    axes.back().dims.push_back(d);
  }
  if (axes.empty())
    axes.push_back({{}, getAffineConstantExpr(1)});
  return axes;
}

tile::LaunchAttr KernelBuilder::launchRule(ArrayRef<Axis> axes, const KernelOptions &options) {
  unsigned dims = launchSizes_.size() / 2;
  SmallVector<AffineExpr> counts, bounds;
  for (const Axis &axis : axes)
    counts.push_back(axis.count);
  for (const KernelOptions::Condition &condition : options.when) {
    AffineExpr size = sizeExpr(condition.size);
    bounds.push_back(condition.isUpper ? condition.bound - size : size - condition.bound);
  }
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMapAttr::get(AffineMap::get(dims, 0, results, getContext()));
  };
  IntegerSetAttr when;
  if (!bounds.empty())
    when = IntegerSetAttr::get(IntegerSet::get(dims, 0, bounds, SmallVector<bool>(bounds.size(), false)));
  return tile::LaunchAttr::get(getContext(), launchSizes_, map(counts), when, options.phase,
                               options.workspace ? map(*options.workspace) : AffineMapAttr(), options.packs);
}

//===--- kernels ------------------------------------------------------------------------------------------------===//

void KernelBuilder::kernel(StringRef name, ArrayRef<GridDim> grid, const KernelOptions &options,
                           function_ref<void(ArrayRef<Value>)> body) {
  SmallVector<Axis, 3> axes = assignAxes(grid);
  SmallVector<Type> types(operandTypes_);
  if (options.workspace)
    types.push_back(tile::PtrType::get(getContext(), getI8Type()));
  setPlace("op");
  setInsertionPointToEnd(module_.getBody());
  auto op = tile::KernelOp::create(*this, name, getFunctionType(types, {}), launchRule(axes, options));
  SmallVector<Attribute> names;
  auto addName = [&](StringRef text) {
    names.push_back(getDictionaryAttr(getNamedAttr("tile.name", getStringAttr(text))));
  };
  for (const Operand &operand : description_->inputs)
    addName(operand.name);
  for (const Operand &operand : description_->outputs)
    addName(operand.name);
  if (options.workspace)
    addName("workspace");
  op.setArgAttrsAttr(getArrayAttr(names));

  entry_ = &op.getBody().front();
  prologueEnd_ = nullptr;
  constants_.clear();
  sizes_.clear();
  setInsertionPointToStart(entry_);
  tile::ReturnOp::create(*this);
  setInsertionPoint(entry_->getTerminator());
  if (options.warps > 0)
    addHint("warps", options.warps);
  SmallVector<Value> indices(grid.size());
  for (auto [number, axis] : llvm::enumerate(axes))
    readAxis(number, axis, grid, indices);
  loopOverRest(grid, indices, 0, body);
}

/// Advice that holds for the whole kernel.
void KernelBuilder::addHint(StringRef key, int64_t value) {
  DictionaryAttr advice = getDictionaryAttr(getNamedAttr(key, getI64IntegerAttr(value)));
  tile::HintOp::create(*this, getDictionaryAttr(getNamedAttr(backEnd_, advice)));
}

/// Takes the program index of an axis apart into the indices of its grid dimensions.
void KernelBuilder::readAxis(int number, const Axis &axis, ArrayRef<GridDim> grid, MutableArrayRef<Value> indices) {
  if (axis.dims.empty())
    return;
  Value rest = inPrologue([&] { return tile::ProgramIdOp::create(*this, number).getResult(); });
  for (int d : ArrayRef(axis.dims).drop_back()) {
    bool isOne = countExpr(grid[d]) == getAffineConstantExpr(1);
    if (isOne) {
      indices[d] = index(0);
      continue;
    }
    Value count = countValue(grid[d]);
    indices[d] = inPrologue([&] { return arith::RemUIOp::create(*this, rest, count).getResult(); });
    rest = inPrologue([&] { return arith::DivUIOp::create(*this, rest, count).getResult(); });
  }
  indices[axis.dims.back()] = rest;
}

/// Loops over the grid dimensions that no axis took, then builds the body.
void KernelBuilder::loopOverRest(ArrayRef<GridDim> grid, MutableArrayRef<Value> indices, size_t dim,
                                 function_ref<void(ArrayRef<Value>)> body) {
  if (dim == grid.size())
    return body(indices);
  if (indices[dim])
    return loopOverRest(grid, indices, dim + 1, body);
  loop(index(0), countValue(grid[dim]), {}, [&](Value i, ValueRange) {
    indices[dim] = i;
    loopOverRest(grid, indices, dim + 1, body);
    indices[dim] = {};
    return Values();
  });
}

//===--- scalars and loops --------------------------------------------------------------------------------------===//

/// Makes a value at the start of the kernel, after what was made there before.
Value KernelBuilder::inPrologue(function_ref<Value()> make) {
  InsertionGuard guard(*this);
  if (prologueEnd_)
    setInsertionPointAfter(prologueEnd_);
  else
    setInsertionPointToStart(entry_);
  Value value = make();
  prologueEnd_ = value.getDefiningOp();
  return value;
}

Value KernelBuilder::index(int64_t value) {
  Value &known = constants_[value];
  if (!known)
    known = inPrologue([&] { return arith::ConstantIndexOp::create(*this, value).getResult(); });
  return known;
}

Value KernelBuilder::sizeValue(const Size &size) {
  if (size.isStatic())
    return index(size.factor);
  if (Value known = sizes_.lookup({size.symbol, size.factor}))
    return known;
  Value value;
  if (size.factor == 1) {
    int place = 2 * launchDim_[size.symbol];
    value = inPrologue([&] {
      return tile::DimOp::create(*this, operandView(launchSizes_[place]), launchSizes_[place + 1]).getResult();
    });
  } else {
    Value one = sizeValue({1, size.symbol}), factor = index(size.factor);
    value = inPrologue([&] { return arith::MulIOp::create(*this, one, factor).getResult(); });
  }
  sizes_[{size.symbol, size.factor}] = value;
  return value;
}

Value KernelBuilder::countValue(const GridDim &dim) {
  if (dim.size.isStatic())
    return index(llvm::divideCeil(dim.size.factor, dim.tile));
  Value size = sizeValue(dim.size);
  if (dim.tile == 1)
    return size;
  Value tile = index(dim.tile), less = index(dim.tile - 1);
  Value raised = inPrologue([&] { return arith::AddIOp::create(*this, size, less).getResult(); });
  return inPrologue([&] { return arith::DivUIOp::create(*this, raised, tile).getResult(); });
}

/// The value of a constant index; nothing for others.
static std::optional<int64_t> constantOf(Value value) { return getConstantIntValue(value); }

Value KernelBuilder::add(Value a, Value b) {
  if (constantOf(a) == 0)
    return b;
  return constantOf(b) == 0 ? a : arith::AddIOp::create(*this, a, b).getResult();
}

Value KernelBuilder::mul(Value a, Value b) {
  if (constantOf(a) == 1)
    return b;
  return constantOf(b) == 1 ? a : arith::MulIOp::create(*this, a, b).getResult();
}

Values KernelBuilder::loop(Value lower, Value upper, ValueRange inits, function_ref<Values(Value, ValueRange)> body) {
  std::optional<int64_t> first = constantOf(lower), end = constantOf(upper);
  if (first && end && *end <= *first)
    return Values(inits);
  if (first && end && *end == *first + 1)
    return body(lower, inits);
  Value step = index(1);
  auto loop =
      scf::ForOp::create(*this, lower, upper, step, inits, [&](OpBuilder &, Location, Value i, ValueRange carried) {
        InsertionGuard guard(*this);
        setInsertionPointToEnd(i.getParentBlock());
        Values results = body(i, carried);
        scf::YieldOp::create(*this, ValueRange(results));
      });
  setInsertionPointAfter(loop);
  return Values(loop.getResults());
}

Values KernelBuilder::loop(const GridDim &dim, ValueRange inits, function_ref<Values(Value, ValueRange)> body) {
  return loop(index(0), countValue(dim), inits, body);
}

} // namespace tilejit::oplib
