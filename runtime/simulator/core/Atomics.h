// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Atomic operations and ordered (atomic, volatile) loads and stores in all memories: what intrinsics, assembly and LLVM
// instructions have in common. Lanes act in ascending order. What other blocks may see acts alone, in order of blocks.
// Also the clocks of memory places through which warps of a block hand over data.

#ifndef TILEJIT_SIMULATOR_CORE_ATOMICS_H
#define TILEJIT_SIMULATOR_CORE_ATOMICS_H

#include "core/Ordering.h"
#include "core/Program.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tilejit::sim {

class Decoder;

enum class AtomicOp : uint8_t {
  Load,
  Store,
  Exchange,
  Add,
  Sub,
  And,
  Nand,
  Or,
  Xor,
  Max, ///< Signed; of integers.
  Min,
  UMax,
  UMin,
  FAdd, ///< Of F16, BF16, F32, F64.
  FSub,
  FMax, ///< maxnum: a NaN gives way.
  FMin,
  FMaximum, ///< A NaN wins.
  FMinimum,
  IncrementWrap,  ///< old >= v ? 0 : old + 1
  DecrementWrap,  ///< old == 0 || old > v ? v : old - 1
  SubConditional, ///< old >= v ? old - v : old
  SubSaturating,
  CompareExchange, ///< Operands: the expected value, then the new one.
};

/// How far an operation's order reaches.
enum class AtomicScope : uint8_t { Warp, Block, Cluster, Device, System };

/// Where the pointer points.
enum class AtomicSpace : uint8_t { Generic, Global, Shared, Local };

struct AtomicSpec {
  AtomicOp op = AtomicOp::Load;
  Kind kind = Kind::I32; ///< Of one element.
  unsigned elements = 1; ///< Next to each other in memory: v2f16, v4.f32. Each is an operation of its own.
  bool acquire = false;  ///< Both false: relaxed, and volatile.
  bool release = false;
  AtomicScope scope = AtomicScope::Device;
  AtomicSpace space = AtomicSpace::Generic;
  uint32_t alignment = 0; ///< 0: that of all its bytes.
  bool resultUsed = true; ///< Whether somebody reads what was in memory.
};

/// Emits the operation at the present place, of at most sixteen elements. `address`: a 64-bit pointer register.
/// `operands`: one register for each element (none for Load; for CompareExchange all expected elements, then all new
/// ones). Gives the registers of the old values, one for each element; none for Store. Integer kinds occupy their whole
/// width in memory.
std::vector<Reg> emitAtomic(Decoder &decoder, const AtomicSpec &spec, Reg address, std::span<const Reg> operands);
/// A fence. `global`, `shared`: which memories it orders.
void emitFence(Decoder &decoder, bool release, bool acquire, AtomicScope scope, bool global = true, bool shared = true);

/// What atomic stores and read-modify-writes of a block's warps published at each place: whoever reads it with acquire
/// order, or reads it and then makes an acquire fence, has seen all of it.
class PlaceClocks {
public:
  void clear() { clocks_.clear(); }
  bool empty() const { return clocks_.empty(); }
  /// One operation of lanes of a warp at a place (a generic address). `reads`, `writes`: what it does there; a
  /// read-modify-write does both. With `release`, Ordering::release was called.
  void act(Ordering &ordering, unsigned warp, LaneMask lanes, uint64_t place, bool reads, bool writes, bool acquire,
           bool release);

private:
  std::unordered_map<uint64_t, VectorClock> clocks_;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_ATOMICS_H
