// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Chooses among the ways of a conversion by their costs.

#include "Steps.h"

#include <algorithm>
#include <utility>

namespace tilejit::tilegpu {

namespace {

/// Registers of 32 bits that one element takes at least.
int wordsOf(int elementBits) { return std::max(1, elementBits / 32); }

size_t registersIn(const std::vector<AccessGroup> &groups) {
  return groups.empty() ? 0 : groups.size() * groups.front().registers.size();
}

/// Why the options or the two layouts do not make a conversion; empty if they do.
std::string problem(const LinearLayout &from, const LinearLayout &to, const ConversionOptions &options) {
  if (options.elementBits != 8 && options.elementBits != 16 && options.elementBits != 32 && options.elementBits != 64)
    return "elements have " + std::to_string(options.elementBits) + " bits, expected 8, 16, 32 or 64";
  if (from.outs() != to.outs())
    return "the layouts are of tiles of different shapes";
  for (std::string_view dim : {kLane, kWarp})
    if (from.inBits(dim) != to.inBits(dim))
      return "one layout has " + std::to_string(1 << from.inBits(dim)) + " " + std::string(dim) + "s, the other " +
             std::to_string(1 << to.inBits(dim));
  if (!gf2::Span(from.columns()).containsAll(to.columns()))
    return "the source lacks elements of the result";
  return "";
}

/// Why a conversion has no way through shared memory.
std::string noWay(const LinearLayout &from, const LinearLayout &to, ConversionOptions options) {
  if (from.inBits(kLane) != options.banks->laneBits)
    return "the layouts have warps of " + std::to_string(1 << from.inBits(kLane)) + " lanes, the chip of " +
           std::to_string(1 << options.banks->laneBits);
  const uint64_t most = std::exchange(options.maxBytes, 0);
  if (const auto large = planSharedMemory(from, to, options); large && most != 0)
    return "the conversion takes " + std::to_string(large->bytes) + " bytes of shared memory, at most " +
           std::to_string(most) + " are allowed, and it cannot be cut so often";
  return "an access to shared memory does not fit its layout";
}

} // namespace

int costOf(const RegisterMove &move, const ConversionOptions &options) {
  return static_cast<int>(move.selects.size() * move.source.size()) * options.banks->selectCost *
         wordsOf(options.elementBits);
}

int costOf(const ShuffleMove &move, const ConversionOptions &options) {
  const size_t results = move.resultWords.size() * static_cast<size_t>(move.elementsPerWord);
  const size_t selects = move.before.size() * move.sourceWords.size() + move.after.size() * move.rounds.size() +
                         move.within.size() * results;
  return move.shuffles * options.banks->shuffleCost +
         static_cast<int>(selects) * options.banks->selectCost * wordsOf(options.elementBits);
}

int costOf(const SharedMove &move, const ConversionOptions &options) {
  // Between passes one waits twice.
  int64_t cost = (move.withinWarp ? options.banks->warpSyncCost : options.banks->blockSyncCost) * (2 * move.passes - 1);
  for (const MemoryAccess *side : {&move.store, &move.load}) {
    const auto selects = static_cast<int64_t>(side->selects.size() * registersIn(side->groups));
    cost += 4 * side->wavefronts + static_cast<int64_t>(side->groups.size()) +
            selects * options.banks->selectCost * wordsOf(options.elementBits);
  }
  return static_cast<int>(std::min<int64_t>(cost, 1 << 30));
}

std::tuple<int64_t, int64_t, int> rankOf(const SharedMove &move, const ConversionOptions &options) {
  const auto ideal = move.store.idealWavefronts + move.load.idealWavefronts;
  return {move.store.wavefronts + move.load.wavefronts - ideal,
          move.store.wavefrontsElse + move.load.wavefrontsElse - ideal, costOf(move, options)};
}

ConversionPlan planConversion(const LinearLayout &from, const LinearLayout &to, const ConversionOptions &options) {
  ConversionPlan plan{distinctRegisters(from), distinctRegisters(to), NoMove{}, 0};
  const LinearLayout &source = plan.from.layout, &result = plan.to.layout;
  if (std::string reason = problem(source, result, options); !reason.empty()) {
    plan.move = Impossible{std::move(reason)};
    return plan;
  }
  const bool memoryOnly = options.throughMemory || options.memory || options.store != SharedAccess::Plain ||
                          options.load != SharedAccess::Plain;
  if (!memoryOnly && source == result)
    return plan;
  bool found = false;
  const auto consider = [&](auto move) {
    if (!move)
      return;
    const int cost = costOf(*move, options);
    if (!found || cost < plan.cost) {
      plan.move = std::move(*move);
      plan.cost = cost;
      found = true;
    }
  };
  const bool hasWarps = source.inBits(kLane) == options.banks->laneBits;
  if (!memoryOnly)
    consider(planRegisters(source, result));
  if (!memoryOnly && !found && options.allowShuffles && hasWarps)
    consider(planShuffles(source, result, options.elementBits));
  if (!found || std::holds_alternative<ShuffleMove>(plan.move))
    if (hasWarps)
      consider(planSharedMemory(source, result, options));
  if (!found)
    plan.move = Impossible{noWay(source, result, options)};
  return plan;
}

namespace {

std::string describeSide(const MemoryAccess &side, int elementBits) {
  return std::to_string(side.wavefronts) + "/" + std::to_string(side.idealWavefronts) + " wavefronts in " +
         std::to_string(side.groups.size()) + " x " + std::to_string(side.vectorBits(elementBits)) + " bits" +
         (side.selects.empty() ? "" : " with " + std::to_string(side.selects.size()) + " selects") +
         (side.writeMask ? ", one copy written" : "");
}

struct Describe {
  int elementBits;

  std::string operator()(const NoMove &) const { return "none"; }
  std::string operator()(const RegisterMove &move) const {
    return "registers" + (move.selects.empty() ? "" : " with " + std::to_string(move.selects.size()) + " selects");
  }
  std::string operator()(const ShuffleMove &move) const {
    return "shuffle: " + std::to_string(move.shuffles) + " of 32 bits, " + std::to_string(move.elementsPerWord) +
           " elements in a word, selects " + std::to_string(move.before.size()) + " before, " +
           std::to_string(move.after.size()) + " after, " + std::to_string(move.within.size()) + " within";
  }
  std::string operator()(const SharedMove &move) const {
    return "shared: store " + describeSide(move.store, elementBits) + "; load " + describeSide(move.load, elementBits) +
           "; " + std::to_string(move.bytes) + " bytes" +
           (move.passes > 1 ? " in " + std::to_string(move.passes) + " passes" : "") +
           (move.withinWarp ? ", within warps" : "");
  }
  std::string operator()(const Impossible &move) const { return "impossible: " + move.reason; }
};

} // namespace

std::string describe(const ConversionPlan &plan, int elementBits) {
  return std::visit(Describe{elementBits}, plan.move);
}

} // namespace tilejit::tilegpu
