// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the lanes of an NVIDIA warp do together, by intrinsics and by assembly. Lanes of one group may name different
// members (sets that match.any found): each set works for itself.

#include "nvidia/Lanes.h"

#include "nvidia/Capability.h"
#include "nvidia/Ptx.h"

#include <algorithm>
#include <limits>

namespace tilejit::sim {

namespace {

constexpr unsigned width = 32;
// What a lane gets that reads from one that takes no part: no number that a kernel would compute.
constexpr uint32_t poison = 0xbdbdbdbd;

uint32_t mask32(LaneMask mask) { return static_cast<uint32_t>(mask); }

/// Calls f(lanes, members) for each set of active lanes with the same member mask.
template <class F> void forEachSet(Warp &warp, Reg members, F f) {
  const uint32_t *member = warp.reg<uint32_t>(members);
  for (uint32_t left = mask32(warp.mask); left;) {
    uint32_t set = member[firstLane(left)];
    uint32_t lanes = mask32(lanesWhere<width>([&](unsigned l) { return member[l] == set; })) & left;
    f(lanes, set);
    left &= ~lanes;
  }
}

uint32_t where(Warp &warp, Reg predicate) { return mask32(maskOf<width>(warp.reg<uint8_t>(predicate)) & warp.mask); }

// --- Shuffles -------------------------------------------------------------------------------------------------------

enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };

void reportMissingSource(Warp &warp, const Op &op, unsigned lane, unsigned source) {
  if (warp.block->checks(Check::Divergence))
    warp.block->report(ReportKind::Divergence, op.site, warp, lane,
                       "shuffle from lane " + std::to_string(source) + ", which takes no part,",
                       "let the source lane execute the shuffle and name it in the member mask");
}

/// out: value, or value and predicate; in: value, lane or distance, clamp and segment mask, members; imm: Shuffle.
void shuffle(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  if (!meetMembers(warp, op, x.in[3]))
    return;
  auto mode = static_cast<Shuffle>(op.imm);
  const uint32_t *value = warp.reg<uint32_t>(x.in[0]), *by = warp.reg<uint32_t>(x.in[1]);
  const uint32_t *clamp = warp.reg<uint32_t>(x.in[2]);
  alignas(64) uint32_t source[width], result[width];
  alignas(64) uint8_t inRange[width];
  for (unsigned l = 0; l < width; ++l) {
    uint32_t segment = clamp[l] >> 8 & 31, first = l & segment, distance = by[l] & 31;
    uint32_t last = first | (clamp[l] & 31 & ~segment);
    uint32_t from = mode == Shuffle::Up          ? l - distance
                    : mode == Shuffle::Down      ? l + distance
                    : mode == Shuffle::Butterfly ? l ^ distance
                                                 : first | (distance & ~segment);
    bool ok = mode == Shuffle::Up ? static_cast<int32_t>(from) >= static_cast<int32_t>(last)
                                  : static_cast<int32_t>(from) <= static_cast<int32_t>(last);
    inRange[l] = ok;
    source[l] = ok ? from & 31 : l;
  }
  for (unsigned l = 0; l < width; ++l)
    result[l] = value[source[l]];
  if (mask32(warp.mask) != ~0u)
    forEachLane(warp.mask, [&](unsigned l) {
      if ((warp.mask >> source[l]) & 1)
        return;
      result[l] = poison;
      // Sums by distance read past the last lane and drop what they get; other ways to get there are mistakes.
      if (mode == Shuffle::Butterfly || mode == Shuffle::Index)
        reportMissingSource(warp, op, l, source[l]);
    });
  blend<width>(warp.reg<uint32_t>(x.out[0]), result, warp.mask);
  if (x.out.size() > 1)
    blend<width>(warp.reg<uint8_t>(x.out[1]), inRange, warp.mask);
}

// --- Votes and matches ----------------------------------------------------------------------------------------------

enum class Vote : uint8_t { All, Any, Uniform, Ballot };

/// out: predicate or ballot; in: predicate, members; imm: Vote.
void vote(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  if (!meetMembers(warp, op, x.in[1]))
    return;
  uint32_t set = where(warp, x.in[0]);
  auto mode = static_cast<Vote>(op.imm);
  forEachSet(warp, x.in[1], [&](uint32_t lanes, uint32_t members) {
    uint32_t present = members & mask32(warp.mask), yes = set & present;
    if (mode == Vote::Ballot)
      return map<width>(lanes, warp.reg<uint32_t>(x.out[0]), [&](unsigned) { return yes; });
    bool result = mode == Vote::Any ? yes != 0 : mode == Vote::All ? yes == present : yes == present || yes == 0;
    map<width>(lanes, warp.reg<uint8_t>(x.out[0]), [&](unsigned) -> uint8_t { return result; });
  });
}

/// out: lanes with the same value; in: value, members.
template <class T> void matchAny(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  if (!meetMembers(warp, op, x.in[1]))
    return;
  const T *value = warp.reg<T>(x.in[0]);
  const uint32_t *members = warp.reg<uint32_t>(x.in[1]);
  alignas(64) uint32_t same[width];
  for (unsigned l = 0; l < width; ++l)
    same[l] = mask32(lanesWhere<width>([&](unsigned o) { return value[o] == value[l]; }) & warp.mask) & members[l];
  blend<width>(warp.reg<uint32_t>(x.out[0]), same, warp.mask);
}

/// out: members when all have the same value, else 0; and whether they have. In: value, members.
template <class T> void matchAll(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  if (!meetMembers(warp, op, x.in[1]))
    return;
  const T *value = warp.reg<T>(x.in[0]);
  forEachSet(warp, x.in[1], [&](uint32_t lanes, uint32_t members) {
    uint32_t present = members & mask32(warp.mask);
    T first = value[firstLane(lanes)];
    bool all = true;
    forEachLane(present, [&](unsigned l) { all &= value[l] == first; });
    map<width>(lanes, warp.reg<uint32_t>(x.out[0]), [&](unsigned) { return all ? present : 0; });
    if (x.out.size() > 1)
      map<width>(lanes, warp.reg<uint8_t>(x.out[1]), [&](unsigned) -> uint8_t { return all; });
  });
}

/// out: the elected lane, whether this lane is it (either may be absent: offsets[i] says which); in: members.
void elect(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  if (!meetMembers(warp, op, x.in[0]))
    return;
  forEachSet(warp, x.in[0], [&](uint32_t lanes, uint32_t members) {
    unsigned leader = firstLane(members & mask32(warp.mask) ? members & mask32(warp.mask) : lanes);
    map<width>(lanes, warp.reg<uint32_t>(x.out[0]), [&](unsigned) { return leader; });
    map<width>(lanes, warp.reg<uint8_t>(x.out[1]), [&](unsigned l) -> uint8_t { return l == leader; });
  });
}

void activeMask(Warp &warp, const Op &op) {
  uint32_t mask = mask32(warp.mask);
  map<width>(warp.mask, warp.reg<uint32_t>(op.d), [&](unsigned) { return mask; });
}

// --- Reductions -----------------------------------------------------------------------------------------------------

enum class Reduction : uint8_t { Add, MinSigned, MaxSigned, MinUnsigned, MaxUnsigned, And, Or, Xor };

uint32_t combine(Reduction reduction, uint32_t a, uint32_t b) {
  auto signedA = static_cast<int32_t>(a), signedB = static_cast<int32_t>(b);
  switch (reduction) {
  case Reduction::Add:
    return a + b;
  case Reduction::MinSigned:
    return signedA < signedB ? a : b;
  case Reduction::MaxSigned:
    return signedA > signedB ? a : b;
  case Reduction::MinUnsigned:
    return std::min(a, b);
  case Reduction::MaxUnsigned:
    return std::max(a, b);
  case Reduction::And:
    return a & b;
  case Reduction::Or:
    return a | b;
  case Reduction::Xor:
    return a ^ b;
  }
  return 0;
}

/// out: the members' values combined; in: value, members; imm: Reduction.
void reduce(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  if (!meetMembers(warp, op, x.in[1]))
    return;
  const uint32_t *value = warp.reg<uint32_t>(x.in[0]);
  alignas(64) uint32_t result[width] = {};
  forEachSet(warp, x.in[1], [&](uint32_t lanes, uint32_t members) {
    uint32_t present = members & mask32(warp.mask);
    uint32_t total = value[firstLane(present ? present : lanes)];
    forEachLane(present & (present - 1),
                [&](unsigned l) { total = combine(static_cast<Reduction>(op.imm), total, value[l]); });
    forEachLane(lanes, [&](unsigned l) { result[l] = total; });
  });
  blend<width>(warp.reg<uint32_t>(x.out[0]), result, warp.mask);
}

// --- Decoding -------------------------------------------------------------------------------------------------------

template <class Mode> struct Named {
  const char *name;
  Mode mode;
};
constexpr Named<Shuffle> shuffles[] = {
    {"up", Shuffle::Up}, {"down", Shuffle::Down}, {"bfly", Shuffle::Butterfly}, {"idx", Shuffle::Index}};
constexpr Named<Vote> votes[] = {
    {"all", Vote::All}, {"any", Vote::Any}, {"uni", Vote::Uniform}, {"ballot", Vote::Ballot}};
constexpr Named<Reduction> reductions[] = {{"add", Reduction::Add},
                                           {"min", Reduction::MinSigned},
                                           {"max", Reduction::MaxSigned},
                                           {"umin", Reduction::MinUnsigned},
                                           {"umax", Reduction::MaxUnsigned},
                                           {"and", Reduction::And},
                                           {"or", Reduction::Or},
                                           {"xor", Reduction::Xor}};

template <class Mode, size_t n> const Named<Mode> *findMode(const Named<Mode> (&table)[n], llvm::StringRef name) {
  auto found = std::find_if(table, table + n, [&](const Named<Mode> &row) { return name == row.name; });
  return found == table + n ? nullptr : found;
}

void emitReduction(Decoder &decoder, Reg d, Reg value, Reg members, Reduction reduction) {
  if (needsChip(decoder, 80, "redux.sync"))
    decoder.emitWide(reduce, {d}, {value, members}, static_cast<int64_t>(reduction));
}

void emitElect(Decoder &decoder, Reg leader, Reg chosen, Reg members) {
  if (needsChip(decoder, 90, "elect.sync"))
    decoder.emitWide(elect, {leader, chosen}, {members});
}

/// llvm.nvvm.shfl.sync.MODE.TYPE: members, value, lane, clamp.
template <Shuffle mode> void shuffleCall(Call &call) {
  call.decoder.emitWide(shuffle, call.results(), {call.reg(1), call.reg(2), call.reg(3), call.reg(0)},
                        static_cast<int64_t>(mode));
}
/// llvm.nvvm.vote.MODE.sync: members, predicate.
template <Vote mode> void voteCall(Call &call) {
  call.decoder.emitWide(vote, call.results(), {call.reg(1), call.reg(0)}, static_cast<int64_t>(mode));
}
void matchCall(Call &call) {
  bool wide = sizeOf(call.kind(1)) == 8;
  Handler any = wide ? matchAny<uint64_t> : matchAny<uint32_t>, all = wide ? matchAll<uint64_t> : matchAll<uint32_t>;
  call.decoder.emitWide(call.name.contains(".any.") ? any : all, call.results(), {call.reg(1), call.reg(0)});
}
void reduceCall(Call &call) {
  llvm::StringRef mode = call.name;
  mode.consume_front("llvm.nvvm.redux.sync.");
  if (const auto *row = findMode(reductions, mode))
    return emitReduction(call.decoder, call.result(), call.reg(0), call.reg(1), row->mode);
  call.decoder.fail("'" + call.name + "' needs sm_100a, this is " + llvm::StringRef(call.decoder.chip().info.name));
}

/// Registers of a result written d or d|p; one that is not wanted is a fresh one.
struct Results {
  Reg value, predicate;
  bool hasPredicate;
};
Results resultsOf(AsmStatement &statement, Kind kind) {
  Decoder &decoder = statement.decoder;
  auto one = [&](const AsmOperand &operand, Kind wanted) {
    return decoder.asmRegister(operand, wanted, statement.text);
  };
  const AsmOperand &d = statement.operands[0];
  if (d.form == AsmOperand::Form::Group && d.parts.size() == 2)
    return {one(d.parts[0], kind), one(d.parts[1], Kind::I1), true};
  return {one(d, kind), 0, false};
}

bool expectOperands(AsmStatement &statement, unsigned count) {
  if (statement.operands.size() == count)
    return true;
  statement.decoder.fail("malformed assembly: '" + statement.text + "' must have " + llvm::Twine(count) + " operands");
  return false;
}

llvm::SmallVector<Reg, 2> outputs(const Results &results) {
  return results.hasPredicate ? llvm::SmallVector<Reg, 2>{results.value, results.predicate}
                              : llvm::SmallVector<Reg, 2>{results.value};
}

/// shfl.sync.MODE.b32 d|p, value, lane, clamp, members.
void shuffleStatement(AsmStatement &s) {
  const auto *mode = s.words.size() > 2 ? findMode(shuffles, s.words[2]) : nullptr;
  if (!mode || s.words[1] != "sync")
    return unsupportedStatement(s);
  if (!expectOperands(s, 5))
    return;
  llvm::SmallVector<Reg, 4> in;
  for (unsigned i = 1; i < 5; ++i)
    in.push_back(s.reg(i, Kind::I32));
  s.decoder.emitWide(shuffle, outputs(resultsOf(s, Kind::I32)), in, static_cast<int64_t>(mode->mode));
}
/// vote.sync.MODE.pred d, {!}p, members; vote.sync.ballot.b32.
void voteStatement(AsmStatement &s) {
  const auto *mode = s.words.size() > 2 ? findMode(votes, s.words[2]) : nullptr;
  if (!mode || s.words[1] != "sync")
    return unsupportedStatement(s);
  if (!expectOperands(s, 3))
    return;
  Results results = resultsOf(s, mode->mode == Vote::Ballot ? Kind::I32 : Kind::I1);
  s.decoder.emitWide(vote, {results.value}, {s.reg(1, Kind::I1), s.reg(2, Kind::I32)},
                     static_cast<int64_t>(mode->mode));
}
/// match.any.sync.b32 d, value, members; match.all.sync.b32 d|p, value, members.
void matchStatement(AsmStatement &s) {
  if (s.words.size() != 4 || s.words[2] != "sync" || (s.words[1] != "any" && s.words[1] != "all"))
    return unsupportedStatement(s);
  if (!expectOperands(s, 3))
    return;
  bool wide = s.words[3] == "b64";
  Handler any = wide ? matchAny<uint64_t> : matchAny<uint32_t>, all = wide ? matchAll<uint64_t> : matchAll<uint32_t>;
  s.decoder.emitWide(s.words[1] == "any" ? any : all, outputs(resultsOf(s, Kind::I32)),
                     {s.reg(1, wide ? Kind::I64 : Kind::I32), s.reg(2, Kind::I32)});
}
/// redux.sync.OP.{u32,s32,b32} d, value, members.
void reduceStatement(AsmStatement &s) {
  std::string name = s.words.size() == 4 ? s.words[2].str() : "";
  if ((name == "min" || name == "max") && s.words[3] == "u32")
    name = "u" + name;
  const auto *mode = findMode(reductions, name);
  if (!mode || s.words[3] == "f32")
    return unsupportedStatement(s);
  if (expectOperands(s, 3))
    emitReduction(s.decoder, resultsOf(s, Kind::I32).value, s.reg(1, Kind::I32), s.reg(2, Kind::I32), mode->mode);
}
/// elect.sync d|p, members.
void electStatement(AsmStatement &s) {
  if (!expectOperands(s, 2))
    return;
  Results results = resultsOf(s, Kind::I32);
  if (!results.hasPredicate)
    return unsupportedStatement(s);
  emitElect(s.decoder, results.value, results.predicate, s.reg(1, Kind::I32));
}

} // namespace

bool meetMembers(Warp &warp, const Op &op, Reg members) {
  const uint32_t *member = warp.reg<uint32_t>(members);
  uint32_t expected = 0, own = 0;
  for (unsigned l = 0; l < width; ++l) {
    uint32_t active = mask32(warp.mask) >> l & 1;
    expected |= active ? member[l] : 0;
    own |= (member[l] >> l & active) << l;
  }
  if (!warp.block->meet(warp, expected, true))
    return false;
  if (LaneMask missing = expected & warp.live & ~warp.mask; missing && warp.block->checks(Check::Divergence))
    warp.block->report(ReportKind::Divergence, op.site, warp, firstLane(missing),
                       "a lane that the member mask names does not come: waited for",
                       "let all lanes of the mask execute the instruction, or take the missing ones out of the mask");
  if (uint32_t outside = mask32(warp.mask) & ~own; outside && warp.block->checks(Check::Divergence))
    warp.block->report(ReportKind::Divergence, op.site, warp, firstLane(outside),
                       "instruction whose member mask does not name the lane executed",
                       "the mask must name every lane that executes the instruction");
  return true;
}

uint32_t uniformOperand(Warp &warp, const Op &op, Reg reg, std::string_view what) {
  const uint32_t *value = warp.reg<uint32_t>(reg);
  uint32_t first = value[firstLane(warp.mask)];
  uint32_t others = mask32(lanesWhere<width>([&](unsigned l) { return value[l] != first; }) & warp.mask);
  if (others && warp.block->checks(Check::Divergence))
    warp.block->report(ReportKind::Divergence, op.site, warp, firstLane(others),
                       std::string(what) + " differs between the lanes of a warp:");
  return first;
}

void addNvidiaLaneRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.shfl.sync.up.", shuffleCall<Shuffle::Up>);
  rules.callPrefix("llvm.nvvm.shfl.sync.down.", shuffleCall<Shuffle::Down>);
  rules.callPrefix("llvm.nvvm.shfl.sync.bfly.", shuffleCall<Shuffle::Butterfly>);
  rules.callPrefix("llvm.nvvm.shfl.sync.idx.", shuffleCall<Shuffle::Index>);
  rules.call("llvm.nvvm.vote.all.sync", voteCall<Vote::All>);
  rules.call("llvm.nvvm.vote.any.sync", voteCall<Vote::Any>);
  rules.call("llvm.nvvm.vote.uni.sync", voteCall<Vote::Uniform>);
  rules.call("llvm.nvvm.vote.ballot.sync", voteCall<Vote::Ballot>);
  rules.callPrefix("llvm.nvvm.match.any.sync.", matchCall);
  rules.callPrefix("llvm.nvvm.match.all.sync.", matchCall);
  rules.callPrefix("llvm.nvvm.redux.sync.", reduceCall);
  rules.call("llvm.nvvm.elect.sync", [](Call &call) {
    const Regs &results = call.results();
    emitElect(call.decoder, results[0], results[1], call.reg(0));
  });
  rules.call("llvm.nvvm.activemask", [](Call &call) { call.decoder.emit(activeMask, call.result(), {}); });

  rules.assembly("shfl", shuffleStatement);
  rules.assembly("vote", voteStatement);
  rules.assembly("match", matchStatement);
  rules.assembly("redux", reduceStatement);
  rules.assembly("elect.sync", electStatement);
  rules.assembly("activemask", [](AsmStatement &s) {
    if (expectOperands(s, 1))
      s.decoder.emit(activeMask, resultsOf(s, Kind::I32).value, {});
  });
}

} // namespace tilejit::sim
