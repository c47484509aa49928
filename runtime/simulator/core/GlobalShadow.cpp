// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The block's side of the shadow of global memory: marking pages, warps of a block against each other, fences, and what
// atomics publish and take over. Comparing blocks is in GlobalMerge.cpp.

#include "core/GlobalShadow.h"

#include "core/Block.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tilejit::sim {

namespace {

constexpr unsigned pageShift = 12, sectorShift = 5;

Use useOfAccess(const Access &access) {
  if (access.atomic)
    return access.write ? Use::AtomicWrite : Use::AtomicRead;
  return access.write ? Use::Write : Use::Read;
}

/// Bits of the bytes [from, to) of a page that lie in a sector.
uint32_t bytesIn(unsigned sector, unsigned from, unsigned to) {
  unsigned base = sector << sectorShift;
  uint32_t mask = ~0u;
  if (from > base)
    mask &= ~0u << (from - base);
  if (to < base + 32)
    mask &= ~0u >> (base + 32 - to);
  return mask;
}

/// Sets the bits first to last (inclusive).
void setBits(uint64_t *words, unsigned first, unsigned last) {
  for (unsigned w = first >> 6; w <= last >> 6; ++w) {
    unsigned low = w == first >> 6 ? first & 63 : 0, high = w == last >> 6 ? last & 63 : 63;
    words[w] |= (~0ull >> (63 - (high - low))) << low;
  }
}

bool anyBit(const uint64_t *words, unsigned first, unsigned last) {
  uint64_t range[2] = {0, 0};
  setBits(range, first, last);
  return (words[0] & range[0]) | (words[1] & range[1]);
}

/// The uses of one block's warps that race with each other.
constexpr uint8_t bit(Use use) { return static_cast<uint8_t>(1u << static_cast<unsigned>(use)); }
constexpr uint8_t conflicting[numUses] = {
    bit(Use::Write) | bit(Use::AtomicWrite),
    bit(Use::Read) | bit(Use::Write) | bit(Use::AtomicRead) | bit(Use::AtomicWrite),
    bit(Use::Write),
    bit(Use::Read) | bit(Use::Write),
};

const char *const nounOf[numUses] = {"read", "write", "atomic read", "atomic write"};
const char *const participleOf[numUses] = {"read", "written", "read atomically", "written atomically"};

/// Whether each of the lanes' addresses follows on the one before; then all lanes are one row. `step`: between lanes.
bool isRow(const uint64_t *address, unsigned first, unsigned count, uint64_t step) {
  uint64_t wrong = 0, expected = address[first];
  for (unsigned i = 0; i < count; ++i)
    wrong |= address[first + i] ^ (expected + i * step);
  return wrong == 0;
}

} // namespace

void BlockShadow::reset(size_t warps) {
  finished.clear();
  current.pages.clear();
  current.known.clear();
  index.clear();
  cache.fill({});
  fences.resize(warps);
  for (Fence &fence : fences)
    fence.made = false;
  offered.resize(warps);
  for (Known &known : offered)
    known.clear();
  drawn.clear();
  signalled = false;
}

void GlobalShadow::begin(Block &block) {
  if (!block.pages)
    block.pages = std::make_shared<BlockShadow>();
  block.pages->reset(block.warps.size());
}

std::unique_ptr<PageUse> GlobalShadow::takeUse(bool values) {
  std::unique_ptr<PageUse> use;
  {
    std::lock_guard lock(poolMutex_);
    std::vector<std::unique_ptr<PageUse>> &pool = values ? valuePool_ : pool_;
    if (!pool.empty()) {
      use = std::move(pool.back());
      pool.pop_back();
    }
  }
  if (!use) {
    use.reset(new PageUse);
    if (values)
      use->values.reset(new uint8_t[PageUse::pageBytes]);
  }
  use->touched[0] = use->touched[1] = use->unknown[0] = use->unknown[1] = 0;
  return use;
}

Page &GlobalShadow::pageOf(BlockShadow &shadow, uint64_t number) {
  BlockShadow::Cached &cached = shadow.cache[number % shadow.cache.size()];
  std::vector<Page> &pages = shadow.current.pages;
  if (cached.number == number)
    return pages[cached.place];
  auto [found, isNew] = shadow.index.try_emplace(number, static_cast<uint32_t>(pages.size()));
  if (isNew) {
    pages.emplace_back();
    pages.back().number = number;
  }
  cached = {number, found->second};
  return pages[found->second];
}

PageUse &GlobalShadow::useOf(Page &page, Use use) {
  std::unique_ptr<PageUse> &own = page.uses[static_cast<unsigned>(use)];
  if (!own)
    own = takeUse(use == Use::Write);
  return *own;
}

void GlobalShadow::access(Block &block, const Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access,
                          const uint8_t *data) {
  if (!lanes || (alone_ && block.warps.size() == 1))
    return;
  Use use = useOfAccess(access);
  if (use != Use::Write)
    data = nullptr;
  unsigned first = firstLane(lanes), count = countLanes(lanes);
  bool dense = (lanes >> first) == lanesBelow(count);
  if (dense && isRow(address, first, count, access.size))
    return mark(block, warp, first, count, address[first], access.size * count, access, use, data);
  if (data)
    compareLanes(block, warp, address, lanes, access, data);
  if (dense && isRow(address, first, count, 0))
    return mark(block, warp, first, 1, address[first], access.size, access, use, data);
  while (lanes) {
    unsigned lane = firstLane(lanes), n = 1;
    while (lane + n < warp.width && (lanes >> (lane + n) & 1) &&
           address[lane + n] == address[lane] + uint64_t(n) * access.size)
      ++n;
    mark(block, warp, lane, n, address[lane], access.size * n, access, use, data);
    lanes &= ~(lanesBelow(n) << lane);
  }
}

/// Lanes of one store that write different values to one address: all but one of them are lost.
void GlobalShadow::compareLanes(Block &block, const Warp &warp, const uint64_t *address, LaneMask lanes,
                                const Access &access, const uint8_t *data) {
  constexpr unsigned slots = 128;
  uint8_t laneAt[slots];
  std::memset(laneAt, 0xff, sizeof laneAt);
  forEachLane(lanes, [&](unsigned l) {
    unsigned slot = static_cast<unsigned>(address[l] * 0x9e3779b97f4a7c15ull >> 57);
    while (laneAt[slot] != 0xff && address[laneAt[slot]] != address[l])
      slot = (slot + 1) % slots;
    unsigned other = laneAt[slot];
    laneAt[slot] = static_cast<uint8_t>(l);
    if (other == 0xff || !std::memcmp(data + other * access.size, data + l * access.size, access.size) ||
        !block.checks(Check::Race) || !block.reports.isNew(ReportKind::Race, access.site, access.site))
      return;
    block.reports.add(ReportKind::Race, access.site, access.site,
                      "lanes of one store write different values at " + block.describe(Space::Global, address[l]) +
                          " by " + block.who(warp.index, l) + "; also written by " + block.who(warp.index, other),
                      "let one lane store, or give each lane its own place");
  });
}

void GlobalShadow::mark(Block &block, const Warp &warp, unsigned lane, unsigned lanes, uint64_t address, uint32_t bytes,
                        const Access &access, Use use, const uint8_t *data) {
  if (data)
    data += size_t(lane) * access.size;
  bool regular = lanes > 1 && std::has_single_bit(access.size) && access.size <= 32 && address % access.size == 0;
  unsigned sizeLog = static_cast<unsigned>(std::countr_zero(access.size));
  uint32_t thread = ThreadCode::one(warp.thread(lane));
  uint32_t code =
      regular ? ThreadCode::row(thread - static_cast<uint32_t>((address & 31) >> sizeLog), sizeLog) : thread;
  if (access.narrow)
    code |= ThreadCode::narrow;
  uint32_t perSector = regular ? 32u >> sizeLog : 0;
  if (!regular && lanes > 1) {
    // Sizes that are no power of two: one lane after the other.
    for (unsigned i = 0; i < lanes; ++i)
      mark(block, warp, lane + i, 1, address + uint64_t(i) * access.size, access.size, access, use,
           data ? data - size_t(lane) * access.size : nullptr);
    return;
  }
  uint64_t end = address + bytes;
  while (address < end) {
    uint64_t number = address >> pageShift, stop = std::min(end, (number + 1) << pageShift);
    auto from = static_cast<unsigned>(address - (number << pageShift));
    auto to = static_cast<unsigned>(stop - (number << pageShift));
    markPage(block, warp, pageOf(*block.pages, number), from, to, code, access, use, data, perSector);
    code += perSector * (((to + 31) >> sectorShift) - (from >> sectorShift));
    if (data)
      data += stop - address;
    address = stop;
  }
}

void GlobalShadow::markPage(Block &block, const Warp &warp, Page &page, unsigned from, unsigned to, uint32_t code,
                            const Access &access, Use use, const uint8_t *data, uint32_t perSector) {
  unsigned first = from >> sectorShift, last = (to - 1) >> sectorShift;
  if (block.warps.size() > 1)
    for (unsigned other = 0; other < numUses; ++other)
      if (page.uses[other] && (conflicting[static_cast<unsigned>(use)] >> other & 1) &&
          anyBit(page.uses[other]->touched, first, last))
        compareWarps(block, warp, page, static_cast<Use>(other), from, to, code, perSector, access, use, data);
  PageUse &own = useOf(page, use);
  uint32_t clock = block.ordering.clock(warp.index);
  for (unsigned edge : {first, last})
    if (!own.has(edge))
      own.bytes[edge] = 0;
  own.bytes[first] |= bytesIn(first, from, to);
  if (last != first)
    own.bytes[last] |= bytesIn(last, from, to);
  for (unsigned s = first + 1; s < last; ++s)
    own.bytes[s] = ~0u;
  for (unsigned s = first; s <= last; ++s) {
    own.site[s] = access.site;
    own.thread[s] = code + (s - first) * perSector;
    own.clock[s] = clock;
  }
  setBits(own.touched, first, last);
  if (use != Use::Write)
    return;
  if (data)
    std::memcpy(own.values.get() + from, data, to - from);
  else
    setBits(own.unknown, first, last);
}

/// Accesses of other warps of the block to the same bytes that nothing orders before this one.
void GlobalShadow::compareWarps(Block &block, const Warp &warp, const Page &page, Use otherUse, unsigned from,
                                unsigned to, uint32_t code, uint32_t perSector, const Access &access, Use use,
                                const uint8_t *data) {
  const PageUse &other = *page.uses[static_cast<unsigned>(otherUse)];
  const VectorClock &seen = block.ordering.seen(warp.index);
  unsigned first = from >> sectorShift;
  for (unsigned s = first; s <= (to - 1) >> sectorShift; ++s) {
    uint32_t both = other.has(s) ? other.bytes[s] & bytesIn(s, from, to) : 0;
    if (!both)
      continue;
    auto byte = static_cast<unsigned>(std::countr_zero(both));
    uint32_t otherThread = ThreadCode::threadOf(other.thread[s], byte);
    unsigned otherWarp = otherThread / warp.width;
    if (otherWarp == warp.index || otherWarp >= seen.size() || other.clock[s] <= seen[otherWarp])
      continue;
    if (use == Use::Write && otherUse == Use::Write && data && !(other.unknown[s >> 6] >> (s & 63) & 1)) {
      bool same = true;
      for (uint32_t left = both; left; left &= left - 1) {
        unsigned at = (s << sectorShift) + static_cast<unsigned>(std::countr_zero(left));
        same &= data[at - from] == other.values[at];
      }
      if (same)
        continue;
    }
    if (!block.checks(Check::Race) || !block.reports.isNew(ReportKind::Race, access.site, other.site[s]))
      continue;
    uint64_t at = (page.number << pageShift) + (s << sectorShift) + byte;
    uint32_t thread = ThreadCode::threadOf(code + (s - first) * perSector, byte);
    std::string message =
        std::string(nounOf[static_cast<unsigned>(use)]) + " that nothing orders after another " +
        (block.program().lockStep ? "wave's " : "warp's ") + nounOf[static_cast<unsigned>(otherUse)] + " at " +
        block.describe(Space::Global, at) + " by " + block.who(warp.index, thread % warp.width) + "; " +
        participleOf[static_cast<unsigned>(otherUse)] + " by " + block.who(otherWarp, otherThread % warp.width);
    block.reports.add(ReportKind::Race, access.site, other.site[s], std::move(message),
                      "put a block barrier between the two");
  }
}

void GlobalShadow::split(BlockShadow &shadow) {
  if (shadow.current.pages.empty())
    return;
  Known known = shadow.current.known;
  shadow.finished.push_back(std::move(shadow.current));
  shadow.current = {};
  shadow.current.known = std::move(known);
  shadow.index.clear();
  shadow.cache.fill({});
}

void GlobalShadow::fence(Block &block, const Warp &warp, bool release, bool acquire) {
  if (alone_)
    return;
  BlockShadow &shadow = *block.pages;
  Known &offered = shadow.offered[warp.index];
  if (acquire && !offered.empty()) {
    split(shadow);
    shadow.current.known.insert(shadow.current.known.end(), offered.begin(), offered.end());
    offered.clear();
  }
  if (release)
    shadow.fences[warp.index] = {true, block.ordering.seen(warp.index), shadow.current.known};
}

void GlobalShadow::barrier(Block &block) {
  BlockShadow &shadow = *block.pages;
  if (alone_ || shadow.drawn.empty() || block.program().lockStep)
    return;
  split(shadow);
  shadow.current.known.insert(shadow.current.known.end(), shadow.drawn.begin(), shadow.drawn.end());
  shadow.drawn.clear();
}

bool GlobalShadow::hasReleased(const Block &block, const Warp &warp) const {
  return block.pages->fences[warp.index].made;
}

void GlobalShadow::noteSignal(Block &block) { block.pages->signalled = true; }

void GlobalShadow::atomic(Block &block, const Warp &warp, uint64_t place, bool reads, bool writes, bool acquire,
                          bool release) {
  if (alone_)
    return;
  anyAtomics_ = true;
  BlockShadow &shadow = *block.pages;
  const BlockShadow::Fence &fence = shadow.fences[warp.index];
  std::shared_ptr<const WorldClock> &published = places_[place];
  bool publishes = writes && (release || fence.made), takes = reads && published;
  // What was done until now must be known before others can be ordered after it, and was done without what is taken.
  if (publishes || (takes && acquire))
    merge(block);
  if (takes && acquire) {
    shadow.current.known.push_back(published);
    shadow.current.known = {flatten(shadow.current.known)};
  } else if (takes) {
    shadow.offered[warp.index] = {flatten({flatten(shadow.offered[warp.index]), published})};
    if (writes)
      shadow.drawn = {flatten({flatten(shadow.drawn), published})};
  }
  if (publishes) {
    Known all = release ? shadow.current.known : fence.known;
    VectorClock seen = release ? block.ordering.seen(warp.index) : fence.seen;
    all.push_back(std::make_shared<WorldClock>(
        WorldClock{{static_cast<uint32_t>(block.number), std::make_shared<VectorClock>(std::move(seen))}}));
    if (takes)
      all.push_back(published);
    published = flatten(all);
  } else if (writes) {
    shadow.signalled = true;
    if (!reads)
      published = nullptr;
  }
}

} // namespace tilejit::sim
