// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Plans how a tile in registers gets from one layout to another: by nothing, by taking other registers, by shuffles
// within warps, or through shared memory without bank conflicts. The plan is computed from the two maps alone; no pair
// of layouts is known here. It names no IR: a lowering carries it out by the recipes below, and so does the simulated
// machine of the tests.
//
// Terms. A thread is lane | warp << laneBits. `parity(mask & thread)` is the parity of those bits of its number. Lists
// of registers s (source) and d (result) are those of DistinctRegisters, without copies. A linear function of the
// thread is given by its columns: the value is the xor of the columns of the thread's set bits (gf2::combine).

#ifndef TILEJIT_TRANSFORMS_LAYOUTCONVERSION_H
#define TILEJIT_TRANSFORMS_LAYOUTCONVERSION_H

#include "tilejit/Dialect/TileGPU/IR/LinearLayout.h"
#include "tilejit/Transforms/BankModel.h"

#include <optional>
#include <string>
#include <variant>

namespace tilejit::tilegpu {

// --- Parts of plans
// ----------------------------------------------------------------------------------------------------

/// A layout whose registers hold different elements, over exactly (register, lane, warp).
struct DistinctRegisters {
  LinearLayout layout;
  std::vector<unsigned> kept;  ///< For each register of `layout`: the original register it is.
  std::vector<unsigned> index; ///< For each original register: the register of `layout` that holds the same element.
};
/// Drops registers that are copies. The layout may have no other input dimensions than register, lane and warp.
DistinctRegisters distinctRegisters(const LinearLayout &layout);

/// An exchange of registers that depends on the thread: all at once, v[q] becomes v[q ^ exchange] in threads with
/// parity(threadMask & thread) == 1, and stays in the others. A list of these is carried out in order.
struct Select {
  uint64_t threadMask, exchange;

  bool operator==(const Select &) const = default;
};

/// d = s.
struct NoMove {};

/// Carry out `selects` on s; then d[q] = s[source[q]]. Without selects it costs nothing.
struct RegisterMove {
  std::vector<Select> selects;
  std::vector<unsigned> source;
};

/// One word published and one received by each lane.
struct ShuffleRound {
  unsigned word;    ///< The word that is published.
  uint64_t laneXor; ///< The word is read from lane combine(partner, thread) ^ laneXor of the same warp.
  bool isOwn;       ///< That lane is the thread itself in every thread: no shuffle.
};

/// 1. Pack words: word w holds s[sourceWords[w][i]] at position i, position 0 lowest. (Elements of 32 and 64 bits: one
/// a
///    word; a 64-bit word is two shuffles.)
/// 2. Carry out `before` on the words.
/// 3. Round k: received[k] = shuffle(word[rounds[k].word], lane as above).
/// 4. Carry out `after` on the received words.
/// 5. Unpack: d[resultWords[k][i]] = position i of received[k].
/// 6. Carry out `within` on d.
struct ShuffleMove {
  int elementsPerWord = 1;
  std::vector<std::vector<unsigned>> sourceWords;
  std::vector<Select> before;
  gf2::Vectors partner; ///< Columns for the bits of the thread.
  std::vector<ShuffleRound> rounds;
  std::vector<Select> after;
  std::vector<std::vector<unsigned>> resultWords;
  std::vector<Select> within;
  int shuffles = 0; ///< Of 32 bits, each thread.
};

/// What moves data between registers (for AsyncCopy: global memory) and shared memory.
enum class SharedAccess {
  Plain,      ///< Loads and stores of 1 to 16 bytes.
  AsyncCopy,  ///< cp.async of 4, 8 or 16 bytes: elements of the low registers, as they lie in global memory.
  MatrixLoad, ///< ldmatrix or stmatrix of up to four 8-row matrices, rows of 16 bytes; elements of 8 to 32 bits.
  MatrixLoadTransposed, ///< Its .trans form; elements of 16 bits.
};

/// One instruction of each thread. Plain and AsyncCopy: registers[i] is at element i of the vector. Matrix accesses:
/// the 32-bit registers of the instruction in order, the elements of each from low to high.
struct AccessGroup {
  std::vector<unsigned> registers;
  uint64_t offset;
};

/// Stores: carry out `selects` on the registers, then the groups, in threads with (writeMask & thread) == 0. Loads: the
/// groups in all threads, then `selects`. The address of a group in a thread, in elements from the start of the tile,
/// is
///   combine(threadOffset, thread) ^ group.offset.
/// Where no column of threadOffset has a bit of group.offset, the offset may be added instead (constant offsets of
/// addresses). It is aligned to the vector. Matrix accesses: this is the address of the row that the lane provides,
/// which lanes beyond 8 * matrices may provide as well.
struct MemoryAccess {
  SharedAccess kind = SharedAccess::Plain;
  int vectorElements = 1; ///< In one thread's contiguous piece (matrix accesses: in a row).
  int matrices = 0;       ///< Of one matrix access: 1, 2 or 4.
  gf2::Vectors threadOffset;
  std::vector<AccessGroup> groups;
  std::vector<Select> selects;
  /// Bits of the thread that must be 0 to write: the others hold copies. 0 for loads, where copies read what others
  /// read.
  uint64_t writeMask = 0;
  /// Wavefronts of one warp for all groups, and the fewest that the lanes' phases allow: equal without bank conflicts.
  int64_t wavefronts = 0, idealWavefronts = 0;
  /// Those that it would be if loads were served in the model's other order.
  int64_t wavefrontsElse = 0;

  int vectorBits(int elementBits) const { return vectorElements * elementBits; }
};

/// Store, wait, load. Where `withinWarp`, each warp reads only what it wrote itself, so that waiting for the warp's own
/// stores is enough.
///
/// Passes: with n passes, the p-th of n equal parts of each side's groups is stored and loaded in pass p, with one wait
/// between stores and loads and another before the stores of the next pass. Selects of the store come before the first
/// pass, those of the load after the last.
struct SharedMove {
  LinearLayout memory; ///< From `offset`, in elements, to the tile: to what the first pass moves of it.
  MemoryAccess store, load;
  uint64_t bytes = 0; ///< Of shared memory, which every pass uses again.
  bool withinWarp = false;
  int passes = 1;
};

/// There is no way; says why.
struct Impossible {
  std::string reason;
};

// --- Planning
// ------------------------------------------------------------------------------------------------------------

struct ConversionOptions {
  int elementBits = 32; ///< 8, 16, 32 or 64; narrower elements must have been packed.
  const BankModel *banks = findBankModel("nvidia");
  /// Anything but Plain, or a given memory, leads through shared memory; so does `throughMemory`.
  SharedAccess store = SharedAccess::Plain, load = SharedAccess::Plain;
  bool throughMemory = false;
  bool allowShuffles = true;
  /// Whether threads that hold copies may share the storing, each a part of its elements. Only for those who carry out
  /// the plan's own store.
  bool spreadCopies = true;
  /// Shared memory that a conversion may use, 0: any amount. Conversions that take more are cut into passes; those with
  /// a given memory or an AsyncCopy cannot be.
  uint64_t maxBytes = 0;
  /// A memory layout that is fixed already, such as the one tensor copies write: from `offset` to the tile.
  std::optional<LinearLayout> memory;
};

struct ConversionPlan {
  DistinctRegisters from, to;
  std::variant<NoMove, RegisterMove, ShuffleMove, SharedMove, Impossible> move;
  int cost = 0; ///< In the units of the bank model: compares plans of one conversion.
};

/// To carry out a plan: s[i] = source[from.kept[i]]; the move; result[r] = d[to.index[r]] for every register r of the
/// result. Both layouts have the same tile and the same numbers of lanes and warps (both with the lanes of the bank
/// model, unless the plan needs neither shuffles nor memory).
ConversionPlan planConversion(const LinearLayout &from, const LinearLayout &to, const ConversionOptions &options);

/// A memory layout, from `offset` to the tile, that serves both accesses without bank conflicts where one exists
/// (always for two plain ones). None if an access does not fit its layout or `from` lacks elements of `to`. Layouts are
/// those of DistinctRegisters.
std::optional<SharedMove> planSharedMemory(const LinearLayout &from, const LinearLayout &to,
                                           const ConversionOptions &options);

/// How one layout, of DistinctRegisters, is written to or read from a tile in memory, with vectors of at most
/// 2^maxVectorLog elements. None if the access does not fit or the memory lacks elements.
std::optional<MemoryAccess> planMemoryAccess(const LinearLayout &layout, const LinearLayout &memory,
                                             SharedAccess access, bool isStore, const ConversionOptions &options,
                                             int maxVectorLog = 6);

// The other ways, for layouts of DistinctRegisters; none if they do not lead there.
std::optional<RegisterMove> planRegisters(const LinearLayout &from, const LinearLayout &to);
std::optional<ShuffleMove> planShuffles(const LinearLayout &from, const LinearLayout &to, int elementBits);

/// One line: `shuffle: 8 of 32 bits`, `shared: store 64/64 wavefronts in 4 x 128 bits, ...`.
std::string describe(const ConversionPlan &plan, int elementBits);

} // namespace tilejit::tilegpu

#endif // TILEJIT_TRANSFORMS_LAYOUTCONVERSION_H
