// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reductions along every axis of tiles of rank 1 to 3, with sides that are no powers of two, by different numbers of
// warps: shares within registers, lanes and warps, and threads with nothing to add.

#include "TileOpsCheck.h"

#include <catch2/catch.hpp>

using namespace tilejit::test;

namespace {

std::string reduction(std::string_view result, std::string_view value, int axis, const std::vector<int> &shape,
                      std::string_view element, std::string_view op) {
  std::vector<int> reduced(shape);
  reduced.erase(reduced.begin() + axis);
  std::string e(element);
  return "  " + std::string(result) + " = tile.reduce " + std::string(value) + " axis " + std::to_string(axis) +
         " : tensor<" + typeText(shape, e) + "> -> tensor<" + typeText(reduced, e) + "> {\n  ^bb0(%l: " + e +
         ", %r: " + e + "):\n    %a = " + std::string(op) + " %l, %r : " + e + "\n    tile.yield %a : " + e + "\n  }\n";
}

void checkReduction(const std::vector<int> &shape, std::string_view element, std::string_view op,
                    const TileOpsRun &run) {
  for (int axis = 0; axis < int(shape.size()); ++axis) {
    std::vector<int> reduced(shape);
    reduced.erase(reduced.begin() + axis);
    std::string x = typeText(shape, element), y = typeText(reduced, element);
    checkTileOps(twoViews(x, y),
                 loadWhole("%t", "%x", x) + reduction("%s", "%t", axis, shape, element, op) + storeWhole("%s", "%y", y),
                 run);
  }
}

} // namespace

TEST_CASE("reductions along the only axis", "[cpu][gpu]") {
  for (int size : {1, 3, 5, 33, 200})
    checkReduction({size}, "f32", "arith.addf", {.warps = {1, 2, 8}, .targets = {"sm_80", "gfx942"}});
  checkReduction({100}, "f64", "arith.addf", {.warps = {4}});
  checkReduction({100}, "i8", "arith.addi", {.warps = {4}});
  checkReduction({100}, "i64", "arith.minsi", {.warps = {4}});
  checkReduction({77}, "bf16", "arith.maxnumf", {.warps = {4}});
}

TEST_CASE("reductions along both axes of a matrix", "[cpu][gpu]") {
  checkReduction({3, 5}, "f32", "arith.addf", {.warps = {1, 8}, .targets = {"sm_80", "gfx942"}});
  checkReduction({5, 33}, "f32", "arith.addf", {.warps = {2, 8}, .targets = {"sm_80", "gfx942"}});
  checkReduction({33, 5}, "i32", "arith.muli", {.warps = {4}, .targets = {"sm_80", "gfx942"}});
  checkReduction({64, 9}, "f32", "arith.addf", {.warps = {4}, .targets = {"sm_80", "gfx1100"}});
  checkReduction({1, 130}, "f16", "arith.minnumf", {.warps = {4}, .targets = {"sm_80", "gfx942"}});
}

TEST_CASE("reductions along each of three axes", "[cpu][gpu]") {
  checkReduction({3, 5, 9}, "f32", "arith.addf", {.warps = {1, 4}, .targets = {"sm_80", "gfx942"}});
  checkReduction({2, 33, 3}, "i16", "arith.maxui", {.warps = {8}, .targets = {"sm_80", "gfx942"}});
  checkReduction({17, 1, 4}, "f32", "arith.addf", {.warps = {2}, .targets = {"sm_80", "gfx1100"}});
}

TEST_CASE("the largest element and its place, along both axes", "[cpu][gpu]") {
  for (int axis : {0, 1}) {
    std::string rest = axis == 0 ? "33" : "5", a = std::to_string(axis);
    std::string iota =
        "  %i = tile.iota : tensor<" + std::string(axis == 0 ? "5" : "33") + "xi32>\n  %e = tile.expand " + "%i axis " +
        std::to_string(1 - axis) + " : tensor<" + (axis == 0 ? "5xi32> -> tensor<5x1" : "33xi32> -> tensor<1x33") +
        "xi32>\n  %p = tile.broadcast %e : tensor<" + (axis == 0 ? "5x1" : "1x33") + "xi32> -> tensor<5x33xi32>\n";
    checkTileOps("%x: !tile.view<5x33xf32>, %v: !tile.view<" + rest + "xf32>, %w: !tile.view<" + rest + "xi32>",
                 loadWhole("%t", "%x", "5x33xf32") + iota + "  %m, %q = tile.reduce %t, %p axis " + a +
                     " : tensor<5x33xf32>, tensor<5x33xi32> -> tensor<" + rest + "xf32>, tensor<" + rest + R"(xi32> {
  ^bb0(%a: f32, %i0: i32, %b: f32, %i1: i32):
    %gt = arith.cmpf ogt, %b, %a : f32
    %eq = arith.cmpf oeq, %b, %a : f32
    %lt = arith.cmpi slt, %i1, %i0 : i32
    %tie = arith.andi %eq, %lt : i1
    %take = arith.ori %gt, %tie : i1
    %big = arith.select %take, %b, %a : f32
    %at = arith.select %take, %i1, %i0 : i32
    tile.yield %big, %at : f32, i32
  }
)" + storeWhole("%m", "%v", rest + "xf32") +
                     storeWhole("%q", "%w", rest + "xi32"),
                 {.warps = {1, 4}});
  }
}

TEST_CASE("a combination uses constants and values from outside", "[cpu][gpu]") {
  checkTileOps(twoViews("3x70xi32", "3xi32"), loadWhole("%t", "%x", "3x70xi32") + R"(
  %mask = arith.constant 255 : i32
  %s = tile.reduce %t axis 1 : tensor<3x70xi32> -> tensor<3xi32> {
  ^bb0(%l: i32, %r: i32):
    %all = arith.constant 15 : i32
    %a = arith.addi %l, %r : i32
    %b = arith.andi %a, %mask : i32
    %c = arith.andi %b, %all : i32
    tile.yield %c : i32
  }
)" + storeWhole("%s", "%y", "3xi32"),
               {.warps = {1, 4}});
}

TEST_CASE("rows are normalised by warps that share them, twice", "[cpu][gpu]") {
  for (auto [rows, columns] : {std::pair(1, 300), {3, 40}, {20, 9}}) {
    std::string t = typeText({rows, columns}, "f32"), r = std::to_string(rows);
    auto spread = [&](const std::string &from, const std::string &to) {
      return "  " + to + "e = tile.expand " + from + " axis 1 : tensor<" + r + "xf32> -> tensor<" + r + "x1xf32>\n  " +
             to + " = tile.broadcast " + to + "e : tensor<" + r + "x1xf32> -> tensor<" + t + ">\n";
    };
    checkTileOps(twoViews(t, t),
                 loadWhole("%t", "%x", t) + reduction("%m", "%t", 1, {rows, columns}, "f32", "arith.maxnumf") +
                     spread("%m", "%mb") + "  %d = arith.subf %t, %mb : tensor<" + t + ">\n" +
                     reduction("%s", "%d", 1, {rows, columns}, "f32", "arith.addf") + spread("%s", "%sb") +
                     "  %o = arith.addf %d, %sb : tensor<" + t + ">\n" + storeWhole("%o", "%y", t),
                 {.warps = {1, 2, 8}});
  }
}

TEST_CASE("a matrix is reduced to one number, which all threads use", "[cpu][gpu]") {
  checkTileOps(twoViews("5x33xf32", "5x33xf32"),
               loadWhole("%t", "%x", "5x33xf32") + reduction("%s", "%t", 0, {5, 33}, "f32", "arith.addf") +
                   reduction("%n", "%s", 0, {33}, "f32", "arith.addf") + R"(
  %e = tile.extract %n[] : tensor<f32> -> f32
  %b = tile.splat %e : f32 -> tensor<5x33xf32>
  %o = arith.subf %t, %b : tensor<5x33xf32>
)" + storeWhole("%o", "%y", "5x33xf32"),
               {.warps = {1, 4}});
}

TEST_CASE("a reduced and transposed tile is reduced again", "[cpu][gpu]") {
  checkTileOps(twoViews("4x6x33xf32", "33xf32"),
               loadWhole("%t", "%x", "4x6x33xf32") + R"(
  %p = tile.transpose %t [2, 0, 1] : tensor<4x6x33xf32> -> tensor<33x4x6xf32>
)" + reduction("%s", "%p", 1, {33, 4, 6}, "f32", "arith.addf") +
                   R"(
  %q = tile.transpose %s [1, 0] : tensor<33x6xf32> -> tensor<6x33xf32>
)" + reduction("%u", "%q", 0, {6, 33}, "f32", "arith.maxnumf") +
                   storeWhole("%u", "%y", "33xf32"),
               {.warps = {1, 4}});
}
