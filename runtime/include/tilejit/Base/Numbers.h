// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Room for numbers whose count is known late and is small as a rule: a launch that allocates nothing.

#ifndef TILEJIT_BASE_NUMBERS_H
#define TILEJIT_BASE_NUMBERS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilejit {

/// `count` 64-bit numbers, not initialised; up to `inlineCount` of them without an allocation.
template <size_t inlineCount> class Numbers {
public:
  explicit Numbers(size_t count) {
    if (count > inlineCount)
      heap_.resize(count);
  }
  Numbers(const Numbers &) = delete;
  Numbers &operator=(const Numbers &) = delete;
  int64_t *data() { return heap_.empty() ? inline_.data() : heap_.data(); }

private:
  std::array<int64_t, inlineCount> inline_;
  std::vector<int64_t> heap_;
};

} // namespace tilejit

#endif // TILEJIT_BASE_NUMBERS_H
