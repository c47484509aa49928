// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which board stands for a target, and that its figures belong together.

#include "tilejit/Target/Board.h"

#include <catch2/catch.hpp>

using namespace tilejit;

TEST_CASE("boards of targets") {
  auto nameOf = [](const char *target) {
    const Board *board = boardOf(*parseTarget(target));
    return board ? board->name : std::string_view("none");
  };
  CHECK(nameOf("sm_80") == "A100 80GB SXM");
  CHECK(nameOf("sim:sm_80") == nameOf("sm_80"));
  CHECK(nameOf("sm_90a") == nameOf("sm_90"));
  CHECK(nameOf("gfx90a:xnack-") == "Instinct MI210");
  CHECK(nameOf("gfx9-4-generic") == "none");
  CHECK(nameOf("native") == "none");
}

TEST_CASE("matrix units are faster than vector units, and every kernel has a ridge") {
  for (const TargetSpec &target : knownTargets())
    if (const Board *board = boardOf(target)) {
      INFO(board->name);
      CHECK(board->units > 0);
      CHECK((board->matrixTflops == 0 || board->matrixTflops > board->vectorTflops));
      double ridge = 1000 * board->vectorTflops / board->gbytesPerS;
      CHECK((ridge > 5 && ridge < 200));
    }
}
