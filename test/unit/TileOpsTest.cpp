// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Small tile programs on this machine's CPU and on simulated GPUs against the interpreter, byte for byte: the
// operations that the operator library does not use.

#include "TileOpsCheck.h"

#include <catch2/catch.hpp>

#include <tuple>

using namespace tilejit::test;

namespace {

std::string scan(std::string_view type, std::string_view element, std::string_view axis, std::string_view op) {
  return "  %t = tile.load %x[%c0, %c0] : !tile.view<" + std::string(type) + "> -> tensor<" + std::string(type) +
         ">\n  %s = tile.scan %t axis " + std::string(axis) + " : tensor<" + std::string(type) + "> -> tensor<" +
         std::string(type) + "> {\n  ^bb0(%l: " + std::string(element) + ", %r: " + std::string(element) +
         "):\n    %a = " + std::string(op) + " %l, %r : " + std::string(element) +
         "\n    tile.yield %a : " + std::string(element) + "\n  }\n  tile.store %s, %y[%c0, %c0] : tensor<" +
         std::string(type) + ">, !tile.view<" + std::string(type) + ">";
}

} // namespace

TEST_CASE("scans run in order along every axis", "[cpu][gpu]") {
  for (std::string_view type : {"3x40xf32", "40x3xf32", "5x1xf32", "1x7xf32"})
    for (std::string_view axis : {"0", "1", "0 reverse", "1 reverse"})
      checkTileOps(twoViews(type, type), scan(type, "f32", axis, "arith.addf"));
  checkTileOps(twoViews("6x37xi8", "6x37xi8"), scan("6x37xi8", "i8", "1", "arith.addi"));
  checkTileOps(twoViews("6x37xi64", "6x37xi64"), scan("6x37xi64", "i64", "0", "arith.maxsi"));
}

TEST_CASE("what pads a tile counts for nothing", "[cpu]") {
  checkTileOps(twoViews("6x16xi32", "6x16xi32"), scan("6x16xi32", "i32", "0 reverse", "arith.andi"));
  checkTileOps(twoViews("5x33xi32", "5x33xi32"), scan("5x33xi32", "i32", "1 reverse", "arith.muli"));
  // A multiplier from outside the region; a loop that nobody needs.
  checkTileOps(twoViews("3x2xi32", "1x2xi32"), R"(
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %t = tile.load %x[%c0, %c0] : !tile.view<3x2xi32> -> tensor<3x2xi32>
  %unused = scf.for %i = %c0 to %c3 step %c1 iter_args(%u = %t) -> (tensor<3x2xi32>) {
    %v = arith.addi %u, %t : tensor<3x2xi32>
    scf.yield %v : tensor<3x2xi32>
  }
  %r = tile.reduce %t axis 0 : tensor<3x2xi32> -> tensor<2xi32> {
  ^bb0(%a: i32, %b: i32):
    %p = arith.muli %a, %b : i32
    tile.yield %p : i32
  }
  %s = tile.reduce %t axis 0 : tensor<3x2xi32> -> tensor<2xi32> {
  ^bb0(%a: i32, %b: i32):
    %p = arith.muli %a, %b : i32
    %q = arith.muli %p, %one : i32
    tile.yield %q : i32
  }
  %d = arith.addi %r, %s : tensor<2xi32>
  %e = tile.expand %d axis 0 : tensor<2xi32> -> tensor<1x2xi32>
  tile.store %e, %y[%c0, %c0] : tensor<1x2xi32>, !tile.view<1x2xi32>)");
}

TEST_CASE("a scan of several operands combines them together", "[cpu][gpu]") {
  checkTileOps(twoViews("50xf32", "50xi32"), R"(
  %t = tile.load %x[%c0] : !tile.view<50xf32> -> tensor<50xf32>
  %i = tile.iota : tensor<50xi32>
  %v, %p = tile.scan %t, %i axis 0 : tensor<50xf32>, tensor<50xi32> -> tensor<50xf32>, tensor<50xi32> {
  ^bb0(%a: f32, %m: i32, %b: f32, %n: i32):
    %gt = arith.cmpf ogt, %b, %a : f32
    %w = arith.select %gt, %b, %a : f32
    %q = arith.select %gt, %n, %m : i32
    tile.yield %w, %q : f32, i32
  }
  tile.store %v, %x[%c0] : tensor<50xf32>, !tile.view<50xf32>
  tile.store %p, %y[%c0] : tensor<50xi32>, !tile.view<50xi32>)");
}

TEST_CASE("tiles are put side by side along every axis", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<3x5xf32>, %z: !tile.view<3x20xf32>, %y: !tile.view<3x30xf32>", R"(
  %a = tile.load %x[%c0, %c0] : !tile.view<3x5xf32> -> tensor<3x5xf32>
  %b = tile.load %z[%c0, %c0] : !tile.view<3x20xf32> -> tensor<3x20xf32>
  %t = tile.cat %a, %b, %a axis 1 : tensor<3x5xf32>, tensor<3x20xf32>, tensor<3x5xf32> -> tensor<3x30xf32>
  tile.store %t, %y[%c0, %c0] : tensor<3x30xf32>, !tile.view<3x30xf32>)");
  checkTileOps("%x: !tile.view<2x19xi8>, %y: !tile.view<4x19xi8>", R"(
  %a = tile.load %x[%c0, %c0] : !tile.view<2x19xi8> -> tensor<2x19xi8>
  %b = arith.addi %a, %a : tensor<2x19xi8>
  %t = tile.cat %a, %b axis 0 : tensor<2x19xi8>, tensor<2x19xi8> -> tensor<4x19xi8>
  tile.store %t, %y[%c0, %c0] : tensor<4x19xi8>, !tile.view<4x19xi8>)");
  checkTileOps("%x: !tile.view<20x1xf32>, %y: !tile.view<20x2xf32>", R"(
  %a = tile.load %x[%c0, %c0] : !tile.view<20x1xf32> -> tensor<20x1xf32>
  %b = arith.addf %a, %a : tensor<20x1xf32>
  %t = tile.cat %a, %b axis 1 : tensor<20x1xf32>, tensor<20x1xf32> -> tensor<20x2xf32>
  tile.store %t, %y[%c0, %c0] : tensor<20x2xf32>, !tile.view<20x2xf32>)");
}

TEST_CASE("join pairs elements and split takes them apart", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<3x21xf32>, %y: !tile.view<3x21x2xf32>, %z: !tile.view<3x21xf32>", R"(
  %a = tile.load %x[%c0, %c0] : !tile.view<3x21xf32> -> tensor<3x21xf32>
  %b = arith.addf %a, %a : tensor<3x21xf32>
  %t = tile.join %a, %b : tensor<3x21xf32> -> tensor<3x21x2xf32>
  tile.store %t, %y[%c0, %c0, %c0] : tensor<3x21x2xf32>, !tile.view<3x21x2xf32>
  %p, %q = tile.split %t : tensor<3x21x2xf32> -> tensor<3x21xf32>
  %d = arith.subf %q, %p : tensor<3x21xf32>
  tile.store %d, %z[%c0, %c0] : tensor<3x21xf32>, !tile.view<3x21xf32>)");
}

TEST_CASE("elements are picked by index", "[cpu][gpu]") {
  for (auto [shape, indices, axis, size] :
       {std::tuple("9x20", "5x20", "0", "9"), {"9x20", "9x33", "1", "20"}, {"7x1", "3x1", "0", "7"}}) {
    std::string s(shape), i(indices);
    checkTileOps("%x: !tile.view<" + s + "xf32>, %p: !tile.view<" + i + "xi32>, %y: !tile.view<" + i + "xf32>",
                 "  %t = tile.load %x[%c0, %c0] : !tile.view<" + s + "xf32> -> tensor<" + s +
                     "xf32>\n  %r = tile.load %p[%c0, " + "%c0] : !tile.view<" + i + "xi32> -> tensor<" + i +
                     "xi32>\n  %n = arith.constant dense<" + size + "> : tensor<" + i +
                     "xi32>\n  %k = arith.remui %r, %n : tensor<" + i +
                     "xi32>\n  %g = tile.gather_in_tile %t[%k] axis " + axis + " : tensor<" + s + "xf32>, tensor<" + i +
                     "xi32> -> tensor<" + i + "xf32>\n  tile.store %g, %y[%c0, %c0] : tensor<" + i +
                     "xf32>, !tile.view<" + i + "xf32>");
  }
}

TEST_CASE("4-bit values are packed and unpacked", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<3x42xi8>, %y: !tile.view<3x84xi8>, %z: !tile.view<3x42xi8>", R"(
  %a = tile.load %x[%c0, %c0] : !tile.view<3x42xi8> -> tensor<3x42xi8>
  %u = tile.unpack %a : tensor<3x42xi8> -> tensor<3x84xi4>
  %e = arith.extsi %u : tensor<3x84xi4> to tensor<3x84xi8>
  tile.store %e, %y[%c0, %c0] : tensor<3x84xi8>, !tile.view<3x84xi8>
  %s = arith.addi %u, %u : tensor<3x84xi4>
  %p = tile.pack %s : tensor<3x84xi4> -> tensor<3x42xi8>
  tile.store %p, %z[%c0, %c0] : tensor<3x42xi8>, !tile.view<3x42xi8>)");
}

TEST_CASE("gathers and scatters follow pointers under masks", "[cpu][gpu]") {
  checkTileOps("%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %o: !tile.view<70xi32>", R"(
  %r = tile.load %o[%c0] : !tile.view<70xi32> -> tensor<70xi32>
  %n = arith.constant dense<4096> : tensor<70xi32>
  %k = arith.remui %r, %n : tensor<70xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<70x!tile.ptr<f32>>
  %a = tile.addptr %s, %k : tensor<70x!tile.ptr<f32>>, tensor<70xi32>
  %zero = arith.constant dense<0> : tensor<70xi32>
  %m = arith.cmpi sgt, %r, %zero : tensor<70xi32>
  %other = arith.constant dense<7.0> : tensor<70xf32>
  %x = tile.gather %a mask %m other %other : tensor<70x!tile.ptr<f32>> -> tensor<70xf32>
  %i = tile.iota : tensor<70xi64>
  %three = arith.constant dense<3> : tensor<70xi64>
  %j = arith.muli %i, %three : tensor<70xi64>
  %t = tile.splat %q : !tile.ptr<f32> -> tensor<70x!tile.ptr<f32>>
  %b = tile.addptr %t, %j : tensor<70x!tile.ptr<f32>>, tensor<70xi64>
  tile.scatter %x, %b mask %m : tensor<70xf32>, tensor<70x!tile.ptr<f32>>)");
  checkTileOps("%p: !tile.ptr<i8>, %y: !tile.view<4x5xi8>", R"(
  %i = tile.iota : tensor<20xi32>
  %s = tile.splat %p : !tile.ptr<i8> -> tensor<20x!tile.ptr<i8>>
  %a = tile.addptr %s, %i : tensor<20x!tile.ptr<i8>>, tensor<20xi32>
  %x = tile.gather %a : tensor<20x!tile.ptr<i8>> -> tensor<20xi8>
  %r = tile.reshape %x : tensor<20xi8> -> tensor<4x5xi8>
  tile.store %r, %y[%c0, %c0] : tensor<4x5xi8>, !tile.view<4x5xi8>)");
}

namespace {
/// Each element of a tile updates memory, 64 elements to `cells` cells one after the other.
std::string update(const std::string &kind, const std::string &t, const std::string &cells, bool keepsOld) {
  return "  %v = tile.load %x[%c0] : !tile.view<40x" + t + "> -> tensor<40x" + t + ">\n" +
         "  %i = tile.iota : tensor<40xi32>\n  %n = arith.constant dense<" + cells + "> : tensor<40xi32>\n" +
         "  %k = arith.remui %i, %n : tensor<40xi32>\n" + "  %s = tile.splat %p : !tile.ptr<" + t +
         "> -> tensor<40x!tile.ptr<" + t + ">>\n" + "  %a = tile.addptr %s, %k : tensor<40x!tile.ptr<" + t +
         ">>, tensor<40xi32>\n" + "  %old = tile.atomic_rmw " + kind + " %v, %a relaxed device : tensor<40x" + t +
         ">, tensor<40x!tile.ptr<" + t + ">>\n" +
         (keepsOld ? "  tile.store %old, %y[%c0] : tensor<40x" + t + ">, !tile.view<40x" + t + ">" : "");
}
} // namespace

TEST_CASE("atomic updates give what was there", "[cpu][gpu]") {
  for (auto [kind, type] : {std::pair("addi", "i32"),
                            {"maxs", "i64"},
                            {"minu", "i8"},
                            {"xori", "i16"},
                            {"xchg", "f32"},
                            {"addf", "f32"},
                            {"addf", "f64"},
                            {"addf", "bf16"},
                            {"addf", "f16"}}) {
    std::string t(type),
        arguments = "%p: !tile.ptr<" + t + ">, %x: !tile.view<40x" + t + ">, %y: !tile.view<40x" + t + ">";
    checkTileOps(arguments, update(kind, t, "64", true));
    // Several updates of one cell have no order: what comes out must not depend on it.
    if (std::string_view(kind) != "xchg")
      checkTileOps(arguments, update(kind, t, "7", false));
  }
}

TEST_CASE("compare and exchange, and updates of views by many instances", "[cpu][gpu]") {
  checkTileOps("%p: !tile.ptr<i32>, %x: !tile.view<20xi32>, %y: !tile.view<20xi32>", R"(
  %e = tile.load %x[%c0] : !tile.view<20xi32> -> tensor<20xi32>
  %i = tile.iota : tensor<20xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<20x!tile.ptr<i32>>
  %a = tile.addptr %s, %i : tensor<20x!tile.ptr<i32>>, tensor<20xi32>
  %now = tile.gather %a : tensor<20x!tile.ptr<i32>> -> tensor<20xi32>
  %two = arith.constant dense<2> : tensor<20xi32>
  %half = arith.remui %i, %two : tensor<20xi32>
  %zero = arith.constant dense<0> : tensor<20xi32>
  %even = arith.cmpi eq, %half, %zero : tensor<20xi32>
  %guess = arith.select %even, %now, %e : tensor<20xi1>, tensor<20xi32>
  %old = tile.atomic_cas %guess, %i, %a acq_rel device : tensor<20xi32>, tensor<20x!tile.ptr<i32>>
  tile.store %old, %y[%c0] : tensor<20xi32>, !tile.view<20xi32>)");
  checkTileOps("%x: !tile.view<30xf32>, %y: !tile.view<3x10xf32>", R"(
  %one = arith.constant dense<1.0> : tensor<4x16xf32>
  tile.atomic addf %one, %y[%c0, %c0] relaxed device : tensor<4x16xf32>, !tile.view<3x10xf32>)",
               {.programs = 64});
}

TEST_CASE("what a load finds outside is put side by side as well", "[cpu][gpu]") {
  TileOpsRun run;
  run.programs = 2;
  std::string_view load = "  %i = tile.program_id 0\n"
                          "  %t = tile.load %x[%c0, %i] pad lowest : !tile.view<5x37xi32> -> tensor<5x32xi32>\n";
  checkTileOps(twoViews("5x37xi32", "10x64xi32"), std::string(load) + R"(
  %s = tile.cat %t, %t axis 0 : tensor<5x32xi32>, tensor<5x32xi32> -> tensor<10x32xi32>
  tile.store %s, %y[%c0, %i] : tensor<10x32xi32>, !tile.view<10x64xi32>)",
               run);
  checkTileOps(twoViews("5x37xi32", "5x64x2xi32"), std::string(load) + R"(
  %s = tile.join %t, %t : tensor<5x32xi32> -> tensor<5x32x2xi32>
  tile.store %s, %y[%c0, %i, %c0] : tensor<5x32x2xi32>, !tile.view<5x64x2xi32>)",
               run);
  checkTileOps(twoViews("5x37xi32", "5x64xi32"), std::string(load) + R"(
  %one = arith.constant dense<1> : tensor<5x32xi32>
  %m = arith.andi %t, %one : tensor<5x32xi32>
  %s = tile.gather_in_tile %t[%m] axis 1 : tensor<5x32xi32>, tensor<5x32xi32> -> tensor<5x32xi32>
  tile.store %s, %y[%c0, %i] : tensor<5x32xi32>, !tile.view<5x64xi32>)",
               run);
  checkTileOps("%x: !tile.view<37xi32>, %p: !tile.ptr<i32>", R"(
  %i = tile.program_id 0
  %c32 = arith.constant 32 : index
  %t = tile.load %x[%i] pad highest : !tile.view<37xi32> -> tensor<32xi32>
  %iota = tile.iota : tensor<32xi32>
  %first = arith.muli %i, %c32 : index
  %low = arith.index_cast %first : index to i32
  %spread = tile.splat %low : i32 -> tensor<32xi32>
  %at = arith.addi %iota, %spread : tensor<32xi32>
  %base = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %places = tile.addptr %base, %at : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  tile.scatter %t, %places : tensor<32xi32>, tensor<32x!tile.ptr<i32>>)",
               run);
}

TEST_CASE("short rows with nothing beside them are written over one by one", "[cpu][gpu]") {
  checkTileOps(twoViews("20x1xi16", "20x1x2xi16"), R"(
  %t = tile.load %x[%c0, %c0] : !tile.view<20x1xi16> -> tensor<20x1xi16>
  %s = tile.join %t, %t : tensor<20x1xi16> -> tensor<20x1x2xi16>
  %u = math.cttz %s : tensor<20x1x2xi16>
  %sum = tile.scan %u axis 2 : tensor<20x1x2xi16> -> tensor<20x1x2xi16> {
  ^bb0(%a: i16, %b: i16):
    %q = arith.addi %a, %b : i16
    tile.yield %q : i16
  }
  %both = arith.addi %u, %sum : tensor<20x1x2xi16>
  tile.store %both, %y[%c0, %c0, %c0] : tensor<20x1x2xi16>, !tile.view<20x1x2xi16>)");
  checkTileOps(twoViews("8x4x1xi32", "8x2x4x1xi32"), R"(
  %t = tile.load %x[%c0, %c0, %c0] : !tile.view<8x4x1xi32> -> tensor<8x4x1xi32>
  %e = tile.expand %t axis 1 : tensor<8x4x1xi32> -> tensor<8x1x4x1xi32>
  %s = tile.cat %e, %e axis 1 : tensor<8x1x4x1xi32>, tensor<8x1x4x1xi32> -> tensor<8x2x4x1xi32>
  tile.store %s, %y[%c0, %c0, %c0, %c0] : tensor<8x2x4x1xi32>, !tile.view<8x2x4x1xi32>)");
}

TEST_CASE("a large constant whose elements differ is read by a loop, and nothing takes its place", "[cpu][gpu]") {
  std::string numbers, reals;
  for (int i = 0; i < 12 * 40; ++i) {
    std::string before = i == 0 ? "[" : i % 40 == 0 ? "], [" : ", ", number = std::to_string((i * 7) % 23);
    numbers += before + number;
    reals += before + number + ".0";
  }
  checkTileOps("%y: !tile.view<12x40xi32>", "  %t = arith.constant dense<[" + numbers +
                                                "]]> : tensor<12x40xi32>\n"
                                                "  %u = math.ctpop %t : tensor<12x40xi32>\n"
                                                "  %s = arith.addi %t, %u : tensor<12x40xi32>\n" +
                                                storeWhole("%s", "%y", "12x40xi32"));
  checkTileOps("%x: !tile.view<12x8xf32>, %w: !tile.view<8x40xf32>, %y: !tile.view<12x40xf32>",
               "  %t = arith.constant dense<[" + reals + "]]> : tensor<12x40xf32>\n" +
                   loadWhole("%a", "%x", "12x8xf32") + loadWhole("%b", "%w", "8x40xf32") +
                   "  %s = tile.dot %a, %b, %t : tensor<12x8xf32>, tensor<8x40xf32>, tensor<12x40xf32>\n" +
                   storeWhole("%s", "%y", "12x40xf32"));
  // The right operand is computed before, so that the product reads it where it lies and puts the accumulator at once.
  checkTileOps(
      "%x: !tile.view<12x8xf32>, %w: !tile.view<8x40xf32>, %y: !tile.view<12x40xf32>, %z: !tile.view<8x40xf32>",
      "  %t = arith.constant dense<[" + reals + "]]> : tensor<12x40xf32>\n" + loadWhole("%a", "%x", "12x8xf32") +
          loadWhole("%b", "%w", "8x40xf32") +
          "  %q = tile.scan %b axis 0 : tensor<8x40xf32> -> tensor<8x40xf32> {\n"
          "  ^bb0(%l: f32, %m: f32):\n    %p = arith.maximumf %l, %m : f32\n    tile.yield %p : f32\n  }\n"
          "  %s = tile.dot %a, %q, %t : tensor<12x8xf32>, tensor<8x40xf32>, tensor<12x40xf32>\n" +
          storeWhole("%q", "%z", "8x40xf32") + storeWhole("%s", "%y", "12x40xf32"));
}
