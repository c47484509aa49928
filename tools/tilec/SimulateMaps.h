// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tensor maps on the command line of `tilec simulate`: `map[16,32,swizzle=128]:ARRAY`, a map of the array that follows,
// with the box of one copy; or for im2col mode, `map[64,32,lower=-1x-1,upper=-1x-1]:ARRAY`.

#ifndef TILEJIT_TOOLS_TILEC_SIMULATEMAPS_H
#define TILEJIT_TOOLS_TILEC_SIMULATEMAPS_H

#include "tilejit/Base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::tilec {

/// What stands between the brackets.
struct MapSpec {
  std::vector<int64_t> box; ///< Elements, in the order of the array's sizes: the contiguous dimension is last.
  unsigned swizzle = 0;     ///< 0, 32, 64 or 128 bytes.
  bool nanFill = false;     ///< Beyond the array there is NaN, not 0.
  /// Im2col mode, where the box is pixels and channels: its corners and steps in each dimension of an image, in the
  /// order of the array's sizes. Steps may be left out.
  std::vector<int64_t> lower, upper, step;
  bool isIm2col() const { return !lower.empty() || !upper.empty() || !step.empty(); }
};

/// Whether an argument is a tensor map.
bool isMapText(std::string_view text);
/// Parses `map[...]:` and removes it from `text`. InvalidArgument names `option`.
Expected<MapSpec> takeMapSpec(std::string &text, const std::string &option);
/// The 128 bytes of a map of the array at `memory`, whose file has this header (an .npy header with type and shape).
/// InvalidArgument: other dimensions than the box, elements that maps don't have, or a rule of tensor maps is broken.
Expected<std::vector<uint8_t>> encodeMap(const MapSpec &spec, const void *memory, std::string_view descr,
                                         const std::vector<int64_t> &shape);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_SIMULATEMAPS_H
