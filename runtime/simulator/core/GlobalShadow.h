// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Races in global memory: between the blocks of a launch, and between the warps of a block. A block keeps, page by
// page, which bytes it read and wrote, plainly or atomically, and for each 32-byte sector by which instruction and
// thread. When the block ends, and before it hands over or takes over data (release, acquire), these pages are compared
// with what the launch knows of other blocks, and become part of it. That happens serially, in an order that does not
// depend on the threads of the host, and so do the reports.
//
// Blocks order each other by atomics of device scope: a release (of the operation, or a fence before it) publishes what
// its warp has seen, an acquire (or a fence after it) takes over what was published there. Between the fence and the
// atomic there may be a block barrier: then the fences of all its warps count. A relaxed read-modify-write
// followed by a block barrier counts as an acquire too: NVIDIA's own samples draw tickets that way. What a warp took
// over, other warps of its block know when the order within the block (core/Ordering.h) says that they come after it.
// The blocks of a cluster are one block here. Of many blocks that read one place only some are remembered.

#ifndef TILEJIT_SIMULATOR_CORE_GLOBALSHADOW_H
#define TILEJIT_SIMULATOR_CORE_GLOBALSHADOW_H

#include "core/Ordering.h"
#include "core/SharedMemory.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilejit::sim {

class Block;
class Reports;
class Warp;
struct LaunchState;

/// How memory is used. Plain and atomic uses race with each other, atomic ones do not race among themselves.
enum class Use : uint8_t { Read, Write, AtomicRead, AtomicWrite };
inline constexpr unsigned numUses = 4;

/// What was done to a sector, and by whom: one instruction and row of threads, the last of those that touched it.
struct SectorUse {
  uint32_t bytes = 0; ///< Bit b: byte b.
  uint32_t site = 0;
  uint32_t thread = 0; ///< See ThreadCode.
  uint32_t clock = 0;  ///< Of the thread's warp, at the time.
};

/// What one block did to a page of 4 KiB in one way. Sectors count where `touched` has their bit.
struct PageUse {
  static constexpr unsigned sectors = 128, pageBytes = 4096;
  struct Untouched {}; ///< Leaves the arrays as they are: pages are many, and most of each is never used.
  explicit PageUse(Untouched) {}

  uint64_t touched[2] = {0, 0};
  uint64_t unknown[2] = {0, 0}; ///< Plain writes: sectors of which not all stored values are known.
  uint8_t *values = nullptr;    ///< Plain writes: what was stored, pageBytes. Null for other uses.
  PageUse *next = nullptr;      ///< Launch-wide pages: the layer below.
  union {
    alignas(64) SectorUse sector[sectors];
  };
  union {
    uint32_t block[sectors]; ///< Launch-wide pages: whose each sector is.
  };

  bool has(unsigned sector) const { return touched[sector >> 6] >> (sector & 63) & 1; }
};

/// Who has touched a sector: the thread, or of adjacent threads the one that would be at the sector's first byte.
struct ThreadCode {
  static constexpr uint32_t bias = 256, adjacent = 1u << 20, narrow = 1u << 21;
  static uint32_t one(uint32_t thread) { return thread + bias; }
  static uint32_t row(uint32_t first, unsigned sizeLog) { return first | sizeLog << 16 | adjacent; }
  /// The thread that touched a byte.
  static uint32_t threadOf(uint32_t code, unsigned byte) {
    uint32_t thread = (code & 0xffff) - bias;
    return code & adjacent ? thread + (byte >> (code >> 16 & 7)) : thread;
  }
};

struct Page {
  uint64_t number = 0;
  std::array<PageUse *, numUses> uses = {}; ///< Owned by the pool. Null: not used in this way.
};

/// Memory of page uses: taken from large pieces, some of which are kept for the next launch.
class PagePool {
public:
  ~PagePool();
  /// A launch begins: whatever was taken before is free.
  void restart();
  /// Nothing is touched in it.
  PageUse *take(bool values);
  void giveBack(PageUse *use);

private:
  std::mutex mutex_;
  std::vector<PageUse *> free_[2];
  std::vector<void *> pieces_;
  size_t used_ = 0; ///< Pieces of which something was taken; of the last one `left_` bytes are free.
  uint8_t *next_ = nullptr;
  size_t left_ = 0;
};

/// Published clocks: for each block that published, by its number, the clocks of its warps. Never changes once made.
using WorldClock = std::vector<std::pair<uint32_t, std::shared_ptr<const VectorClock>>>;
using WorldClockPointer = std::shared_ptr<const WorldClock>;
using Known = std::vector<WorldClockPointer>; ///< The union of several.

/// The pages that warps touched while they knew the same of other blocks.
class PageSegment {
public:
  /// The page with this number, new if need be; null where there is none.
  Page &page(uint64_t number) {
    const Cached &cached = cache_[number % cache_.size()];
    return cached.number == number ? pages[cached.place] : seek(number);
  }
  Page *find(uint64_t number);
  /// Begins with no pages.
  void clear();

  std::vector<Page> pages;
  WorldClockPointer known;
  uint32_t warps = 0; ///< Whose accesses go here.

private:
  size_t slotOf(uint64_t number) const;
  Page &seek(uint64_t number);

  std::vector<uint32_t> table_; ///< Hash table of `pages`: place + 1, 0 where there is none.
  struct Cached {
    uint64_t number = ~0ull;
    uint32_t place = 0;
  };
  std::array<Cached, 16> cache_;
};

/// What a block remembers between two comparisons.
class BlockShadow {
public:
  /// For a new block; memory is reused.
  void reset(size_t warps);
  /// Where the accesses of a warp go.
  PageSegment &segmentOf(unsigned warp) const { return *places[warp]; }
  const WorldClockPointer &knownTo(unsigned warp) const { return places[warp]->known; }
  /// Warps know more from now on, and those of their block that come after them as `ordering` has it.
  void learn(const Ordering &ordering, const std::vector<unsigned> &warps, const WorldClockPointer &news);
  /// The warp knows what those have taken over who come before it now.
  void catchUp(const Ordering &ordering, unsigned warp) {
    if (!unseen[warp].empty())
      takeSeen(ordering, warp);
  }
  /// The pages were compared: begins with none.
  void dropPages();

  struct Fence {
    bool made = false;
    VectorClock seen;
    Known known;
  };
  /// What a warp took over from other blocks, at its clock.
  struct Taken {
    unsigned warp;
    uint32_t clock;
    WorldClockPointer before, known; ///< What it knew without it, and with it.
  };

  std::vector<std::unique_ptr<PageSegment>> segments; ///< In the order in which they began.
  std::vector<PageSegment *> places;                  ///< Of each warp, among them.
  std::vector<std::vector<Taken>> unseen;             ///< What other warps took over that a warp need not come after.
  std::vector<Taken> taken;                           ///< Some of what any warp took over, for hints.
  std::vector<Fence> fences;                          ///< Last release fence of each warp.
  std::vector<Known> offered; ///< What each warp's relaxed atomics read, until an acquire fence.
  Known drawn;                ///< The part of it that read-modify-writes read, until a block barrier.
  bool signalled = false;     ///< Wrote atomically without releasing anything.
  bool shareFences = false;   ///< A fence was made since the last barrier of the block,
  bool shareOffered = false;  ///< or something was offered.

private:
  void takeSeen(const Ordering &ordering, unsigned warp);
  void moveTo(unsigned warp, const WorldClockPointer &known);
};

/// The union of what is published; one of the two where it holds the other. None of them is null.
WorldClockPointer unionOf(const WorldClockPointer &a, const WorldClockPointer &b);
WorldClockPointer unionOf(const Known &known);
/// Whether all of b is in a.
bool holds(const WorldClock &a, const WorldClock &b);
/// Nothing published.
const WorldClockPointer &nothingKnown();

class GlobalShadow {
public:
  /// `pool` belongs to the shadow until the next one is made.
  GlobalShadow(const LaunchState &launch, PagePool &pool);
  ~GlobalShadow();

  // --- By the host thread that runs the block -----------------------------------------------------------------------
  void begin(Block &block);
  /// Records an access and compares it with other warps of the block. `data`: what lane l stores, contiguous by lane.
  void access(Block &block, const Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access,
              const uint8_t *data = nullptr);
  /// A fence whose scope reaches other blocks.
  void fence(Block &block, const Warp &warp, bool release, bool acquire);
  /// A barrier of all warps of a thread block, or of the whole cluster.
  void barrier(Block &block, const std::vector<unsigned> &warps);
  /// Whether atomic writes of the warp publish something even if they are relaxed.
  bool hasReleased(const Block &block, const Warp &warp) const;
  void noteSignal(Block &block);

  // --- While no block runs (Block::inWorld) -------------------------------------------------------------------------
  /// An atomic operation of device scope or wider at a place, after its access() and before its effect.
  void atomic(Block &block, const Warp &warp, uint64_t place, bool reads, bool writes, bool acquire, bool release);

  // --- By the launcher ----------------------------------------------------------------------------------------------
  /// A round of blocks begins, in this order.
  void beginRound(size_t blocks);
  /// The block at a place of the round has stopped. If it is done, its pages are taken, and compared once all blocks
  /// before it in the round have stopped; what is found is added to `reports`, which must last until the round ends.
  /// From any thread.
  void settle(size_t place, Block &block, bool done, Reports &reports);

private:
  /// What all blocks did to a page: layers, so that a sector may have several.
  using LaunchPage = std::array<PageUse *, numUses>;
  struct Round;
  struct Finding;
  /// A block whose pages are compared.
  struct Party {
    uint64_t number = 0;
    std::shared_ptr<BlockShadow> pages;
    Reports *reports = nullptr;
  };

  PageUse &useOf(Page &page, Use use);
  void compareLanes(Block &block, const Warp &warp, const uint64_t *address, LaneMask lanes, const Access &access,
                    const uint8_t *data);
  void mark(Block &block, const Warp &warp, unsigned lane, unsigned lanes, uint64_t address, uint32_t bytes,
            const Access &access, Use use, const uint8_t *data);
  void markPage(Block &block, const Warp &warp, Page &page, unsigned from, unsigned to, uint32_t code,
                const Access &access, Use use, const uint8_t *data, uint32_t perSector);
  void compareWarps(Block &block, const Warp &warp, const Page &page, Use otherUse, unsigned from, unsigned to,
                    uint32_t code, uint32_t perSector, const Access &access, Use use, const uint8_t *data);
  static void shareAmongWarps(BlockShadow &shadow, const std::vector<unsigned> &warps);
  void merge(const Party &party);
  void mergePages(const Party &party, std::vector<Page> &pages, const WorldClock &known);
  void mergePage(const Party &party, Page &page, const WorldClock &known);
  void compare(const Party &party, const Page &page, Use use, const LaunchPage &launchPage, const WorldClock &known);
  void compareSector(const Party &party, const Page &page, Use use, unsigned sector, const PageUse &other, Use otherUse,
                     const WorldClock &known);
  void insert(Use use, PageUse *own, PageUse *&top);
  void insertSector(Use use, const PageUse &own, unsigned sector, PageUse *top);
  void reportRace(const Party &party, const Finding &finding);
  std::string hintFor(const Party &party, const Finding &finding) const;
  std::string who(uint64_t block, uint32_t thread) const;

  const LaunchState &launch_;
  const bool alone_;
  bool anyAtomics_ = false;
  std::unordered_map<uint64_t, LaunchPage> pages_;
  std::unordered_map<uint64_t, WorldClockPointer> places_;
  std::set<std::pair<uint32_t, uint32_t>> races_; ///< Sites of those found, in the order in which each was reported.
  std::vector<uint8_t> signalled_; ///< Of each block that has ended or published: BlockShadow::signalled.
  std::unique_ptr<Round> round_;
  PagePool &pool_;
  std::vector<std::shared_ptr<BlockShadow>> spare_; ///< To be used again; under the round's lock.
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_GLOBALSHADOW_H
