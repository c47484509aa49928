// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From the number of bytes of a lane to the integer type of that size, for code that moves or computes by size alone.

#ifndef TILEJIT_SIMULATOR_CORE_ELEMENTSIZE_H
#define TILEJIT_SIMULATOR_CORE_ELEMENTSIZE_H

#include <cstdint>

namespace tilejit::sim {

/// Calls f with a value of the unsigned type of 1, 2, 4 or 8 bytes; gives what f gives.
template <class F> inline auto forElementSize(unsigned bytes, F f) {
  switch (bytes) {
  case 1:
    return f(uint8_t());
  case 2:
    return f(uint16_t());
  case 4:
    return f(uint32_t());
  default:
    return f(uint64_t());
  }
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_ELEMENTSIZE_H
