// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The function of a kernel: parameters, program ids, the walk over its operations.

#include "KernelEmitter.h"

#include "LaunchRules.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

KernelEmitter::KernelEmitter(tile::KernelOp kernel, ModuleState &state, OpBuilder &builder)
    : kernel(kernel), b(builder), loc(kernel.getLoc()), threads(state.threads), products(state.products),
      banks(state.banks), state_(state) {
  tilegpu::BlockSize block = tilegpu::blockSizeOf(kernel);
  laneBits_ = llvm::Log2_64(uint64_t(block.lanes));
  blockThreads_ = block.threads();
}

LogicalResult KernelEmitter::run() {
  OpBuilder::InsertionGuard guard(b);
  declareFunction();
  b.setInsertionPointToStart(entry_);
  // Stands between what depends on thread and parameters only and the rest; goes away at the end.
  prologueEnd_ = LLVM::UndefOp::create(b, loc, b.getI32Type());
  readArguments();
  b.setInsertionPointToEnd(entry_);
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  LLVM::ReturnOp::create(b, loc, ValueRange());
  prologueEnd_->erase();
  return success();
}

//===--- the function -------------------------------------------------------------------------------------------===//

Type KernelEmitter::lowered(Type type) const {
  if (auto tile = dyn_cast<RankedTensorType>(type)) {
    Type element = tile.getElementType();
    if (!element.isIntOrFloat())
      element = b.getI64Type();
    LayoutAttr layout = tilegpu::layoutOf(tile);
    return VectorType::get({layout ? layout.numRegisters() : 1},
                           isa<FloatTF32Type>(element) ? Type(b.getF32Type()) : element);
  }
  constexpr unsigned globalMemory = 1;
  if (isa<tile::PtrType>(type))
    return LLVM::LLVMPointerType::get(type.getContext(), globalMemory);
  if (type.isIndex())
    return b.getI64Type();
  return isa<FloatTF32Type>(type) ? Type(b.getF32Type()) : type;
}

void KernelEmitter::declareFunction() {
  Type i64 = b.getI64Type(), pointer = lowered(tile::PtrType::get(b.getContext(), b.getI8Type()));
  SmallVector<Type> types;
  for (Type argument : kernel.getArgumentTypes()) {
    auto view = dyn_cast<tile::ViewType>(argument);
    types.push_back(view || isa<tile::PtrType>(argument) ? pointer : i64);
    if (view)
      types.append(2 * view.getRank(), i64);
  }
  if (hasAssertions(kernel))
    types.push_back(pointer);
  if (doesPrint(kernel))
    types.push_back(pointer);
  types.append(4, i64); // Three counts of instances, and the first instance.
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
  function_ = LLVM::LLVMFuncOp::create(b, loc, kernel.getName(), type);
  threads.markKernel(function_, blockThreads_);
  entry_ = function_.addEntryBlock(b);
}

/// A scalar from the 64 bits it travels in.
static Value fromSlot(OpBuilder &b, Location loc, Value slot, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  Value value = slot;
  if (bits < 64)
    value = arith::TruncIOp::create(b, loc, b.getIntegerType(bits), slot);
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, loc, type, value)) : value;
}

void KernelEmitter::readArguments() {
  PrologueGuard guard(*this);
  unsigned next = 0;
  auto take = [&] { return entry_->getArgument(next++); };
  auto takeIndex = [&](int64_t known) {
    Value slot = take();
    return ShapedType::isDynamic(known) ? Value(slot) : index(known);
  };
  for (BlockArgument argument : kernel.getBody().front().getArguments()) {
    auto type = dyn_cast<tile::ViewType>(argument.getType());
    if (!type) {
      Value slot = take();
      bool isPointer = isa<tile::PtrType>(argument.getType());
      set(argument, isPointer ? slot : fromSlot(b, loc, slot, lowered(argument.getType())));
      continue;
    }
    ViewValue value;
    value.base = take();
    value.element = type.getElementType();
    for (int64_t size : type.getShape())
      value.sizes.push_back(takeIndex(size));
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      value.strides.push_back(takeIndex(type.getStaticStride(dim)));
    setView(argument, value);
  }
  if (hasAssertions(kernel))
    status_ = take();
  if (doesPrint(kernel))
    printBuffer_ = take();
  for (Value &count : counts_)
    count = take();
  Value first = take();
  linearId_ = arith::AddIOp::create(b, loc, first, toIndex(threads.blockId(b, loc)));
}

/// Instances are numbered with axis 0 fastest. A kernel whose rule has fewer axes needs no division for the last one.
Value KernelEmitter::programId(unsigned axis) {
  if (programIds_[axis])
    return programIds_[axis];
  PrologueGuard guard(*this);
  tile::LaunchAttr launch = kernel.getLaunchAttr();
  unsigned axes = launch ? launch.getGrid().getValue().getNumResults() : 3;
  Value id = linearId_;
  for (unsigned before = 0; before < axis; ++before)
    id = arith::DivUIOp::create(b, loc, id, counts_[before]);
  if (axis >= axes)
    id = index(0);
  else if (axis + 1 < axes)
    id = arith::RemUIOp::create(b, loc, id, counts_[axis]);
  return programIds_[axis] = id;
}

Value KernelEmitter::onChip() {
  if (!onChip_) {
    PrologueGuard guard(*this);
    onChip_ = threads.onChipMemory(b, loc, kernel->getParentOfType<ModuleOp>(), kernel.getName(),
                                   tilegpu::blockSizeOf(kernel).sharedBytes);
  }
  return onChip_;
}

//===--- the walk -----------------------------------------------------------------------------------------------===//

LogicalResult KernelEmitter::refuse(Operation *op, const Twine &why) {
  return op->emitOpError("has no lowering to a GPU: ") << why;
}

LogicalResult KernelEmitter::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lowerOp(&op)))
      return failure();
  return success();
}

/// An index is an i64: casts between it and other integers widen or narrow.
static LogicalResult lowerIndexCast(KernelEmitter &e, Operation *op) {
  Type type = e.lowered(op->getResult(0).getType());
  e.set(op->getResult(0), e.resize(e.get(op->getOperand(0)), type, isa<arith::IndexCastOp>(op)));
  return success();
}

/// An operation of arith or math on the lowered operands.
static LogicalResult lowerElementwise(KernelEmitter &e, Operation *op) {
  OperationState state(e.loc, op->getName());
  for (Value operand : op->getOperands())
    state.operands.push_back(e.get(operand));
  for (Type type : op->getResultTypes())
    state.types.push_back(e.lowered(type));
  state.attributes = op->getAttrDictionary().getValue();
  state.propertiesAttr = op->getPropertiesAsAttribute();
  if (state.propertiesAttr)
    state.attributes = llvm::to_vector(op->getDiscardableAttrs());
  Operation *lowered = e.b.create(state);
  for (auto [before, after] : llvm::zip(op->getResults(), lowered->getResults()))
    e.set(before, after);
  return success();
}

LogicalResult KernelEmitter::lowerOp(Operation *op) {
  Location before = std::exchange(loc, op->getLoc());
  LogicalResult result = failure();
  if (auto found = state_.table.find(op->getName().getStringRef()); found != state_.table.end())
    result = found->second(*this, op);
  else if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    result = lowerIndexCast(*this, op);
  else if (op->getNumRegions() == 0 && isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    result = lowerElementwise(*this, op);
  else
    result = refuse(op, "it is not an operation of a kernel");
  loc = before;
  return result;
}
