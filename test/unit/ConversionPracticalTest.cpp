// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The conversions that kernels need - operands, accumulators, products of products, transposes, reductions - carried
// out on the plain machine: by the way one expects, and free of bank conflicts. What each of them takes is printed by
// the hidden test [plans].

#include "ConversionMachine.h"
#include "tilejit/Dialect/TileGPU/IR/Fragments.h"
#include "tilejit/Dialect/TileGPU/IR/LayoutBuilders.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdio>

namespace tilejit::tilegpu::test {

namespace {

enum class Way { None, Registers, Shuffle, Shared };

struct Pair {
  std::string name;
  LinearLayout from, to;
  ConversionOptions options;
  Way way;
  int shuffles = -1; ///< Of 32 bits, if the way is that.
};

using Shape = std::vector<int64_t>;
constexpr auto kA = MatrixOperand::A, kB = MatrixOperand::B, kResult = MatrixOperand::Result;

LinearLayout fragment(MatrixFamily family, const MatrixShape &shape, int bits, MatrixOperand operand, int lanes = 32) {
  const MatrixInstruction *row = findMatrixInstruction(family, shape, bits, 32, lanes);
  REQUIRE(row);
  return row->layout(operand);
}
LinearLayout mma(int k, int bits, MatrixOperand operand) {
  return fragment(MatrixFamily::Mma, {16, 8, k}, bits, operand);
}
LinearLayout mfma(int m, int k, MatrixOperand operand, int bits = 16) {
  return fragment(MatrixFamily::Mfma, {m, m, k}, bits, operand, 64);
}
LinearLayout wmma(MatrixFamily family, MatrixOperand operand) { return fragment(family, {16, 16, 16}, 16, operand); }

/// A fragment of an operand or a result over a tile; `rows` x `columns` warps, as powers, share out the result's tile.
LinearLayout operandA(const LinearLayout &fragment, int rows, int columns, const Shape &shape) {
  return repeatedLayout(fragment, {{0, rows}, {WarpBits::kCopies, columns}}, shape);
}
LinearLayout operandB(const LinearLayout &fragment, int rows, int columns, const Shape &shape) {
  return repeatedLayout(fragment, {{WarpBits::kCopies, rows}, {1, columns}}, shape);
}
LinearLayout result(const LinearLayout &fragment, int rows, int columns, const Shape &shape) {
  return repeatedLayout(fragment, {{0, rows}, {1, columns}}, shape);
}
/// Threads side by side along rows (columns), each with so many elements in a row (column).
LinearLayout byRows(int64_t perThread, int64_t down, int64_t across, int64_t warps, const Shape &shape) {
  return blockedLayout({{1, perThread}, {down, across}, {warps, 1}, {1, 0}}, shape);
}
LinearLayout byColumns(int64_t perThread, int64_t down, int64_t across, int64_t warps, const Shape &shape) {
  return blockedLayout({{perThread, 1}, {down, across}, {1, warps}, {0, 1}}, shape);
}

ConversionOptions options(int elementBits, std::string_view banks = "nvidia", SharedAccess store = SharedAccess::Plain,
                          SharedAccess load = SharedAccess::Plain) {
  ConversionOptions result;
  result.elementBits = elementBits;
  result.banks = findBankModel(banks);
  result.store = store;
  result.load = load;
  return result;
}
ConversionOptions inMemory(ConversionOptions options, const LinearLayout &memory) {
  options.memory = memory;
  return options;
}
ConversionOptions throughMemory(ConversionOptions options) {
  options.throughMemory = true;
  return options;
}

constexpr auto kPlain = SharedAccess::Plain, kCopy = SharedAccess::AsyncCopy, kMatrix = SharedAccess::MatrixLoad,
               kTransposed = SharedAccess::MatrixLoadTransposed;

std::vector<Pair> operandPairs() {
  const ConversionOptions f16 = options(16);
  const auto half = [](SharedAccess store, SharedAccess load) { return options(16, "nvidia", store, load); };
  const LinearLayout a = operandA(mma(16, 16, kA), 1, 1, {128, 32}), b = operandB(mma(16, 16, kB), 1, 1, {32, 128});
  const LinearLayout a64 = operandA(mma(16, 16, kA), 1, 1, {128, 64}), a16 = operandA(mma(16, 16, kA), 1, 1, {128, 16});
  const LinearLayout rows = byRows(8, 8, 4, 4, {128, 32}), rowsB = byRows(8, 2, 16, 4, {32, 128}),
                     columnsB = byColumns(8, 4, 8, 4, {32, 128});
  const LinearLayout bytesA = operandA(mma(32, 8, kA), 1, 1, {128, 64}),
                     bytesB = operandB(mma(32, 8, kB), 1, 1, {64, 128});
  return {
      {"blocked to mma A", rows, a, f16, Way::Shared},
      {"blocked to mma A, ldmatrix", rows, a, half(kPlain, kMatrix), Way::Shared},
      {"cp.async to mma A, ldmatrix", rows, a, half(kCopy, kMatrix), Way::Shared},
      {"blocked to mma B, columns", columnsB, b, f16, Way::Shared},
      {"cp.async to mma B, columns, ldmatrix", columnsB, b, half(kCopy, kMatrix), Way::Shared},
      {"blocked to mma B, rows", rowsB, b, f16, Way::Shared},
      {"cp.async to mma B, rows, ldmatrix.trans", rowsB, b, half(kCopy, kTransposed), Way::Shared},
      {"cp.async to mma A in 128-byte swizzle, ldmatrix", byRows(8, 4, 8, 4, {128, 64}), a64,
       inMemory(half(kCopy, kMatrix), swizzledMemory(128, 64, 16, 128)), Way::Shared},
      {"cp.async to mma A in 64-byte swizzle, ldmatrix", rows, a,
       inMemory(half(kCopy, kMatrix), swizzledMemory(128, 32, 16, 64)), Way::Shared},
      {"cp.async to mma A in 32-byte swizzle, ldmatrix", byRows(8, 16, 2, 4, {128, 16}), a16,
       inMemory(half(kCopy, kMatrix), swizzledMemory(128, 16, 16, 32)), Way::Shared},
      {"blocked to mma A of 8 bits, ldmatrix", byRows(16, 8, 4, 4, {128, 64}), bytesA,
       options(8, "nvidia", kPlain, kMatrix), Way::Shared},
      {"blocked to mma B of 8 bits, columns", byColumns(16, 4, 8, 4, {64, 128}), bytesB, options(8), Way::Shared},
      {"blocked to mma B of 8 bits, rows", byRows(16, 4, 8, 4, {64, 128}), bytesB, options(8), Way::Shared},
      {"cp.async to mma A tf32, ldmatrix", byRows(4, 4, 8, 4, {64, 32}), operandA(mma(8, 32, kA), 1, 1, {64, 32}),
       options(32, "nvidia", kCopy, kMatrix), Way::Shared},
      {"blocked to mma A f64", byRows(2, 4, 8, 4, {64, 16}),
       operandA(fragment(MatrixFamily::Mma, {8, 8, 4}, 64, kA), 2, 0, {64, 16}), options(64), Way::Shared},
  };
}

std::vector<Pair> resultPairs() {
  const ConversionOptions f16 = options(16), f32 = options(32);
  const LinearLayout accumulator = result(mma(16, 16, kResult), 1, 1, {128, 128}),
                     c = result(mma(16, 16, kResult), 2, 0, {64, 64});
  const LinearLayout warpgroup = fragment(MatrixFamily::Wgmma, {64, 8, 16}, 16, kResult),
                     wide = repeatedLayout(warpgroup, {}, {64, 128});
  const LinearLayout line = blockedLayout({{1}, {32}, {4}, {0}}, {128});
  return {
      {"mma C f32 to blocked", accumulator, byRows(4, 1, 32, 4, {128, 128}), f32, Way::Shared},
      {"mma C f16 to blocked", accumulator, byRows(8, 2, 16, 4, {128, 128}), f16, Way::Shared},
      {"mma C f16 to blocked, stmatrix", accumulator, byRows(8, 2, 16, 4, {128, 128}),
       options(16, "nvidia", kMatrix, kPlain), Way::Shared},
      {"mma C f16 to transposed blocked, stmatrix.trans", accumulator, byColumns(8, 16, 2, 4, {128, 128}),
       options(16, "nvidia", kTransposed, kPlain), Way::Shared},
      {"wgmma C f16 in 128-byte swizzle, stmatrix", repeatedLayout(warpgroup, {}, {64, 64}),
       byRows(8, 4, 8, 4, {64, 64}), inMemory(options(16, "nvidia", kMatrix, kPlain), swizzledMemory(64, 64, 16, 128)),
       Way::Shared},
      {"wgmma C f32 to blocked", wide, byRows(4, 1, 32, 4, {64, 128}), f32, Way::Shared},
      {"mma C to mma A f16", c, operandA(mma(16, 16, kA), 2, 0, {64, 64}), f16, Way::None},
      {"wgmma C to wgmma A f16", wide,
       repeatedLayout(fragment(MatrixFamily::Wgmma, {64, 8, 16}, 16, kA), {}, {64, 128}), f16, Way::None},
      {"mma C to mma A fp8", c, operandA(mma(32, 8, kA), 2, 0, {64, 64}), options(8), Way::Shuffle, 8},
      {"mma C to mma A tf32", c, operandA(mma(8, 32, kA), 2, 0, {64, 64}), f32, Way::Shuffle, 32},
      {"mma C to mma B f16", result(mma(16, 16, kResult), 0, 0, {32, 32}), operandB(mma(16, 16, kB), 0, 0, {32, 32}),
       f16, Way::Shuffle, 16},
      {"row sums of mma C to a line", accumulator.sliced(1), line, f32, Way::Shared},
      {"column sums of mma C to a line", c.sliced(0), blockedLayout({{2}, {32}, {4}, {0}}, {64}), f32, Way::Registers},
      {"line to rows of mma C", line, accumulator.sliced(1), f32, Way::Shared},
  };
}

std::vector<Pair> blockedPairs() {
  const ConversionOptions f16 = options(16), f32 = options(32);
  const auto boxes = [](const std::vector<int> &order) {
    return blockedLayout({{8, 8}, {4, 8}, {4, 1}, order}, {128, 64});
  };
  const LinearLayout row = byRows(1, 1, 32, 1, {32, 32}), column = byColumns(1, 32, 1, 1, {32, 32});
  const LinearLayout small = blockedLayout({{2, 4}, {4, 8}, {1, 1}, {1, 0}}, {8, 32});
  return {
      {"transpose f32, 4 warps", byRows(4, 4, 8, 4, {64, 64}), byColumns(4, 8, 4, 4, {64, 64}), f32, Way::Shared},
      {"transpose f16, 4 warps", byRows(8, 4, 8, 4, {64, 64}), byColumns(8, 8, 4, 4, {64, 64}), f16, Way::Shared},
      {"transpose f16, 8x8 in each thread", boxes({1, 0}), boxes({0, 1}), f16, Way::Shuffle, 32},
      {"transpose f16, 8x8 in each thread, memory", boxes({1, 0}), boxes({0, 1}), throughMemory(f16), Way::Shared},
      {"transpose 32x32 f32, one warp", row, column, f32, Way::Shared},
      {"transpose 32x32 f32, one warp, memory", row, column, throughMemory(f32), Way::Shared},
      {"blocked 1x8 to blocked 2x4 f16", byRows(8, 8, 4, 4, {64, 32}),
       blockedLayout({{2, 4}, {4, 8}, {4, 1}, {1, 0}}, {64, 32}), f16, Way::Shuffle, 8},
      {"blocked, registers in another order", small,
       LinearLayout(small.ins(), small.outs(), {4 * 8, 1, 2, 4, 8, 16, 2 * 32, 4 * 32}), f16, Way::Registers},
  };
}

std::vector<Pair> amdPairs() {
  const ConversionOptions f16 = options(16, "cdna"), f32 = options(32, "cdna"), byte = options(8, "cdna"),
                          rdna = options(16, "rdna");
  const LinearLayout c32 = result(mfma(32, 8, kResult), 0, 0, {32, 32}),
                     c16 = result(mfma(16, 16, kResult), 0, 0, {32, 16});
  const LinearLayout rows = byRows(8, 16, 4, 4, {128, 32}), rowsRdna = byRows(8, 8, 4, 4, {128, 32});
  const auto gfx11 = MatrixFamily::WmmaGfx11, gfx12 = MatrixFamily::WmmaGfx12;
  return {
      {"blocked to MFMA 16x16x16 A", rows, operandA(mfma(16, 16, kA), 1, 1, {128, 32}), f16, Way::Shared},
      {"blocked to MFMA 32x32x8 A", rows, operandA(mfma(32, 8, kA), 1, 1, {128, 32}), f16, Way::Shared},
      {"blocked to MFMA 32x32x8 B, columns", byColumns(8, 4, 16, 4, {32, 128}),
       operandB(mfma(32, 8, kB), 1, 1, {32, 128}), f16, Way::Shared},
      {"blocked to MFMA 32x32x8 B, rows", byRows(8, 4, 16, 4, {32, 128}), operandB(mfma(32, 8, kB), 1, 1, {32, 128}),
       f16, Way::Shared},
      {"blocked to MFMA 16x16x32 A, gfx950", rows, operandA(mfma(16, 32, kA), 1, 1, {128, 32}), options(16, "cdna4"),
       Way::Shared},
      {"MFMA 16x16 C f32 to blocked", result(mfma(16, 16, kResult), 1, 1, {128, 128}), byRows(4, 2, 32, 4, {128, 128}),
       f32, Way::Shared},
      {"MFMA 32x32 C f16 to blocked", result(mfma(32, 8, kResult), 1, 1, {128, 128}), byRows(8, 4, 16, 4, {128, 128}),
       f16, Way::Shared},
      {"MFMA 32x32 C to 32x32x8 B", c32, operandB(mfma(32, 8, kB), 0, 0, {32, 32}), f16, Way::None},
      {"MFMA 16x16 C to 16x16x16 B", c16, operandB(mfma(16, 16, kB), 0, 0, {32, 16}), f16, Way::None},
      {"MFMA 32x32 C to 32x32x8 A", c32, operandA(mfma(32, 8, kA), 0, 0, {32, 32}), f16, Way::Shared},
      {"MFMA 16x16 C to 16x16x16 A", result(mfma(16, 16, kResult), 0, 0, {16, 16}),
       operandA(mfma(16, 16, kA), 0, 0, {16, 16}), f16, Way::Shuffle, 4},
      {"MFMA 32x32 C to 32x32x16 B, gfx950", c32, operandB(mfma(32, 16, kB), 0, 0, {32, 32}), f16, Way::Shuffle, 4},
      {"MFMA 16x16 C to 16x16x32 B, gfx950", c16, operandB(mfma(16, 32, kB), 0, 0, {32, 16}), f16, Way::Shuffle, 4},
      {"MFMA 16x16 C to 16x16x32 B fp8", c16, operandB(mfma(16, 32, kB, 8), 0, 0, {32, 16}), byte, Way::Shuffle, 2},
      {"blocked to WMMA gfx11 A", rowsRdna, operandA(wmma(gfx11, kA), 1, 1, {128, 32}), rdna, Way::Shared},
      {"blocked to WMMA gfx12 A", rowsRdna, operandA(wmma(gfx12, kA), 1, 1, {128, 32}), rdna, Way::Shared},
      {"WMMA gfx11 C to blocked", result(wmma(gfx11, kResult), 1, 1, {64, 64}), byRows(8, 4, 8, 4, {64, 64}), rdna,
       Way::Shared},
      {"WMMA gfx12 C to blocked", result(wmma(gfx12, kResult), 1, 1, {64, 64}), byRows(8, 4, 8, 4, {64, 64}), rdna,
       Way::Shared},
      {"WMMA gfx11 C to B", wmma(gfx11, kResult), wmma(gfx11, kB), rdna, Way::Shuffle, 4},
      {"WMMA gfx11 C to A", wmma(gfx11, kResult), wmma(gfx11, kA), rdna, Way::Shared},
      {"WMMA gfx12 C to B", wmma(gfx12, kResult), wmma(gfx12, kB), rdna, Way::Shuffle, 2},
      {"WMMA gfx12 C to A", wmma(gfx12, kResult), wmma(gfx12, kA), rdna, Way::Shared},
  };
}

std::vector<Pair> allPairs() {
  std::vector<Pair> pairs;
  for (auto make : {operandPairs, resultPairs, blockedPairs, amdPairs})
    for (Pair &pair : make())
      pairs.push_back(std::move(pair));
  return pairs;
}

} // namespace

TEST_CASE("Conversions that kernels need take the expected way without bank conflicts", "[tilegpu]") {
  for (const Pair &pair : allPairs()) {
    const ConversionPlan plan = planConversion(pair.from, pair.to, pair.options);
    CAPTURE(pair.name, describe(plan, pair.options.elementBits));
    CHECK(plan.move.index() == static_cast<size_t>(pair.way));
    CHECK(carryOut(plan, pair.from, pair.to, pair.options) == "");
    if (const auto *move = std::get_if<ShuffleMove>(&plan.move))
      CHECK(move->shuffles == pair.shuffles);
    if (const auto *move = std::get_if<SharedMove>(&plan.move)) {
      CHECK(move->store.wavefronts == move->store.idealWavefronts);
      CHECK(move->load.wavefronts == move->load.idealWavefronts);
      CHECK(move->load.wavefrontsElse == move->load.idealWavefronts);
    }
  }
}

TEST_CASE("Conversions with little memory are cut into passes", "[tilegpu]") {
  const Pair large = resultPairs().front(); // 64 KiB.
  for (int cuts = 0; cuts < 4; ++cuts) {
    ConversionOptions few = large.options;
    few.maxBytes = uint64_t(65536) >> cuts;
    const ConversionPlan plan = planConversion(large.from, large.to, few);
    CAPTURE(few.maxBytes, describe(plan, 32));
    CHECK(carryOut(plan, large.from, large.to, few) == "");
    const auto *move = std::get_if<SharedMove>(&plan.move);
    REQUIRE(move);
    CHECK(move->passes == 1 << cuts);
    CHECK(move->bytes == few.maxBytes);
    CHECK(move->store.wavefronts + move->load.wavefronts == move->store.idealWavefronts + move->load.idealWavefronts);
  }
}

TEST_CASE("What cannot be converted is told", "[tilegpu]") {
  const LinearLayout rows = byRows(4, 4, 8, 4, {64, 64}), columns = byColumns(4, 8, 4, 4, {64, 64});
  const auto reason = [](const LinearLayout &from, const LinearLayout &to, const ConversionOptions &options) {
    const ConversionPlan plan = planConversion(from, to, options);
    const auto *impossible = std::get_if<Impossible>(&plan.move);
    return impossible ? impossible->reason : describe(plan, options.elementBits);
  };
  CHECK(reason(rows, columns, options(4)) == "elements have 4 bits, expected 8, 16, 32 or 64");
  CHECK(reason(rows, byRows(4, 4, 8, 4, {32, 64}), options(32)) == "the layouts are of tiles of different shapes");
  CHECK(reason(rows, byRows(4, 4, 8, 2, {64, 64}), options(32)) == "one layout has 4 warps, the other 2");
  CHECK(reason(rows.withIns({kRegister, kLane}).withIns({kRegister, kLane, kWarp}), byRows(8, 8, 4, 1, {64, 64}),
               options(32)) == "the source lacks elements of the result");
  CHECK(reason(rows, columns, options(32, "cdna")) == "the layouts have warps of 32 lanes, the chip of 64");
  CHECK(reason(rows, columns, options(64, "nvidia", kPlain, kMatrix)) ==
        "an access to shared memory does not fit its layout");
  ConversionOptions few = options(32);
  few.maxBytes = 64;
  CHECK(reason(rows, columns, few) ==
        "the conversion takes 16384 bytes of shared memory, at most 64 are allowed, and it "
        "cannot be cut so often");
}

TEST_CASE("Plans and how long planning takes", "[.][plans]") {
  for (const Pair &pair : allPairs()) {
    constexpr int kRepeats = 100;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRepeats; ++i)
      planConversion(pair.from, pair.to, pair.options);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    const ConversionPlan plan = planConversion(pair.from, pair.to, pair.options);
    std::printf("%-50s %5.0f us, cost %4d  %s\n", pair.name.c_str(), time.count() / kRepeats, plan.cost,
                describe(plan, pair.options.elementBits).c_str());
  }
}

} // namespace tilejit::tilegpu::test
