// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Instructions that look at a wave as a whole: reading and writing one lane, votes, counts of lanes, reductions, and
// the whole-wave modes as far as they mean something where inactive lanes compute nothing.

#include "amd/Rules.h"
#include "amd/Sized.h"
#include "core/Block.h"
#include "core/Handlers.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tilejit::sim {

namespace {

/// The value of a lane number that the instruction takes from a scalar register.
template <unsigned W> unsigned scalarLane(Warp &warp, const Op &op, Reg reg) {
  const uint32_t *lanes = warp.reg<uint32_t>(reg);
  uint32_t lane = lanes[firstLane(warp.mask)], differences = 0;
  for (unsigned l = 0; l < W; ++l)
    differences |= lanes[l] ^ lane;
  if (differences && warp.block->checks(Check::Divergence))
    forEachLane(warp.mask, [&](unsigned l) {
      if (lanes[l] != lane)
        warp.block->report(ReportKind::Divergence, op.site, warp, l,
                           "lanes ask for different lanes (" + std::to_string(lane) + " and " +
                               std::to_string(lanes[l]) + ") where the number comes from a scalar register",
                           "make the lane number uniform with readfirstlane, or use ds_bpermute");
    });
  return lane % W;
}

/// d = a of lane b.
struct ReadLane {
  template <unsigned W, class T> static void run(Warp &warp, const Op &op) {
    T value = warp.reg<T>(op.a)[scalarLane<W>(warp, op, op.b)];
    map<W>(warp.mask, warp.reg<T>(op.d), [&](unsigned) { return value; });
  }
};

/// d = a of the first active lane.
struct ReadFirstLane {
  template <unsigned W, class T> static void run(Warp &warp, const Op &op) {
    T value = warp.uniform<T>(op.a);
    map<W>(warp.mask, warp.reg<T>(op.d), [&](unsigned) { return value; });
  }
};

/// d = c with lane b replaced by a.
struct WriteLane {
  template <unsigned W, class T> static void run(Warp &warp, const Op &op) {
    unsigned lane = scalarLane<W>(warp, op, op.b);
    T value = warp.uniform<T>(op.a);
    const T *old = warp.reg<T>(op.c);
    alignas(64) T all[W];
    for (unsigned l = 0; l < W; ++l)
      all[l] = old[l];
    all[lane] = value;
    // The lane is written whether or not it is active.
    blend<W>(warp.reg<T>(op.d), all, warp.mask | LaneMask(1) << lane);
  }
};

/// d = a; imm: whole-wave mode, which needs all lanes.
struct Copy {
  template <unsigned W, class T> static void run(Warp &warp, const Op &op) {
    if (op.imm && warp.mask != allLanes<W> && warp.block->checks(Check::Divergence))
      warp.block->report(ReportKind::Divergence, op.site, warp, firstLane(~warp.mask & allLanes<W>),
                         "whole-wave code with a lane that is not active, for which nothing was computed",
                         "this simulator computes active lanes only: run the code with whole waves");
    const T *from = warp.reg<T>(op.a);
    map<W>(warp.mask, warp.reg<T>(op.d), [&](unsigned l) { return from[l]; });
  }
};

/// d = a, in inactive lanes b.
struct SetInactive {
  template <unsigned W, class T> static void run(Warp &warp, const Op &op) {
    const T *active = warp.reg<T>(op.a), *inactive = warp.reg<T>(op.b);
    T fill = inactive[firstLane(warp.mask)];
    map<W>(allLanes<W>, warp.reg<T>(op.d), [&](unsigned l) { return warp.mask >> l & 1 ? active[l] : fill; });
  }
};

template <class F> void eachScalar(Call &call, std::initializer_list<unsigned> arguments, int64_t imm = 0) {
  const Regs out = call.results();
  for (size_t i = 0; i < out.size(); ++i) {
    Reg in[3] = {};
    unsigned count = 0;
    for (unsigned argument : arguments) {
      const Regs regs = call.regs(argument);
      in[count++] = regs[std::min(i, regs.size() - 1)];
    }
    Handler handler = sizedHandler<F>(call.decoder, call.decoder.kindOfReg(out[i]));
    if (count == 1)
      call.decoder.emit(handler, out[i], {in[0]}, imm);
    else if (count == 2)
      call.decoder.emit(handler, out[i], {in[0], in[1]}, imm);
    else
      call.decoder.emit(handler, out[i], {in[0], in[1], in[2]}, imm);
  }
}

/// d (I32 or I64) = lanes where a holds.
template <unsigned W, class T> void ballotAs(Warp &warp, const Op &op) {
  auto lanes = static_cast<T>(maskOf<W>(warp.reg<uint8_t>(op.a)) & warp.mask);
  map<W>(warp.mask, warp.reg<T>(op.d), [&](unsigned) { return lanes; });
}
Handler ballotHandler(Decoder &decoder, Reg result) {
  return decoder.kindOfReg(result) == Kind::I64 ? decoder.pick(ballotAs<32, uint64_t>, ballotAs<64, uint64_t>)
                                                : decoder.pick(ballotAs<32, uint32_t>, ballotAs<64, uint32_t>);
}

void ballotRule(Call &call) {
  Reg result = call.result();
  if (call.decoder.width() == 64 && sizeOf(call.decoder.kindOfReg(result)) < 8)
    return call.decoder.fail(llvm::Twine(call.name) + " has fewer bits than a wave has lanes");
  call.decoder.emit(ballotHandler(call.decoder, result), result, {call.reg(0)});
}

/// llvm.amdgcn.icmp, fcmp: a comparison and a ballot.
void compareRule(Call &call) {
  Decoder &decoder = call.decoder;
  int64_t test = call.constant(2);
  bool integers = isNamed(shortName(call), "icmp");
  Reg flag = decoder.newReg(Kind::I1), result = call.result();
  if (integers ? test < 32 || test > 41 : test < 0 || test > 15)
    return decoder.fail(llvm::Twine(call.name) + " has no comparison " + llvm::Twine(test));
  Handler handler = integers ? integerTestHandler(static_cast<IntegerTest>(test - 32), call.kind(0), decoder.width())
                             : floatTestHandler(static_cast<unsigned>(test), call.kind(0), decoder.width());
  decoder.emit(handler, flag, {call.reg(0), call.reg(1)});
  decoder.emit(ballotHandler(decoder, result), result, {flag});
}

/// d (I1) = the lane's bit of a.
template <unsigned W, class T> void inverseBallot(Warp &warp, const Op &op) {
  T lanes = warp.uniform<T>(op.a);
  map<W>(warp.mask, warp.reg<uint8_t>(op.d),
         [&](unsigned l) { return static_cast<uint8_t>(l < 8 * sizeof(T) ? lanes >> l & 1 : 0); });
}
void inverseBallotRule(Call &call) {
  bool wide = call.kind(0) == Kind::I64;
  Decoder &d = call.decoder;
  d.emit(wide ? d.pick(inverseBallot<32, uint64_t>, inverseBallot<64, uint64_t>)
              : d.pick(inverseBallot<32, uint32_t>, inverseBallot<64, uint32_t>),
         call.result(), {call.reg(0)});
}

/// d = b + number of bits of a that belong to lower lanes; imm: the first lane of the half.
template <unsigned W> void countBelow(Warp &warp, const Op &op) {
  const uint32_t *lanes = warp.reg<uint32_t>(op.a), *base = warp.reg<uint32_t>(op.b);
  auto first = static_cast<unsigned>(op.imm);
  map<W>(warp.mask, warp.reg<uint32_t>(op.d), [&](unsigned l) {
    uint32_t below = l <= first ? 0 : l - first >= 32 ? ~0u : (1u << (l - first)) - 1;
    return base[l] + static_cast<uint32_t>(__builtin_popcount(lanes[l] & below));
  });
}
void mbcntRule(Call &call) {
  call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(countBelow)), call.result(), {call.reg(0), call.reg(1)},
                    call.name.ends_with("hi") ? 32 : 0);
}

/// d (I1): a holds in some lane of the quad.
template <unsigned W> void quadVote(Warp &warp, const Op &op) {
  LaneMask votes = maskOf<W>(warp.reg<uint8_t>(op.a)) & warp.mask;
  map<W>(warp.mask, warp.reg<uint8_t>(op.d),
         [&](unsigned l) { return static_cast<uint8_t>(votes >> (l & ~3u) & 15 ? 1 : 0); });
}

// --- Reductions ------------------------------------------------------------------------------------------------------

template <class T> T keepLess(T a, T b) { return b < a ? b : a; }
template <class T> T keepMore(T a, T b) { return a < b ? b : a; }

struct ReduceAdd {
  template <class T> static T join(T a, T b) { return a + b; }
};
struct ReduceAnd {
  template <class T> static T join(T a, T b) { return a & b; }
};
struct ReduceOr {
  template <class T> static T join(T a, T b) { return a | b; }
};
struct ReduceXor {
  template <class T> static T join(T a, T b) { return a ^ b; }
};
struct ReduceMin {
  template <class T> static T join(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmin(a, b);
    else
      return keepLess(a, b);
  }
};
struct ReduceMax {
  template <class T> static T join(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmax(a, b);
    else
      return keepMore(a, b);
  }
};

/// d = the join of a over the active lanes; imm 1: negated (a sum that is subtracted from 0).
template <class F, unsigned W, class T> void reduce(Warp &warp, const Op &op) {
  const T *from = warp.reg<T>(op.a);
  LaneMask rest = warp.mask;
  T value = from[firstLane(rest)];
  forEachLane(rest & (rest - 1), [&](unsigned l) { value = F::template join<T>(value, from[l]); });
  if (op.imm)
    value = static_cast<T>(T(0) - value);
  map<W>(warp.mask, warp.reg<T>(op.d), [&](unsigned) { return value; });
}

template <class F, class Narrow, class Wide> void emitReduce(Call &call, bool negate) {
  Decoder &d = call.decoder;
  Kind kind = call.kind(0);
  if (sizeOf(kind) != 4 && sizeOf(kind) != 8)
    return d.fail(llvm::Twine("unsupported type of ") + call.name);
  d.emit(sizeOf(kind) == 8 ? d.pick(reduce<F, 32, Wide>, reduce<F, 64, Wide>)
                           : d.pick(reduce<F, 32, Narrow>, reduce<F, 64, Narrow>),
         call.result(), {call.reg(0)}, negate);
}

using ReduceRule = void (*)(Call &call, bool negate);
struct ReduceRow {
  const char *name;
  ReduceRule emit;
  bool negate;
};
constexpr ReduceRow reductions[] = {
    {"umin", emitReduce<ReduceMin, uint32_t, uint64_t>, false},
    {"fmin", emitReduce<ReduceMin, float, double>, false},
    {"min", emitReduce<ReduceMin, int32_t, int64_t>, false},
    {"umax", emitReduce<ReduceMax, uint32_t, uint64_t>, false},
    {"fmax", emitReduce<ReduceMax, float, double>, false},
    {"max", emitReduce<ReduceMax, int32_t, int64_t>, false},
    {"add", emitReduce<ReduceAdd, uint32_t, uint64_t>, false},
    {"fadd", emitReduce<ReduceAdd, float, double>, false},
    {"sub", emitReduce<ReduceAdd, uint32_t, uint64_t>, true},
    {"fsub", emitReduce<ReduceAdd, float, double>, true},
    {"and", emitReduce<ReduceAnd, uint32_t, uint64_t>, false},
    {"or", emitReduce<ReduceOr, uint32_t, uint64_t>, false},
    {"xor", emitReduce<ReduceXor, uint32_t, uint64_t>, false},
};
void reduceRule(Call &call) {
  llvm::StringRef name = shortName(call).drop_front(12); // "wave.reduce."
  for (const ReduceRow &row : reductions)
    if (isNamed(name, row.name))
      return row.emit(call, row.negate);
  call.decoder.fail(llvm::Twine("unsupported reduction ") + call.name);
}

// --- Masks in scalar registers
// ----------------------------------------------------------------------------------------

struct QuadMask {
  template <unsigned W, class T> static void run(Warp &warp, const Op &op) {
    const T *from = warp.reg<T>(op.a);
    map<W>(warp.mask, warp.reg<T>(op.d), [&](unsigned l) {
      T result = 0;
      for (unsigned quad = 0; quad < 2 * sizeof(T); ++quad) {
        bool some = from[l] >> (4 * quad) & 15;
        if (op.imm)
          result |= static_cast<T>(some ? T(15) << (4 * quad) : 0);
        else
          result |= static_cast<T>(T(some) << quad);
      }
      return result;
    });
  }
};

template <unsigned W> void replicateBits(Warp &warp, const Op &op) {
  const uint32_t *from = warp.reg<uint32_t>(op.a);
  map<W>(warp.mask, warp.reg<uint64_t>(op.d), [&](unsigned l) {
    uint64_t result = 0;
    for (unsigned bit = 0; bit < 32; ++bit)
      result |= (from[l] >> bit & 1) * (uint64_t(3) << (2 * bit));
    return result;
  });
}

} // namespace

void addAmdLaneRules(Rules &rules) {
  rules.callPrefix("llvm.amdgcn.readlane.", [](Call &call) { eachScalar<ReadLane>(call, {0, 1}); });
  rules.callPrefix("llvm.amdgcn.readfirstlane.", [](Call &call) { eachScalar<ReadFirstLane>(call, {0}); });
  rules.callPrefix("llvm.amdgcn.writelane.", [](Call &call) { eachScalar<WriteLane>(call, {0, 1, 2}); });
  rules.callPrefix("llvm.amdgcn.ballot.", ballotRule);
  rules.callPrefix("llvm.amdgcn.inverse.ballot.", inverseBallotRule);
  rules.callPrefix("llvm.amdgcn.icmp.", compareRule);
  rules.callPrefix("llvm.amdgcn.fcmp.", compareRule);
  rules.call("llvm.amdgcn.mbcnt.lo", mbcntRule);
  rules.call("llvm.amdgcn.mbcnt.hi", mbcntRule);
  rules.callPrefix("llvm.amdgcn.wave.reduce.", reduceRule);
  for (const char *name : {"wqm.", "softwqm.", "strict.wqm."})
    rules.callPrefix(std::string("llvm.amdgcn.") + name, [](Call &call) { eachScalar<Copy>(call, {0}); });
  for (const char *name : {"wwm.", "strict.wwm."})
    rules.callPrefix(std::string("llvm.amdgcn.") + name, [](Call &call) { eachScalar<Copy>(call, {0}, 1); });
  rules.callPrefix("llvm.amdgcn.set.inactive.", [](Call &call) { eachScalar<SetInactive>(call, {0, 1}); });
  rules.call("llvm.amdgcn.wqm.vote", [](Call &call) {
    call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(quadVote)), call.result(), {call.reg(0)});
  });
  rules.callPrefix("llvm.amdgcn.s.quadmask.", [](Call &call) { eachScalar<QuadMask>(call, {0}); });
  rules.callPrefix("llvm.amdgcn.s.wqm.", [](Call &call) { eachScalar<QuadMask>(call, {0}, 1); });
  rules.call("llvm.amdgcn.s.bitreplicate", [](Call &call) {
    call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(replicateBits)), call.result(), {call.reg(0)});
  });
}

} // namespace tilejit::sim
