// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions within warps by shuffles. Two threads that exchange anything exchange a translate of what their registers
// have in common, so each thread has as many partners as the result's registers have cosets of that, and a round for
// each. In a round a thread publishes one word. What remains is to choose in which round each thread reads which of its
// words so that no two readers want different words of one thread at once.

#include "Steps.h"

#include <algorithm>

namespace tilejit::tilegpu {

namespace {

/// The elements that move together, as vectors of the tile: a word, the other words between the same two threads, and
/// one step for each doubling of partners. Together they are a basis of the result's registers.
struct Schedule {
  gf2::Vectors word, repeats, rounds;
};

Schedule schedule(const LinearLayout &from, const LinearLayout &to, int elementBits) {
  const gf2::Vectors common = gf2::intersection(from.columns(kRegister), to.columns(kRegister));
  const size_t most =
      elementBits < 32 ? static_cast<size_t>(std::countr_zero(32u / static_cast<unsigned>(elementBits))) : 0;
  const auto packed = static_cast<ptrdiff_t>(std::min(common.size(), most));
  return {{common.begin(), common.begin() + packed},
          {common.begin() + packed, common.end()},
          gf2::extension(common, to.columns(kRegister))};
}

/// What each thread reads in its first round, and from which lane, as columns for the bits of the thread.
class FirstRound {
public:
  FirstRound(const LinearLayout &from, const LinearLayout &to, const gf2::Vectors &rounds)
      : held_(from.columns(kRegister)), wanted_(to.columns(kRegister)), rounds_(rounds),
        known_(gf2::concat(held_, wanted_)), taken_(wanted_), warp_(gf2::concat(held_, from.columns(kLane))) {
    // Sums of lane bits that, but for registers, change nothing lead to other lanes with the same elements.
    gf2::Span lanes;
    for (uint64_t relation : gf2::kernel(gf2::concat(held_, from.columns(kLane))))
      if (uint64_t lane = relation >> held_.size(); lanes.add(lane))
        copies_.push_back(lane);
  }

  gf2::Vectors element, lane;

  /// The lane that has an element of the warp at the origin.
  uint64_t laneOf(uint64_t element) const { return *warp_.express(element) >> held_.size(); }
  bool isInWarp(uint64_t element) const { return warp_.contains(element); }

  void push(uint64_t readElement, uint64_t readLane) {
    element.push_back(readElement);
    lane.push_back(readLane);
  }

  /// The next bit of the lane, whose threads want `wish` and its registers' translates. False if nothing is left to
  /// try.
  bool addLane(uint64_t wish) {
    const auto known = known_.express(wish);
    if (!known) { // In a thread of its own, whatever earlier bits read.
      known_.add(wish);
      apart_.push_back(element.size());
      push(wish, laneOf(wish));
      return true;
    }
    // The thread that some earlier bits read from has it, in registers that differ by `other`.
    uint64_t alongElement = 0, alongLane = 0;
    for (uint64_t bits = *known >> (held_.size() + wanted_.size()); bits != 0; bits &= bits - 1) {
      const size_t bit = apart_[static_cast<size_t>(std::countr_zero(bits))];
      alongElement ^= element[bit];
      alongLane ^= lane[bit];
    }
    const uint64_t other = gf2::combine(held_, *known & gf2::lowBits(static_cast<int>(held_.size())));
    if (const auto taken = taken_.express(other)) { // The same word, or one that another bit turned to.
      const uint64_t turns = *taken >> wanted_.size();
      push(alongElement ^ gf2::combine(turnedElement_, turns), alongLane ^ gf2::combine(turnedLane_, turns));
      return true;
    }
    return turn(other, alongElement, alongLane);
  }

private:
  /// Another word of the same thread: this bit reads its words in another order of rounds, or from a copy of the
  /// thread.
  bool turn(uint64_t other, uint64_t alongElement, uint64_t alongLane) {
    uint64_t turnedElement = other, turnedLane = 0;
    if (usedRounds_ < rounds_.size()) {
      turnedElement ^= rounds_[usedRounds_];
      turnedLane = laneOf(rounds_[usedRounds_++]);
    } else if (usedCopies_ < copies_.size()) {
      turnedLane = copies_[usedCopies_++];
    } else {
      return false;
    }
    taken_.add(other);
    turnedElement_.push_back(turnedElement);
    turnedLane_.push_back(turnedLane);
    push(alongElement ^ turnedElement, alongLane ^ turnedLane);
    return true;
  }

  gf2::Vectors held_, wanted_, rounds_, copies_;
  gf2::Span known_; ///< Registers of both sides, then the wishes that lie apart.
  gf2::Span taken_; ///< Registers of the result, then the differences that bits turned for.
  gf2::Span warp_;
  std::vector<size_t> apart_; ///< Bits of the thread, by their place among the wishes in known_.
  gf2::Vectors turnedElement_, turnedLane_;
  size_t usedRounds_ = 0, usedCopies_ = 0;
};

/// Fills first.element and first.lane. True in `own` if every thread's first round is served by itself.
bool readFirst(const LinearLayout &from, const LinearLayout &to, FirstRound &first, bool &own) {
  const gf2::Vectors held = from.columns(kRegister), has = threadColumns(from), wants = threadColumns(to);
  const gf2::Span both(gf2::concat(held, to.columns(kRegister)));
  const auto lanes = static_cast<size_t>(from.inBits(kLane));
  own = true;
  for (size_t i = 0; i < has.size(); ++i)
    own &= both.contains(has[i] ^ wants[i]);
  for (size_t i = 0; i < has.size(); ++i) {
    const uint64_t self = i < lanes ? uint64_t(1) << i : 0;
    if (own) {
      const uint64_t inSource = *both.express(has[i] ^ wants[i]) & gf2::lowBits(static_cast<int>(held.size()));
      first.push(has[i] ^ gf2::combine(held, inSource), self);
    } else if (i < lanes) {
      if (!first.addLane(wants[i]))
        return false;
    } else { // Another warp does the same with its own lanes.
      first.push(wants[i], first.laneOf(has[i] ^ wants[i]));
    }
  }
  return true;
}

/// Translates the schedule to words and registers of both sides.
class Translation {
public:
  Translation(const LinearLayout &from, const LinearLayout &to, const Schedule &steps, const FirstRound &first)
      : from_(from), to_(to), steps_(steps), first_(first), held_(from.columns(kRegister)),
        wordBits_(static_cast<int>(steps.word.size())) {
    // Source registers: positions in a word, then the word.
    positions_ = expressed(held_, steps.word);
    words_ = gf2::extension(positions_, gf2::units(0, from.inBits(kRegister)));
    inWords_ = gf2::Span(gf2::concat(positions_, words_));
    publish();
  }

  ShuffleMove move(bool own) {
    ShuffleMove result;
    result.elementsPerWord = 1 << wordBits_;
    for (unsigned first : registersOf(words_))
      result.sourceWords.push_back(registersOf(positions_, first));
    result.before = selectsOf(published_);
    result.partner = first_.lane;
    receive(result);
    const gf2::Vectors roundLane = lanesOf(steps_.rounds);
    const uint64_t repeats = uint64_t(1) << steps_.repeats.size();
    for (uint64_t k = 0; k < repeats << steps_.rounds.size(); ++k) {
      const uint64_t round = k / repeats, lane = gf2::combine(roundLane, round);
      const uint64_t word = gf2::combine(roundWord_, k) ^ gf2::combine(published_, lane);
      result.rounds.push_back({static_cast<unsigned>(word), lane, own && round == 0});
    }
    return result;
  }

private:
  static gf2::Vectors expressed(const gf2::Span &span, const gf2::Vectors &vectors) {
    gf2::Vectors result;
    for (uint64_t v : vectors)
      result.push_back(*span.express(v));
    return result;
  }
  gf2::Vectors lanesOf(const gf2::Vectors &elements) const {
    gf2::Vectors lanes;
    for (uint64_t v : elements)
      lanes.push_back(first_.laneOf(v));
    return lanes;
  }

  /// The source's register of `element` in the thread that differs by `thread`; word and position from its low bits on.
  uint64_t inSource(uint64_t element, uint64_t thread) const {
    return *inWords_.express(*held_.express(element ^ gf2::combine(threadColumns(from_), thread)));
  }

  /// Finds for each bit of the publishing thread which word it publishes, and for each round. All elements are moved
  /// within their words so that they are at position 0 of the source.
  void publish() {
    const int lanes = from_.inBits(kLane);
    const auto aligned = [&](uint64_t &element, uint64_t thread) {
      const uint64_t source = inSource(element, thread);
      element ^= gf2::combine(steps_.word, source & gf2::lowBits(wordBits_));
      return source >> wordBits_;
    };
    element_ = first_.element;
    gf2::Vectors readers, wordsRead;
    for (size_t i = 0; i < element_.size(); ++i) {
      const uint64_t warp = static_cast<int>(i) < lanes ? 0 : uint64_t(1) << i;
      readers.push_back(first_.lane[i] | warp);
      wordsRead.push_back(aligned(element_[i], readers.back()));
    }
    // From readers to publishers: where several read from one, they read the same word.
    const gf2::Vectors others = gf2::extension(readers, gf2::units(0, static_cast<int>(element_.size())));
    const gf2::Span all(gf2::concat(readers, others));
    for (uint64_t unit : gf2::units(0, static_cast<int>(element_.size())))
      published_.push_back(
          gf2::combine(wordsRead, *all.express(unit) & gf2::lowBits(static_cast<int>(readers.size()))));
    for (uint64_t &element : steps_.repeats)
      roundWord_.push_back(aligned(element, 0));
    for (uint64_t &element : steps_.rounds) {
      const uint64_t lane = first_.laneOf(element);
      roundWord_.push_back(aligned(element, lane));
    }
  }

  /// Where received words go: the k-th word's registers are the k-th sum of repeats and rounds, up to the thread's
  /// shift.
  void receive(ShuffleMove &result) const {
    const gf2::Span wanted(to_.columns(kRegister));
    const gf2::Vectors inWord = expressed(wanted, steps_.word);
    const gf2::Vectors ofWord = expressed(wanted, gf2::concat(steps_.repeats, steps_.rounds));
    for (unsigned first : registersOf(ofWord))
      result.resultWords.push_back(registersOf(inWord, first));
    const gf2::Span places(gf2::concat(inWord, ofWord));
    const gf2::Vectors wants = threadColumns(to_);
    gf2::Vectors wordShift, positionShift;
    for (size_t i = 0; i < wants.size(); ++i) {
      const uint64_t place = *places.express(*wanted.express(element_[i] ^ wants[i]));
      wordShift.push_back(place >> wordBits_);
      positionShift.push_back(gf2::combine(inWord, place & gf2::lowBits(wordBits_)));
    }
    result.after = selectsOf(wordShift);
    result.within = selectsOf(positionShift);
  }

  const LinearLayout &from_, &to_;
  Schedule steps_;
  const FirstRound &first_;
  gf2::Span held_, inWords_;
  int wordBits_;
  gf2::Vectors positions_, words_; ///< Registers of the source.
  gf2::Vectors element_;           ///< What each bit of the thread reads first.
  gf2::Vectors published_;         ///< Word for each bit of the publishing thread.
  gf2::Vectors roundWord_;         ///< Word for each of the repeats, then the rounds.
};

} // namespace

std::optional<ShuffleMove> planShuffles(const LinearLayout &from, const LinearLayout &to, int elementBits) {
  if (!staysInWarp(from, to))
    return std::nullopt;
  const Schedule steps = schedule(from, to, elementBits);
  FirstRound first(from, to, steps.rounds);
  bool own = false;
  if (!readFirst(from, to, first, own))
    return std::nullopt;
  ShuffleMove move = Translation(from, to, steps, first).move(own);
  const auto crossing = std::count_if(move.rounds.begin(), move.rounds.end(), [](auto &round) { return !round.isOwn; });
  move.shuffles = static_cast<int>(crossing) * std::max(1, elementBits / 32);
  return move;
}

} // namespace tilejit::tilegpu
