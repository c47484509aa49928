// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products of every type and precision with odd sides. Whole numbers of this size multiply and add without rounding in
// every type here, so that the order of the sum does not matter.

#include "TileOpsCheck.h"

#include <catch2/catch.hpp>

#include <tuple>

using namespace tilejit::test;

namespace {

struct Product {
  int m, n, k;
  std::string a, b, c; ///< Element types.
  std::string flags;
};

void checkDot(const Product &p, const TileOpsRun &run) {
  std::string a = typeText({p.m, p.k}, p.a), b = typeText({p.k, p.n}, p.b), c = typeText({p.m, p.n}, p.c);
  checkTileOps("%x: !tile.view<" + a + ">, %y: !tile.view<" + b + ">, %z: !tile.view<" + c + ">",
               loadWhole("%a", "%x", a) + loadWhole("%b", "%y", b) + loadWhole("%c", "%z", c) +
                   "  %d = tile.dot %a, %b, %c " + p.flags + " : tensor<" + a + ">, tensor<" + b + ">, tensor<" + c +
                   ">\n" + storeWhole("%d", "%z", c),
               run);
}

} // namespace

TEST_CASE("products of every floating type", "[cpu][gpu]") {
  for (auto [a, b, c] : {std::tuple("f32", "f32", "f32"),
                         {"f64", "f64", "f64"},
                         {"f16", "f16", "f32"},
                         {"bf16", "bf16", "f32"},
                         {"f8E4M3FN", "f8E5M2", "f32"}})
    checkDot({17, 19, 13, a, b, c, ""}, {.warps = {2}, .targets = {"sm_80", "gfx942"}});
}

TEST_CASE("products of bf16 of every parity", "[cpu]") {
  for (auto [m, n, k] : {std::tuple(5, 64, 1), {13, 33, 2}, {40, 70, 31}, {9, 100, 64}, {70, 16, 47}})
    checkDot({m, n, k, "bf16", "bf16", "f32", ""}, {.targets = {}});
}

TEST_CASE("a product of bf16 with a transposed operand", "[cpu]") {
  for (int depth : {30, 33}) {
    std::string x = typeText({21, depth}, "bf16"), y = typeText({50, depth}, "bf16"), t = typeText({depth, 50}, "bf16");
    checkTileOps("%x: !tile.view<" + x + ">, %y: !tile.view<" + y + ">, %z: !tile.view<21x50xf32>",
                 loadWhole("%a", "%x", x) + loadWhole("%b", "%y", y) + loadWhole("%c", "%z", "21x50xf32") +
                     "  %t = tile.transpose %b [1, 0] : tensor<" + y + "> -> tensor<" + t +
                     ">\n  %d = tile.dot %a, %t, %c : tensor<" + x + ">, tensor<" + t + ">, tensor<21x50xf32>\n" +
                     storeWhole("%d", "%z", "21x50xf32"),
                 {.targets = {}});
  }
}

TEST_CASE("subnormal elements count in products of bf16", "[cpu]") {
  // Whole numbers times 2^-130, of which bf16 keeps enough bits, and times 2^120.
  for (auto [a, b] : {std::pair("7.34684e-40", "1.329228e+36"), {"1.329228e+36", "7.34684e-40"}})
    checkTileOps("%x: !tile.view<21x35xbf16>, %y: !tile.view<35x50xbf16>, %z: !tile.view<21x50xf32>",
                 loadWhole("%a0", "%x", "21x35xbf16") + loadWhole("%b0", "%y", "35x50xbf16") +
                     loadWhole("%c", "%z", "21x50xf32") + "  %f = arith.constant dense<" + a +
                     "> : tensor<21x35xbf16>\n  %g = arith.constant dense<" + b +
                     R"(> : tensor<35x50xbf16>
  %a = arith.mulf %a0, %f : tensor<21x35xbf16>
  %b = arith.mulf %b0, %g : tensor<35x50xbf16>
  %d = tile.dot %a, %b, %c : tensor<21x35xbf16>, tensor<35x50xbf16>, tensor<21x50xf32>
)" + storeWhole("%d", "%z", "21x50xf32"),
                 {.targets = {}});
}

TEST_CASE("subnormal elements of a matrix in memory count in products of bf16", "[cpu]") {
  for (int depth : {32, 37}) {
    std::string x = typeText({16, depth}, "bf16"), y = typeText({depth, 128}, "bf16");
    checkTileOps(
        "%x: !tile.view<" + x + ">, %y: !tile.view<" + y + ">, %w: !tile.view<" + y + ">, %z: !tile.view<16x128xf32>",
        loadWhole("%a0", "%x", x) + loadWhole("%b0", "%y", y) + loadWhole("%c", "%z", "16x128xf32") +
            "  %f = arith.constant dense<1.329228e+36> : tensor<" + x +
            ">\n  %g = arith.constant dense<7.34684e-40> : tensor<" + y + ">\n  %a = arith.mulf %a0, %f : tensor<" + x +
            ">\n  %b1 = arith.mulf %b0, %g : tensor<" + y + ">\n" + storeWhole("%b1", "%w", y) +
            loadWhole("%b", "%w", y) + "  %d = tile.dot %a, %b, %c : tensor<" + x + ">, tensor<" + y +
            ">, tensor<16x128xf32>\n" + storeWhole("%d", "%z", "16x128xf32"),
        {.targets = {}});
  }
}

TEST_CASE("products of registers of bf16 and of bytes", "[cpu]") {
  for (auto [m, n, k] :
       {std::tuple(16, 128, 64), {7, 192, 36}, {70, 64, 66}, {20, 130, 31}, {1, 64, 40}, {3, 128, 31}, {4, 192, 7}}) {
    checkDot({m, n, k, "bf16", "bf16", "f32", ""}, {.targets = {}});
    for (const char *flags : {"", "unsigned_a", "unsigned_b"})
      checkDot({m, n, k, "i8", "i8", "i32", flags}, {.targets = {}});
  }
}

TEST_CASE("what a load puts beyond a column is no part of the product", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<21x12xi8>, %y: !tile.view<19x1xi8>, %z: !tile.view<21x1xi32>",
               loadWhole("%a", "%x", "21x12xi8") + R"(
  %b = tile.load %y[%c0, %c0] pad lowest : !tile.view<19x1xi8> -> tensor<12x1xi8>
  %c = arith.constant dense<2> : tensor<21x1xi32>
  %d = tile.dot %a, %b, %c : tensor<21x12xi8>, tensor<12x1xi8>, tensor<21x1xi32>
)" + storeWhole("%d", "%z", "21x1xi32"),
               {.targets = {"sm_80", "gfx942"}});
}

TEST_CASE("products in a stated precision", "[cpu][gpu]") {
  for (const char *precision : {"precision tf32", "precision bf16x3"})
    checkDot({9, 33, 7, "f32", "f32", "f32", precision}, {.warps = {1, 4}, .targets = {"sm_80", "gfx942"}});
}

TEST_CASE("operands in tf32 are rounded", "[cpu][gpu]") {
  // A depth of 1, so that no sum is rounded: numbers of 24 bits in, products of two numbers of 11 bits out.
  checkTileOps("%x: !tile.view<9x1xf32>, %y: !tile.view<1x11xf32>, %z: !tile.view<9x11xf32>",
               loadWhole("%a0", "%x", "9x1xf32") + loadWhole("%b0", "%y", "1x11xf32") + R"(
  %f = arith.constant dense<1.0009765> : tensor<9x1xf32>
  %g = arith.constant dense<1.0002441> : tensor<1x11xf32>
  %a = arith.mulf %a0, %f : tensor<9x1xf32>
  %b = arith.mulf %b0, %g : tensor<1x11xf32>
  %c = arith.constant dense<0.0> : tensor<9x11xf32>
  %d = tile.dot %a, %b, %c precision tf32 : tensor<9x1xf32>, tensor<1x11xf32>, tensor<9x11xf32>
)" + storeWhole("%d", "%z", "9x11xf32"));
}

TEST_CASE("products of signed and unsigned bytes", "[cpu][gpu]") {
  for (const char *flags : {"", "unsigned_a", "unsigned_b", "unsigned_a unsigned_b"})
    checkDot({11, 21, 23, "i8", "i8", "i32", flags}, {.warps = {2}});
}

TEST_CASE("products with sides of one, and smaller than a warp", "[cpu][gpu]") {
  for (auto [m, n, k] : {std::tuple(1, 1, 1), {1, 40, 5}, {40, 1, 3}, {3, 3, 65}, {64, 33, 1}})
    checkDot({m, n, k, "f32", "f32", "f32", ""}, {.warps = {1, 8}, .targets = {"sm_80", "gfx942"}});
}

TEST_CASE("a product of a product, with a transposed operand", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<9x12xf32>, %y: !tile.view<9x12xf32>, %z: !tile.view<9x9xf32>",
               loadWhole("%a", "%x", "9x12xf32") + loadWhole("%b", "%y", "9x12xf32") + R"(
  %zero = arith.constant dense<0.0> : tensor<9x9xf32>
  %t = tile.transpose %b [1, 0] : tensor<9x12xf32> -> tensor<12x9xf32>
  %p = tile.dot %a, %t, %zero : tensor<9x12xf32>, tensor<12x9xf32>, tensor<9x9xf32>
  %scale = arith.constant dense<0.00390625> : tensor<9x9xf32>
  %q = arith.mulf %p, %scale : tensor<9x9xf32>
  %i = tile.iota : tensor<9xi32>
  %e = tile.expand %i axis 0 : tensor<9xi32> -> tensor<1x9xi32>
  %f = arith.uitofp %e : tensor<1x9xi32> to tensor<1x9xf32>
  %g = tile.broadcast %f : tensor<1x9xf32> -> tensor<9x9xf32>
  %r = tile.dot %g, %q, %p : tensor<9x9xf32>, tensor<9x9xf32>, tensor<9x9xf32>
)" + storeWhole("%r", "%z", "9x9xf32"),
               {.warps = {1, 4}});
}

TEST_CASE("a loop of products over a ragged depth", "[cpu][gpu]") {
  checkTileOps("%x: !tile.view<20x37xf16>, %y: !tile.view<37x24xf16>, %z: !tile.view<20x24xf32>", R"(
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %s = scf.for %k = %c0 to %c3 step %c1 iter_args(%acc = %zero) -> tensor<32x32xf32> {
    %a = tile.load %x[%c0, %k] pad zero : !tile.view<20x37xf16> -> tensor<32x16xf16>
    %b = tile.load %y[%k, %c0] pad zero : !tile.view<37x24xf16> -> tensor<16x32xf16>
    %d = tile.dot %a, %b, %acc : tensor<32x16xf16>, tensor<16x32xf16>, tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }
  tile.store %s, %z[%c0, %c0] : tensor<32x32xf32>, !tile.view<20x24xf32>)",
               {.warps = {1, 2, 4, 8}});
}

TEST_CASE("rows beyond a view add nothing, whatever an earlier program left behind", "[cpu][gpu]") {
  TileOpsRun run;
  run.programs = 3;
  checkTileOps("%x: !tile.view<44x1xf32>, %w: !tile.view<5x12xf32>, %y: !tile.view<3x12xf32>", R"(
  %p = tile.program_id 0
  %one = arith.constant dense<1.0> : tensor<16x12xf32>
  %a = tile.load %x[%p, %c0] pad zero : !tile.view<44x1xf32> -> tensor<16x5xf32>
  %b = tile.load %w[%c0, %c0] pad one : !tile.view<5x12xf32> -> tensor<5x12xf32>
  %d = tile.dot %a, %b, %one precision tf32 : tensor<16x5xf32>, tensor<5x12xf32>, tensor<16x12xf32>
  %r = tile.reduce %d axis 0 : tensor<16x12xf32> -> tensor<12xf32> {
  ^bb0(%l: f32, %m: f32):
    %t = arith.addf %l, %m : f32
    tile.yield %t : f32
  }
  %e = tile.expand %r axis 0 : tensor<12xf32> -> tensor<1x12xf32>
  tile.store %e, %y[%p, %c0] : tensor<1x12xf32>, !tile.view<3x12xf32>)",
               run);
}

TEST_CASE("rows and steps from a number on count as zero, in products of what was stored", "[cpu][gpu]") {
  TileOpsRun run;
  run.programs = 5;
  // Numbers -2, 3, 8, ...: none, some that fill no step of a product, all.
  checkTileOps("%x: !tile.view<24x20xf32>, %y: !tile.view<20x16xf32>, %z: !tile.view<120x16xf32>",
               R"(
  %p = tile.program_id 0
  %c5 = arith.constant 5 : index
  %c2 = arith.constant 2 : index
  %five = arith.muli %p, %c5 : index
  %number = arith.subi %five, %c2 : index
  %kept = arith.index_cast %number : index to i32
  %steps = tile.iota : tensor<20xi32>
  %keptSteps = tile.splat %kept : i32 -> tensor<20xi32>
  %inside = arith.cmpi slt, %steps, %keptSteps : tensor<20xi32>
  %column = tile.expand %inside axis 1 : tensor<20xi1> -> tensor<20x1xi1>
  %line = tile.expand %inside axis 0 : tensor<20xi1> -> tensor<1x20xi1>
  %ofB = tile.broadcast %column : tensor<20x1xi1> -> tensor<20x16xi1>
  %ofA = tile.broadcast %line : tensor<1x20xi1> -> tensor<24x20xi1>
  %numbers = tile.iota : tensor<24xi32>
  %keptRows = tile.splat %kept : i32 -> tensor<24xi32>
  %above = arith.cmpi slt, %numbers, %keptRows : tensor<24xi32>
  %side = tile.expand %above axis 1 : tensor<24xi1> -> tensor<24x1xi1>
  %ofRows = tile.broadcast %side : tensor<24x1xi1> -> tensor<24x20xi1>
)" + loadWhole("%a", "%x", "24x20xf32") +
                   loadWhole("%b", "%y", "20x16xf32") +
                   R"(
  %noA = arith.constant dense<0.0> : tensor<24x20xf32>
  %noB = arith.constant dense<0.0> : tensor<20x16xf32>
  %half = arith.constant dense<0.5> : tensor<20x16xf32>
  %one = arith.constant dense<1.0> : tensor<24x16xf32>
  %none = arith.constant dense<0.0> : tensor<24x16xf32>
  %w = arith.divf %b, %half : tensor<20x16xf32>
  %sum = tile.reduce %w axis 0 : tensor<20x16xf32> -> tensor<16xf32> {
  ^bb0(%l: f32, %m: f32):
    %t = arith.addf %l, %m : f32
    tile.yield %t : f32
  }
  %rows = arith.select %ofRows, %a, %noA : tensor<24x20xi1>, tensor<24x20xf32>
  %d = tile.dot %rows, %w, %one : tensor<24x20xf32>, tensor<20x16xf32>, tensor<24x16xf32>
  %left = arith.select %ofA, %a, %noA : tensor<24x20xi1>, tensor<24x20xf32>
  %right = arith.select %ofB, %w, %noB : tensor<20x16xi1>, tensor<20x16xf32>
  %e = tile.dot %left, %right, %none : tensor<24x20xf32>, tensor<20x16xf32>, tensor<24x16xf32>
  %f = arith.addf %d, %e : tensor<24x16xf32>
  %wide = tile.expand %sum axis 0 : tensor<16xf32> -> tensor<1x16xf32>
  %every = tile.broadcast %wide : tensor<1x16xf32> -> tensor<24x16xf32>
  %r = arith.addf %f, %every : tensor<24x16xf32>
  tile.store %r, %z[%p, %c0] : tensor<24x16xf32>, !tile.view<120x16xf32>)",
               run);
}

TEST_CASE("subnormal elements count in products of bf16 with what was packed before a loop", "[cpu]") {
  for (auto [a, b] : {std::pair("7.34684e-40", "1.329228e+36"), {"1.329228e+36", "7.34684e-40"}, {"1.0", "1.0"}})
    checkTileOps("%x: !tile.view<48x20xbf16>, %y: !tile.view<40x20xbf16>, %z: !tile.view<24x40xf32>",
                 loadWhole("%b0", "%y", "40x20xbf16") + loadWhole("%c", "%z", "24x40xf32") +
                     "  %f = arith.constant dense<" + a + "> : tensor<24x20xbf16>\n  %g = arith.constant dense<" + b +
                     R"(> : tensor<40x20xbf16>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = arith.mulf %b0, %g : tensor<40x20xbf16>
  %t = tile.transpose %b [1, 0] : tensor<40x20xbf16> -> tensor<20x40xbf16>
  %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%acc = %c) -> tensor<24x40xf32> {
    %a0 = tile.load %x[%k, %c0] : !tile.view<48x20xbf16> -> tensor<24x20xbf16>
    %a = arith.mulf %a0, %f : tensor<24x20xbf16>
    %d = tile.dot %a, %t, %acc : tensor<24x20xbf16>, tensor<20x40xbf16>, tensor<24x40xf32>
    scf.yield %d : tensor<24x40xf32>
  }
)" + storeWhole("%s", "%z", "24x40xf32"),
                 {.targets = {}});
}

TEST_CASE("subnormal elements count in products of bf16 with what is rounded to it", "[cpu]") {
  // But not those that are rounded, which are made zero before.
  for (auto [a, b] : {std::pair("7.34684e-40", "1.329228e+36"), {"1.329228e+36", "7.34684e-40"}, {"1.0", "1.0"}})
    checkTileOps("%x: !tile.view<20x24xbf16>, %y: !tile.view<20x40xf32>, %z: !tile.view<24x40xf32>",
                 loadWhole("%a0", "%x", "20x24xbf16") + loadWhole("%b0", "%y", "20x40xf32") +
                     loadWhole("%c", "%z", "24x40xf32") + "  %f = arith.constant dense<" + a +
                     "> : tensor<20x24xbf16>\n  %g = arith.constant dense<" + b + R"(> : tensor<20x40xf32>
  %half = arith.constant dense<0.5> : tensor<20x40xf32>
  %least = arith.constant dense<0x00800000> : tensor<20x40xf32>
  %none = arith.constant dense<0.0> : tensor<20x40xf32>
  %a = arith.mulf %a0, %f : tensor<20x24xbf16>
  %t = tile.transpose %a [1, 0] : tensor<20x24xbf16> -> tensor<24x20xbf16>
  %b1 = arith.mulf %b0, %g : tensor<20x40xf32>
  %b2 = arith.divf %b1, %half : tensor<20x40xf32>
  %sum = tile.reduce %b2 axis 0 : tensor<20x40xf32> -> tensor<40xf32> {
  ^bb0(%l: f32, %m: f32):
    %n = arith.maximumf %l, %m : f32
    tile.yield %n : f32
  }
  %size = math.absf %b2 : tensor<20x40xf32>
  %isTiny = arith.cmpf olt, %size, %least : tensor<20x40xf32>
  %b3 = arith.select %isTiny, %none, %b2 : tensor<20x40xi1>, tensor<20x40xf32>
  %b = tile.fp_to_fp %b3 : tensor<20x40xf32> -> tensor<20x40xbf16>
  %d = tile.dot %t, %b, %c : tensor<24x20xbf16>, tensor<20x40xbf16>, tensor<24x40xf32>
  %line = tile.expand %sum axis 0 : tensor<40xf32> -> tensor<1x40xf32>
  %all = tile.broadcast %line : tensor<1x40xf32> -> tensor<24x40xf32>
  %nothing = arith.constant dense<0.0> : tensor<24x40xf32>
  %off = arith.mulf %all, %nothing : tensor<24x40xf32>
  %o = arith.addf %d, %off : tensor<24x40xf32>
)" + storeWhole("%o", "%z", "24x40xf32"),
                 {.targets = {}});
}
