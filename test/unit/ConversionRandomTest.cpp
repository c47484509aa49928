// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions between random layouts, carried out on the plain machine: any elements, warps, ranks and copies.

#include "ConversionMachine.h"
#include "TileGpuRandom.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

namespace tilejit::tilegpu::test {

namespace {

struct Pair {
  LinearLayout from, to;
};

/// A layout that covers a tile as far as its bits allow: unit steps in any order, or any steps at all.
LinearLayout covering(Random &random, int registers, int lanes, int warps, const std::vector<int64_t> &shape) {
  const Dims outs = tileDims(shape);
  const int bits = LinearLayout({}, outs, {}).outBits(), ins = registers + lanes + warps;
  const bool isPermutation = random.below(2);
  gf2::Vectors columns;
  do {
    columns.clear();
    if (isPermutation) {
      columns = gf2::units(0, std::min(ins, bits));
      columns.resize(static_cast<size_t>(ins));
      random.shuffle(columns.begin(), columns.end());
    } else {
      columns = random.vectors(ins, bits);
    }
  } while (gf2::rank(columns) < std::min(bits, ins));
  return {{{"register", registers}, {"lane", lanes}, {"warp", warps}}, outs, columns};
}

/// Another layout of elements that `from` has: anything, something within its warps or its threads, or parts with
/// copies.
LinearLayout related(Random &random, const LinearLayout &from) {
  gf2::Vectors columns = from.columns();
  const int registers = from.inBits(kRegister), lanes = from.inBits(kLane), inWarp = registers + lanes;
  const auto at = [&](int i) -> uint64_t & { return columns[static_cast<size_t>(i)]; };
  switch (random.below(4)) {
  case 0:
    for (uint64_t &column : columns)
      column = gf2::combine(from.columns(), random.vector(from.inBits()));
    break;
  case 1:
    for (int step = 0; step < 6; ++step) {
      const int a = random.below(inWarp), b = random.below(inWarp);
      if (random.below(2))
        std::swap(at(a), at(b));
      else if (a != b)
        at(a) ^= at(b);
    }
    break;
  case 2:
    random.shuffle(columns.begin(), columns.begin() + registers);
    at(registers + random.below(lanes)) ^= random.below(2) ? at(0) : 0;
    break;
  default:
    for (int step = 0; step < 3; ++step)
      at(random.below(static_cast<int>(columns.size()))) = random.below(2) ? at(random.below(inWarp)) : 0;
  }
  return {from.ins(), from.outs(), columns};
}

Pair randomPair(Random &random, int lanes) {
  const int registers = 1 + random.below(5), warps = random.below(4);
  const int bits = registers + lanes + warps - random.below(3);
  const std::vector<int64_t> shape = random.shape(bits);
  const LinearLayout from = covering(random, registers, lanes, warps, shape);
  if (random.below(3) > 0)
    return {from, related(random, from)};
  // Another number of registers, in which the result may have copies.
  LinearLayout to = covering(random, 1 + random.below(6), lanes, warps, shape);
  if (!gf2::Span(from.columns()).containsAll(to.columns()))
    to = LinearLayout(to.ins(), to.outs(), gf2::Vectors(static_cast<size_t>(to.inBits())));
  return {from, to};
}

/// The fewest shuffles by counting: for each thread, the words of each other lane that it must read. Copies of a thread
/// count as one.
int fewestShuffles(const ConversionPlan &plan, int elementBits) {
  const LinearLayout &from = plan.from.layout, &to = plan.to.layout;
  const int held = from.inBits(kRegister), wanted = to.inBits(kRegister), perWord = std::max(1, 32 / elementBits);
  const uint64_t lanes = uint64_t(1) << from.inBits(kLane), threads = lanes << from.inBits(kWarp);
  int most = 0;
  for (uint64_t warp = 0; warp < threads; warp += lanes) {
    std::map<uint64_t, uint64_t> holder;
    for (uint64_t place = 0; place < lanes << held; ++place)
      holder.try_emplace(from.apply(warp << held | place), place >> held);
    for (uint64_t lane = 0; lane < lanes; ++lane) {
      std::set<uint64_t> own;
      for (uint64_t r = 0; r < uint64_t(1) << held; ++r)
        own.insert(from.apply((warp + lane) << held | r));
      std::map<uint64_t, int> lacking;
      for (uint64_t r = 0; r < uint64_t(1) << wanted; ++r)
        if (uint64_t element = to.apply((warp + lane) << wanted | r); !own.contains(element))
          ++lacking[holder.at(element)];
      int words = 0;
      for (auto [other, elements] : lacking)
        words += (elements + perWord - 1) / perWord;
      most = std::max(most, words);
    }
  }
  return most * std::max(1, elementBits / 32);
}

} // namespace

TEST_CASE("Random conversions do what they should, without bank conflicts", "[tilegpu]") {
  Random random(2024);
  std::map<size_t, int> ways;
  int cuts = 0, spread = 0;
  for (int i = 0; i < 12000; ++i) {
    ConversionOptions options;
    options.banks = &bankModels()[static_cast<size_t>(random.below(static_cast<int>(bankModels().size())))];
    options.elementBits = 8 << random.below(4);
    options.allowShuffles = random.below(3) > 0;
    options.throughMemory = random.below(8) == 0;
    const Pair pair = randomPair(random, options.banks->laneBits);
    const auto tileBytes = uint64_t(options.elementBits / 8) << pair.from.outBits();
    options.maxBytes = random.below(4) ? 0 : tileBytes >> (1 + random.below(2));
    ConversionPlan plan = planConversion(pair.from, pair.to, options);
    if (std::holds_alternative<Impossible>(plan.move) && options.maxBytes != 0) {
      options.maxBytes = 0;
      plan = planConversion(pair.from, pair.to, options);
    }
    ++ways[plan.move.index()];
    const std::string error = carryOut(plan, pair.from, pair.to, options);
    if (!error.empty()) {
      CAPTURE(i, options.banks->name, options.elementBits, pair.from.describe(), pair.to.describe(),
              describe(plan, options.elementBits));
      FAIL(error);
    }
    if (const auto *move = std::get_if<SharedMove>(&plan.move)) {
      CAPTURE(i, describe(plan, options.elementBits));
      REQUIRE(move->store.wavefronts == move->store.idealWavefronts);
      REQUIRE(move->load.wavefronts == move->load.idealWavefronts);
      cuts += move->passes > 1;
      spread += move->store.writeMask == 0 && !plan.from.layout.isInjective();
    }
    if (const auto *move = std::get_if<ShuffleMove>(&plan.move); move && i % 16 == 0) {
      CAPTURE(i, describe(plan, options.elementBits));
      REQUIRE(move->shuffles == fewestShuffles(plan, options.elementBits));
    }
  }
  // Every way is taken often.
  for (size_t way = 0; way < 4; ++way) {
    CAPTURE(way);
    CHECK(ways[way] > 200);
  }
  CHECK(ways[4] == 0);
  CHECK(cuts > 200);
  CHECK(spread > 20);
}

} // namespace tilejit::tilegpu::test
