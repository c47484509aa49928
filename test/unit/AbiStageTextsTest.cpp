// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The texts of a kernel's stages as bytes.

#include "tilejit/ABI/StageTexts.h"

#include <catch2/catch.hpp>

#include <string>

using namespace tilejit;
using namespace tilejit::abi;

namespace {

StageTexts sample() {
  StageTexts texts;
  texts.tile = "tile.kernel\n";
  texts.tilegpu = "#layout\ntile.kernel\n";
  texts.tileLines = {0, 1};
  texts.layouts = {{"0: tile.load", "<svg/>"}, {"1: tile.store", ""}};
  texts.llvm = "define void @k()\n";
  return texts;
}

} // namespace

TEST_CASE("stage texts come back", "[abi]") {
  StageTexts texts = sample();
  Expected<StageTexts> back = decodeStageTexts(encode(texts));
  REQUIRE(back);
  CHECK(back->tile == texts.tile);
  CHECK(back->tilegpu == texts.tilegpu);
  CHECK(back->tileLines == texts.tileLines);
  REQUIRE(back->layouts.size() == 2);
  CHECK(back->layouts[0].title == "0: tile.load");
  CHECK(back->layouts[0].svg == "<svg/>");
  CHECK(back->layouts[1].svg.empty());
  CHECK(back->llvm == texts.llvm);
}

TEST_CASE("stage texts that are cut or of another version are refused", "[abi]") {
  std::string bytes = encode(sample());
  for (size_t length = 0; length < bytes.size(); ++length)
    CHECK_FALSE(decodeStageTexts(bytes.substr(0, length)));
  CHECK_FALSE(decodeStageTexts(bytes + "x"));
  ++bytes[0];
  CHECK(decodeStageTexts(bytes).status().code() == StatusCode::InvalidArgument);
}
