// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The block's side of the shadow of global memory: marking pages, warps of a block against each other, fences, and what
// atomics publish and take over. Comparing blocks is in GlobalMerge.cpp.

#include "core/GlobalShadow.h"

#include "core/Block.h"
#include "core/LaneRows.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

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

/// Whether lanes side by side access the same place.
bool isOnePlace(const uint64_t *address, LaneMask lanes, unsigned width) {
  unsigned first = firstLane(lanes), count = countLanes(lanes);
  if (lanes >> first != lanesBelow(count) || address[first] != address[first + count - 1])
    return false;
  auto isFirst = [&](unsigned l) { return address[l] == address[first]; };
  return !(lanes & ~(width == 64 ? lanesWhere<64>(isFirst) : lanesWhere<32>(isFirst)));
}

// Large pieces that the system may back with large pages: most of the cost of memory is in its first touch.
constexpr size_t pieceBytes = 8 << 20;

void *newPiece() {
  void *piece = mmap(nullptr, pieceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (piece == MAP_FAILED)
    std::abort(); // As operator new without exceptions.
  madvise(piece, pieceBytes, MADV_HUGEPAGE);
  return piece;
}

} // namespace

PagePool::~PagePool() {
  for (void *piece : pieces_)
    munmap(piece, pieceBytes);
}

void PagePool::restart() {
  constexpr size_t mostKept = 32;
  for (; pieces_.size() > mostKept; pieces_.pop_back())
    munmap(pieces_.back(), pieceBytes);
  for (std::vector<PageUse *> &free : free_)
    free.clear();
  used_ = left_ = 0;
}

PageUse *PagePool::take(bool values) {
  constexpr size_t useBytes = (sizeof(PageUse) + 63) / 64 * 64;
  std::lock_guard lock(mutex_);
  PageUse *use = nullptr;
  if (std::vector<PageUse *> &free = free_[values]; !free.empty()) {
    use = free.back();
    free.pop_back();
  } else {
    size_t bytes = useBytes + (values ? PageUse::pageBytes : 0);
    if (left_ < bytes) {
      if (used_ == pieces_.size())
        pieces_.push_back(newPiece());
      next_ = static_cast<uint8_t *>(pieces_[used_++]);
      left_ = pieceBytes;
    }
    use = new (next_) PageUse(PageUse::Untouched{});
    use->values = values ? next_ + useBytes : nullptr;
    next_ += bytes;
    left_ -= bytes;
  }
  use->touched[0] = use->touched[1] = use->unknown[0] = use->unknown[1] = 0;
  use->next = nullptr;
  return use;
}

void PagePool::giveBack(PageUse *use) {
  std::lock_guard lock(mutex_);
  free_[use->values != nullptr].push_back(use);
}

void GlobalShadow::begin(Block &block) {
  if (!block.pages)
    block.pages = std::make_shared<BlockShadow>();
  block.pages->reset(block.warps.size());
}

PageUse &GlobalShadow::useOf(Page &page, Use use) {
  PageUse *&own = page.uses[static_cast<unsigned>(use)];
  if (!own)
    own = pool_.take(use == Use::Write);
  return *own;
}

void GlobalShadow::access(Block &block, const Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access,
                          const uint8_t *data) {
  if (!lanes || (alone_ && block.warps.size() == 1))
    return;
  Use use = useOfAccess(access);
  if (use != Use::Write)
    data = nullptr;
  block.pages->catchUp(block.ordering, warp.index);
  LaneRows rows(address, lanes, access.size, warp.width);
  if (data && rows.count() > 1)
    compareLanes(block, warp, address, lanes, access, data);
  if (rows.count() > 1 && isOnePlace(address, lanes, warp.width))
    return mark(block, warp, firstLane(lanes), 1, address[firstLane(lanes)], access.size, access, use, data);
  rows.forEach([&](const LaneRow &row) {
    mark(block, warp, row.lane, row.count, row.address, static_cast<uint32_t>(row.bytes), access, use, data);
  });
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
  uint32_t thread = ThreadCode::one(warp.member(lane));
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
    markPage(block, warp, block.pages->segmentOf(warp.index).page(number), from, to, code, access, use, data,
             perSector);
    code += perSector * (((to + 31) >> sectorShift) - (from >> sectorShift));
    if (data)
      data += stop - address;
    address = stop;
  }
}

void GlobalShadow::markPage(Block &block, const Warp &warp, Page &page, unsigned from, unsigned to, uint32_t code,
                            const Access &access, Use use, const uint8_t *data, uint32_t perSector) {
  unsigned first = from >> sectorShift, last = (to - 1) >> sectorShift;
  auto compareWith = [&](const Page &touched) {
    for (unsigned other = 0; other < numUses; ++other)
      if (touched.uses[other] && (conflicting[static_cast<unsigned>(use)] >> other & 1) &&
          anyBit(touched.uses[other]->touched, first, last))
        compareWarps(block, warp, touched, static_cast<Use>(other), from, to, code, perSector, access, use, data);
  };
  if (block.warps.size() > 1)
    compareWith(page);
  // Warps that know something else of other blocks.
  if (block.pages->segments.size() > 1)
    for (const std::unique_ptr<PageSegment> &segment : block.pages->segments)
      if (segment->warps && segment.get() != &block.pages->segmentOf(warp.index))
        if (const Page *touched = segment->find(page.number))
          compareWith(*touched);
  PageUse &own = useOf(page, use);
  uint32_t clock = block.ordering.clock(warp.index);
  uint32_t before = own.has(first) ? own.sector[first].bytes : 0;
  uint32_t beforeLast = own.has(last) ? own.sector[last].bytes : 0;
  for (unsigned s = first; s <= last; ++s)
    own.sector[s] = {~0u, access.site, code + (s - first) * perSector, clock};
  own.sector[first].bytes = before | bytesIn(first, from, to);
  if (last != first)
    own.sector[last].bytes = beforeLast | bytesIn(last, from, to);
  setBits(own.touched, first, last);
  if (use != Use::Write)
    return;
  if (data)
    std::memcpy(own.values + from, data, to - from);
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
    uint32_t both = other.has(s) ? other.sector[s].bytes & bytesIn(s, from, to) : 0;
    if (!both)
      continue;
    auto byte = static_cast<unsigned>(std::countr_zero(both));
    uint32_t otherThread = ThreadCode::threadOf(other.sector[s].thread, byte);
    unsigned otherWarp = otherThread / warp.width;
    if (otherWarp == warp.index || otherWarp >= seen.size() || other.sector[s].clock <= seen[otherWarp])
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
    if (!block.checks(Check::Race) || !block.reports.isNew(ReportKind::Race, other.sector[s].site, access.site) ||
        !block.reports.isNew(ReportKind::Race, access.site, other.sector[s].site))
      continue;
    uint64_t at = (page.number << pageShift) + (s << sectorShift) + byte;
    uint32_t thread = ThreadCode::threadOf(code + (s - first) * perSector, byte);
    std::string message =
        std::string(nounOf[static_cast<unsigned>(use)]) + " that nothing orders after another " +
        (block.program().lockStep ? "wave's " : "warp's ") + nounOf[static_cast<unsigned>(otherUse)] + " at " +
        block.describe(Space::Global, at) + " by " + block.who(warp.index, thread % warp.width) + "; " +
        participleOf[static_cast<unsigned>(otherUse)] + " by " + block.who(otherWarp, otherThread % warp.width);
    block.reports.add(ReportKind::Race, access.site, other.sector[s].site, std::move(message),
                      block.warps[otherWarp].rank == warp.rank ? "put a block barrier between the two"
                                                               : "put a barrier of the cluster between the two");
  }
}

void GlobalShadow::fence(Block &block, const Warp &warp, bool release, bool acquire) {
  if (alone_)
    return;
  BlockShadow &shadow = *block.pages;
  Known &offered = shadow.offered[warp.index];
  shadow.catchUp(block.ordering, warp.index);
  if (acquire && !offered.empty()) {
    shadow.learn(block.ordering, {warp.index}, unionOf(offered));
    offered.clear();
  }
  if (release) {
    shadow.fences[warp.index] = {true, block.ordering.seen(warp.index), {shadow.knownTo(warp.index)}};
    shadow.shareFences = true;
  }
}

/// After a block barrier the fences that warps made before it come before what any warp does, and what a warp has read
/// comes before the fences that any warp makes.
void GlobalShadow::shareAmongWarps(BlockShadow &shadow, const std::vector<unsigned> &warps) {
  if (shadow.shareFences) {
    BlockShadow::Fence all;
    for (unsigned w : warps)
      if (const BlockShadow::Fence &fence = shadow.fences[w]; fence.made) {
        all.made = true;
        joinInto(all.seen, fence.seen);
        all.known.insert(all.known.end(), fence.known.begin(), fence.known.end());
      }
    all.known = {unionOf(all.known)};
    for (unsigned w : warps)
      shadow.fences[w] = all;
  }
  if (shadow.shareOffered) {
    Known all;
    for (unsigned w : warps)
      all.insert(all.end(), shadow.offered[w].begin(), shadow.offered[w].end());
    for (unsigned w : warps)
      shadow.offered[w] = Known{unionOf(all)};
  }
  // Others may meet at a barrier of their own.
  if (warps.size() == shadow.fences.size())
    shadow.shareFences = shadow.shareOffered = false;
}

void GlobalShadow::barrier(Block &block, const std::vector<unsigned> &warps) {
  BlockShadow &shadow = *block.pages;
  if (alone_)
    return;
  shareAmongWarps(shadow, warps);
  if (shadow.drawn.empty() || block.program().lockStep)
    return;
  shadow.learn(block.ordering, warps, unionOf(shadow.drawn));
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
  shadow.catchUp(block.ordering, warp.index);
  const BlockShadow::Fence &fence = shadow.fences[warp.index];
  WorldClockPointer &published = places_[place];
  bool publishes = writes && (release || fence.made), takes = reads && published;
  bool learns = takes && acquire && !holds(*shadow.knownTo(warp.index), *published);
  // What was done until now must be known before others can be ordered after it, and was done without what is taken.
  if (publishes || learns)
    merge({block.number, block.pages, &block.reports});
  if (learns) {
    shadow.learn(block.ordering, {warp.index}, published);
  } else if (takes && !acquire) {
    shadow.offered[warp.index] = {unionOf(unionOf(shadow.offered[warp.index]), published)};
    shadow.shareOffered = true;
    if (writes)
      shadow.drawn = {unionOf(unionOf(shadow.drawn), published)};
  }
  if (publishes) {
    Known all = release ? Known{shadow.knownTo(warp.index)} : fence.known;
    VectorClock seen = release ? block.ordering.seen(warp.index) : fence.seen;
    all.push_back(std::make_shared<WorldClock>(
        WorldClock{{static_cast<uint32_t>(block.number), std::make_shared<VectorClock>(std::move(seen))}}));
    if (takes)
      all.push_back(published);
    published = unionOf(all);
  } else if (writes) {
    shadow.signalled = true;
    if (!reads)
      published = nullptr;
  }
}

} // namespace tilejit::sim
