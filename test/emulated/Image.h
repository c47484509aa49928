// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What lies in the file that a test and the runner share: this header, the slots of a launch, and after them the
// operands' memory. A slot that holds an address has the offset in the file instead, and its bit is set.

#ifndef TILEJIT_TEST_EMULATED_IMAGE_H
#define TILEJIT_TEST_EMULATED_IMAGE_H

#include <cstdint>

namespace tilejit::test {

inline constexpr int mostSlots = 512;

struct EmulatedLaunch {
  int64_t slotCount = 0;
  int64_t failedAssertion = -1; ///< Written by the runner.
  int64_t ran = 0;              ///< Written by the runner last: 1.
  bool isAddress[mostSlots] = {};
  int64_t slots[mostSlots] = {};
};

} // namespace tilejit::test

#endif // TILEJIT_TEST_EMULATED_IMAGE_H
