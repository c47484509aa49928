// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loops and branches that carry tiles, also between on-chip exchanges, and chains of operations that change layouts.

#include "TileOpsCheck.h"

#include <catch2/catch.hpp>

using namespace tilejit::test;

TEST_CASE("a loop carries several tiles of different shapes and types", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<5x33xf32>, %y: !tile.view<33x5xf32>, %z: !tile.view<5xi32>", R"(
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a0 = tile.load %x[%c0, %c0] : !tile.view<5x33xf32> -> tensor<5x33xf32>
  %b0 = tile.load %y[%c0, %c0] : !tile.view<33x5xf32> -> tensor<33x5xf32>
  %n0 = tile.load %z[%c0] : !tile.view<5xi32> -> tensor<5xi32>
  %a, %b, %n = scf.for %k = %c0 to %c4 step %c1 iter_args(%p = %a0, %q = %b0, %m = %n0)
      -> (tensor<5x33xf32>, tensor<33x5xf32>, tensor<5xi32>) {
    %t = tile.transpose %p [1, 0] : tensor<5x33xf32> -> tensor<33x5xf32>
    %u = tile.transpose %q [1, 0] : tensor<33x5xf32> -> tensor<5x33xf32>
    %v = arith.addf %t, %q : tensor<33x5xf32>
    %w = arith.subf %u, %p : tensor<5x33xf32>
    %i = tile.iota : tensor<5xi32>
    %o = arith.addi %m, %i : tensor<5xi32>
    scf.yield %w, %v, %o : tensor<5x33xf32>, tensor<33x5xf32>, tensor<5xi32>
  }
  tile.store %a, %x[%c0, %c0] : tensor<5x33xf32>, !tile.view<5x33xf32>
  tile.store %b, %y[%c0, %c0] : tensor<33x5xf32>, !tile.view<33x5xf32>
  tile.store %n, %z[%c0] : tensor<5xi32>, !tile.view<5xi32>)",
               {.warps = {1, 4}});
}

TEST_CASE("a loop exchanges its tiles", "[cpu][gpu]") {
  checkTileOps(twoViews("16x16xf32", "16x16xf32"), R"(
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a0 = tile.load %x[%c0, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32>
  %b0 = tile.transpose %a0 [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  %a, %b = scf.for %k = %c0 to %c3 step %c1 iter_args(%p = %a0, %q = %b0) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    scf.yield %q, %p : tensor<16x16xf32>, tensor<16x16xf32>
  }
  %d = arith.subf %a, %b : tensor<16x16xf32>
  tile.store %d, %y[%c0, %c0] : tensor<16x16xf32>, !tile.view<16x16xf32>)",
               {.warps = {1, 4}});
}

TEST_CASE("nested loops, with a reduction over warps in the inner one", "[cpu][gpu]") {
  checkTileOps(twoViews("6x130xf32", "130xf32"), R"(
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<1x130xf32>
  %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%outer = %zero) -> tensor<1x130xf32> {
    %in = scf.for %j = %c0 to %c3 step %c1 iter_args(%inner = %outer) -> tensor<1x130xf32> {
      %n = arith.muli %i, %c3 : index
      %row = arith.addi %n, %j : index
      %t = tile.load %x[%row, %c0] : !tile.view<6x130xf32> -> tensor<1x130xf32>
      %m = tile.reduce %t axis 1 : tensor<1x130xf32> -> tensor<1xf32> {
      ^bb0(%l: f32, %r: f32):
        %g = arith.maxnumf %l, %r : f32
        tile.yield %g : f32
      }
      %e = tile.expand %m axis 1 : tensor<1xf32> -> tensor<1x1xf32>
      %b = tile.broadcast %e : tensor<1x1xf32> -> tensor<1x130xf32>
      %d = arith.subf %t, %b : tensor<1x130xf32>
      %sum = arith.addf %inner, %d : tensor<1x130xf32>
      scf.yield %sum : tensor<1x130xf32>
    }
    scf.yield %in : tensor<1x130xf32>
  }
  %f = tile.reshape %s : tensor<1x130xf32> -> tensor<130xf32>
  tile.store %f, %y[%c0] : tensor<130xf32>, !tile.view<130xf32>)",
               {.warps = {1, 2, 8}});
}

TEST_CASE("a switch gives tiles, or stores them, and has another inside", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<6x18x20xf32>, %y: !tile.view<6x20x18xf32>", R"(
  %i = tile.program_id 0
  %c2 = arith.constant 2 : index
  %half = arith.divui %i, %c2 : index
  %t3 = tile.load %x[%i, %c0, %c0] : !tile.view<6x18x20xf32> -> tensor<1x18x20xf32>
  %t = tile.reshape %t3 : tensor<1x18x20xf32> -> tensor<18x20xf32>
  %r, %n = scf.index_switch %half -> tensor<20x18xf32>, f32
  case 0 {
    %u = tile.transpose %t [1, 0] : tensor<18x20xf32> -> tensor<20x18xf32>
    %one = arith.constant 1.0 : f32
    scf.yield %u, %one : tensor<20x18xf32>, f32
  }
  case 2 {
    %v = tile.reshape %t : tensor<18x20xf32> -> tensor<20x18xf32>
    %two = scf.index_switch %i -> f32
    case 5 {
      %five = arith.constant 5.0 : f32
      scf.yield %five : f32
    }
    default {
      %four = arith.constant 4.0 : f32
      scf.yield %four : f32
    }
    scf.yield %v, %two : tensor<20x18xf32>, f32
  }
  default {
    %d = arith.constant dense<3.0> : tensor<20x18xf32>
    %three = arith.constant 3.0 : f32
    scf.yield %d, %three : tensor<20x18xf32>, f32
  }
  %s = tile.splat %n : f32 -> tensor<20x18xf32>
  %z = arith.addf %r, %s : tensor<20x18xf32>
  %w = tile.reshape %z : tensor<20x18xf32> -> tensor<1x20x18xf32>
  scf.index_switch %i
  case 3 {
    %m = arith.negf %w : tensor<1x20x18xf32>
    tile.store %m, %y[%i, %c0, %c0] : tensor<1x20x18xf32>, !tile.view<6x20x18xf32>
    scf.yield
  }
  case 4 {
    scf.yield
  }
  default {
    tile.store %w, %y[%i, %c0, %c0] : tensor<1x20x18xf32>, !tile.view<6x20x18xf32>
  }
  %only = scf.index_switch %i -> f32
  default {
    %six = arith.constant 6.0 : f32
    scf.yield %six : f32
  }
  %o = tile.splat %only : f32 -> tensor<1x1x1xf32>
  tile.store %o, %x[%i, %c0, %c0] : tensor<1x1x1xf32>, !tile.view<6x18x20xf32>)",
               {.programs = 6, .warps = {1, 4}});
}

TEST_CASE("branches give tiles, with an exchange on one side only", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<4x18x20xf32>, %y: !tile.view<4x20x18xf32>", R"(
  %i = tile.program_id 0
  %c2 = arith.constant 2 : index
  %t3 = tile.load %x[%i, %c0, %c0] : !tile.view<4x18x20xf32> -> tensor<1x18x20xf32>
  %t = tile.reshape %t3 : tensor<1x18x20xf32> -> tensor<18x20xf32>
  %first = arith.cmpi ult, %i, %c2 : index
  %r = scf.if %first -> tensor<20x18xf32> {
    %u = tile.transpose %t [1, 0] : tensor<18x20xf32> -> tensor<20x18xf32>
    scf.yield %u : tensor<20x18xf32>
  } else {
    %v = tile.reshape %t : tensor<18x20xf32> -> tensor<20x18xf32>
    scf.yield %v : tensor<20x18xf32>
  }
  %w = tile.reshape %r : tensor<20x18xf32> -> tensor<1x20x18xf32>
  tile.store %w, %y[%i, %c0, %c0] : tensor<1x20x18xf32>, !tile.view<4x20x18xf32>)",
               {.programs = 4, .warps = {1, 4}});
}

TEST_CASE("a loop runs until a reduced number is small, and what follows uses the same memory", "[cpu][gpu]") {
  checkTileOps(twoViews("3x70xi32", "70x3xi32"), R"(
  %t0 = tile.load %x[%c0, %c0] : !tile.view<3x70xi32> -> tensor<3x70xi32>
  %one = arith.constant dense<1> : tensor<3x70xi32>
  %limit = arith.constant 3 : i32
  %most = arith.constant dense<12> : tensor<3x70xi32>
  %t1 = arith.remui %t0, %most : tensor<3x70xi32>
  %end = scf.while (%t = %t1) : (tensor<3x70xi32>) -> tensor<3x70xi32> {
    %rows = tile.reduce %t axis 1 : tensor<3x70xi32> -> tensor<3xi32> {
    ^bb0(%l: i32, %r: i32):
      %g = arith.maxsi %l, %r : i32
      tile.yield %g : i32
    }
    %all = tile.reduce %rows axis 0 : tensor<3xi32> -> tensor<i32> {
    ^bb0(%l: i32, %r: i32):
      %g = arith.maxsi %l, %r : i32
      tile.yield %g : i32
    }
    %n = tile.extract %all[] : tensor<i32> -> i32
    %go = arith.cmpi sgt, %n, %limit : i32
    scf.condition(%go) %t : tensor<3x70xi32>
  } do {
  ^bb0(%t: tensor<3x70xi32>):
    %columns = tile.reduce %t axis 0 : tensor<3x70xi32> -> tensor<70xi32> {
    ^bb0(%l: i32, %r: i32):
      %g = arith.maxsi %l, %r : i32
      tile.yield %g : i32
    }
    %e = tile.expand %columns axis 0 : tensor<70xi32> -> tensor<1x70xi32>
    %b = tile.broadcast %e : tensor<1x70xi32> -> tensor<3x70xi32>
    %top = arith.cmpi eq, %t, %b : tensor<3x70xi32>
    %less = arith.subi %t, %one : tensor<3x70xi32>
    %next = arith.select %top, %less, %t : tensor<3x70xi1>, tensor<3x70xi32>
    scf.yield %next : tensor<3x70xi32>
  }
  %u = tile.transpose %end [1, 0] : tensor<3x70xi32> -> tensor<70x3xi32>
  tile.store %u, %y[%c0, %c0] : tensor<70x3xi32>, !tile.view<70x3xi32>)",
               {.warps = {1, 4}});
}

TEST_CASE("chains of transposes, broadcasts and reshapes", "[cpu][gpu]") {
  checkTileOps(twoViews("3x5x7xf32", "7x15xf32"), R"(
  %t = tile.load %x[%c0, %c0, %c0] : !tile.view<3x5x7xf32> -> tensor<3x5x7xf32>
  %a = tile.transpose %t [2, 1, 0] : tensor<3x5x7xf32> -> tensor<7x5x3xf32>
  %b = tile.reshape %a : tensor<7x5x3xf32> -> tensor<7x15xf32>
  %c = tile.reshape %t : tensor<3x5x7xf32> -> tensor<15x7xf32>
  %d = tile.transpose %c [1, 0] : tensor<15x7xf32> -> tensor<7x15xf32>
  %e = arith.subf %b, %d : tensor<7x15xf32>
  %f = tile.extract %e[%c0, %c0] : tensor<7x15xf32> -> tensor<7x1xf32>
  %g = tile.broadcast %f : tensor<7x1xf32> -> tensor<7x15xf32>
  %h = arith.addf %e, %g : tensor<7x15xf32>
  tile.store %h, %y[%c0, %c0] : tensor<7x15xf32>, !tile.view<7x15xf32>)",
               {.warps = {1, 2, 8}});
  checkTileOps(twoViews("48x32xf16", "32x48xf16"), R"(
  %t = tile.load %x[%c0, %c0] : !tile.view<48x32xf16> -> tensor<48x32xf16>
  %a = tile.transpose %t [1, 0] : tensor<48x32xf16> -> tensor<32x48xf16>
  %b = arith.addf %a, %a : tensor<32x48xf16>
  %c = tile.transpose %b [1, 0] : tensor<32x48xf16> -> tensor<48x32xf16>
  %d = arith.subf %c, %t : tensor<48x32xf16>
  %e = tile.transpose %d [1, 0] : tensor<48x32xf16> -> tensor<32x48xf16>
  tile.store %e, %y[%c0, %c0] : tensor<32x48xf16>, !tile.view<32x48xf16>)",
               {.warps = {1, 2, 4, 8}});
}

TEST_CASE("reshapes cut rows into groups", "[cpu][gpu]") {
  checkTileOps(twoViews("12x20xf32", "3x5x2x2x20xf32"), R"(
  %t = tile.load %x[%c0, %c0] : !tile.view<12x20xf32> -> tensor<12x20xf32>
  %a = tile.reshape %t : tensor<12x20xf32> -> tensor<1x3x2x2x20xf32>
  %b = tile.reshape %a : tensor<1x3x2x2x20xf32> -> tensor<3x1x2x2x20xf32>
  %c = tile.broadcast %b : tensor<3x1x2x2x20xf32> -> tensor<3x5x2x2x20xf32>
  tile.store %c, %y[%c0, %c0, %c0, %c0, %c0] : tensor<3x5x2x2x20xf32>, !tile.view<3x5x2x2x20xf32>)",
               {.warps = {1, 4}});
  checkTileOps(twoViews("17x20xf32", "5x2x2x20xf32"), R"(
  %t = tile.load %x[%c0, %c0] pad zero : !tile.view<17x20xf32> -> tensor<20x20xf32>
  %a = tile.reshape %t : tensor<20x20xf32> -> tensor<5x2x2x20xf32>
  %b = tile.transpose %a [0, 2, 1, 3] : tensor<5x2x2x20xf32> -> tensor<5x2x2x20xf32>
  tile.store %b, %y[%c0, %c0, %c0, %c0] : tensor<5x2x2x20xf32>, !tile.view<5x2x2x20xf32>)",
               {.warps = {1, 4}});
}

TEST_CASE("groups of neighbours of a column", "[cpu][gpu]") {
  checkTileOps(twoViews("24x64xi8", "6x256xi8"), R"(
  %t = tile.load %x[%c0, %c0] : !tile.view<24x64xi8> -> tensor<24x64xi8>
  %a = tile.reshape %t : tensor<24x64xi8> -> tensor<6x4x64xi8>
  %b = tile.transpose %a [0, 2, 1] : tensor<6x4x64xi8> -> tensor<6x64x4xi8>
  %c = tile.reshape %b : tensor<6x64x4xi8> -> tensor<6x256xi8>
  tile.store %c, %y[%c0, %c0] : tensor<6x256xi8>, !tile.view<6x256xi8>)",
               {.warps = {1, 4}});
  checkTileOps(twoViews("48x24xbf16", "12x48x2xbf16"), R"(
  %t = tile.load %x[%c0, %c0] : !tile.view<48x24xbf16> -> tensor<48x24xbf16>
  %r = tile.transpose %t [1, 0] : tensor<48x24xbf16> -> tensor<24x48xbf16>
  %a = tile.reshape %r : tensor<24x48xbf16> -> tensor<12x2x48xbf16>
  %b = tile.transpose %a [0, 2, 1] : tensor<12x2x48xbf16> -> tensor<12x48x2xbf16>
  tile.store %b, %y[%c0, %c0, %c0] : tensor<12x48x2xbf16>, !tile.view<12x48x2xbf16>)",
               {.warps = {1, 4}});
}

TEST_CASE("tiles of one bit, tables and pointers change their layout", "[cpu][gpu]") {
  checkTileOps(twoViews("8x40xi32", "40x8xi32"), R"(
  %t = tile.load %x[%c0, %c0] : !tile.view<8x40xi32> -> tensor<8x40xi32>
  %zero = arith.constant dense<0> : tensor<8x40xi32>
  %m = arith.cmpi slt, %t, %zero : tensor<8x40xi32>
  %n = tile.transpose %m [1, 0] : tensor<8x40xi1> -> tensor<40x8xi1>
  %table = arith.constant dense<[3, 1, 4, 1, 5, 9, 2, 6]> : tensor<8xi32>
  %e = tile.expand %table axis 0 : tensor<8xi32> -> tensor<1x8xi32>
  %b = tile.broadcast %e : tensor<1x8xi32> -> tensor<40x8xi32>
  %w = arith.extui %n : tensor<40x8xi1> to tensor<40x8xi32>
  %o = arith.addi %b, %w : tensor<40x8xi32>
  tile.store %o, %y[%c0, %c0] : tensor<40x8xi32>, !tile.view<40x8xi32>)",
               {.warps = {1, 4}});
  checkTileOps("%p: !tile.ptr<i32>, %y: !tile.view<20x8xi32>", R"(
  %i = tile.iota : tensor<160xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<160x!tile.ptr<i32>>
  %a = tile.addptr %s, %i : tensor<160x!tile.ptr<i32>>, tensor<160xi32>
  %r = tile.reshape %a : tensor<160x!tile.ptr<i32>> -> tensor<8x20x!tile.ptr<i32>>
  %q = tile.transpose %r [1, 0] : tensor<8x20x!tile.ptr<i32>> -> tensor<20x8x!tile.ptr<i32>>
  %x = tile.gather %q : tensor<20x8x!tile.ptr<i32>> -> tensor<20x8xi32>
  tile.store %x, %y[%c0, %c0] : tensor<20x8xi32>, !tile.view<20x8xi32>)",
               {.warps = {1, 4}});
}

TEST_CASE("a table whose sides are no powers of two", "[cpu][gpu]") {
  checkTileOps("%y: !tile.view<3x3xf32>", R"(
  %t = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xf32>
  tile.store %t, %y[%c0, %c0] : tensor<3x3xf32>, !tile.view<3x3xf32>)");
  checkTileOps("%y: !tile.view<6xi8>", R"(
  %t = arith.constant dense<[true, false, false, true, true, false]> : tensor<6xi1>
  %e = arith.extui %t : tensor<6xi1> to tensor<6xi8>
  tile.store %e, %y[%c0] : tensor<6xi8>, !tile.view<6xi8>)");
}

TEST_CASE("a branch passes on a tile whose rows lie without gaps", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<4x24x20xf32>, %y: !tile.view<4x96x5xf32>", R"(
  %i = tile.program_id 0
  %c2 = arith.constant 2 : index
  %t = tile.load %x[%i, %c0, %c0] : !tile.view<4x24x20xf32> -> tensor<1x24x20xf32>
  %r = tile.reshape %t : tensor<1x24x20xf32> -> tensor<96x5xf32>
  %first = arith.cmpi ult, %i, %c2 : index
  %f = scf.if %first -> tensor<96x5xf32> {
    %s = arith.mulf %r, %r : tensor<96x5xf32>
    scf.yield %s : tensor<96x5xf32>
  } else {
    scf.yield %r : tensor<96x5xf32>
  }
  %o = tile.reshape %f : tensor<96x5xf32> -> tensor<1x96x5xf32>
  tile.store %o, %y[%i, %c0, %c0] : tensor<1x96x5xf32>, !tile.view<4x96x5xf32>)",
               {.programs = 4});
}

TEST_CASE("quotients of a tile whose rows lie without gaps are read twice", "[cpu][gpu]") {
  checkTileOps(twoViews("24x20xf32", "96x5xf32"), R"(
  %t = tile.load %x[%c0, %c0] : !tile.view<24x20xf32> -> tensor<24x20xf32>
  %r = tile.reshape %t : tensor<24x20xf32> -> tensor<96x5xf32>
  %four = arith.constant dense<4.0> : tensor<96x5xf32>
  %e = arith.divf %r, %four : tensor<96x5xf32>
  %m = tile.reduce %e axis 1 : tensor<96x5xf32> -> tensor<96xf32> {
  ^bb0(%p: f32, %q: f32):
    %g = arith.addf %p, %q : f32
    tile.yield %g : f32
  }
  %s = tile.expand %m axis 1 : tensor<96xf32> -> tensor<96x1xf32>
  %b = tile.broadcast %s : tensor<96x1xf32> -> tensor<96x5xf32>
  %d = arith.subf %e, %b : tensor<96x5xf32>
  tile.store %d, %y[%c0, %c0] : tensor<96x5xf32>, !tile.view<96x5xf32>)");
}

TEST_CASE("a number of bf16 keeps its sign from block to block", "[cpu][gpu]") {
  checkTileOps(twoViews("32x4x2xbf16", "32x4x2xbf16"), R"(
  %t = tile.load %x[%c0, %c0, %c0] : !tile.view<32x4x2xbf16> -> tensor<32x4x2xbf16>
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %one = arith.constant 1.0 : bf16
  %picked = tile.extract %t[%c7, %c1, %c1] : tensor<32x4x2xbf16> -> bf16
  %size = math.absf %picked : bf16
  %less = arith.negf %size : bf16
  %negative = arith.subf %less, %one : bf16
  %s = tile.splat %negative : bf16 -> tensor<32x4x2xbf16>
  %a = math.absf %t : tensor<32x4x2xbf16>
  %r = math.copysign %a, %s : tensor<32x4x2xbf16>
  tile.store %r, %y[%c0, %c0, %c0] : tensor<32x4x2xbf16>, !tile.view<32x4x2xbf16>)");
}
