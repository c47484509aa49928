// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The memory layout of a conversion. A wavefront reads each bank once, so what it touches - a phase's lanes and their
// vectors - must not contain two elements of one bank: the subspace of elements in bank 0, the lines, may have nothing
// in common with it. For both ends at once the lines are a common complement of two subspaces, and that always exists.
// The rest of the memory's basis are the vector, lowest, and any vectors for the banks.

#include "Ends.h"
#include "Steps.h"

#include <algorithm>
#include <cassert>

namespace tilejit::tilegpu {

namespace {

int logOf(int value) { return std::countr_zero(static_cast<unsigned>(value)); }

gf2::Vectors prefix(const gf2::Vectors &vectors, size_t count) {
  return {vectors.begin(), vectors.begin() + static_cast<ptrdiff_t>(std::min(count, vectors.size()))};
}

/// Elements that follow each other in memory, and the vectors that both ends have of them.
struct Run {
  gf2::Vectors elements;
  int storeLog, loadLog;
};

/// The run that a memory begins with: that of a prescribed vector, or what both ends have in registers, continued by
/// what one of them has.
std::vector<Run> possibleRuns(const End &store, const End &load) {
  std::vector<gf2::Vectors> candidates;
  if (store.isMatrix() || store.access == SharedAccess::AsyncCopy) {
    candidates.push_back(store.elements(*store.prescribed()));
  } else if (const auto places = load.prescribed()) {
    candidates.push_back(load.elements(*places));
  } else {
    const auto most = static_cast<size_t>(logOf(128) - logOf(store.elementBits));
    const gf2::Vectors written = store.layout.columns(kRegister), read = load.layout.columns(kRegister);
    const gf2::Vectors both = prefix(gf2::intersection(written, read), most);
    for (const gf2::Vectors *longer : {&written, &read})
      candidates.push_back(prefix(gf2::concat(both, gf2::extension(both, *longer)), most));
  }
  std::vector<Run> runs;
  for (gf2::Vectors &elements : candidates) {
    const int storeLog = store.vectorLog(elements), loadLog = load.vectorLog(elements);
    if (storeLog >= 0 && loadLog >= 0 && gf2::rank(elements) == static_cast<int>(elements.size()))
      runs.push_back({std::move(elements), storeLog, loadLog});
  }
  return runs;
}

/// Chooses a basis of `space`, lowest offset bit first.
class Swizzle {
public:
  Swizzle(const Run &run, const End &store, const End &load, const gf2::Vectors &space)
      : run_(run), store_(store), load_(load), space_(space), storeLanes_(store.elements(store.phase(run.storeLog))),
        loadLanes_(load.elements(load.phase(run.loadLog))),
        wordLog_(std::max(0, logOf(32) - logOf(store.elementBits))) {}

  /// `straight`: where possible, addresses of threads keep vectors aligned, so that no registers must be exchanged.
  /// `turn`: see commonComplement().
  gf2::Vectors basis(bool straight, int turn) const {
    gf2::Vectors low = lowest();
    const int line = logOf(store_.banks.banks * 32) - logOf(store_.elementBits);
    const int size = std::min(line, static_cast<int>(space_.size()));
    const gf2::Vectors lines =
        gf2::commonComplement(touched(low, storeLanes_, run_.storeLog, load_),
                              touched(low, loadLanes_, run_.loadLog, store_), space_, size, turn);
    // Lanes as banks keep addresses short.
    const gf2::Vectors preferred = gf2::concat(gf2::concat(storeLanes_, loadLanes_), space_);
    gf2::Vectors upper = gf2::concat(gf2::extension(gf2::concat(low, lines), preferred), lines);
    align(low, upper, straight);
    return gf2::concat(low, upper);
  }

private:
  /// The run, continued to a whole word by lanes that share it at both ends, if there are such.
  gf2::Vectors lowest() const {
    const auto word = static_cast<size_t>(wordLog_);
    if (run_.elements.size() >= word)
      return run_.elements;
    const gf2::Vectors fill = gf2::concat(gf2::concat(gf2::intersection(storeLanes_, loadLanes_), storeLanes_), space_);
    return prefix(gf2::concat(run_.elements, gf2::extension(run_.elements, fill)), word);
  }

  /// What a wavefront of one end touches. Elements that the other end has in registers come last: where one must be
  /// mixed into a line, that is with a vector of the other end.
  gf2::Vectors touched(const gf2::Vectors &low, const gf2::Vectors &lanes, int vectorLog, const End &other) const {
    const gf2::Span registers(other.layout.columns(kRegister));
    gf2::Vectors ordered = lanes;
    std::stable_partition(ordered.begin(), ordered.end(), [&](uint64_t v) { return !registers.contains(v); });
    return gf2::independent(gf2::concat(prefix(low, static_cast<size_t>(std::max(vectorLog, wordLog_))), ordered));
  }

  /// Moves the upper vectors within vectors so that other places of an end do not reach into its vector: those of
  /// prescribed vectors, which cannot be permuted, and then of the threads of the others.
  void align(const gf2::Vectors &low, gf2::Vectors &upper, bool straight) const {
    gf2::Vectors others;
    for (const End *end : {&store_, &load_})
      if (const auto places = end->prescribed())
        others = gf2::concat(others, end->elements(gf2::extension(*places, gf2::units(0, end->layout.inBits()))));
    if (straight)
      for (const End *end : {&store_, &load_})
        if (!end->prescribed())
          others = gf2::concat(others, threadColumns(end->layout));
    if (others.empty())
      return;
    // Within what both ends have of a word or vector, so that lines keep away from what wavefronts touch.
    const bool isFixed = store_.prescribed() || load_.prescribed();
    const int shared = std::max(std::min(run_.storeLog, run_.loadLog), wordLog_);
    const uint64_t movable = gf2::lowBits(isFixed ? static_cast<int>(low.size()) : shared);
    const gf2::Span split(gf2::concat(low, gf2::extension(low, gf2::concat(others, space_))));
    for (uint64_t &element : upper)
      element ^= gf2::combine(low, *split.express(element) & gf2::lowBits(static_cast<int>(low.size())) & movable);
  }

  const Run &run_;
  const End &store_, &load_;
  const gf2::Vectors &space_;
  gf2::Vectors storeLanes_, loadLanes_;
  int wordLog_;
};

} // namespace

std::optional<SharedMove> planOnePass(const LinearLayout &from, const LinearLayout &to,
                                      const ConversionOptions &options) {
  const End store(from, options.store, true, options), load(to, options.load, false, options);
  const gf2::Vectors space = from.image();
  if (!store.isPossible() || !load.isPossible() || !gf2::Span(space).containsAll(to.columns()))
    return std::nullopt;
  // Each warp reads what it wrote, unless only one of several warps writes their copies.
  const bool readsOwn = staysInWarp(from, to) && from.copyBits() >> from.inBits(kLane) == 0;
  std::optional<SharedMove> best;
  const auto consider = [&](const LinearLayout &memory, int storeLog, int loadLog) {
    auto written = planMemoryAccess(from, memory, options.store, true, options, storeLog);
    auto read = planMemoryAccess(to, memory, options.load, false, options, loadLog);
    if (!written || !read)
      return;
    SharedMove move{memory, std::move(*written), std::move(*read),
                    (uint64_t(1) << memory.inBits()) * static_cast<uint64_t>(options.elementBits) / 8, readsOwn};
    if (!best || rankOf(move, options) < rankOf(*best, options))
      best = std::move(move);
  };
  if (options.memory) {
    consider(*options.memory, 6, 6);
    return best;
  }
  // Other complements are of use where a chip may serve lanes in another order.
  const int turns = options.banks->hasLoadElse() ? 4 : 1;
  const auto isBest = [&] { return best && best->load.wavefrontsElse == best->load.idealWavefronts; };
  const std::vector<Run> runs = possibleRuns(store, load);
  for (int turn = 0; turn < turns && !isBest(); ++turn)
    for (const Run &run : runs)
      for (bool straight : {true, false}) {
        const gf2::Vectors basis = Swizzle(run, store, load, space).basis(straight, turn);
        consider({{{std::string(kOffset), static_cast<int>(basis.size())}}, from.outs(), basis}, run.storeLog,
                 run.loadLog);
      }
  return best;
}

} // namespace tilejit::tilegpu
