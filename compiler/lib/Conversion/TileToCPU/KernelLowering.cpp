// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The structure of a lowered kernel: arguments from their slots, the loop over program instances, scalars, views, and
// the dispatch of operations to their families.

#include "KernelLowering.h"
#include "Print.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

const OpTables &tilejit::cpu::opTables(MLIRContext *context) {
  // Names only, the same for every context.
  static const OpTables tables = [context] {
    OpTables all;
    registerLazyArithmetic(all, context);
    registerLazyConversions(all);
    registerLazyShape(all);
    registerMemory(all);
    registerRoots(all);
    registerStore(all);
    registerReduce(all);
    registerControlFlow(all);
    registerDot(all);
    registerScan(all);
    registerPieces(all);
    registerPointers(all);
    registerAtomics(all);
    registerPrint(all);
    return all;
  }();
  return tables;
}

/// Visits the types of all tiles of a kernel.
static void walkTiles(tile::KernelOp kernel, llvm::function_ref<void(RankedTensorType)> body) {
  auto see = [&](TypeRange types) {
    for (Type type : types)
      if (auto tile = dyn_cast<RankedTensorType>(type))
        body(tile);
  };
  kernel.walk([&](Operation *op) {
    see(op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        see(block.getArgumentTypes());
  });
}

/// Registers of 32-bit numbers that a kernel computes side by side: as many as fill one with its narrowest results,
/// where it does nothing but sweep over long rows.
static int64_t registersAtATime(tile::KernelOp kernel, int64_t lanes) {
  constexpr int64_t leastSegments = 8;
  int64_t narrowest = 4;
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op))
      narrowest = std::min(narrowest, byteSize(memoryType(getElementTypeOrSelf(store.getValue().getType()))));
    bool isRowwise =
        op->hasTrait<OpTrait::Elementwise>() || !isa<tile::TileDialect>(op->getDialect()) ||
        isa<tile::KernelOp, tile::LoadOp, tile::StoreOp, tile::ReduceOp, tile::YieldOp, tile::FpToFpOp, tile::FpToIntOp,
            tile::BroadcastOp, tile::ExpandOp, tile::SplatOp, tile::IotaOp, tile::ViewOp, tile::BaseOp, tile::AddPtrOp,
            tile::DimOp, tile::StrideOp, tile::ProgramIdOp, tile::HintOp, tile::ReturnOp>(op);
    return isRowwise ? WalkResult::advance() : WalkResult::interrupt();
  });
  bool isLong = true;
  walkTiles(kernel, [&](RankedTensorType tile) {
    int lane = KernelLowering::laneDimension(tile.getShape());
    isLong &= lane < 0 || (lane + 1 == tile.getRank() && tile.getDimSize(lane) >= leastSegments * lanes);
  });
  return isLong && !result.wasInterrupted() ? 4 / narrowest : 1;
}

/// Lanes that fill a register with the widest element type of the kernel's tiles, or several registers.
static int64_t lanesFor(tile::KernelOp kernel, const CpuModel &model) {
  int64_t widest = 8;
  walkTiles(kernel, [&](RankedTensorType tile) {
    Type element = tile.getElementType();
    if (element.isInteger(1))
      return;
    // 16-bit floats are computed in f32 sooner or later, by us or by the CPU.
    int64_t bits = byteSize(memoryType(element)) * 8;
    widest = std::max(widest, isa<FloatType>(element) ? std::max<int64_t>(bits, 32) : bits);
  });
  int64_t lanes = std::max<int64_t>(model.vectorBits / widest, 2);
  return widest == 32 ? lanes * registersAtATime(kernel, lanes) : lanes;
}

KernelLowering::KernelLowering(tile::KernelOp kernel, const CpuModel &model, OpBuilder &builder,
                               LLVM::LLVMFuncOp function, SmallVectorImpl<Operation *> &assertions)
    : kernel(kernel), model(model), b(builder), e(builder, kernel.getLoc(), &function.getBody().front()),
      tables(opTables(kernel.getContext())), lanes(lanesFor(kernel, model)), function(function),
      assertions(assertions) {}

LogicalResult KernelLowering::refuse(Operation *op, const Twine &why) {
  op->emitOpError("cannot be compiled for the CPU: ") << why;
  return failure();
}

//===-- the frame
//--------------------------------------------------------------------------------------------------===//

Value KernelLowering::memoryRoot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tile::SubviewOp, tile::ViewOp, tile::BaseOp, tile::AddPtrOp, tile::AssumeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool KernelLowering::isHazardousLoad(Operation *op) {
  auto load = dyn_cast<tile::LoadOp>(op);
  return load && (writesThroughPointers || llvm::is_contained(writtenRoots, memoryRoot(load.getView())));
}

LogicalResult KernelLowering::checkTypes() {
  if (!llvm::hasSingleElement(kernel.getBody()))
    return refuse(kernel, "expected structured control flow (one block)");
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      Type element = getElementTypeOrSelf(type);
      if (auto view = dyn_cast<tile::ViewType>(type))
        element = view.getElementType();
      if (isa<FloatTF32Type>(element))
        return (void)refuse(op, "tf32 is a precision of a product here, not an element type"), WalkResult::interrupt();
    }
    if (auto store = dyn_cast<tile::StoreOp>(op))
      writtenRoots.push_back(memoryRoot(store.getView()));
    if (auto atomic = dyn_cast<tile::AtomicOp>(op))
      writtenRoots.push_back(memoryRoot(atomic.getView()));
    writesThroughPointers |= isa<tile::ScatterOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op);
    hasAtomics |= isa<tile::AtomicOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void KernelLowering::setUpArguments() {
  Value slots = function.getArgument(0);
  int64_t slot = 0;
  auto next = [&](Type type) { return e.load(type, e.address(slots, slot++, e.i64())); };
  Block &body = kernel.getBody().front();
  bool workspace = kernel.getLaunch() && kernel.getLaunch()->getWorkspace();
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    if (workspace && i + 1 == body.getNumArguments()) {
      setScalar(argument, function.getArgument(6));
      continue;
    }
    auto type = dyn_cast<tile::ViewType>(argument.getType());
    if (!type) {
      setScalar(argument, next(scalarType(argument.getType())));
      continue;
    }
    ViewValue v;
    v.element = type.getElementType();
    v.base = next(e.pointer());
    int64_t rank = type.getRank(), first = slot;
    slot += 2 * rank;
    for (int64_t d = 0; d < rank; ++d)
      v.sizes.push_back(type.isDynamicDim(d) ? Index(e.load(e.i64(), e.address(slots, first + d, e.i64())))
                                             : Index(type.getShape()[d]));
    v.strides.resize(rank);
    for (int64_t d = rank - 1; d >= 0; --d) {
      int64_t known = type.getStaticStride(d);
      if (!ShapedType::isDynamic(known))
        v.strides[d] = known;
      else if (type.isDense())
        v.strides[d] = e.mul(v.strides[d + 1], v.sizes[d + 1]);
      else
        v.strides[d] = Index(e.load(e.i64(), e.address(slots, first + rank + d, e.i64())));
    }
    setView(argument, std::move(v));
  }
}

LogicalResult KernelLowering::run() {
  if (failed(checkTypes()))
    return failure();
  OpBuilder::InsertionGuard guard(b);
  Block &entry = function.getBody().front();
  b.setInsertionPointToEnd(&entry);
  ScopeGuard scope(*this, &entry, nullptr);
  scratchPointer = function.getArgument(7);
  for (unsigned axis = 0; axis < 3; ++axis)
    gridCounts[axis] = function.getArgument(1 + axis);
  kernel.walk([&](tile::AssertOp) { asserts = true; });
  if (asserts)
    e.store(e.constant(0), failureSlot());
  setUpArguments();

  unsigned axes = kernel.getLaunch() ? kernel.getLaunch()->getGrid().getValue().getNumResults() : 3;
  SmallVector<Value> nothing;
  LogicalResult result = loop(function.getArgument(4), function.getArgument(5), 1, nothing, [&](Index task, auto &) {
    Index rest = task;
    for (unsigned axis = 0; axis < 3; ++axis) {
      bool last = axis + 1 >= axes;
      programIds[axis] = e.value(axis >= axes ? Index(0) : last ? rest : e.remainder(rest, gridCounts[axis]));
      if (!last)
        rest = e.divide(rest, gridCounts[axis]);
    }
    return lowerBlock(kernel.getBody().front());
  });
  if (failed(result))
    return failure();
  if (streamsAnything)
    e.streamFence();
  Value status = asserts ? e.load(e.i64(), failureSlot()) : e.constant(0);
  LLVM::ReturnOp::create(b, kernel.getLoc(), status);
  if (scratchHighWater > model.scratchLimit)
    return refuse(kernel, "it needs " + Twine(scratchHighWater) +
                              " bytes of scratch memory for each thread, the limit is " + Twine(model.scratchLimit));
  return success();
}

int64_t KernelLowering::assertionNumber(Operation *op) {
  assertions.push_back(op);
  return assertions.size();
}

Value KernelLowering::failureSlot() { return scratchPointer; }

//===-- dispatch
//---------------------------------------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lowerOp(&op)))
      return failure();
  return success();
}

LogicalResult KernelLowering::beginRoot(llvm::function_ref<LogicalResult()> body) {
  // What was evaluated for one consumer may be stale for the next: scratch memory is reused.
  for (Scope &scope : scopes)
    scope.memo.clear();
  llvm::SaveAndRestore depth(rootDepth, static_cast<unsigned>(scopes.size()));
  return body();
}

LogicalResult KernelLowering::lowerOp(Operation *op) {
  e.loc = op->getLoc();
  currentRoot = op;
  LogicalResult done = beginRoot([&] { return dispatch(op); });
  finishKept(op);
  return done;
}

LogicalResult KernelLowering::dispatch(Operation *op) {
  if (auto it = tables.eager.find(op->getName().getStringRef()); it != tables.eager.end())
    return it->second(*this, op);
  auto lazy = tables.lazy.find(op->getName().getStringRef());
  if (lazy == tables.lazy.end())
    return refuse(op, "this back end does not support the operation");
  if (op->getNumResults() == 1 && !isa<RankedTensorType>(op->getResult(0).getType())) {
    Value result = lazy->second.combine(*this, op, Segment{}, {});
    if (!result)
      return failure();
    setScalar(op->getResult(0), result);
    return success();
  }
  if (!wantsMaterialising(op))
    return success();
  for (Value result : op->getResults())
    if (failed(materialise(result)))
      return failure();
  return success();
}

Value KernelLowering::rebuild(Operation *op, ValueRange operands, Type resultType) {
  OperationState state(e.loc, op->getName());
  state.addOperands(operands);
  state.addTypes(resultType);
  state.addAttributes(op->getAttrs());
  return b.create(state)->getResult(0);
}

//===-- views
//------------------------------------------------------------------------------------------------------===//

/// Whether a scalar of a kernel can't be negative, as far as a glance tells.
static bool isNonNegative(Value value, unsigned depth = 0) {
  llvm::APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return !constant.isNegative();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && depth < 8 && isNonNegative(loop.getLowerBound(), depth + 1);
  }
  Operation *op = value.getDefiningOp();
  if (isa<tile::ProgramIdOp, tile::NumProgramsOp, tile::DimOp>(op))
    return true;
  if (!isa<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp, arith::MinUIOp, arith::MinSIOp,
           arith::DivSIOp>(op) ||
      depth >= 8)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isNonNegative(operand, depth + 1); });
}

Access KernelLowering::access(Value viewValue, ValueRange coordinates, ArrayRef<int64_t> shape, bool bounded) {
  const ViewValue &v = view(viewValue);
  Access a;
  a.element = v.element;
  a.strides = v.strides;
  Type memory = memoryType(v.element);
  Value origin = v.base;
  for (auto [d, coordinate] : llvm::enumerate(coordinates)) {
    Index first = e.mul(index(coordinate), shape[d]);
    origin = e.address(origin, e.mul(first, v.strides[d]), memory);
    if (!bounded)
      a.extents.push_back(shape[d]);
    else if (v.sizes[d].isConstant() && v.sizes[d].constant % shape[d] == 0)
      // Tiles lie inside or outside as a whole.
      a.extents.push_back(e.select(e.less(first, v.sizes[d]), Index(shape[d]), 0));
    else
      a.extents.push_back(e.min(e.sub(v.sizes[d], first), shape[d]));
    if (bounded && !isNonNegative(coordinate))
      a.extents.back() = e.select(e.less(-1, first), a.extents.back(), 0);
  }
  a.origin = origin;
  return a;
}
