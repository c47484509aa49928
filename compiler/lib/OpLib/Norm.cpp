// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// layernorm and rmsnorm. layernorm takes the mean first, then sums the squares of what is left together with its sum,
// which corrects the mean: accurate where the mean is far larger than the deviation.

#include "Generators.h"
#include "Sweep.h"

using namespace mlir;

namespace tilejit::oplib {

Space normSpace(const Description &description) {
  Space space(description);
  const Operand &x = description.inputs[0];
  int first = description.as<NormAttributes>().axis;
  SmallVector<int> whole, inner, leading;
  for (int d = 0; d < x.rank(); ++d) {
    space.addDim(x.shape[d], d >= first ? swept : kept);
    whole.push_back(d);
    inner.push_back(d >= first ? d - first : -1);
    leading.push_back(d < first ? d : -1);
  }
  for (size_t i = 0; i < description.inputs.size(); ++i)
    space.addOperand(i, i == 0 ? whole : inner);
  for (size_t i = 0; i < description.outputs.size(); ++i)
    space.addOperand(description.inputs.size() + i, i == 0 ? whole : leading);
  space.collapse();
  return space;
}

namespace {
/// One row, everything that is normalised together, or a few.
class NormRow {
public:
  NormRow(KernelBuilder &b, const Space &space, const SweepRegime &regime, ArrayRef<Value> indices)
      : b_(b), description_(b.description()), sweep_(b, space, regime, indices),
        isCentred_(description_.family == Family::LayerNorm),
        compute_(description_.inputs[0].dtype == DType::F64 ? DType::F64 : DType::F32) {}

  void build() {
    b_.setPlace("op");
    Type element = valueType(b_.getContext(), compute_);
    Value bits = arith::IndexCastOp::create(b_, b_.getI64Type(), sweep_.count());
    count_ = arith::SIToFPOp::create(b_, element, bits);
    Value mean = isCentred_ ? firstMean() : Value();
    auto [scale, correction] = statistics(mean);
    storeStatistic("rstd", scale);
    if (isCentred_)
      storeStatistic("mean", arith::AddFOp::create(b_, mean, correction));
    storeResults(mean, correction, scale);
  }

private:
  /// A product and a sum of it may be rounded once, where the target does that.
  static constexpr auto mayFuse = arith::FastMathFlags::contract;

  Value zeros() { return splat(b_, sweep_.shape(), compute_, 0); }
  /// A finished sum divided by the number of elements.
  Value average(Value sum) { return arith::DivFOp::create(b_, sum, tile::SplatOp::create(b_, sum.getType(), count_)); }

  /// Values of x. A row of one step is loaded once.
  Value loadInput(const Step &step) {
    if (onlyInput_)
      return onlyInput_;
    b_.setPlace("inputs/x");
    Value x = sweep_.load(0, step, compute_);
    b_.setPlace("op");
    if (sweep_.isSingleStep())
      onlyInput_ = x;
    return x;
  }

  Value firstMean() {
    if (sweep_.isSingleStep())
      return average(
          sweep_.finishSum(sweep_.run({}, [&](const Step &step, ValueRange) { return Values{loadInput(step)}; })[0]));
    Values sums = sweep_.runSums(zeros(), [&](const Step &step, ValueRange carried) {
      return Values{arith::AddFOp::create(b_, carried[0], loadInput(step))};
    });
    return average(sweep_.finishSum(sums[0]));
  }

  /// Sums of the squares of what is left and, for layernorm, of what is left.
  Values sumSquares(Value mean) {
    Values start;
    if (!sweep_.isSingleStep())
      start.append(isCentred_ ? 2 : 1, zeros());
    Values sums = sweep_.runSums(start, [&](const Step &step, ValueRange carried) {
      Value left = loadInput(step);
      if (isCentred_)
        left = arith::SubFOp::create(b_, left, sweep_.spread(mean));
      if (Value mask = isCentred_ ? sweep_.inside(step) : Value())
        left = arith::SelectOp::create(b_, mask, left, zeros());
      Values next;
      if (carried.empty())
        next = {arith::MulFOp::create(b_, left, left, mayFuse), left};
      else
        next = {math::FmaOp::create(b_, left, left, carried[0]),
                isCentred_ ? Value(arith::AddFOp::create(b_, carried[1], left)) : Value()};
      next.resize(isCentred_ ? 2 : 1);
      return next;
    });
    return sweep_.finish(sums, [&](ValueRange left, ValueRange right) {
      Values both;
      for (auto [x, y] : llvm::zip(left, right))
        both.push_back(arith::AddFOp::create(b_, x, y, mayFuse));
      return both;
    });
  }

  /// 1 / sqrt(mean square of what is left + epsilon), and what the mean was wrong by.
  std::pair<Value, Value> statistics(Value mean) {
    Values sums = sumSquares(mean);
    Value variance = average(sums[0]), correction;
    if (isCentred_) {
      correction = average(sums[1]);
      Value square = arith::MulFOp::create(b_, correction, correction);
      variance = arith::SubFOp::create(b_, variance, square);
      variance = arith::MaximumFOp::create(b_, variance, splatLike(b_, variance, 0));
    }
    double epsilon = description_.as<NormAttributes>().epsilon;
    Value shifted = arith::AddFOp::create(b_, variance, splatLike(b_, variance, epsilon));
    Value root = math::SqrtOp::create(b_, shifted);
    return {arith::DivFOp::create(b_, splatLike(b_, root, 1), root), correction};
  }

  void storeStatistic(StringRef name, Value value) {
    int index = description_.outputIndex(name);
    if (index < 0)
      return;
    b_.setPlace("outputs/" + name.str());
    sweep_.storeFinished(description_.inputs.size() + index, value, compute_);
    b_.setPlace("op");
  }

  /// An operand of the normalised dimensions at a step; null where there is none of that name.
  Value loadParameter(StringRef name, const Step &step) {
    int index = description_.inputIndex(name);
    if (index < 0)
      return {};
    b_.setPlace("inputs/" + name.str());
    return sweep_.load(index, step, compute_);
  }

  void storeResults(Value mean, Value correction, Value scale) {
    sweep_.run({}, [&](const Step &step, ValueRange) {
      Value y = loadInput(step);
      if (isCentred_) {
        y = arith::SubFOp::create(b_, y, sweep_.spread(mean));
        Value shift = arith::MulFOp::create(b_, correction, scale);
        y = arith::MulFOp::create(b_, y, sweep_.spread(scale), mayFuse);
        y = arith::SubFOp::create(b_, y, sweep_.spread(shift), mayFuse);
      } else {
        y = arith::MulFOp::create(b_, y, sweep_.spread(scale));
      }
      Value weight = loadParameter("weight", step), bias = loadParameter("bias", step);
      b_.setPlace("op");
      if (weight)
        y = arith::MulFOp::create(b_, y, weight, bias ? mayFuse : arith::FastMathFlags::none);
      if (bias)
        y = arith::AddFOp::create(b_, y, bias, mayFuse);
      b_.setPlace("outputs/y");
      sweep_.store(description_.inputs.size(), step, y, compute_);
      return Values();
    });
  }

  KernelBuilder &b_;
  const Description &description_;
  Sweep sweep_;
  bool isCentred_;
  DType compute_;
  Value count_, onlyInput_;
};
} // namespace

void buildNorm(KernelBuilder &b, const Schedule &schedule) {
  const Description &description = b.description();
  Space space = normSpace(description);
  for (const SweepRegime &regime : schedule.rows(space))
    Sweep::kernel(b, familyName(description.family), space, regime,
                  [&](ArrayRef<Value> indices) { NormRow(b, space, regime, indices).build(); });
}

} // namespace tilejit::oplib
