// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A trial of a random program: the interpreter says what it means, an implementation runs it on the same memory.

#ifndef TILEJIT_TEST_FUZZ_PROGRAMTRIAL_H
#define TILEJIT_TEST_FUZZ_PROGRAMTRIAL_H

#include <cstdint>
#include <string_view>

namespace tilejit::fuzz {

/// Runs the program of a seed, and fails the test where it does not do what it means. `place` is "cpu" for this
/// machine, or the target of a simulated GPU, which must have nothing to report either. `text` takes the place of the
/// program's own: fewer statements on the same arguments, for who looks for the ones that matter.
void tryProgram(uint64_t seed, std::string_view place, std::string_view text = {});

} // namespace tilejit::fuzz

#endif // TILEJIT_TEST_FUZZ_PROGRAMTRIAL_H
