// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Descriptions that together reach every path of the operator library, at small and ragged sizes.

#ifndef TILEJIT_TEST_UNIT_OPLIBCASES_H
#define TILEJIT_TEST_UNIT_OPLIBCASES_H

#include "DescriptionBuilder.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilejit::test {

/// A description, and the actual sizes of its symbolic dimensions ("m=3,n=5").
struct OpLibCase {
  std::string text;
  std::string sizes;
};

std::vector<OpLibCase> matmulCases();
/// Products with a constant right operand, which CPUs pack once: those from above and larger ones.
std::vector<OpLibCase> constantProductCases();
/// Products of so many rows that the right operand is packed as a whole before they begin, and blocks of known sizes,
/// whose left operand is read where it lies.
std::vector<OpLibCase> tallProductCases();
std::vector<OpLibCase> elementwiseCases();
std::vector<OpLibCase> reduceCases();
std::vector<OpLibCase> rowCases();
std::vector<OpLibCase> moveCases();
/// Ragged lengths and head sizes, masks, biases and types of attention.
std::vector<OpLibCase> attentionCases();
/// Sequences in a row, and epilogues, of attention.
std::vector<OpLibCase> sequenceCases();
/// The same over keys in pages, and keys that instances share.
std::vector<OpLibCase> decodeCases();
/// Results that exceed a core's share of the caches, in rows that end in the middle of a cache line.
std::vector<OpLibCase> largeCases();

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_OPLIBCASES_H
