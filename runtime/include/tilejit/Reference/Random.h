// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Random inputs that are the same on every machine, for every number of threads and in every version.
//
// Generator: Philox4x32-10, a block of four 32-bit words from a counter and a key. Key: low and high half of the seed.
// Counter: low and high half of the block's number, index of the operand, zero.
// Floating element i: block i gives eight 16-bit numbers; their sum minus 262140 is an integer s with the standard
// deviation sigma = sqrt(2(2^32 - 1)/3); the value is s times (scale/sigma), one multiplication in double, then one
// rounding to the type. So nothing depends on a library's functions, and values lie within 4.9 sigma.
// Integer element i: word i mod 4 of block i div 4, times the number of values, shifted right by 32, plus the lowest.
// A product over floating elements wants factors near 1: the value is 1 + s/round(2 sigma sqrt(n)), negative where bit
// 3 of s is set. f8e8m0 holds 2 to the power of an integer element from -3 to 3.
// Tables of pages hold element i = (step i + start) mod pages, start and step from words 0 and 1 of block 0 as integers
// from 0 to pages - 1, step raised to the next number that has no divisor with pages in common: no page twice as long
// as there are enough. The first length is the longest possible, the others are integer elements. Starts of sequences
// are integer elements in ascending order, the first 0, the last the end of all.

#ifndef TILEJIT_REFERENCE_RANDOM_H
#define TILEJIT_REFERENCE_RANDOM_H

#include "tilejit/Base/Status.h"
#include "tilejit/Description/Description.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Reference/HostTensor.h"

#include <array>
#include <cstdint>

namespace tilejit {

/// One block of the generator.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// How the values of an operand are distributed.
struct RandomPlan {
  enum class Kind : uint8_t {
    Normal,     ///< Mean 0, standard deviation `scale`.
    NearOne,    ///< 1 + normal values of standard deviation 1/(2 scale), half of them negative.
    Uniform,    ///< Integers from `low` to `high`.
    Sign,       ///< -1 or 1.
    PowerOfTwo, ///< 2 to the power of integers from `low` to `high`.
    Starts,     ///< 0, then integers from 0 to `high` in ascending order, then `high`.
    Lengths,    ///< `high`, then integers from `low` to `high`.
    Pages       ///< Integers from 0 to `high`, none twice in high + 1 that follow each other; 0 where high is negative.
  } kind = Kind::Normal;
  double scale = 1;
  int64_t low = 0, high = 0;
};

/// The distribution for an input: normal values scaled so that results of the operator are of size 1 (factors of a
/// product of length k: k^(-1/4), terms of a sum of length n: n^(-1/2)); integers over the widest range for which sums
/// and products of the operator can't overflow, at most what the type holds.
RandomPlan randomPlan(const Description &description, const Binding &binding, int input);

/// Fills a tensor; its elements depend on plan, seed and index only.
void fillRandom(const RandomPlan &plan, int input, uint64_t seed, HostTensor &tensor);
/// Fills a tensor of the input's dtype and bound shape.
void fillRandom(const Description &description, const Binding &binding, int input, uint64_t seed, HostTensor &tensor);
/// A new tensor for an input.
Expected<HostTensor> randomInput(const Description &description, const Binding &binding, int input, uint64_t seed);

} // namespace tilejit

#endif // TILEJIT_REFERENCE_RANDOM_H
