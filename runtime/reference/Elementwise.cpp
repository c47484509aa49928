// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Elementwise expressions: inputs are walked with the strides of broadcasting, row by row of each output.

#include "ExpressionEvaluator.h"
#include "Families.h"
#include "Parallel.h"
#include "tilejit/Base/Float.h"

#include <algorithm>

namespace tilejit::reference {
namespace {

/// An Input node with the strides of its operand over the output's dimensions.
struct Feed {
  size_t node;
  const HostTensor *tensor;
  Shape strides;
};

void load(const Feed &feed, int64_t offset, int64_t stride, size_t count, Lanes &lanes) {
  const HostTensor &x = *feed.tensor;
  std::fill_n(lanes.errors.begin(), count, 0.0);
  if (stride == 1) {
    if (isFloat(x.dtype()))
      loadDoubles(x.element(offset), x.dtype(), std::span(lanes.values).first(count));
    else
      loadIntegers(x.element(offset), x.dtype(), std::span(lanes.integers).first(count));
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const std::byte *element = x.element(offset + static_cast<int64_t>(i) * stride);
    if (isFloat(x.dtype()))
      lanes.values[i] = loadAsDouble(element, x.dtype());
    else
      lanes.integers[i] = loadAsInteger(element, x.dtype());
  }
}

void evaluateRow(RowWriter &writer, int64_t position, const Shape &shape, const std::vector<Feed> &feeds,
                 ExpressionEvaluator &evaluator, bool isFloating) {
  int64_t length = lastDimension(shape);
  std::vector<int64_t> offsets;
  for (const Feed &feed : feeds)
    offsets.push_back(offsetOf(writer.row(position) * length, shape, feed.strides));
  for (int64_t start = 0; start < length; start += Lanes::capacity) {
    size_t count = std::min(Lanes::capacity, static_cast<size_t>(length - start));
    for (size_t i = 0; i < feeds.size(); ++i) {
      int64_t stride = feeds[i].strides.empty() ? 1 : feeds[i].strides.back();
      load(feeds[i], offsets[i] + start * stride, stride, count, evaluator.input(feeds[i].node));
    }
    const Lanes &result = evaluator.run(count);
    for (size_t i = 0; i < count; ++i) {
      int64_t column = start + static_cast<int64_t>(i);
      if (isFloating)
        writer.put(position, column, Bounded{result.values[i], result.errors[i]});
      else
        writer.put(position, column, result.integers[i], result.errors[i]);
    }
  }
}

void evaluateOutput(Call &call, size_t output) {
  const auto &attributes = call.description.as<ElementwiseAttributes>();
  const Expression &expression = attributes.expressions[output];
  Shape shape = call.outputShape(output);
  if (elementCount(shape) == 0)
    return;
  std::vector<Feed> feeds;
  for (size_t i = 0; i < expression.nodes.size(); ++i)
    if (expression.nodes[i].op == ExprOp::Input) {
      const HostTensor &tensor = call.inputs[static_cast<size_t>(expression.nodes[i].input)];
      feeds.push_back({i, &tensor, broadcastStrides(tensor.shape(), shape)});
    }
  int64_t length = lastDimension(shape), period = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  RowWriter writer(call.outputs[output], call, rowsOf(shape), length, 1, period);
  bool isFloating = isFloat(expression.nodes.back().type);
  parallelFor(writer.rows(), rowGrain(length), [&](int64_t begin, int64_t end) {
    ExpressionEvaluator evaluator(expression, attributes.accuracy);
    for (int64_t position = begin; position < end; ++position)
      evaluateRow(writer, position, shape, feeds, evaluator, isFloating);
  });
}

} // namespace

void evaluateElementwise(Call &call) {
  for (size_t output = 0; output < call.outputs.size(); ++output)
    evaluateOutput(call, output);
}

} // namespace tilejit::reference
