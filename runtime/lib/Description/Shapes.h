// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Limits of the format, and arithmetic on shapes whose sizes may be symbolic.

#ifndef TILEJIT_LIB_DESCRIPTION_SHAPES_H
#define TILEJIT_LIB_DESCRIPTION_SHAPES_H

#include "tilejit/Description/Description.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

inline constexpr int maxRank = 16;
inline constexpr int64_t maxSize = int64_t{1} << 40;
inline constexpr int64_t maxTensorBytes = int64_t{1} << 46;
inline constexpr size_t maxNameLength = 128;
inline constexpr size_t maxOperands = 256;

/// Whether a text can name an operand or a dimension.
bool isName(std::string_view text);
/// "[m, 4096]".
std::string shapeText(const Description &description, const std::vector<Dim> &shape);
/// "[128, 4096]".
std::string shapeText(std::span<const int64_t> sizes);
/// "4096" or "m".
std::string dimText(const Description &description, const Dim &dim);

/// The size that broadcasting gives; nothing where two sizes can't be known to fit.
std::optional<Dim> broadcastDim(const Dim &a, const Dim &b);
/// The shape that broadcasting gives, as in NumPy; nothing where the shapes do not fit.
std::optional<std::vector<Dim>> broadcastShapes(const std::vector<Dim> &a, const std::vector<Dim> &b);

/// Bytes of a tensor with empty dimensions counted as 1, or nothing where that exceeds the format's limit. Strides
/// count where they are known; `strides` is empty for a dense tensor, and -1 stands for a stride that is not known.
std::optional<int64_t> boundedBytes(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t bytes);
/// Whether two elements may lie at one place, for known strides.
bool mayOverlap(std::span<const int64_t> sizes, std::span<const int64_t> strides);
/// The strides of a dense row-major tensor of these dimensions, as far as they can be written down; else nothing.
std::optional<std::vector<Stride>> denseStrides(const std::vector<Dim> &shape);

} // namespace tilejit

#endif // TILEJIT_LIB_DESCRIPTION_SHAPES_H
