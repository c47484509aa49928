// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Random programs: those of the seeds from --first-seed (1) on, --programs (15) of them on each device. --text prints
// the first one instead of running any; --reduced FILE has the text to run in its place, on its arguments.

#include "ProgramTrial.h"
#include "TileProgram.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

using namespace tilejit::fuzz;

namespace {
uint64_t firstSeed = 1, programs = 15;
bool textOnly = false;
std::string reducedFile, reducedText;

/// Each seed is a run of the case of its own.
void tryOne(std::string_view place) {
  tryProgram(firstSeed + uint64_t(GENERATE(range(0, int(programs)))), place, reducedText);
}
} // namespace

TEST_CASE("a seed makes one program", "[fuzz]") {
  CHECK(randomProgram(7).text == randomProgram(7).text);
  CHECK(randomProgram(7).text != randomProgram(8).text);
}

TEST_CASE("random programs run on the CPU as in the interpreter", "[fuzz]") { tryOne("cpu"); }
TEST_CASE("random programs run on gfx942 as in the interpreter", "[fuzz]") { tryOne("gfx942"); }
TEST_CASE("random programs run on sm_80 as in the interpreter", "[fuzz]") { tryOne("sm_80"); }
TEST_CASE("random programs run on other chips by turns", "[fuzz]") {
  static constexpr std::array<std::string_view, 3> places{"sm_90a", "gfx1100", "gfx1201"};
  uint64_t seed = firstSeed + uint64_t(GENERATE(range(0, int(programs))));
  tryProgram(seed, places[seed % places.size()]);
}

int main(int count, char **words) {
  Catch::Session session;
  session.cli(session.cli() | Catch::clara::Opt(programs, "number")["--programs"]("random programs on each device") |
              Catch::clara::Opt(firstSeed, "seed")["--first-seed"]("seed of the first program") |
              Catch::clara::Opt(textOnly)["--text"]("print the first program and stop") |
              Catch::clara::Opt(reducedFile, "file")["--reduced"]("text to run instead of the first program"));
  int refused = session.applyCommandLine(count, words);
  if (!refused && textOnly)
    return std::fputs(randomProgram(firstSeed).text.c_str(), stdout) < 0;
  if (!reducedFile.empty()) {
    std::ifstream file(reducedFile);
    reducedText.assign(std::istreambuf_iterator<char>(file), {});
  }
  return refused ? refused : session.run();
}
