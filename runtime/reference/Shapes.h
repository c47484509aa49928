// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Arithmetic of shapes that several families share: bound shapes, broadcasting, offsets.

#ifndef TILEJIT_REFERENCE_SHAPES_H
#define TILEJIT_REFERENCE_SHAPES_H

#include "tilejit/Description/Description.h"
#include "tilejit/Description/Parse.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tilejit::reference {

using Shape = std::vector<int64_t>;

/// The sizes of an operand once every dimension is bound.
Shape boundShape(const Operand &operand, const Binding &binding);

/// Strides with which a dense array of `shape` is walked as if it had `target`'s shape: 0 where it is repeated.
Shape broadcastStrides(std::span<const int64_t> shape, std::span<const int64_t> target);

/// The offset of the element at row-major place `index` of `shape` in an array of other strides.
int64_t offsetOf(int64_t index, std::span<const int64_t> shape, std::span<const int64_t> strides);

/// Product of the sizes of shape[first, last).
int64_t product(std::span<const int64_t> shape, size_t first, size_t last);

/// The length of the sums of a family: terms of a product, elements of a row, keys of attention.
int64_t reductionLength(const Description &description, const Binding &binding);

} // namespace tilejit::reference

#endif // TILEJIT_REFERENCE_SHAPES_H
