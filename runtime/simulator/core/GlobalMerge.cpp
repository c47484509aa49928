// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The launch's side of the shadow of global memory: pages of a block against those of all others, in a fixed order.
// Each use of a page has layers; a sector takes the first layer that is free or its own. Most sectors of most kernels
// are touched by one block only and are copied in rows.

#include "core/GlobalShadow.h"

#include "core/Block.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tilejit::sim {

namespace {

constexpr unsigned pageShift = 12, sectorShift = 5;
// How many blocks are remembered for a sector. Written bytes belong to one block each, so that 32 are enough.
constexpr size_t mostWriters = 32, mostAtomic = 4;
// Two show every race while nothing orders blocks; after the first atomic more are kept, as some may be ordered.
constexpr size_t mostReadersUnordered = 2, mostReaders = 6;

const char *const nounOf[numUses] = {"read", "write", "atomic read", "atomic write"};
const char *const participleOf[numUses] = {"read", "written", "read atomically", "written atomically"};

bool isAtomic(Use use) { return use == Use::AtomicRead || use == Use::AtomicWrite; }
bool isWrite(Use use) { return use == Use::Write || use == Use::AtomicWrite; }

/// Whether two uses race: one writes, and they are not both atomic unless one of them only means its own block.
bool conflicts(Use a, Use b, bool narrow) {
  return (isWrite(a) || isWrite(b)) && (narrow || !isAtomic(a) || !isAtomic(b));
}

bool covers(const VectorClock &clock, unsigned warp, uint32_t time) {
  return warp < clock.size() && clock[warp] >= time;
}

/// Calls f(sector) for each bit.
template <class F> void forEachSector(const uint64_t *words, F f) {
  for (unsigned w = 0; w < 2; ++w)
    for (uint64_t left = words[w]; left; left &= left - 1)
      f(w * 64 + static_cast<unsigned>(std::countr_zero(left)));
}

/// Calls f(first, count) for each row of bits.
template <class F> void forEachRow(const uint64_t *words, F f) {
  for (unsigned w = 0; w < 2; ++w)
    for (uint64_t left = words[w]; left;) {
      auto first = static_cast<unsigned>(std::countr_zero(left));
      auto count = static_cast<unsigned>(std::countr_one(left >> first));
      f(w * 64 + first, count);
      left = first + count == 64 ? 0 : left & (~0ull << (first + count));
    }
}

void copyRow(PageUse &to, const PageUse &from, unsigned first, unsigned count, uint32_t block) {
  size_t bytes = count * sizeof(uint32_t);
  std::memcpy(to.bytes + first, from.bytes + first, bytes);
  std::memcpy(to.site + first, from.site + first, bytes);
  std::memcpy(to.thread + first, from.thread + first, bytes);
  std::memcpy(to.clock + first, from.clock + first, bytes);
  std::fill_n(to.block + first, count, block);
  if (from.values)
    std::memcpy(to.values.get() + (first << sectorShift), from.values.get() + (first << sectorShift),
                size_t(count) << sectorShift);
}

} // namespace

struct GlobalShadow::LaunchPage {
  std::array<Uses, numUses> uses; ///< Layers.
};

struct GlobalShadow::Finding {
  uint64_t address;
  Use use, otherUse;
  uint32_t site, otherSite;
  uint32_t thread, otherThread;
  uint32_t otherBlock, otherClock;
  bool narrow;
};

/// A round of blocks: who has stopped, and whose turn it is to be compared.
struct GlobalShadow::Round {
  std::mutex mutex;
  std::vector<Block *> blocks;
  std::vector<uint8_t> stopped; ///< 1: waits, 2: done.
  size_t next = 0;
  bool busy = false;
};

GlobalShadow::GlobalShadow(const LaunchState &launch)
    : launch_(launch), alone_(launch.alone), round_(std::make_unique<Round>()) {}

GlobalShadow::~GlobalShadow() = default;

void GlobalShadow::beginRound(size_t blocks) {
  round_->blocks.assign(blocks, nullptr);
  round_->stopped.assign(blocks, 0);
  round_->next = 0;
}

void GlobalShadow::settle(size_t place, Block &block, bool done) {
  Round &round = *round_;
  std::unique_lock lock(round.mutex);
  round.blocks[place] = &block;
  round.stopped[place] = done ? 2 : 1;
  if (round.busy)
    return; // Whoever compares now will look again.
  round.busy = true;
  while (round.next < round.stopped.size() && round.stopped[round.next]) {
    Block &turn = *round.blocks[round.next];
    bool isDone = round.stopped[round.next++] == 2;
    if (!isDone || !turn.pages)
      continue;
    lock.unlock();
    merge(turn);
    lock.lock();
  }
  round.busy = false;
}

void GlobalShadow::recycle(std::unique_ptr<PageUse> use) {
  if (!use)
    return;
  std::lock_guard lock(poolMutex_);
  (use->values ? valuePool_ : pool_).push_back(std::move(use));
}

void GlobalShadow::merge(Block &block) {
  BlockShadow &shadow = *block.pages;
  if (signalled_.size() <= block.number)
    signalled_.resize(block.number + 1);
  signalled_[block.number] |= shadow.signalled;
  split(shadow);
  for (BlockShadow::Segment &segment : shadow.finished) {
    std::shared_ptr<const WorldClock> known = alone_ ? nullptr : flatten(segment.known);
    for (Page &page : segment.pages)
      if (alone_)
        for (std::unique_ptr<PageUse> &use : page.uses)
          recycle(std::move(use));
      else
        mergePage(block, page, *known);
  }
  shadow.finished.clear();
}

void GlobalShadow::mergePage(Block &block, Page &page, const WorldClock &known) {
  std::unique_ptr<LaunchPage> &launchPage = pages_[page.number];
  if (!launchPage)
    launchPage = std::make_unique<LaunchPage>();
  for (unsigned use = 0; use < numUses; ++use)
    if (page.uses[use])
      compare(block, page, static_cast<Use>(use), *launchPage, known);
  for (unsigned use = 0; use < numUses; ++use)
    if (page.uses[use]) {
      std::fill_n(page.uses[use]->block, PageUse::sectors, static_cast<uint32_t>(block.number));
      insert(static_cast<Use>(use), std::move(page.uses[use]), launchPage->uses[use]);
    }
}

void GlobalShadow::compare(Block &block, const Page &page, Use use, const LaunchPage &launchPage,
                           const WorldClock &known) {
  const PageUse &own = *page.uses[static_cast<unsigned>(use)];
  for (unsigned other = 0; other < numUses; ++other) {
    if (!conflicts(use, static_cast<Use>(other), true))
      continue;
    for (const std::unique_ptr<PageUse> &layer : launchPage.uses[other]) {
      uint64_t both[2] = {own.touched[0] & layer->touched[0], own.touched[1] & layer->touched[1]};
      forEachSector(both, [&](unsigned sector) {
        compareSector(block, page, use, sector, *layer, static_cast<Use>(other), known);
      });
    }
  }
}

void GlobalShadow::compareSector(Block &block, const Page &page, Use use, unsigned sector, const PageUse &other,
                                 Use otherUse, const WorldClock &known) {
  const PageUse &own = *page.uses[static_cast<unsigned>(use)];
  uint32_t common = own.bytes[sector] & other.bytes[sector], number = other.block[sector];
  bool narrow = (own.thread[sector] | other.thread[sector]) & ThreadCode::narrow;
  if (!common || number == block.number || !conflicts(use, otherUse, narrow))
    return;
  auto byte = static_cast<unsigned>(std::countr_zero(common));
  Finding finding{(page.number << pageShift) + (sector << sectorShift) + byte,
                  use,
                  otherUse,
                  own.site[sector],
                  other.site[sector],
                  ThreadCode::threadOf(own.thread[sector], byte),
                  ThreadCode::threadOf(other.thread[sector], byte),
                  number,
                  other.clock[sector],
                  narrow && isAtomic(use) && isAtomic(otherUse)};
  auto found = std::lower_bound(known.begin(), known.end(), number,
                                [](const auto &entry, uint32_t wanted) { return entry.first < wanted; });
  bool ordered = found != known.end() && found->first == number &&
                 covers(*found->second, finding.otherThread / block.program().width, finding.otherClock);
  if (ordered)
    return;
  bool unknown = (own.unknown[sector >> 6] | other.unknown[sector >> 6]) >> (sector & 63) & 1;
  if (use == Use::Write && otherUse == Use::Write && !unknown) {
    bool same = true;
    for (uint32_t left = common; left; left &= left - 1) {
      unsigned at = (sector << sectorShift) + static_cast<unsigned>(std::countr_zero(left));
      same &= own.values[at] == other.values[at];
    }
    if (same)
      return;
  }
  reportRace(block, finding);
}

void GlobalShadow::insert(Use use, std::unique_ptr<PageUse> own, Uses &uses) {
  if (uses.empty()) {
    uses.push_back(std::move(own));
    return;
  }
  PageUse &first = *uses[0];
  uint64_t fresh[2] = {own->touched[0] & ~first.touched[0], own->touched[1] & ~first.touched[1]};
  uint64_t taken[2] = {own->touched[0] & first.touched[0], own->touched[1] & first.touched[1]};
  forEachSector(taken, [&](unsigned sector) { insertSector(use, *own, sector, uses); });
  PageUse &layer = *uses[0];
  forEachRow(fresh, [&](unsigned sector, unsigned count) { copyRow(layer, *own, sector, count, own->block[sector]); });
  for (unsigned w = 0; w < 2; ++w) {
    layer.touched[w] |= fresh[w];
    layer.unknown[w] = (layer.unknown[w] & ~fresh[w]) | (own->unknown[w] & fresh[w]);
  }
  recycle(std::move(own));
}

/// A sector that the first layer has already.
void GlobalShadow::insertSector(Use use, const PageUse &own, unsigned sector, Uses &uses) {
  size_t most = use == Use::Write ? mostWriters
                : isAtomic(use)   ? mostAtomic
                : anyAtomics_     ? mostReaders
                                  : mostReadersUnordered;
  unsigned word = sector >> 6;
  uint64_t bit = 1ull << (sector & 63);
  size_t free = uses.size(), mine = uses.size();
  for (size_t i = 0; i < uses.size(); ++i) {
    PageUse &layer = *uses[i];
    if (layer.has(sector) && layer.block[sector] == own.block[sector]) {
      mine = i;
      continue;
    }
    // Whoever wrote these bytes before is ordered, or was reported: from now on they belong to this block.
    if (use == Use::Write && layer.has(sector))
      if (!(layer.bytes[sector] &= ~own.bytes[sector]))
        layer.touched[word] &= ~bit;
    if (!layer.has(sector))
      free = std::min(free, i);
  }
  if (mine == uses.size() && free == uses.size()) {
    if (uses.size() >= most)
      return;
    uses.push_back(takeUse(use == Use::Write));
  }
  PageUse &layer = *uses[mine < uses.size() ? mine : free];
  uint32_t before = mine < uses.size() && layer.has(sector) ? layer.bytes[sector] : 0;
  layer.bytes[sector] = before | own.bytes[sector];
  layer.site[sector] = own.site[sector];
  layer.thread[sector] = own.thread[sector];
  layer.clock[sector] = own.clock[sector];
  layer.block[sector] = own.block[sector];
  layer.touched[word] |= bit;
  layer.unknown[word] = (before ? layer.unknown[word] : layer.unknown[word] & ~bit) | (own.unknown[word] & bit);
  if (own.values)
    for (uint32_t left = own.bytes[sector]; left; left &= left - 1) {
      unsigned at = (sector << sectorShift) + static_cast<unsigned>(std::countr_zero(left));
      layer.values[at] = own.values[at];
    }
}

std::string GlobalShadow::who(uint64_t block, uint32_t thread) const {
  unsigned width = launch_.program->width;
  const uint32_t *grid = launch_.request->grid;
  return std::string(launch_.program->lockStep ? "wave " : "warp ") + std::to_string(thread / width) + " lane " +
         std::to_string(thread % width) + " (thread " + std::to_string(thread) + ") of block (" +
         std::to_string(block % grid[0]) + "," + std::to_string(block / grid[0] % grid[1]) + "," +
         std::to_string(block / grid[0] / grid[1]) + ")";
}

void GlobalShadow::reportRace(Block &block, const Finding &finding) {
  if (!block.checks(Check::Race) || !block.reports.isNew(ReportKind::Race, finding.site, finding.otherSite))
    return;
  std::string message =
      std::string(nounOf[static_cast<unsigned>(finding.use)]) + " that nothing orders with another block's " +
      nounOf[static_cast<unsigned>(finding.otherUse)] + " at " + block.describe(Space::Global, finding.address) +
      " by " + who(block.number, finding.thread) + "; " + participleOf[static_cast<unsigned>(finding.otherUse)] +
      " by " + who(finding.otherBlock, finding.otherThread);
  block.reports.add(ReportKind::Race, finding.site, finding.otherSite, std::move(message), hintFor(block, finding));
}

std::string GlobalShadow::hintFor(const Block &block, const Finding &finding) const {
  const char *fence = launch_.program->lockStep ? "a fence of agent scope" : "__threadfence()";
  if (finding.narrow)
    return "the atomic orders threads of its own block only: give it device scope (gpu, agent)";
  const BlockShadow &shadow = *block.pages;
  unsigned warp = finding.otherThread / launch_.program->width;
  for (const Known &offered : shadow.offered)
    for (const std::shared_ptr<const WorldClock> &clock : offered)
      for (const auto &[number, clocks] : *clock)
        if (number == finding.otherBlock && covers(*clocks, warp, finding.otherClock))
          return std::string("the block read the other's signal without acquire order: put ") + fence +
                 " after the atomic that reads it";
  if (isAtomic(finding.use) != isAtomic(finding.otherUse))
    return "one side is atomic and the other plain: make both atomic, or order them by a signal";
  if (shadow.signalled || (finding.otherBlock < signalled_.size() && signalled_[finding.otherBlock]))
    return std::string("an atomic signals without release order: put ") + fence +
           " before it, and a block barrier where other warps wrote the data";
  return "blocks run in any order: give each its own bytes, use atomics, or split the work in two launches";
}

std::shared_ptr<const WorldClock> GlobalShadow::flatten(const Known &known) {
  static const std::shared_ptr<const WorldClock> nothing = std::make_shared<WorldClock>();
  if (known.empty())
    return nothing;
  std::shared_ptr<const WorldClock> all = known[0];
  for (size_t i = 1; i < known.size(); ++i) {
    if (known[i] == all || known[i]->empty())
      continue;
    auto joined = std::make_shared<WorldClock>();
    const WorldClock &a = *all, &b = *known[i];
    size_t x = 0, y = 0;
    while (x < a.size() || y < b.size()) {
      if (y == b.size() || (x < a.size() && a[x].first < b[y].first)) {
        joined->push_back(a[x++]);
      } else if (x == a.size() || b[y].first < a[x].first) {
        joined->push_back(b[y++]);
      } else if (a[x].second == b[y].second) {
        joined->push_back(a[x++]), ++y;
      } else {
        auto both = std::make_shared<VectorClock>(*a[x].second);
        joinInto(*both, *b[y].second);
        joined->emplace_back(a[x++].first, std::move(both)), ++y;
      }
    }
    all = std::move(joined);
  }
  return all;
}

} // namespace tilejit::sim
