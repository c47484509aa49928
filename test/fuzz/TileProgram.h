// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Random tile programs: well-typed, with a meaning that every implementation must agree on. A seed makes the same
// program everywhere. Floating-point numbers stay multiples of a power of two that their type holds exactly, so that
// any order of sums and any contraction gives the same bits; what functions like exp give goes to an output of its own,
// which is compared with a tolerance. What an operation leaves unspecified is never looked at.

#ifndef TILEJIT_TEST_FUZZ_TILEPROGRAM_H
#define TILEJIT_TEST_FUZZ_TILEPROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace tilejit::fuzz {

/// Memory of one argument of a program: dense, row-major.
struct ProgramArgument {
  enum class Fill : uint8_t {
    Numbers, ///< Whole numbers from -4 to 4; 0 or 1 for i1.
    Bits,    ///< Any integer.
  };
  std::string element;        ///< MLIR's name of the type.
  std::vector<int64_t> shape; ///< Sizes of a view; the number of elements behind a pointer.
  bool isPointer = false;
  Fill fill = Fill::Numbers;
  double tolerance = 0; ///< Relative, and absolute below 1; 0: all bits count, but for those of a NaN or a zero's sign.
};

struct TileProgram {
  std::string text; ///< One kernel with a launch rule.
  std::vector<ProgramArgument> arguments;
};

TileProgram randomProgram(uint64_t seed);

} // namespace tilejit::fuzz

#endif // TILEJIT_TEST_FUZZ_TILEPROGRAM_H
