// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads and stores that leave their view, with every padding and type, and parts of tiles.

#include "TileOpsCheck.h"

#include <catch2/catch.hpp>

#include <tuple>

using namespace tilejit::test;

TEST_CASE("what a load finds outside of a view", "[cpu][gpu]") {
  for (const char *pad : {"zero", "lowest", "highest", "nan"}) {
    checkTileOps(twoViews("5x19xf32", "8x32xf32"),
                 "  %t = tile.load %x[%c0, %c0] pad " + std::string(pad) +
                     " : !tile.view<5x19xf32> -> tensor<8x32xf32>\n" + storeWhole("%t", "%y", "8x32xf32"),
                 {.warps = {1, 2}});
  }
  for (const char *type : {"i8", "i16", "i64", "f64", "bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU"})
    for (const char *pad : {"zero", "lowest", "highest"})
      checkTileOps(twoViews("19x" + std::string(type), "32x" + std::string(type)),
                   "  %t = tile.load %x[%c0] pad " + std::string(pad) + " : !tile.view<19x" + type + "> -> tensor<32x" +
                       type + ">\n" + storeWhole("%t", "%y", "32x" + std::string(type)),
                   {.targets = {"sm_80", "gfx942"}});
}

TEST_CASE("programs cover a ragged matrix between them", "[cpu][gpu]") {
  checkTileOps(twoViews("21x37xf32", "37x21xf32"), R"(
  %n = tile.program_id 0
  %c3 = arith.constant 3 : index
  %i = arith.divui %n, %c3 : index
  %j = arith.remui %n, %c3 : index
  %t = tile.load %x[%i, %j] pad zero : !tile.view<21x37xf32> -> tensor<8x16xf32>
  %u = tile.transpose %t [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  tile.store %u, %y[%j, %i] : tensor<16x8xf32>, !tile.view<37x21xf32>)",
               {.programs = 9, .warps = {1, 2}});
}

TEST_CASE("loads and stores wholly outside of a view", "[cpu][gpu]") {
  checkTileOps(twoViews("20xi32", "20xi32"), R"(
  %c7 = arith.constant 7 : index
  %t = tile.load %x[%c7] pad highest : !tile.view<20xi32> -> tensor<16xi32>
  tile.store %t, %y[%c0] : tensor<16xi32>, !tile.view<20xi32>
  tile.store %t, %y[%c7] : tensor<16xi32>, !tile.view<20xi32>)");
}

TEST_CASE("parts of tiles, and single elements", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<12x40xf32>, %y: !tile.view<4x8xf32>, %z: !tile.view<3x5xf32>", R"(
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<12x40xf32> -> tensor<12x40xf32>
  %a = tile.extract %t[%c1, %c2] : tensor<12x40xf32> -> tensor<4x8xf32>
  %e = tile.extract %t[%c2, %c1] : tensor<12x40xf32> -> f32
  %s = tile.splat %e : f32 -> tensor<4x8xf32>
  %b = arith.addf %a, %s : tensor<4x8xf32>
  tile.store %b, %y[%c0, %c0] : tensor<4x8xf32>, !tile.view<4x8xf32>
  %p = tile.extract %t[%c2, %c1] : tensor<12x40xf32> -> tensor<3x5xf32>
  tile.store %p, %z[%c0, %c0] : tensor<3x5xf32>, !tile.view<3x5xf32>)",
               {.warps = {1, 4}});
}

TEST_CASE("a part whose place is known at run time only", "[cpu][gpu]") {
  checkTileOps(twoViews("16x24xf32", "8x8xf32"), R"(
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<16x24xf32> -> tensor<16x24xf32>
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%outer = %zero) -> tensor<8x8xf32> {
    %r = scf.for %j = %c0 to %c3 step %c1 iter_args(%inner = %outer) -> tensor<8x8xf32> {
      %a = tile.extract %t[%i, %j] : tensor<16x24xf32> -> tensor<8x8xf32>
      %u = arith.addf %inner, %a : tensor<8x8xf32>
      %m = arith.addf %u, %u : tensor<8x8xf32>
      scf.yield %m : tensor<8x8xf32>
    }
    scf.yield %r : tensor<8x8xf32>
  }
  tile.store %s, %y[%c0, %c0] : tensor<8x8xf32>, !tile.view<8x8xf32>)",
               {.warps = {1, 4}});
}

TEST_CASE("atomic updates of a view by many programs, and their old values by pointer", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<19xi32>, %p: !tile.ptr<i32>", R"(
  %i = tile.iota : tensor<64xi32>
  tile.atomic maxs %i, %x[%c0] relaxed device : tensor<64xi32>, !tile.view<19xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %eleven = arith.constant dense<11> : tensor<64xi32>
  %b = arith.remui %i, %eleven : tensor<64xi32>
  %a = tile.addptr %s, %b : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %old = tile.atomic_rmw addi %i, %a relaxed device : tensor<64xi32>, tensor<64x!tile.ptr<i32>>)",
               {.programs = 5, .warps = {1, 4}});
}

TEST_CASE("constants become scales as numbers of run time do", "[cpu][gpu]") {
  checkTileOps("%y: !tile.view<4xf8E8M0FNU>, %z: !tile.view<4xf8E8M0FNU>, %w: !tile.view<4xf32>", R"(
  %a = arith.constant dense<[0.0, -2.0, 4.0, 1.0]> : tensor<4xf32>
  %b = arith.constant dense<0.0> : tensor<4xf8E4M3FN>
  %s = tile.fp_to_fp %a : tensor<4xf32> -> tensor<4xf8E8M0FNU>
  %t = tile.fp_to_fp %b saturate : tensor<4xf8E4M3FN> -> tensor<4xf8E8M0FNU>
  %u = tile.fp_to_fp %t : tensor<4xf8E8M0FNU> -> tensor<4xf32>
  tile.store %s, %y[%c0] : tensor<4xf8E8M0FNU>, !tile.view<4xf8E8M0FNU>
  tile.store %t, %z[%c0] : tensor<4xf8E8M0FNU>, !tile.view<4xf8E8M0FNU>
  tile.store %u, %w[%c0] : tensor<4xf32>, !tile.view<4xf32>)");
}

TEST_CASE("conversions between types, element by element", "[cpu][gpu]") {
  checkTileOps(twoViews("3x37xf32", "3x37xi8"), R"(
  %t = tile.load %x[%c0, %c0] : !tile.view<3x37xf32> -> tensor<3x37xf32>
  %h = tile.fp_to_fp %t saturate : tensor<3x37xf32> -> tensor<3x37xf8E4M3FN>
  %w = tile.fp_to_fp %h : tensor<3x37xf8E4M3FN> -> tensor<3x37xbf16>
  %f = tile.fp_to_fp %w : tensor<3x37xbf16> -> tensor<3x37xf64>
  %i = tile.fp_to_int %f signed : tensor<3x37xf64> -> tensor<3x37xi8>
  tile.store %i, %y[%c0, %c0] : tensor<3x37xi8>, !tile.view<3x37xi8>)",
               {.warps = {1, 4}});
}
