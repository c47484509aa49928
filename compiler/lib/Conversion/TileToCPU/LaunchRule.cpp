// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilejit_plan and tilejit_run, see LaunchRule.h and tilejit/ABI/KernelABI.h.

#include "LaunchRule.h"

#include "../Common/KernelArguments.h"
#include "Emitter.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/IntegerSet.h"
#include "tilejit/ABI/KernelABI.h"

#include <cstddef>

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

namespace {
/// Evaluates launch rules against the slots of a launch.
class RuleEmitter {
public:
  RuleEmitter(OpBuilder &builder, Location loc, Block *entry, Value slots, Value grid, Value readable)
      : e(builder, loc, entry), slots(slots), grid(grid) {
    Value null = LLVM::ZeroOp::create(builder, loc, e.pointer());
    isGiven = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, grid, null);
    gridOrSelf = arith::SelectOp::create(builder, loc, isGiven, grid, readable);
  }

  /// Whether a kernel's condition holds; null: always.
  Value holds(tile::KernelOp kernel) {
    tile::LaunchAttr launch = kernel.getLaunchAttr();
    if (!launch || !launch.getWhen())
      return {};
    IntegerSet set = launch.getWhen().getValue();
    SmallVector<Index> dims = sizes(kernel);
    Value all;
    for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
      Index value = evaluate(set.getConstraint(i), dims);
      Value one =
          set.isEq(i)
              ? Value(arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, e.value(value), e.constant(0)))
              : e.less(-1, value);
      all = e.both(all, one);
    }
    return all;
  }

  /// Program instances along each axis; an explicit grid takes the place of the rule.
  SmallVector<Index, 3> counts(tile::KernelOp kernel) {
    tile::LaunchAttr launch = kernel.getLaunchAttr();
    unsigned axes = launch ? launch.getGrid().getValue().getNumResults() : 3;
    SmallVector<Index, 3> result(3, Index(1));
    SmallVector<Index> dims;
    if (launch)
      dims = sizes(kernel);
    for (unsigned axis = 0; axis < axes; ++axis) {
      Index own = launch ? evaluate(launch.getGrid().getValue().getResult(axis), dims) : Index(1);
      Value given = e.load(e.i64(), e.address(gridOrSelf, axis, e.i64()));
      result[axis] = e.select(isGiven, Index(given), own);
    }
    return result;
  }

  Index workspace(tile::KernelOp kernel) {
    tile::LaunchAttr launch = kernel.getLaunchAttr();
    if (!launch || !launch.getWorkspace())
      return 0;
    return evaluate(launch.getWorkspace().getValue().getResult(0), sizes(kernel));
  }

  Emitter e;

private:
  SmallVector<Index> sizes(tile::KernelOp kernel) {
    return llvm::map_to_vector(ruleSizes(kernel), [&](RuleSize size) {
      return size.slot < 0 ? Index(size.known) : Index(e.load(e.i64(), e.address(slots, size.slot, e.i64())));
    });
  }

  /// Quotient rounded down by a positive divisor, for either sign of x.
  Index floorDivide(Index x, Index y) {
    if (x.isConstant() && y.isConstant())
      return llvm::divideFloorSigned(x.constant, y.constant);
    Value quotient = arith::DivSIOp::create(e.b, e.loc, e.value(x), e.value(y));
    Index rest = e.sub(x, e.mul(Index(quotient), y));
    return e.select(e.less(rest, 0), e.sub(Index(quotient), 1), Index(quotient));
  }

  Index evaluate(AffineExpr expr, ArrayRef<Index> dims) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dims[dim.getPosition()];
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue();
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Index x = evaluate(binary.getLHS(), dims), y = evaluate(binary.getRHS(), dims);
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return e.add(x, y);
    case AffineExprKind::Mul:
      return e.mul(x, y);
    case AffineExprKind::Mod:
      return e.sub(x, e.mul(floorDivide(x, y), y));
    case AffineExprKind::FloorDiv:
      return floorDivide(x, y);
    default: // CeilDiv
      return floorDivide(e.add(x, e.sub(y, 1)), y);
    }
  }

  Value slots, grid, isGiven, gridOrSelf;
};
} // namespace

static int64_t phaseOf(tile::KernelOp kernel) { return kernel.getLaunchAttr() ? kernel.getLaunchAttr().getPhase() : 0; }
static bool packs(tile::KernelOp kernel) { return kernel.getLaunchAttr() && kernel.getLaunchAttr().getPacks() >= 0; }

LogicalResult tilejit::cpu::checkLaunchRules(ArrayRef<tile::KernelOp> kernels) {
  if (failed(checkSameOperands(kernels)))
    return failure();
  const auto *packing = llvm::find_if(kernels, packs);
  for (tile::KernelOp kernel : kernels) {
    int64_t phase = phaseOf(kernel);
    if (phase < 0 || phase >= abi::maxPhases)
      return kernel.emitOpError("expected a phase from 0 to ") << abi::maxPhases - 1 << ", got " << phase;
    if (packing != kernels.end() && phase == 0 && kernel != *packing)
      return kernel.emitOpError("expected a phase after the one in which an argument is packed, got 0");
  }
  return success();
}

LLVM::LLVMFuncOp tilejit::cpu::declareKernelFunction(OpBuilder &builder, tile::KernelOp kernel) {
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(context);
  auto type = LLVM::LLVMFunctionType::get(i64, {pointer, i64, i64, i64, i64, i64, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, kernel.getLoc(), ("kernel_" + kernel.getName()).str(), type,
                                           LLVM::Linkage::Internal);
  for (unsigned argument : {0u, 7u})
    function.setArgAttr(argument, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  function.addEntryBlock(builder);
  return function;
}

void tilejit::cpu::emitPlan(OpBuilder &builder, Location loc, ArrayRef<LoweredKernel> kernels) {
  OpBuilder::InsertionGuard guard(builder);
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(context);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, i64, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, abi::cpuPlanSymbol, type);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToEnd(entry);
  Value plan = entry->getArgument(3);
  RuleEmitter rules(builder, loc, entry, entry->getArgument(0), entry->getArgument(2), plan);
  Emitter &e = rules.e;

  int64_t phases = 0, scratch = 0, firstPhase = abi::maxPhases;
  for (const LoweredKernel &kernel : kernels) {
    phases = std::max(phases, phaseOf(kernel.kernel) + 1);
    if (!packs(kernel.kernel)) // All paths pack alike.
      firstPhase = std::min(firstPhase, phaseOf(kernel.kernel));
    scratch = std::max(scratch, kernel.scratchBytes);
  }
  SmallVector<Index> tasks(phases, Index(0));
  Index path = 0, shared = 0;
  // From the last kernel to the first: an earlier one that holds takes the place of the later ones.
  for (int64_t k = kernels.size() - 1; k >= 0; --k) {
    tile::KernelOp kernel = kernels[k].kernel;
    Value holds = rules.holds(kernel);
    SmallVector<Index, 3> counts = rules.counts(kernel);
    int64_t phase = phaseOf(kernel);
    tasks[phase] = e.select(holds, e.mul(e.mul(counts[0], counts[1]), counts[2]), tasks[phase]);
    if (phase == firstPhase)
      path = e.select(holds, Index(k), path);
    shared = e.max(shared, e.select(holds, rules.workspace(kernel), 0));
  }
  auto write = [&](size_t offset, Index value) {
    e.store(e.value(value), e.address(plan, offset, builder.getI8Type()));
  };
  for (int64_t phase = 0; phase < abi::maxPhases; ++phase)
    write(offsetof(abi::CpuPlan, tasks) + 8 * phase, phase < phases ? tasks[phase] : Index(0));
  write(offsetof(abi::CpuPlan, phases), phases);
  write(offsetof(abi::CpuPlan, sharedScratchBytes), shared);
  write(offsetof(abi::CpuPlan, threadScratchBytes), scratch);
  write(offsetof(abi::CpuPlan, path), path);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

void tilejit::cpu::emitRun(OpBuilder &builder, Location loc, ArrayRef<LoweredKernel> kernels) {
  OpBuilder::InsertionGuard guard(builder);
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(context);
  auto type = LLVM::LLVMFunctionType::get(i64, {pointer, pointer, pointer, i64, i64, i64, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, abi::cpuRunSymbol, type);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToEnd(entry);
  RuleEmitter rules(builder, loc, entry, entry->getArgument(0), entry->getArgument(1), entry->getArgument(2));
  Emitter &e = rules.e;

  std::function<Value(unsigned)> dispatch = [&](unsigned k) -> Value {
    if (k == kernels.size())
      return e.constant(0);
    const LoweredKernel &kernel = kernels[k];
    Value mine = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, entry->getArgument(3),
                                       e.constant(phaseOf(kernel.kernel)));
    mine = e.both(mine, rules.holds(kernel.kernel));
    auto choice = scf::IfOp::create(builder, loc, TypeRange{i64}, mine, true, true);
    OpBuilder::InsertionGuard inside(builder);
    builder.setInsertionPointToEnd(choice.thenBlock());
    SmallVector<Value> operands{entry->getArgument(0)};
    for (Index count : rules.counts(kernel.kernel))
      operands.push_back(e.value(count));
    operands.append({entry->getArgument(4), entry->getArgument(5), entry->getArgument(6), entry->getArgument(7)});
    Value result = LLVM::CallOp::create(builder, loc, kernel.function, operands).getResult();
    scf::YieldOp::create(builder, loc, result);
    builder.setInsertionPointToEnd(choice.elseBlock());
    Value other = dispatch(k + 1);
    scf::YieldOp::create(builder, loc, other);
    return choice.getResult(0);
  };
  LLVM::ReturnOp::create(builder, loc, dispatch(0));
}
