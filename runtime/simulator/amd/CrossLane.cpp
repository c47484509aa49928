// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Instructions that move values between the lanes of a wave: DPP, permlane, swizzle, bpermute. All are a table of
// source lanes, constant or computed from a register, and a rule for sources that do not exist or are not active.

#include "amd/Rules.h"
#include "amd/Sized.h"
#include "core/Block.h"

#include <array>

namespace tilejit::sim {

namespace {

constexpr unsigned noLane = 255;

/// What a lane gets whose source is outside the pattern or inactive.
enum class Missing : int64_t {
  Old, ///< What the first operand has.
  Zero,
  Undefined, ///< A pattern.
};

/// Operands of a constant move, in OpOperands::numbers: rule for missing sources, whether inactive lanes may be read,
/// lanes that are written at all, then the source of each lane.
enum MoveNumber : unsigned { MoveMissing, MoveInactive, MoveWritten, MoveLanes };

template <class T> T undefinedValue() { return static_cast<T>(0xbdbdbdbdbdbdbdbdull); }

/// d = in[1] moved, over in[0].
struct Move {
  template <unsigned W, class T> static void run(Warp &warp, const Op &op) {
    const OpOperands &x = *op.x;
    const T *old = warp.reg<T>(x.in[0]), *from = warp.reg<T>(x.in[1]);
    auto missing = static_cast<Missing>(x.numbers[MoveMissing]);
    LaneMask readable = x.numbers[MoveInactive] ? allLanes<W> : warp.mask;
    auto written = static_cast<LaneMask>(x.numbers[MoveWritten]);
    const int64_t *lanes = x.numbers.data() + MoveLanes;
    alignas(64) T all[W];
    for (unsigned l = 0; l < W; ++l) {
      auto source = static_cast<unsigned>(lanes[l]);
      T fallback = missing == Missing::Old ? old[l] : missing == Missing::Zero ? T(0) : undefinedValue<T>();
      bool there = source < W && (readable >> (source % W) & 1);
      all[l] = !(written >> l & 1) ? old[l] : there ? from[source % W] : fallback;
    }
    blend<W>(warp.reg<T>(x.out[0]), all, warp.mask);
  }
};

using LaneTable = std::array<unsigned, 64>;

void emitMove(Call &call, Regs old, Regs from, const LaneTable &lanes, Missing missing, bool inactive,
              LaneMask written) {
  Decoder &decoder = call.decoder;
  const Regs out = call.results();
  for (size_t i = 0; i < out.size(); ++i) {
    Op &op = decoder.emitWide(sizedHandler<Move>(decoder, decoder.kindOfReg(out[i])), {out[i]}, {old[i], from[i]});
    std::vector<int64_t> &numbers = decoder.operandsOf(op).numbers;
    numbers = {static_cast<int64_t>(missing), inactive, static_cast<int64_t>(written)};
    for (unsigned l = 0; l < decoder.width(); ++l)
      numbers.push_back(lanes[l]);
  }
}

// --- DPP -------------------------------------------------------------------------------------------------------------

struct DppRow {
  unsigned first, last; ///< Range of control values.
  uint32_t chips;
  /// Source of lane l for control first + n in waves of w lanes; noLane: none.
  unsigned (*source)(unsigned l, unsigned n, unsigned w);
};

constexpr unsigned rowLane(unsigned l, unsigned inRow) { return (l & ~15u) + inRow; }

constexpr DppRow dppRows[] = {
    // quad_perm
    {0x000, 0x0ff, chipsAll, [](unsigned l, unsigned n, unsigned) { return (l & ~3u) + (n >> 2 * (l & 3) & 3); }},
    // row_shl: from higher lanes
    {0x101, 0x10f, chipsAll,
     [](unsigned l, unsigned n, unsigned) { return (l & 15) + n + 1 < 16 ? l + n + 1 : noLane; }},
    // row_shr: from lower lanes
    {0x111, 0x11f, chipsAll, [](unsigned l, unsigned n, unsigned) { return (l & 15) >= n + 1 ? l - n - 1 : noLane; }},
    // row_ror
    {0x121, 0x12f, chipsAll, [](unsigned l, unsigned n, unsigned) { return rowLane(l, (l - n - 1) & 15); }},
    // wave_shl:1, wave_rol:1, wave_shr:1, wave_ror:1
    {0x130, 0x130, chipsGfx9, [](unsigned l, unsigned, unsigned w) { return l + 1 < w ? l + 1 : noLane; }},
    {0x134, 0x134, chipsGfx9, [](unsigned l, unsigned, unsigned w) { return (l + 1) % w; }},
    {0x138, 0x138, chipsGfx9, [](unsigned l, unsigned, unsigned) { return l ? l - 1 : noLane; }},
    {0x13c, 0x13c, chipsGfx9, [](unsigned l, unsigned, unsigned w) { return (l + w - 1) % w; }},
    // row_mirror, row_half_mirror
    {0x140, 0x140, chipsAll, [](unsigned l, unsigned, unsigned) { return l ^ 15; }},
    {0x141, 0x141, chipsAll, [](unsigned l, unsigned, unsigned) { return l ^ 7; }},
    // row_bcast:15: the last lane of the row before; row_bcast:31: lane 31
    {0x142, 0x142, chipsGfx9, [](unsigned l, unsigned, unsigned) { return l > 15 ? (l & 0x30) - 1 : noLane; }},
    {0x143, 0x143, chipsGfx9, [](unsigned l, unsigned, unsigned) { return l > 31 ? 31 : noLane; }},
    // row_share (CDNA 2 and later: row_newbcast), row_xmask
    {0x150, 0x15f, chipsRdna | chipsSinceCdna2, [](unsigned l, unsigned n, unsigned) { return rowLane(l, n); }},
    {0x160, 0x16f, chipsRdna, [](unsigned l, unsigned n, unsigned) { return l ^ n; }},
};

/// Lanes that row and bank masks let through.
LaneMask maskedLanes(int64_t rows, int64_t banks) {
  LaneMask lanes = 0;
  for (unsigned l = 0; l < 64; ++l)
    if (rows >> l / 16 & 1 && banks >> (l % 16 / 4) & 1)
      lanes |= LaneMask(1) << l;
  return lanes;
}

/// update.dpp(old, source, control, rows, banks, bound control) and mov.dpp, which has no old value.
void dppRule(Call &call) {
  Decoder &decoder = call.decoder;
  bool update = isNamed(shortName(call), "update.dpp");
  unsigned at = update ? 2 : 1;
  auto control = static_cast<unsigned>(call.constant(at));
  const DppRow *found = nullptr;
  for (const DppRow &row : dppRows)
    if (control >= row.first && control <= row.last)
      found = &row;
  if (!found || !chipIsAmong(decoder, found->chips))
    return decoder.fail(llvm::Twine(call.name) + ": " + llvm::StringRef(decoder.chip().info.name) +
                        " has no DPP control 0x" + llvm::Twine::utohexstr(control));
  LaneTable lanes;
  for (unsigned l = 0; l < 64; ++l)
    lanes[l] = found->source(l, control - found->first, decoder.width());
  bool zero = call.constant(at + 3) & 1;
  Missing missing = zero ? Missing::Zero : update ? Missing::Old : Missing::Undefined;
  emitMove(call, call.regs(0), call.regs(update ? 1 : 0), lanes, missing, false,
           maskedLanes(call.constant(at + 1), call.constant(at + 2)));
}

void dpp8Rule(Call &call) {
  if (!requireChips(call, chipsRdna))
    return;
  auto selectors = static_cast<uint32_t>(call.constant(1));
  LaneTable lanes;
  for (unsigned l = 0; l < 64; ++l)
    lanes[l] = (l & ~7u) + (selectors >> 3 * (l & 7) & 7);
  emitMove(call, call.regs(0), call.regs(0), lanes, Missing::Zero, false, ~LaneMask(0));
}

void permlane64Rule(Call &call) {
  if (!requireChips(call, chipsSinceRdna3))
    return;
  LaneTable lanes;
  for (unsigned l = 0; l < 64; ++l)
    lanes[l] = call.decoder.width() == 64 ? l ^ 32 : l;
  emitMove(call, call.regs(0), call.regs(0), lanes, Missing::Undefined, true, ~LaneMask(0));
}

// --- ds_swizzle ------------------------------------------------------------------------------------------------------

void swizzleRule(Call &call) {
  Decoder &decoder = call.decoder;
  auto pattern = static_cast<uint32_t>(call.constant(1)) & 0xffff;
  bool newer = decoder.chip().generation >= Generation::Gcn5;
  LaneTable lanes;
  for (unsigned l = 0; l < 64; ++l) {
    unsigned half = l & ~31u, in = l & 31;
    if (newer && pattern >= 0xe000)
      return decoder.fail(llvm::Twine("unsupported swizzle of ") + call.name + ": pattern 0x" +
                          llvm::Twine::utohexstr(pattern) + " of a Fourier transform");
    if (newer && pattern >= 0xc000) {
      // Rotation by bits 5 to 9, to the other side if bit 10 is set; bits 0 to 4 of the lane number stay where masked.
      unsigned by = pattern >> 5 & 31, keep = pattern & 31;
      unsigned turned = (pattern >> 10 & 1 ? in - by : in + by) & 31;
      lanes[l] = half + ((in & keep) | (turned & ~keep));
    } else if (pattern & 0x8000) {
      lanes[l] = (l & ~3u) + (pattern >> 2 * (l & 3) & 3);
    } else {
      lanes[l] = half + (((in & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
    }
  }
  emitMove(call, call.regs(0), call.regs(0), lanes, Missing::Zero, false, ~LaneMask(0));
}

// --- Moves by a register
// ----------------------------------------------------------------------------------------------

/// d = b of lane a / 4. imm bit 0: only within halves of 32 lanes; bit 1: inactive lanes may be read.
template <unsigned W> void backwardPermute(Warp &warp, const Op &op) {
  const uint32_t *index = warp.reg<uint32_t>(op.a), *from = warp.reg<uint32_t>(op.b);
  LaneMask readable = op.imm & 2 ? allLanes<W> : warp.mask;
  alignas(64) uint32_t all[W];
  for (unsigned l = 0; l < W; ++l) {
    unsigned source = index[l] / 4 % W;
    if (W == 64 && op.imm & 1)
      source = (l & 32) | (source & 31);
    all[l] = readable >> source & 1 ? from[source] : 0;
  }
  blend<W>(warp.reg<uint32_t>(op.d), all, warp.mask);
}

/// Lane a / 4 of d = b; lanes that nobody writes get 0, of several writers the highest lane wins.
template <unsigned W> void forwardPermute(Warp &warp, const Op &op) {
  const uint32_t *index = warp.reg<uint32_t>(op.a), *from = warp.reg<uint32_t>(op.b);
  alignas(64) uint32_t all[W] = {};
  forEachLane(warp.mask, [&](unsigned l) {
    unsigned target = index[l] / 4 % W;
    if (W == 64 && op.imm & 1)
      target = (l & 32) | (target & 31);
    all[target] = from[l];
  });
  blend<W>(warp.reg<uint32_t>(op.d), all, warp.mask);
}

/// In waves of 64 lanes these chips permute within halves.
bool permutesHalves(const Decoder &decoder) { return chipIsAmong(decoder, chipsRdna2 | chipsRdna3); }

void bpermuteRule(Call &call) {
  bool inactive = call.name.ends_with("fi.b32");
  if (inactive && !requireChips(call, chipsRdna4))
    return;
  call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(backwardPermute)), call.result(), {call.reg(0), call.reg(1)},
                    permutesHalves(call.decoder) | (inactive ? 2 : 0));
}
void permuteRule(Call &call) {
  call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(forwardPermute)), call.result(), {call.reg(0), call.reg(1)},
                    permutesHalves(call.decoder));
}

/// d = a of lane b.
struct Shuffle {
  template <unsigned W, class T> static void run(Warp &warp, const Op &op) {
    const T *from = warp.reg<T>(op.a);
    const uint32_t *index = warp.reg<uint32_t>(op.b);
    map<W>(warp.mask, warp.reg<T>(op.d), [&](unsigned l) {
      unsigned source = index[l] % W;
      return warp.mask >> source & 1 ? from[source] : undefinedValue<T>();
    });
  }
};
void shuffleRule(Call &call) {
  const Regs out = call.results();
  for (size_t i = 0; i < out.size(); ++i)
    call.decoder.emit(sizedHandler<Shuffle>(call.decoder, call.decoder.kindOfReg(out[i])), out[i],
                      {call.regs(0)[i], call.reg(1)});
}

/// x->out = x->in[1] of the lane of the row that in[2] and in[3] (four bits for each lane; imm bit 2: in[2] has the
/// lane's own number) choose; imm bit 3: of the other row of the pair. Missing sources: imm bit 0 reads inactive lanes,
/// bit 1 gives 0, else in[0].
struct PermuteRow {
  template <unsigned W, class T> static void run(Warp &warp, const Op &op) {
    const OpOperands &x = *op.x;
    const T *old = warp.reg<T>(x.in[0]), *from = warp.reg<T>(x.in[1]);
    const uint32_t *own = warp.reg<uint32_t>(x.in[2]);
    uint32_t low = warp.uniform<uint32_t>(x.in[2]), high = warp.uniform<uint32_t>(x.in[3]);
    alignas(64) T all[W];
    for (unsigned l = 0; l < W; ++l) {
      unsigned in = l & 15, choice = op.imm & 4 ? own[l] & 15 : (in < 8 ? low >> 4 * in : high >> 4 * (in - 8)) & 15;
      unsigned source = ((l & ~15u) + choice) ^ (op.imm & 8 ? 16 : 0);
      bool there = op.imm & 1 || warp.mask >> source & 1;
      all[l] = there ? from[source] : op.imm & 2 ? T(0) : old[l];
    }
    blend<W>(warp.reg<T>(x.out[0]), all, warp.mask);
  }
};

void permuteRowRule(Call &call) {
  llvm::StringRef name = shortName(call);
  bool own = name.contains(".var"), other = name.starts_with("permlanex16");
  if (!requireChips(call, own ? chipsRdna4 : chipsRdna))
    return;
  unsigned flags = own ? 3 : 4;
  int64_t imm = (call.constant(flags) & 1) | (call.constant(flags + 1) & 1) << 1 | (own ? 4 : 0) | (other ? 8 : 0);
  const Regs out = call.results();
  for (size_t i = 0; i < out.size(); ++i) {
    Regs in{call.regs(0)[i], call.regs(1)[i], call.reg(2), call.reg(own ? 2 : 3)};
    call.decoder.emitWide(sizedHandler<PermuteRow>(call.decoder, call.decoder.kindOfReg(out[i])), {out[i]}, in, imm);
  }
}

/// Odd pieces of `imm` lanes of in[0] change places with the even pieces before them of in[1].
template <unsigned W> void swapRows(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const uint32_t *first = warp.reg<uint32_t>(x.in[0]), *second = warp.reg<uint32_t>(x.in[1]);
  auto size = static_cast<unsigned>(op.imm);
  alignas(64) uint32_t newFirst[W], newSecond[W];
  for (unsigned l = 0; l < W; ++l) {
    bool odd = l & size;
    newFirst[l] = odd ? second[l ^ size] : first[l];
    newSecond[l] = odd ? second[l] : first[l ^ size];
  }
  blend<W>(warp.reg<uint32_t>(x.out[0]), newFirst, warp.mask);
  blend<W>(warp.reg<uint32_t>(x.out[1]), newSecond, warp.mask);
}
void swapRule(Call &call) {
  if (!requireChips(call, chipsCdna4))
    return;
  Regs out = call.results(), in{call.reg(0), call.reg(1)};
  call.decoder.emitWide(call.decoder.pick(TILEJIT_BOTH(swapRows)), out, in, call.name.contains("permlane16") ? 16 : 32);
}

} // namespace

void addAmdCrossLaneRules(Rules &rules) {
  rules.callPrefix("llvm.amdgcn.update.dpp.", dppRule);
  rules.callPrefix("llvm.amdgcn.mov.dpp.", dppRule);
  rules.callPrefix("llvm.amdgcn.mov.dpp8.", dpp8Rule);
  rules.callPrefix("llvm.amdgcn.permlane64.", permlane64Rule);
  rules.call("llvm.amdgcn.ds.swizzle", swizzleRule);
  rules.call("llvm.amdgcn.ds.bpermute", bpermuteRule);
  rules.call("llvm.amdgcn.ds.bpermute.fi.b32", bpermuteRule);
  rules.call("llvm.amdgcn.ds.permute", permuteRule);
  rules.callPrefix("llvm.amdgcn.wave.shuffle.", shuffleRule);
  rules.callPrefix("llvm.amdgcn.permlane16.", permuteRowRule);
  rules.callPrefix("llvm.amdgcn.permlanex16.", permuteRowRule);
  rules.call("llvm.amdgcn.permlane16.swap", swapRule);
  rules.call("llvm.amdgcn.permlane32.swap", swapRule);
}

} // namespace tilejit::sim
