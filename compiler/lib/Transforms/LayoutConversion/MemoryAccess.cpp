// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One side of a way through memory: which registers make a vector, and which address each thread uses. Places are the
// bits of (register, lane, warp) of the layout.

#include "Ends.h"
#include "Steps.h"

#include <algorithm>
#include <cassert>

namespace tilejit::tilegpu {

namespace {

int logOf(int value) { return std::countr_zero(static_cast<unsigned>(value)); }

} // namespace

End::End(const LinearLayout &layout, SharedAccess access, bool isStore, const ConversionOptions &options)
    : layout(layout), access(access), isStore(isStore), elementBits(options.elementBits), banks(*options.banks),
      registerBits(layout.inBits(kRegister)), laneBits(layout.inBits(kLane)),
      copies(isStore ? layout.copyBits() << registerBits : 0) {}

gf2::Vectors End::elements(const gf2::Vectors &places) const { return gf2::combineEach(layout.columns(), places); }

std::optional<gf2::Vectors> End::prescribed() const {
  const int perWord = std::max(0, logOf(32) - logOf(elementBits)), per16Bytes = logOf(128) - logOf(elementBits);
  switch (access) {
  case SharedAccess::Plain:
    break;
  case SharedAccess::AsyncCopy:
    return gf2::units(0, std::min(registerBits, per16Bytes));
  case SharedAccess::MatrixLoad:
    return gf2::concat(gf2::units(0, perWord), gf2::units(registerBits, 2));
  case SharedAccess::MatrixLoadTransposed:
    return gf2::units(registerBits + 2, 3);
  }
  return std::nullopt;
}

bool End::isPossible() const {
  switch (access) {
  case SharedAccess::Plain:
    return true;
  case SharedAccess::AsyncCopy:
    return isStore && elementBits << registerBits >= 32;
  case SharedAccess::MatrixLoad:
    return laneBits == 5 && elementBits <= 32 && elementBits << registerBits >= 32;
  case SharedAccess::MatrixLoadTransposed:
    return laneBits == 5 && elementBits == 16 && registerBits >= 1;
  }
  return false;
}

gf2::Vectors End::phase(int vectorLog, bool otherwise) const {
  if (access == SharedAccess::MatrixLoad)
    return gf2::units(registerBits + 2, 3);
  if (access == SharedAccess::MatrixLoadTransposed)
    return gf2::concat(gf2::units(0, 1), gf2::units(registerBits, 2));
  gf2::Vectors lanes;
  const int bytes = (elementBits << vectorLog) / 8;
  for (uint64_t lane : (isStore ? banks.store : otherwise ? banks.loadElse : banks.load).ofBytes(bytes))
    lanes.push_back(lane << registerBits);
  if (copies == 0)
    return lanes;
  // Threads that do not write are not there: what the others' lanes and the phase have in common.
  gf2::Vectors writing;
  for (uint64_t lane : gf2::units(registerBits, laneBits))
    if (!(lane & copies))
      writing.push_back(lane);
  return gf2::intersection(lanes, writing);
}

int End::vectorLog(const gf2::Vectors &run) const {
  if (const auto places = prescribed()) {
    const gf2::Vectors wanted = elements(*places);
    const size_t least = access == SharedAccess::AsyncCopy
                             ? static_cast<size_t>(logOf(32) - std::min(5, logOf(elementBits)))
                             : wanted.size();
    size_t length = 0;
    while (length < wanted.size() && length < run.size() && wanted[length] == run[length])
      ++length;
    return length < least ? -1 : static_cast<int>(length);
  }
  const gf2::Span held(layout.columns(kRegister));
  const size_t most = std::min(run.size(), static_cast<size_t>(logOf(128) - logOf(elementBits)));
  size_t length = 0;
  while (length < most && held.contains(run[length]))
    ++length;
  return static_cast<int>(length);
}

namespace {

/// Builds the access of one end to a memory of which the offsets are known.
class Builder {
public:
  Builder(const End &end, const gf2::Vectors &offsets, int vectorLog)
      : end_(end), vectorLog_(vectorLog), offsets_(offsets), low_(gf2::lowBits(vectorLog)) {}

  std::optional<MemoryAccess> build() {
    MemoryAccess result;
    result.kind = end_.access;
    result.vectorElements = 1 << vectorLog_;
    result.writeMask = end_.copies >> end_.registerBits;
    const bool isMatrix = end_.isMatrix();
    if (!findVector() || !(isMatrix ? buildMatrix(result) : buildPlain(result)))
      return std::nullopt;
    countWavefronts(result);
    return result;
  }

private:
  uint64_t offset(uint64_t place) const { return gf2::combine(offsets_, place); }

  /// The places of the vector: those that the instruction prescribes, or registers with the lowest offsets.
  bool findVector() {
    if (const auto places = end_.prescribed()) {
      vector_.assign(places->begin(), places->begin() + vectorLog_);
    } else {
      const gf2::Span registers({offsets_.begin(), offsets_.begin() + end_.registerBits});
      for (uint64_t unit : gf2::units(0, vectorLog_))
        vector_.push_back(*registers.express(unit));
    }
    for (size_t i = 0; i < vector_.size(); ++i)
      if (offset(vector_[i]) != uint64_t(1) << i)
        return false;
    return true;
  }

  /// The place that differs from this one by places of the vector and has an aligned offset.
  uint64_t aligned(uint64_t place) const { return place ^ gf2::combine(vector_, offset(place) & low_); }

  bool buildPlain(MemoryAccess &result) {
    gf2::Vectors rest = gf2::extension(vector_, gf2::units(0, end_.registerBits)), exchange;
    for (uint64_t &place : rest)
      place = aligned(place);
    for (size_t i = static_cast<size_t>(end_.registerBits); i < offsets_.size(); ++i) {
      result.threadOffset.push_back(offsets_[i] & ~low_);
      exchange.push_back(gf2::combine(vector_, offsets_[i] & low_));
    }
    result.selects = selectsOf(exchange);
    if (end_.access == SharedAccess::AsyncCopy &&
        (!result.selects.empty() || std::any_of(rest.begin(), rest.end(), [&](uint64_t p) { return isMixed(p); })))
      return false; // Memory cannot permute what it copies.
    for (unsigned first : registersOf(rest))
      result.groups.push_back({registersOf(vector_, first), offset(first)});
    return true;
  }
  bool isMixed(uint64_t place) const { return std::popcount(place) > 1; }

  /// Rows come from eight lanes of a matrix, matrices from further registers.
  bool buildMatrix(MemoryAccess &result) {
    const int perWord = std::max(0, logOf(32) - logOf(end_.elementBits));
    const gf2::Vectors rows = end_.phase(vectorLog_), word = gf2::units(0, perWord);
    const gf2::Vectors rest = gf2::units(perWord, end_.registerBits - perWord);
    const auto more = static_cast<ptrdiff_t>(std::min<size_t>(2, rest.size()));
    const gf2::Vectors matrices(rest.begin(), rest.begin() + more), repeats(rest.begin() + more, rest.end());
    result.matrices = 1 << more;
    for (uint64_t place : gf2::concat(rows, matrices))
      result.threadOffset.push_back(offset(place));
    result.threadOffset.resize(5);
    for (size_t i = static_cast<size_t>(end_.registerBits + end_.laneBits); i < offsets_.size(); ++i)
      result.threadOffset.push_back(offsets_[i]);
    for (unsigned first : registersOf(repeats))
      result.groups.push_back({registersOf(gf2::concat(word, matrices), first), offset(first)});
    const auto isAligned = [&](uint64_t o) { return (o & low_) == 0; };
    return std::all_of(result.threadOffset.begin(), result.threadOffset.end(), isAligned) &&
           std::all_of(result.groups.begin(), result.groups.end(), [&](auto &g) { return isAligned(g.offset); });
  }

  void countWavefronts(MemoryAccess &result) const {
    const int elementLog = logOf(end_.elementBits / 8);
    const auto bytes = [&](const gf2::Vectors &places, uint64_t mask) {
      gf2::Vectors offsets;
      for (uint64_t place : places)
        offsets.push_back((offset(place) & mask) << elementLog);
      return offsets;
    };
    const gf2::Vectors phase = end_.phase(vectorLog_);
    const auto perPhase = [&](const gf2::Vectors &lanes) {
      return wavefrontsOfPhase(bytes(lanes, ~low_), bytes(vector_, ~uint64_t(0)), elementLog, end_.banks);
    };
    int64_t phases = static_cast<int64_t>(result.groups.size());
    if (end_.isMatrix())
      phases *= result.matrices;
    else
      phases <<= end_.laneBits - std::popcount(result.writeMask & gf2::lowBits(end_.laneBits)) -
                 static_cast<int>(phase.size());
    result.idealWavefronts = phases;
    result.wavefronts = phases * perPhase(phase);
    result.wavefrontsElse = phases * perPhase(end_.phase(vectorLog_, true));
  }

  const End &end_;
  int vectorLog_;
  const gf2::Vectors &offsets_; ///< In elements, for each bit of the place.
  uint64_t low_;
  gf2::Vectors vector_;
};

} // namespace

std::optional<MemoryAccess> planMemoryAccess(const LinearLayout &layout, const LinearLayout &memory,
                                             SharedAccess access, bool isStore, const ConversionOptions &options,
                                             int maxVectorLog) {
  const End end(layout, access, isStore, options);
  if (!end.isPossible())
    return std::nullopt;
  const int vectorLog = end.vectorLog(memory.columns());
  if (vectorLog < 0)
    return std::nullopt;
  const gf2::Span inMemory(memory.columns());
  gf2::Vectors offsets;
  for (uint64_t element : layout.columns()) {
    const auto offset = inMemory.express(element);
    if (!offset)
      return std::nullopt;
    offsets.push_back(*offset);
  }
  return Builder(end, offsets, access == SharedAccess::Plain ? std::min(vectorLog, maxVectorLog) : vectorLog).build();
}

} // namespace tilejit::tilegpu
