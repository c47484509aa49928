// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Whether a config fits a GPU: sides that are powers of two, threads, on-chip memory, registers. Registers are an
// estimate from the tiles that are alive at once; what the assembler makes of them is known only later. Our own choices
// fit every chip, so that a refusal is about what the user gave.

#include "GpuSchedule.h"

#include <algorithm>
#include <bit>

namespace tilejit::oplib {

/// Registers of a thread beside its tiles: addresses, indices, coordinates.
static constexpr int64_t otherRegisters = 16;

static bool isPowerOfTwo(int64_t value) { return value > 0 && std::has_single_bit(static_cast<uint64_t>(value)); }

/// Registers of 32 bits that each of `threads` threads needs for so many elements of `bytes` bytes.
static int64_t registersFor(int64_t elements, int64_t bytes, int64_t threads) {
  return (elements * bytes + 4 * threads - 1) / (4 * threads);
}

Status GpuSchedule::check() const {
  TILEJIT_RETURN_IF_ERROR(checkPowersOfTwo());
  TILEJIT_RETURN_IF_ERROR(checkSplit());
  return checkNeed(need());
}

/// bm, bn, bk and warps are bits of a place in a tile or block.
Status GpuSchedule::checkPowersOfTwo() const {
  for (const char *key : {"bm", "bn", "bk", "warps"}) {
    int64_t value = get(key, 1);
    if (isPowerOfTwo(value))
      continue;
    int64_t above = raisedToPowerOfTwo(value);
    return Status(StatusCode::InvalidArgument, std::string("expected a power of two for config key '") + key +
                                                   "' on GPU targets, found " + std::to_string(value))
        .withHint("the nearest are " + std::to_string(above / 2) + " and " + std::to_string(above));
  }
  return Status::ok();
}

/// Parts of sums wait in a workspace, whose size a launch rule must be able to say.
Status GpuSchedule::checkSplit() const {
  if (isAttention(description_.family))
    return checkAttentionSplit();
  if (get("split_k", 1) == 1 || matmulShape(description_).canSplitDepth())
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "config key 'split_k' does not apply where several dimensions of the result vary")
      .withHint("give all but one of them a size");
}

Status GpuSchedule::checkNeed(const Need &need) const {
  auto refuse = [&](const char *what, int64_t needed, const char *unit, int64_t limit, std::string advice) {
    return Status(StatusCode::DoesNotFit, std::string(what) + " " + std::to_string(needed) + unit + " needed, " +
                                              name_ + " has " + std::to_string(limit) + ": " + std::move(advice));
  };
  int64_t threads = need.warps * facts_.warpLanes;
  if (threads > facts_.maxBlockThreads)
    return refuse("block of", threads, " threads", facts_.maxBlockThreads, "lower warps");
  std::string keys = need.keys;
  if (need.shared > facts_.maxBlockShared)
    return refuse("shared memory", need.shared, " bytes", facts_.maxBlockShared, "lower " + keys);
  int64_t limit = std::min<int64_t>(facts_.maxThreadRegisters, facts_.registersPerUnit / threads);
  if (need.registers > limit)
    return refuse("about", need.registers, " registers of a thread", limit, "lower " + keys + ", or raise warps");
  return Status::ok();
}

/// The accumulator, what is loaded ahead and for a step of k, and an operand of the epilogue.
GpuSchedule::Need GpuSchedule::matmulNeed() const {
  MatmulRegime main = matmul(matmulShape(description_)).back();
  int64_t threads = main.warps * facts_.warpLanes, operands = (main.bm + main.bn) * main.bk;
  int64_t accumulate = storageBytes(description_.as<MatmulAttributes>().accumulate);
  int64_t bytes = storageBytes(description_.inputs[0].dtype);
  int64_t tiles = description_.inputs.size() > 2 ? 2 : 1;
  return {registersFor(main.bm * main.bn * tiles, accumulate, threads) +
              registersFor(operands * main.stages, bytes, threads) + otherRegisters,
          operands * bytes, main.warps, "bm, bn or bk"};
}

/// All operands, and two values on their way.
GpuSchedule::Need GpuSchedule::elementwiseNeed() const {
  Tiling tiling = elementwise(elementwiseSpace(description_));
  int64_t tiles = static_cast<int64_t>(description_.inputs.size()) + 2;
  return {registersFor(tiling.tile.elements() * tiles, bytes_, tiling.warps * facts_.warpLanes) + otherRegisters, 0,
          tiling.warps, "bm or bn"};
}

/// A block goes through on-chip memory.
GpuSchedule::Need GpuSchedule::transposeNeed() const {
  TransposeShape shape = transposeShape(description_);
  Tiling tiling = transpose(shape);
  int64_t elements = tiling.tile.elements(), bytes = storageBytes(description_.inputs[0].dtype);
  return {registersFor(elements, std::max<int64_t>(4, bytes), tiling.warps * facts_.warpLanes) + otherRegisters,
          shape.copiesRows ? 0 : elements * bytes, tiling.warps, "bm or bn"};
}

/// What is carried, what is loaded, and what is computed from both.
GpuSchedule::Need GpuSchedule::sweepNeed() const {
  SweepRegime main;
  int64_t tiles = 3;
  if (description_.family == Family::Reduce) {
    ReduceKind kind = description_.as<ReduceAttributes>().kind;
    tiles = isArg(kind) ? 4 : 2;
    main = reduce(reduceSpace(description_)).back();
  } else {
    main = rows(rowsSpace(description_)).back();
  }
  return {registersFor(main.tile.elements() * tiles, bytes_, main.warps * facts_.warpLanes) + otherRegisters, 0,
          main.warps, "bm or bn"};
}

/// The weighted values, a tile of queries, two of scores, and one of keys or values.
GpuSchedule::Need GpuSchedule::attentionNeed() const {
  AttentionRegime main = attention(attentionShape(description_)).back();
  int64_t threads = main.warps * facts_.warpLanes, bytes = storageBytes(description_.inputs[0].dtype);
  int64_t compute = std::max<int64_t>(4, bytes), operands = (main.bm + main.bn) * main.depth;
  return {registersFor(main.bm * (main.depth + 2 * main.bn), compute, threads) +
              registersFor(operands, bytes, threads) + otherRegisters,
          operands * bytes, main.warps, "bm or bn"};
}

GpuSchedule::Need GpuSchedule::need() const {
  switch (description_.family) {
  case Family::Matmul:
    return matmulNeed();
  case Family::Elementwise:
  case Family::Cast:
    return elementwiseNeed();
  case Family::Transpose:
    return transposeNeed();
  case Family::Attention:
  case Family::AttentionDecode:
    return attentionNeed();
  default:
    return sweepNeed();
  }
}

} // namespace tilejit::oplib
