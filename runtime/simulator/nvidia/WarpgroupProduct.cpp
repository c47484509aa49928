// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// wgmma while running: what a product reads from shared memory, what must have come before it, and what waits for it.

#include "nvidia/WarpgroupProduct.h"

#include "core/Block.h"
#include "nvidia/State.h"
#include "nvidia/WarpgroupDescriptor.h"
#include "nvidia/WarpgroupHandlers.h"
#include "nvidia/WarpgroupNumbers.h"

#include <algorithm>
#include <cstring>

namespace tilejit::sim {

namespace {

constexpr unsigned groupWarps = 4, pieceBytes = 16;

/// Reads operands of one product through descriptors.
class OperandReader {
public:
  OperandReader(Warp &warp, const Op &op) : warp_(warp), block_(*warp.block), op_(op) {
    NvidiaWarpState &state = *warp.nvidia;
    if (state.productAgent == noAgent)
      state.productAgent = block_.ordering.addAgent();
    agent_ = state.productAgent;
    event_ = block_.ordering.record(agent_, op.site, true, false);
    access_.site = op.site;
    access_.async = true;
    runs_.clear();
  }
  /// Records what was read.
  void finish() { block_.shared.readAsync(block_, agent_, warp_.index, 255, event_, runs_, access_); }

  /// Rows [first, first + count) of an operand, 32 bytes along k each.
  void alongK(const OperandDescriptor &descriptor, uint32_t first, uint32_t count, uint8_t (*to)[productBytes]) {
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t low = descriptor.alongK(first + i, 0), high = descriptor.alongK(first + i, 1);
      fetch(low, to[i]);
      fetch(high, to[i] + pieceBytes);
      if ((low ^ high) == pieceBytes) {
        note(std::min(low, high), 2 * pieceBytes);
      } else {
        note(low, pieceBytes);
        note(high, pieceBytes);
      }
    }
  }
  /// The same for 16-bit elements that are contiguous across k.
  void acrossK(const OperandDescriptor &descriptor, uint32_t first, uint32_t count, uint8_t (*to)[productBytes]) {
    for (uint32_t k = 0; k < 16; ++k)
      for (uint32_t i = 0; i < count; i += 8) {
        uint32_t address = descriptor.acrossK(first + i, k);
        uint8_t piece[pieceBytes];
        fetch(address, piece);
        note(address, pieceBytes);
        for (uint32_t j = 0; j < 8; ++j)
          std::memcpy(to[i + j] + 2 * k, piece + 2 * j, 2);
      }
  }
  void read(const OperandDescriptor &descriptor, bool transposed, uint32_t first, uint32_t count,
            uint8_t (*to)[productBytes]) {
    if (descriptor.baseOffset() && block_.checks(Check::Fragment))
      block_.report(ReportKind::Fragment, op_.site, warp_, 255,
                    "a matrix descriptor with base offset " + std::to_string(descriptor.baseOffset()) +
                        ", which isn't simulated",
                    "align the operand to the period of its swizzle: 1024, 512 or 256 bytes");
    transposed ? acrossK(descriptor, first, count, to) : alongK(descriptor, first, count, to);
  }

private:
  bool inBounds(uint32_t address) const { return block_.shared.holds(address, pieceBytes); }

  void fetch(uint32_t address, uint8_t *to) {
    if (inBounds(address)) {
      std::memcpy(to, block_.shared.data() + address, pieceBytes);
      return;
    }
    std::memset(to, 0, pieceBytes);
    if (block_.checks(Check::Bounds))
      block_.reportAt(ReportKind::Bounds, op_.site, warp_, 255, Space::Shared, address,
                      "operand of a product out of bounds",
                      "check start, leading and stride offset of the descriptor, and the size of the buffer");
  }
  void note(uint32_t address, uint32_t bytes) {
    if (inBounds(address + bytes - pieceBytes))
      runs_.push_back({address, bytes});
  }

  Warp &warp_;
  Block &block_;
  const Op &op_;
  unsigned agent_ = 0;
  uint32_t event_ = 0;
  Access access_;
  static thread_local std::vector<SharedRun> runs_;
};

thread_local std::vector<SharedRun> OperandReader::runs_;

bool allTogether(Warp &warp, const Op &op, const char *what) {
  Block &block = *warp.block;
  bool whole = warp.mask == allLanes<32>,
       group = warp.place / groupWarps * groupWarps + groupWarps <= block.launch().warps;
  if (whole && group)
    return true;
  if (block.checks(Check::Divergence))
    block.report(ReportKind::Divergence, op.site, warp, whole ? 0 : firstLane(~warp.mask),
                 std::string(what) +
                     (whole ? " in a warpgroup that has fewer than four warps" : " without all lanes of the warp"),
                 "all 128 threads of four consecutive warps must execute it together");
  return false;
}

/// A 64-bit operand that must be the same in all lanes.
uint64_t descriptorOf(Warp &warp, const Op &op, Reg reg) {
  const uint64_t *value = warp.reg<uint64_t>(reg);
  bool same = std::all_of(value, value + 32, [&](uint64_t v) { return v == value[0]; });
  if (!same && warp.block->checks(Check::Fragment))
    warp.block->report(ReportKind::Fragment, op.site, warp, 0, "the lanes of a warp give different matrix descriptors",
                       "compute the descriptor from values that are the same in all lanes");
  return value[0];
}

void readRegisters(Warp &warp, const Reg *regs, uint8_t (*to)[productBytes]) {
  for (unsigned r = 0; r < 4; ++r) {
    const uint32_t *value = warp.reg<uint32_t>(regs[r]);
    for (unsigned lane = 0; lane < 32; ++lane)
      std::memcpy(to[lane / 4 + 8 * (r & 1)] + lane % 4 * 4 + 16 * (r >> 1), value + lane, 4);
  }
}

/// What must have happened to the registers of a product.
void checkRegisters(Warp &warp, const Op &op, const ProductSpec &spec) {
  Block &block = *warp.block;
  NvidiaWarpState &state = *warp.nvidia;
  if (!block.checks(Check::Async))
    return;
  auto complain = [&](const char *what, const char *hint) {
    block.report(ReportKind::Async, op.site, warp, 255, what, hint);
  };
  if (!state.fencedProducts)
    complain("the first product of a warp has no wgmma.fence before it",
             "execute wgmma.fence before the first product");
  const std::vector<uint32_t> &slots = op.x->offsets;
  bool touched = false, inFlight = false;
  for (size_t i = 0; i < slots.size(); ++i) {
    touched |= state.touched[slots[i]] != 0;
    inFlight |= i >= spec.sums() && state.inFlight[slots[i]] > state.doneGroups;
  }
  if (touched && state.fencedProducts)
    complain("registers of a product were written after the last wgmma.fence",
             "execute wgmma.fence between other writes to accumulators or fragments and the product");
  if (inFlight)
    complain("a product reads registers that a product in flight writes",
             "wait with wgmma.wait_group before a result becomes an operand");
}

uint64_t mix(uint64_t digest, uint64_t value) { return (digest ^ value) * 0x100000001b3ull; }

} // namespace

void warpgroupProduct(Warp &warp, const Op &op) {
  if (!allTogether(warp, op, "wgmma.mma_async"))
    return;
  const OpOperands &x = *op.x;
  ProductSpec spec = productSpec(x);
  NvidiaWarpState &state = *warp.nvidia;
  checkRegisters(warp, op, spec);
  thread_local ProductOperands operands;
  unsigned next = firstOperand(spec);
  uint32_t base = warp.block->shared.base(warp.rank);
  OperandReader reader(warp, op);
  state.digest = mix(state.digest, op.site);
  if (spec.aInRegisters) {
    readRegisters(warp, x.in.data() + next, operands.a);
    next += 4;
  } else {
    uint64_t bits = descriptorOf(warp, op, x.in[next++]);
    state.digest = mix(state.digest, bits);
    reader.read(OperandDescriptor(bits, base), spec.transposeA, warp.place % groupWarps * productRows, productRows,
                operands.a);
  }
  uint64_t bits = descriptorOf(warp, op, x.in[next++]);
  state.digest = mix(state.digest, bits);
  reader.read(OperandDescriptor(bits, base), spec.transposeB, 0, spec.columns, operands.b);
  reader.finish();
  bool keep = spec.keep == ProductSpec::Keep::Always ||
              (spec.keep == ProductSpec::Keep::Register && warp.reg<uint8_t>(x.in[next])[0]);
  uint32_t *from[mostColumns / 2], *to[mostColumns / 2];
  for (unsigned i = 0; i < spec.sums(); ++i) {
    to[i] = warp.reg<uint32_t>(x.out[i]);
    from[i] = spec.keep == ProductSpec::Keep::Never ? to[i] : warp.reg<uint32_t>(x.in[i]);
  }
  multiplyRows(spec, operands, keep, from, to);
  for (size_t i = 0; i < x.offsets.size() && i < spec.sums(); ++i) {
    state.inFlight[x.offsets[i]] = state.openGroup;
    state.touched[x.offsets[i]] = 0;
  }
  ++state.products;
  state.productSite = op.site;
  ++warp.block->counters[op.site].matrixInstructions;
}

void warpgroupFence(Warp &warp, const Op &op) {
  if (!allTogether(warp, op, "wgmma.fence"))
    return;
  warp.nvidia->fencedProducts = true;
  std::fill(warp.nvidia->touched.begin(), warp.nvidia->touched.end(), 0);
}

void warpgroupCommit(Warp &warp, const Op &op) {
  if (!allTogether(warp, op, "wgmma.commit_group"))
    return;
  NvidiaWarpState &state = *warp.nvidia;
  uint32_t clock = 0;
  if (state.productAgent != noAgent) {
    clock = warp.block->ordering.clock(state.productAgent);
    warp.block->ordering.release(state.productAgent);
  }
  state.groupClocks.push_back(clock);
  ++state.openGroup;
}

void warpgroupWait(Warp &warp, const Op &op) {
  if (!allTogether(warp, op, "wgmma.wait_group"))
    return;
  NvidiaWarpState &state = *warp.nvidia;
  while (state.groupClocks.size() > static_cast<size_t>(op.imm)) {
    uint32_t clock = state.groupClocks.front();
    state.groupClocks.pop_front();
    ++state.doneGroups;
    if (!clock)
      continue;
    VectorClock seen(state.productAgent + 1, 0);
    seen.back() = clock;
    warp.block->ordering.acquire(warp.index, seen, 0);
  }
}

} // namespace tilejit::sim
