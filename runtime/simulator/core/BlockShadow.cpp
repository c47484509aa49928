// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a block remembers of its accesses to global memory: pages by what the warps that touched them knew of other
// blocks. All warps begin with knowing nothing. When one takes something over (acquire), its accesses go to another
// segment from then on; the other warps follow it when they come after it in the order of the block. So accesses of
// warps that nothing ordered after the acquire are compared without what it brought.

#include "core/GlobalShadow.h"

#include <algorithm>

namespace tilejit::sim {

namespace {

// A warp that has not seen so much is taken to have seen it all: better too few reports than false ones.
constexpr size_t mostUnseen = 64, mostTaken = 256;

/// Whether a holds all of b.
bool holdsClock(const VectorClock &a, const VectorClock &b) {
  for (size_t i = 0; i < b.size(); ++i)
    if (b[i] > (i < a.size() ? a[i] : 0))
      return false;
  return true;
}

} // namespace

// --- What is published ----------------------------------------------------------------------------------------------

const WorldClockPointer &nothingKnown() {
  static const WorldClockPointer nothing = std::make_shared<WorldClock>();
  return nothing;
}

bool holds(const WorldClock &a, const WorldClock &b) {
  auto mine = a.begin();
  for (const auto &[block, clocks] : b) {
    while (mine != a.end() && mine->first < block)
      ++mine;
    if (mine == a.end() || mine->first != block || (mine->second != clocks && !holdsClock(*mine->second, *clocks)))
      return false;
  }
  return true;
}

WorldClockPointer unionOf(const WorldClockPointer &a, const WorldClockPointer &b) {
  if (a == b || holds(*a, *b))
    return a;
  if (holds(*b, *a))
    return b;
  auto joined = std::make_shared<WorldClock>();
  auto x = a->begin(), y = b->begin();
  while (x != a->end() || y != b->end()) {
    if (y == b->end() || (x != a->end() && x->first < y->first)) {
      joined->push_back(*x++);
    } else if (x == a->end() || y->first < x->first) {
      joined->push_back(*y++);
    } else if (x->second == y->second) {
      joined->push_back(*x++), ++y;
    } else {
      auto both = std::make_shared<VectorClock>(*x->second);
      joinInto(*both, *y->second);
      joined->emplace_back(x++->first, std::move(both)), ++y;
    }
  }
  return joined;
}

WorldClockPointer unionOf(const Known &known) {
  WorldClockPointer all = nothingKnown();
  for (const WorldClockPointer &each : known)
    all = unionOf(all, each);
  return all;
}

// --- Pages ----------------------------------------------------------------------------------------------------------

size_t PageSegment::slotOf(uint64_t number) const {
  size_t mask = table_.size() - 1, slot = (number * 0x9e3779b97f4a7c15ull >> 32) & mask;
  while (table_[slot] && pages[table_[slot] - 1].number != number)
    slot = (slot + 1) & mask;
  return slot;
}

Page &PageSegment::seek(uint64_t number) {
  if (table_.size() < 2 * (pages.size() + 1)) {
    table_.assign(std::max<size_t>(32, 2 * table_.size()), 0);
    for (size_t i = 0; i < pages.size(); ++i)
      table_[slotOf(pages[i].number)] = static_cast<uint32_t>(i + 1);
  }
  size_t slot = slotOf(number);
  if (!table_[slot]) {
    pages.push_back({number, {}});
    table_[slot] = static_cast<uint32_t>(pages.size());
  }
  uint32_t place = table_[slot] - 1;
  cache_[number % cache_.size()] = {number, place};
  return pages[place];
}

Page *PageSegment::find(uint64_t number) {
  if (table_.empty())
    return nullptr;
  size_t slot = slotOf(number);
  return table_[slot] ? &pages[table_[slot] - 1] : nullptr;
}

void PageSegment::clear() {
  pages.clear();
  table_.assign(table_.size(), 0);
  cache_.fill({});
}

// --- Blocks ---------------------------------------------------------------------------------------------------------

void BlockShadow::reset(size_t warps) {
  if (segments.empty())
    segments.push_back(std::make_unique<PageSegment>());
  segments.resize(1);
  segments[0]->clear();
  segments[0]->known = nothingKnown();
  segments[0]->warps = static_cast<uint32_t>(warps);
  places.assign(warps, segments[0].get());
  unseen.resize(warps);
  for (std::vector<Taken> &each : unseen)
    each.clear();
  taken.clear();
  fences.resize(warps);
  for (Fence &fence : fences)
    fence.made = false;
  offered.resize(warps);
  for (Known &known : offered)
    known.clear();
  drawn.clear();
  signalled = shareFences = shareOffered = false;
}

void BlockShadow::dropPages() {
  for (const std::unique_ptr<PageSegment> &segment : segments)
    segment->clear();
  std::erase_if(segments, [](const std::unique_ptr<PageSegment> &segment) { return segment->warps == 0; });
}

/// Accesses go on in a later segment, never in an earlier one: those of a warp must be compared in their order.
void BlockShadow::moveTo(unsigned warp, const WorldClockPointer &known) {
  PageSegment *&place = places[warp];
  if (place->known == known)
    return;
  auto isHere = [&](const std::unique_ptr<PageSegment> &segment) { return segment.get() == place; };
  auto next = std::find_if(segments.begin(), segments.end(), isHere);
  next = std::find_if(next, segments.end(), [&](const auto &segment) { return segment->known == known; });
  --place->warps;
  if (next == segments.end()) {
    // A segment that nobody has touched anything in needs no other one behind it.
    if (place == segments.back().get() && !place->warps && place->pages.empty()) {
      place->known = known;
      place->warps = 1;
      return;
    }
    segments.push_back(std::make_unique<PageSegment>());
    segments.back()->known = known;
    next = segments.end() - 1;
  }
  place = next->get();
  ++place->warps;
}

void BlockShadow::learn(const Ordering &ordering, const std::vector<unsigned> &warps, const WorldClockPointer &news) {
  std::vector<uint8_t> learned(places.size(), 0);
  for (unsigned warp : warps)
    learned[warp] = 1;
  for (unsigned warp : warps) {
    WorldClockPointer before = knownTo(warp);
    moveTo(warp, unionOf(before, news));
    Taken now{warp, ordering.clock(warp), before, knownTo(warp)};
    if (now.known == before)
      continue;
    if (taken.size() < mostTaken)
      taken.push_back(now);
    for (unsigned other = 0; other < places.size(); ++other) {
      if (learned[other])
        continue;
      std::vector<Taken> &waiting = unseen[other];
      if (!waiting.empty() && waiting.back().warp == warp && waiting.back().clock == now.clock)
        waiting.back().known = now.known;
      else if (waiting.size() < mostUnseen)
        waiting.push_back(now);
      else
        waiting.back() = {warp, now.clock, nullptr, unionOf(waiting.back().known, now.known)};
    }
  }
}

void BlockShadow::takeSeen(const Ordering &ordering, unsigned warp) {
  const VectorClock &seen = ordering.seen(warp);
  std::vector<Taken> &waiting = unseen[warp];
  WorldClockPointer known = knownTo(warp);
  bool isFull = waiting.size() >= mostUnseen;
  std::erase_if(waiting, [&](const Taken &each) {
    if (!isFull && (each.warp >= seen.size() || seen[each.warp] < each.clock))
      return false;
    known = known == each.before ? each.known : unionOf(known, each.known);
    return true;
  });
  moveTo(warp, known);
}

} // namespace tilejit::sim
