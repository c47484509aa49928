// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Structure: program ids, views, assumptions, loops and branches, constants.

#include "KernelEmitter.h"

#include "../Common/ConstantTable.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

static LogicalResult lowerProgramId(KernelEmitter &e, Operation *op) {
  e.set(op->getResult(0), e.programId(cast<tile::ProgramIdOp>(op).getAxis()));
  return success();
}

static LogicalResult lowerNumPrograms(KernelEmitter &e, Operation *op) {
  e.set(op->getResult(0), e.numPrograms(cast<tile::NumProgramsOp>(op).getAxis()));
  return success();
}

static LogicalResult lowerNothing(KernelEmitter &, Operation *) { return success(); }

/// The value itself; a known one as the constant that it equals.
static LogicalResult lowerAssume(KernelEmitter &e, Operation *op) {
  auto assume = cast<tile::AssumeOp>(op);
  Value value = e.get(assume.getValue());
  if (auto equal = assume.getEqual())
    value = e.integer(value.getType(), int64_t(*equal));
  e.set(assume.getResult(), value);
  return success();
}

//===--- views --------------------------------------------------------------------------------------------------===//

static Value sizeOrOperand(KernelEmitter &e, int64_t known, ValueRange &operands) {
  if (!ShapedType::isDynamic(known))
    return e.index(known);
  Value operand = operands.front();
  operands = operands.drop_front();
  return e.get(operand);
}

static LogicalResult lowerView(KernelEmitter &e, Operation *op) {
  auto view = cast<tile::ViewOp>(op);
  tile::ViewType type = view.getType();
  ViewValue value;
  value.base = e.get(view.getBase());
  value.element = type.getElementType();
  ValueRange sizes = view.getSizes(), strides = view.getStrides();
  for (int64_t size : type.getShape())
    value.sizes.push_back(sizeOrOperand(e, size, sizes));
  value.strides.resize(type.getRank());
  Value dense = e.index(1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (type.isDense()) {
      value.strides[dim] = dense;
      dense = e.mul(dense, value.sizes[dim]);
    }
  }
  for (auto [dim, stride] : llvm::enumerate(type.getStrides()))
    value.strides[dim] = sizeOrOperand(e, stride, strides);
  e.setView(view.getResult(), value);
  return success();
}

static LogicalResult lowerSubview(KernelEmitter &e, Operation *op) {
  auto part = cast<tile::SubviewOp>(op);
  ViewValue value = e.view(part.getSource());
  Value offset = e.index(0);
  for (auto [at, stride] : llvm::zip(part.getOffsets(), value.strides))
    offset = e.add(offset, e.mul(e.get(at), stride));
  value.base = e.address(value.base, offset, e.memoryType(value.element));
  ValueRange sizes = part.getSizes();
  for (auto [dim, size] : llvm::enumerate(part.getType().getShape()))
    value.sizes[dim] = sizeOrOperand(e, size, sizes);
  e.setView(part.getResult(), value);
  return success();
}

static LogicalResult lowerDim(KernelEmitter &e, Operation *op) {
  auto dim = cast<tile::DimOp>(op);
  e.set(dim.getResult(), e.view(dim.getView()).sizes[dim.getDim()]);
  return success();
}

static LogicalResult lowerStride(KernelEmitter &e, Operation *op) {
  auto stride = cast<tile::StrideOp>(op);
  e.set(stride.getResult(), e.view(stride.getView()).strides[stride.getDim()]);
  return success();
}

static LogicalResult lowerBase(KernelEmitter &e, Operation *op) {
  auto base = cast<tile::BaseOp>(op);
  e.set(base.getResult(), e.view(base.getView()).base);
  return success();
}

//===--- control flow -------------------------------------------------------------------------------------------===//

static SmallVector<Value> getAll(KernelEmitter &e, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return e.get(value); });
}

static void setAll(KernelEmitter &e, ValueRange values, ValueRange lowered) {
  for (auto [value, to] : llvm::zip(values, lowered))
    e.set(value, to);
}

/// Lowers a block into another one that already has its terminator's place: yields the lowered operands.
static LogicalResult lowerInto(KernelEmitter &e, Block &from, Block *to, function_ref<void(ValueRange)> terminate) {
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToEnd(to);
  if (failed(e.lowerBlock(from)))
    return failure();
  terminate(getAll(e, from.getTerminator()->getOperands()));
  return success();
}

/// Keeps LLVM from unrolling: what is worth it arrives unrolled, and bodies are long.
static LLVM::LoopAnnotationAttr notUnrolled(MLIRContext *context) {
  auto yes = BoolAttr::get(context, true);
  auto unroll = LLVM::LoopUnrollAttr::get(context, /*disable=*/yes, {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

static LogicalResult lowerFor(KernelEmitter &e, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  auto lowered = scf::ForOp::create(e.b, e.loc, e.get(loop.getLowerBound()), e.get(loop.getUpperBound()),
                                    e.get(loop.getStep()), getAll(e, loop.getInitArgs()));
  lowered->setAttr("loop_annotation", notUnrolled(e.b.getContext()));
  Block *body = lowered.getBody();
  if (!body->empty())
    body->back().erase();
  setAll(e, loop.getBody()->getArguments(), body->getArguments());
  if (failed(lowerInto(e, *loop.getBody(), body, [&](ValueRange values) { scf::YieldOp::create(e.b, e.loc, values); })))
    return failure();
  setAll(e, loop.getResults(), lowered.getResults());
  return success();
}

static LogicalResult lowerIf(KernelEmitter &e, Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  SmallVector<Type> types = llvm::map_to_vector(branch.getResultTypes(), [&](Type type) { return e.lowered(type); });
  bool hasElse = !branch.getElseRegion().empty();
  auto lowered = scf::IfOp::create(e.b, e.loc, types, e.get(branch.getCondition()), true, hasElse);
  auto fill = [&](Block &from, Block *to) {
    to->clear();
    return lowerInto(e, from, to, [&](ValueRange values) { scf::YieldOp::create(e.b, e.loc, values); });
  };
  if (failed(fill(*branch.thenBlock(), lowered.thenBlock())))
    return failure();
  if (hasElse && failed(fill(*branch.elseBlock(), lowered.elseBlock())))
    return failure();
  setAll(e, branch.getResults(), lowered.getResults());
  return success();
}

static LogicalResult lowerWhile(KernelEmitter &e, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<Type> types = llvm::map_to_vector(loop.getResultTypes(), [&](Type type) { return e.lowered(type); });
  auto lowered = scf::WhileOp::create(e.b, e.loc, types, getAll(e, loop.getInits()));
  auto fill = [&](Block *from, Region &region, function_ref<void(ValueRange)> terminate) {
    Block *to = e.b.createBlock(&region);
    for (Type type : from->getArgumentTypes())
      to->addArgument(e.lowered(type), e.loc);
    setAll(e, from->getArguments(), to->getArguments());
    return lowerInto(e, *from, to, terminate);
  };
  OpBuilder::InsertionGuard guard(e.b);
  if (failed(fill(
          loop.getBeforeBody(), lowered.getBefore(),
          [&](ValueRange values) { scf::ConditionOp::create(e.b, e.loc, values.front(), values.drop_front()); })) ||
      failed(fill(loop.getAfterBody(), lowered.getAfter(),
                  [&](ValueRange values) { scf::YieldOp::create(e.b, e.loc, values); })))
    return failure();
  setAll(e, loop.getResults(), lowered.getResults());
  return success();
}

//===--- constants ----------------------------------------------------------------------------------------------===//

/// A table in constant memory that each thread reads its elements from.
static LogicalResult lowerTable(KernelEmitter &e, arith::ConstantOp op, DenseElementsAttr elements) {
  auto type = cast<RankedTensorType>(op.getType());
  LayoutAttr layout = tilegpu::layoutOf(type);
  Type element = type.getElementType();
  if (!element.isIntOrIndexOrFloat())
    return e.refuse(op, "a table of this type");
  int64_t bytes = tilegpu::storageBytes(element);
  // In the order of the layout's numbers: what lies beyond the tile's sides is zero.
  ArrayRef<int64_t> padded = layout.getShape();
  DenseElementsAttr bits =
      constantTable(elements, computeStrides(padded), ShapedType::getNumElements(padded), unsigned(8 * bytes));
  auto module = e.kernel->getParentOfType<ModuleOp>();
  auto array = LLVM::LLVMArrayType::get(bits.getElementType(), bits.getNumElements());
  std::string name = unusedSymbol(module, "tilejit_table_");
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  constexpr unsigned globalMemory = 1;
  auto global = LLVM::GlobalOp::create(top, e.loc, array, /*isConstant=*/true, LLVM::Linkage::Internal, name, bits,
                                       /*alignment=*/16, globalMemory);
  Value base = LLVM::AddressOfOp::create(e.b, e.loc, global);
  Value ofThread = e.threadCombination(layout.threadColumns());
  SmallVector<Value> values;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
    Value at = arith::XOrIOp::create(e.b, e.loc, ofThread, e.integer(e.b.getI32Type(), layout.elementOfRegister(reg)));
    Value address = e.address(base, e.toIndex(at), e.memoryType(element));
    values.push_back(e.loadFrom(e.memoryType(element), address, bytes));
  }
  e.set(op.getResult(), e.fromMemory(e.fromScalars(values), element));
  return success();
}

static LogicalResult lowerConstant(KernelEmitter &e, Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements) {
    e.set(constant.getResult(), constant.getType().isIndex()
                                    ? e.index(cast<IntegerAttr>(constant.getValue()).getInt())
                                    : Value(arith::ConstantOp::create(e.b, e.loc, constant.getValue())));
    return success();
  }
  if (!elements.isSplat())
    return lowerTable(e, constant, elements);
  auto type = cast<VectorType>(e.lowered(constant.getType()));
  e.set(constant.getResult(), arith::ConstantOp::create(e.b, e.loc, elements.resizeSplat(type)));
  return success();
}

void gpu::registerStructure(LoweringTable &table) {
  table[tile::ProgramIdOp::getOperationName()] = lowerProgramId;
  table[tile::NumProgramsOp::getOperationName()] = lowerNumPrograms;
  table[tile::HintOp::getOperationName()] = lowerNothing;
  table[tile::PrefetchOp::getOperationName()] = lowerNothing;
  table[tile::AssumeOp::getOperationName()] = lowerAssume;
  table[tile::ViewOp::getOperationName()] = lowerView;
  table[tile::SubviewOp::getOperationName()] = lowerSubview;
  table[tile::DimOp::getOperationName()] = lowerDim;
  table[tile::StrideOp::getOperationName()] = lowerStride;
  table[tile::BaseOp::getOperationName()] = lowerBase;
  table[scf::ForOp::getOperationName()] = lowerFor;
  table[scf::IfOp::getOperationName()] = lowerIf;
  table[scf::WhileOp::getOperationName()] = lowerWhile;
  table[arith::ConstantOp::getOperationName()] = lowerConstant;
}
