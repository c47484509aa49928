// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Evaluates a typed expression for a run of elements at a time: floating nodes in double precision with their errors,
// integer nodes exactly and wrapping.

#ifndef TILEJIT_REFERENCE_EXPRESSIONEVALUATOR_H
#define TILEJIT_REFERENCE_EXPRESSIONEVALUATOR_H

#include "tilejit/Description/Expression.h"
#include "tilejit/Reference/Tolerance.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilejit::reference {

/// The values of one node for a run of elements. A node of floating type uses `values`, others `integers`.
struct Lanes {
  static constexpr size_t capacity = 256;
  std::array<double, capacity> values;
  std::array<int64_t, capacity> integers;
  std::array<double, capacity> errors;
};

class ExpressionEvaluator {
public:
  ExpressionEvaluator(const Expression &expression, Accuracy accuracy)
      : expression_(expression), accuracy_(accuracy), lanes_(expression.nodes.size()) {}

  /// The lanes of an Input node; the caller fills them before run().
  Lanes &input(size_t node) { return lanes_[node]; }
  /// Computes all nodes for `count` elements and returns the last node's lanes.
  const Lanes &run(size_t count);

private:
  void evaluate(const ExprNode &node, Lanes &out, size_t count);

  const Expression &expression_;
  Accuracy accuracy_;
  std::vector<Lanes> lanes_;
};

} // namespace tilejit::reference

#endif // TILEJIT_REFERENCE_EXPRESSIONEVALUATOR_H
