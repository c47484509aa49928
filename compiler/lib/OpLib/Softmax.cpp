// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// softmax and log_softmax: three sweeps over the axis, for the maximum, for the sum of exponentials, for the result.
// A row with NaN or +inf, or with nothing but -inf, comes out as NaN throughout: its sum is NaN.

#include "Functions.h"
#include "Generators.h"
#include "Sweep.h"

#include "tilejit/Dialect/Tile/IR/Hints.h"

#include <limits>

using namespace mlir;

namespace tilejit::oplib {

Space softmaxSpace(const Description &description) {
  Space space(description);
  const Operand &x = description.inputs[0];
  SmallVector<int> along = llvm::to_vector(llvm::seq<int>(0, x.rank()));
  for (int d = 0; d < x.rank(); ++d)
    space.addDim(x.shape[d], d == description.as<SoftmaxAttributes>().axis ? swept : kept);
  space.addOperand(0, along);
  space.addOperand(1, along);
  space.collapse();
  return space;
}

namespace {
/// One row or a few, or a few columns.
class SoftmaxRow {
public:
  SoftmaxRow(KernelBuilder &b, const Space &space, const SweepRegime &regime, bool mayPark, ArrayRef<Value> indices)
      : b_(b), sweep_(b, space, regime, indices), input_(b.description().inputs[0].dtype),
        output_(b.description().outputs[0].dtype), compute_(computeType(input_)), mayPark_(mayPark) {
    if (!isFloat(compute_))
      compute_ = DType::F32;
  }

  void build() {
    Value maximum = findMaximum();
    bool isLog = b_.description().family == Family::LogSoftmax;
    // A result that is not rounded holds the exponentials of a long row until the sum is known.
    bool keeps = mayPark_ && !isLog && output_ == compute_ && !sweep_.isSingleStep();
    Value sum = sumExponentials(maximum, keeps);
    if (isLog) {
      Value shift = math::LogOp::create(b_, sum);
      storeResults(maximum,
                   [&](Value distance) -> Value { return arith::SubFOp::create(b_, distance, sweep_.spread(shift)); });
      return;
    }
    Value inverse = arith::DivFOp::create(b_, splatLike(b_, sum, 1), sum);
    if (keeps)
      return scaleStored(inverse);
    if (sweep_.isSingleStep())
      return storeScaled(onlyTerm_, inverse);
    storeResults(maximum, [&](Value distance) -> Value {
      return arith::MulFOp::create(b_, exponential(distance), sweep_.spread(inverse));
    });
  }

private:
  /// Values of x; beyond the row -inf, also for types that can't say so. A row of one step is loaded once.
  Value loadInput(const Step &step) {
    if (!sweep_.isSingleStep())
      return loadAnew(step);
    if (!onlyInput_)
      onlyInput_ = loadAnew(step);
    return onlyInput_;
  }

  Value loadAnew(const Step &step) {
    b_.setPlace("inputs/x");
    Value x = sweep_.load(0, step, compute_, tile::Pad::Lowest);
    bool padsWithInfinity = input_ == DType::F64 || input_ == DType::F32 || input_ == DType::F16 ||
                            input_ == DType::BF16 || input_ == DType::F8E5M2;
    Value mask = padsWithInfinity ? Value() : sweep_.inside(step);
    b_.setPlace("op");
    if (!mask)
      return x;
    return arith::SelectOp::create(b_, mask, x, splatLike(b_, x, -std::numeric_limits<double>::infinity()));
  }

  Value findMaximum() {
    b_.setPlace("op");
    Values best;
    if (sweep_.isSingleStep())
      best = sweep_.run({}, [&](const Step &step, ValueRange) { return Values{loadInput(step)}; });
    else
      best = sweep_.run(
          splat(b_, sweep_.shape(), compute_, -std::numeric_limits<double>::infinity()),
          [&](const Step &step, ValueRange carried) { return Values{larger(b_, loadInput(step), carried[0])}; });
    return sweep_.finish(best,
                         [&](ValueRange left, ValueRange right) { return Values{larger(b_, right[0], left[0])}; })[0];
  }

  Value distanceAt(const Step &step, Value maximum) {
    return arith::SubFOp::create(b_, loadInput(step), sweep_.spread(maximum));
  }

  Value exponential(Value distance) {
    auto exp = math::ExpOp::create(b_, distance, functionFlags(b_));
    exp->setAttr(tile::distanceAttrName, b_.getUnitAttr());
    return exp;
  }

  Value sumExponentials(Value maximum, bool keeps) {
    Values zero;
    if (!sweep_.isSingleStep())
      zero.push_back(splat(b_, sweep_.shape(), compute_, 0));
    Values sums = sweep_.runSums(zero, [&](const Step &step, ValueRange carried) {
      Value term = exponential(distanceAt(step, maximum));
      onlyTerm_ = term;
      if (keeps)
        sweep_.store(1, step, term, compute_);
      return Values{carried.empty() ? term : arith::AddFOp::create(b_, carried[0], term)};
    });
    return sweep_.finishSum(sums[0]);
  }

  void scaleStored(Value factor) {
    b_.setPlace("outputs/y");
    sweep_.run({}, [&](const Step &step, ValueRange) {
      Value term = sweep_.load(1, step, compute_);
      sweep_.store(1, step, arith::MulFOp::create(b_, term, sweep_.spread(factor)), compute_);
      return Values();
    });
  }

  /// For a sweep of one step, whose exponentials are still at hand.
  void storeScaled(Value terms, Value factor) {
    sweep_.run({}, [&](const Step &step, ValueRange) {
      Value value = arith::MulFOp::create(b_, terms, sweep_.spread(factor));
      b_.setPlace("outputs/y");
      sweep_.store(1, step, value, compute_);
      return Values();
    });
  }

  void storeResults(Value maximum, function_ref<Value(Value)> result) {
    sweep_.run({}, [&](const Step &step, ValueRange) {
      Value value = result(distanceAt(step, maximum));
      b_.setPlace("outputs/y");
      sweep_.store(1, step, value, compute_);
      return Values();
    });
  }

  KernelBuilder &b_;
  Sweep sweep_;
  DType input_, output_, compute_;
  bool mayPark_;
  Value onlyInput_, onlyTerm_; ///< Values and exponentials of the last step.
};
} // namespace

void buildSoftmax(KernelBuilder &b, const Schedule &schedule) {
  Space space = softmaxSpace(b.description());
  for (const SweepRegime &regime : schedule.rows(space))
    Sweep::kernel(b, familyName(b.description().family), space, regime, [&](ArrayRef<Value> indices) {
      SoftmaxRow(b, space, regime, schedule.parksExponentials(), indices).build();
    });
}

} // namespace tilejit::oplib
