// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// scf: loops and conditionals.

#include "Instance.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilejit::interpreter {

/// Hands values to the results of an operation or the arguments of a block.
template <typename Range> static void assign(Instance &in, Range targets, ArrayRef<Datum> data) {
  for (auto [target, datum] : llvm::zip(targets, data))
    in.set(target, datum);
}

static Status runFor(Instance &in, scf::ForOp op) {
  Format format(op.getInductionVar().getType());
  Cell position = in.getTile(op.getLowerBound()).cells.front(), end = in.getTile(op.getUpperBound()).cells.front();
  int64_t step = in.getInteger(op.getStep());
  if (step <= 0)
    return failAt(op, "expected a step of at least 1, got " + Twine(step));
  auto isBefore = [&](Cell a, Cell b) { return op.getUnsignedCmp() ? a < b : format.toSigned(a) < format.toSigned(b); };
  SmallVector<Datum> carried;
  for (Value init : op.getInitArgs())
    carried.push_back(in.get(init));
  while (isBefore(position, end)) {
    in.setTile(op.getInductionVar(), {op.getInductionVar().getType(), {}, {position}});
    assign(in, op.getRegionIterArgs(), carried);
    TILEJIT_RETURN_IF_ERROR(in.runBlock(*op.getBody(), carried));
    Cell next = format.wrap(position + uint64_t(step));
    if (!isBefore(position, next))
      break; // The counter wrapped.
    position = next;
  }
  assign(in, op.getResults(), carried);
  return Status::ok();
}

static Status runIf(Instance &in, scf::IfOp op) {
  Region &region = in.getInteger(op.getCondition()) != 0 ? op.getThenRegion() : op.getElseRegion();
  SmallVector<Datum> results;
  if (!region.empty())
    TILEJIT_RETURN_IF_ERROR(in.runBlock(region.front(), results));
  assign(in, op.getResults(), results);
  return Status::ok();
}

static Status runWhile(Instance &in, scf::WhileOp op) {
  SmallVector<Datum> carried;
  for (Value init : op.getInits())
    carried.push_back(in.get(init));
  while (true) {
    assign(in, op.getBeforeArguments(), carried);
    TILEJIT_RETURN_IF_ERROR(in.runBlock(*op.getBeforeBody(), carried));
    bool goesOn = carried.front().tile->cells.front() != 0;
    carried.erase(carried.begin());
    if (!goesOn)
      break;
    assign(in, op.getAfterArguments(), carried);
    TILEJIT_RETURN_IF_ERROR(in.runBlock(*op.getAfterBody(), carried));
  }
  assign(in, op.getResults(), carried);
  return Status::ok();
}

static Status runSwitch(Instance &in, scf::IndexSwitchOp op) {
  int64_t value = in.getInteger(op.getArg());
  Block *block = &op.getDefaultBlock();
  for (auto [index, label] : llvm::enumerate(op.getCases()))
    if (label == value)
      block = &op.getCaseBlock(index);
  SmallVector<Datum> results;
  TILEJIT_RETURN_IF_ERROR(in.runBlock(*block, results));
  assign(in, op.getResults(), results);
  return Status::ok();
}

void addControlHandlers(HandlerTable &table) {
  table.add<scf::ForOp>(runFor);
  table.add<scf::IfOp>(runIf);
  table.add<scf::WhileOp>(runWhile);
  table.add<scf::IndexSwitchOp>(runSwitch);
}

} // namespace tilejit::interpreter
