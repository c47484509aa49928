// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Each case becomes the else of the one before it, and the default that of the last.

#include "Switches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilejit {

/// The operations of a region go before `at`; gives the values that it yields.
static SmallVector<Value> inlineBefore(Region &region, Operation *at) {
  Operation *yield = region.front().getTerminator();
  SmallVector<Value> values(yield->getOperands());
  yield->erase();
  at->getBlock()->getOperations().splice(at->getIterator(), region.front().getOperations());
  return values;
}

static void expand(scf::IndexSwitchOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Operation *at = op;
  SmallVector<Value> results;
  for (auto [value, region] : llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
    builder.setInsertionPoint(at);
    Value number = arith::ConstantIndexOp::create(builder, loc, value);
    Value isCase = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, op.getArg(), number);
    auto branch = scf::IfOp::create(builder, loc, op.getResultTypes(), isCase, /*withElseRegion=*/true);
    branch.getThenRegion().takeBody(region);
    if (at == op)
      results.assign(branch.result_begin(), branch.result_end());
    else // The branch before has this one as its else.
      at->setOperands(branch.getResults());
    Block &otherwise = branch.getElseRegion().front();
    if (otherwise.empty() || !isa<scf::YieldOp>(otherwise.back())) {
      builder.setInsertionPointToEnd(&otherwise);
      scf::YieldOp::create(builder, loc);
    }
    at = &otherwise.back();
  }
  SmallVector<Value> values = inlineBefore(op.getDefaultRegion(), at);
  if (at == op)
    results = values;
  else
    at->setOperands(values);
  op.replaceAllUsesWith(results);
  op.erase();
}

void expandSwitches(tile::KernelOp kernel) {
  SmallVector<scf::IndexSwitchOp> switches;
  kernel.walk([&](scf::IndexSwitchOp op) { switches.push_back(op); });
  for (scf::IndexSwitchOp op : switches)
    expand(op);
}

} // namespace tilejit
