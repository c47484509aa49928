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

/// Whether something that a warp of a block did at a time is among what is known.
bool covers(const WorldClock &known, uint32_t block, unsigned warp, uint32_t time) {
  auto found = std::lower_bound(known.begin(), known.end(), block,
                                [](const auto &entry, uint32_t wanted) { return entry.first < wanted; });
  return found != known.end() && found->first == block && warp < found->second->size() &&
         (*found->second)[warp] >= time;
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

void copyRow(PageUse &to, const PageUse &from, unsigned first, unsigned count) {
  std::memcpy(to.sector + first, from.sector + first, count * sizeof(SectorUse));
  std::memcpy(to.block + first, from.block + first, count * sizeof(uint32_t));
  if (from.values)
    std::memcpy(to.values + (first << sectorShift), from.values + (first << sectorShift), size_t(count) << sectorShift);
}

} // namespace

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
  std::vector<Party> parties; ///< Without pages: waits.
  std::vector<uint8_t> stopped;
  size_t next = 0;
  bool busy = false;
};

GlobalShadow::GlobalShadow(const LaunchState &launch, PagePool &pool)
    : launch_(launch), alone_(launch.alone), round_(std::make_unique<Round>()), pool_(pool) {
  pool.restart();
}

GlobalShadow::~GlobalShadow() = default;

void GlobalShadow::beginRound(size_t blocks) {
  round_->parties.assign(blocks, {});
  round_->stopped.assign(blocks, 0);
  round_->next = 0;
}

void GlobalShadow::settle(size_t place, Block &block, bool done, Reports &reports) {
  Round &round = *round_;
  std::unique_lock lock(round.mutex);
  if (done) {
    round.parties[place] = {block.number, std::move(block.pages), &reports};
    block.pages = spare_.empty() ? nullptr : std::move(spare_.back());
    if (block.pages)
      spare_.pop_back();
  }
  round.stopped[place] = 1;
  if (round.busy)
    return; // Whoever compares now will look again.
  round.busy = true;
  while (round.next < round.stopped.size() && round.stopped[round.next]) {
    Party turn = std::move(round.parties[round.next++]);
    if (!turn.pages)
      continue;
    lock.unlock();
    merge(turn);
    lock.lock();
    spare_.push_back(std::move(turn.pages));
  }
  round.busy = false;
}

void GlobalShadow::merge(const Party &party) {
  BlockShadow &shadow = *party.pages;
  if (signalled_.size() <= party.number)
    signalled_.resize(party.number + 1);
  signalled_[party.number] |= shadow.signalled;
  for (const std::unique_ptr<PageSegment> &segment : shadow.segments)
    mergePages(party, segment->pages, *segment->known);
  shadow.dropPages();
}

void GlobalShadow::mergePages(const Party &party, std::vector<Page> &pages, const WorldClock &known) {
  for (Page &page : pages)
    if (!alone_)
      mergePage(party, page, known);
    else
      for (PageUse *use : page.uses)
        if (use)
          pool_.giveBack(use);
}

void GlobalShadow::mergePage(const Party &party, Page &page, const WorldClock &known) {
  LaunchPage &launchPage = pages_.try_emplace(page.number, LaunchPage{}).first->second;
  for (unsigned use = 0; use < numUses; ++use)
    if (page.uses[use])
      compare(party, page, static_cast<Use>(use), launchPage, known);
  for (unsigned use = 0; use < numUses; ++use)
    if (PageUse *own = page.uses[use]) {
      forEachRow(own->touched, [&](unsigned first, unsigned count) {
        std::fill_n(own->block + first, count, static_cast<uint32_t>(party.number));
      });
      insert(static_cast<Use>(use), own, launchPage[use]);
    }
}

void GlobalShadow::compare(const Party &party, const Page &page, Use use, const LaunchPage &launchPage,
                           const WorldClock &known) {
  const PageUse &own = *page.uses[static_cast<unsigned>(use)];
  for (unsigned other = 0; other < numUses; ++other) {
    if (!conflicts(use, static_cast<Use>(other), true))
      continue;
    for (const PageUse *layer = launchPage[other]; layer; layer = layer->next) {
      uint64_t both[2] = {own.touched[0] & layer->touched[0], own.touched[1] & layer->touched[1]};
      forEachSector(both, [&](unsigned sector) {
        compareSector(party, page, use, sector, *layer, static_cast<Use>(other), known);
      });
    }
  }
}

void GlobalShadow::compareSector(const Party &party, const Page &page, Use use, unsigned sector, const PageUse &other,
                                 Use otherUse, const WorldClock &known) {
  const PageUse &own = *page.uses[static_cast<unsigned>(use)];
  uint32_t common = own.sector[sector].bytes & other.sector[sector].bytes, number = other.block[sector];
  bool narrow = (own.sector[sector].thread | other.sector[sector].thread) & ThreadCode::narrow;
  if (!common || number == party.number || !conflicts(use, otherUse, narrow))
    return;
  auto byte = static_cast<unsigned>(std::countr_zero(common));
  Finding finding{(page.number << pageShift) + (sector << sectorShift) + byte,
                  use,
                  otherUse,
                  own.sector[sector].site,
                  other.sector[sector].site,
                  ThreadCode::threadOf(own.sector[sector].thread, byte),
                  ThreadCode::threadOf(other.sector[sector].thread, byte),
                  number,
                  other.sector[sector].clock,
                  narrow && isAtomic(use) && isAtomic(otherUse)};
  if (covers(known, number, finding.otherThread / launch_.program->width, finding.otherClock))
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
  reportRace(party, finding);
}

void GlobalShadow::insert(Use use, PageUse *own, PageUse *&top) {
  if (!top) {
    top = own;
    return;
  }
  uint64_t fresh[2] = {own->touched[0] & ~top->touched[0], own->touched[1] & ~top->touched[1]};
  uint64_t taken[2] = {own->touched[0] & top->touched[0], own->touched[1] & top->touched[1]};
  forEachSector(taken, [&](unsigned sector) { insertSector(use, *own, sector, top); });
  forEachRow(fresh, [&](unsigned first, unsigned count) { copyRow(*top, *own, first, count); });
  for (unsigned w = 0; w < 2; ++w) {
    top->touched[w] |= fresh[w];
    top->unknown[w] = (top->unknown[w] & ~fresh[w]) | (own->unknown[w] & fresh[w]);
  }
  pool_.giveBack(own);
}

/// Whether a later use of a sector by the same block can stand for an earlier one too. Bytes that were written before
/// the block handed them over must not look as late as those that it writes afterwards.
static bool isOneUse(Use use, const SectorUse &earlier, const SectorUse &later) {
  bool replaced = !(earlier.bytes & ~later.bytes);
  return use != Use::Write || replaced || (earlier.clock == later.clock && earlier.thread == later.thread);
}

/// A sector that the top layer has already.
void GlobalShadow::insertSector(Use use, const PageUse &own, unsigned sector, PageUse *top) {
  size_t most = use == Use::Write ? mostWriters
                : isAtomic(use)   ? mostAtomic
                : anyAtomics_     ? mostReaders
                                  : mostReadersUnordered;
  unsigned word = sector >> 6;
  uint64_t bit = 1ull << (sector & 63);
  PageUse *free = nullptr, *mine = nullptr, *last = nullptr;
  size_t layers = 0;
  for (PageUse *layer = top; layer; last = layer, layer = layer->next, ++layers) {
    if (layer->has(sector) && layer->block[sector] == own.block[sector] && !mine &&
        isOneUse(use, layer->sector[sector], own.sector[sector])) {
      mine = layer;
      continue;
    }
    // Whoever wrote these bytes before is ordered, or was reported: from now on they belong to this block.
    if (use == Use::Write && layer->has(sector) && !(layer->sector[sector].bytes &= ~own.sector[sector].bytes))
      layer->touched[word] &= ~bit;
    if (!layer->has(sector) && !free)
      free = layer;
  }
  if (!mine && !free) {
    if (layers >= most)
      return;
    free = last->next = pool_.take(use == Use::Write);
  }
  PageUse &layer = *(mine ? mine : free);
  uint32_t before = mine ? layer.sector[sector].bytes : 0;
  layer.sector[sector] = own.sector[sector];
  layer.sector[sector].bytes |= before;
  layer.block[sector] = own.block[sector];
  layer.touched[word] |= bit;
  layer.unknown[word] = (before ? layer.unknown[word] : layer.unknown[word] & ~bit) | (own.unknown[word] & bit);
  if (own.values)
    for (uint32_t left = own.sector[sector].bytes; left; left &= left - 1) {
      unsigned at = (sector << sectorShift) + static_cast<unsigned>(std::countr_zero(left));
      layer.values[at] = own.values[at];
    }
}

std::string GlobalShadow::who(uint64_t block, uint32_t thread) const {
  unsigned width = launch_.program->width, rank = thread / width / launch_.warps;
  thread -= rank * launch_.warps * width;
  return std::string(launch_.program->lockStep ? "wave " : "warp ") + std::to_string(thread / width) + " lane " +
         std::to_string(thread % width) + " (thread " + std::to_string(thread) + ") of block " +
         launch_.clusters.place(block, rank).text();
}

void GlobalShadow::reportRace(const Party &party, const Finding &finding) {
  // Two sites that race with each other are one race, whichever block came later.
  bool isMirrored = finding.site != finding.otherSite && races_.count({finding.otherSite, finding.site});
  if (isMirrored)
    return;
  races_.emplace(finding.site, finding.otherSite);
  if (!party.reports->isNew(ReportKind::Race, finding.site, finding.otherSite))
    return;
  std::string message =
      std::string(nounOf[static_cast<unsigned>(finding.use)]) + " that nothing orders with another block's " +
      nounOf[static_cast<unsigned>(finding.otherUse)] + " at " + launch_.memory->describe(finding.address) + " by " +
      who(party.number, finding.thread) + "; " + participleOf[static_cast<unsigned>(finding.otherUse)] + " by " +
      who(finding.otherBlock, finding.otherThread);
  party.reports->add(ReportKind::Race, finding.site, finding.otherSite, std::move(message), hintFor(party, finding));
}

std::string GlobalShadow::hintFor(const Party &party, const Finding &finding) const {
  const char *fence = launch_.program->lockStep ? "a fence of agent scope" : "__threadfence()";
  if (finding.narrow)
    return "the atomic orders threads of its own block only: give it device scope (gpu, agent)";
  const BlockShadow &shadow = *party.pages;
  unsigned warp = finding.otherThread / launch_.program->width, own = finding.thread / launch_.program->width;
  for (const BlockShadow::Taken &taken : shadow.taken)
    if (taken.warp != own && covers(*taken.known, finding.otherBlock, warp, finding.otherClock))
      return std::string("another ") + (launch_.program->lockStep ? "wave" : "warp") +
             " of the block took the other's signal over: put a block barrier between that and the access";
  for (const Known &offered : shadow.offered)
    for (const WorldClockPointer &clock : offered)
      if (covers(*clock, finding.otherBlock, warp, finding.otherClock))
        return std::string("the block read the other's signal without acquire order: put ") + fence +
               " after the atomic that reads it";
  if (isAtomic(finding.use) != isAtomic(finding.otherUse))
    return "one side is atomic and the other plain: make both atomic, or order them by a signal";
  if (shadow.signalled || (finding.otherBlock < signalled_.size() && signalled_[finding.otherBlock]))
    return std::string("an atomic signals without release order: put ") + fence +
           " before it, and a block barrier where other warps wrote the data";
  return "blocks run in any order: give each its own bytes, use atomics, or split the work in two launches";
}

} // namespace tilejit::sim
