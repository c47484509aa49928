// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Who am I: numbers of work-items, waves and work-groups, and pointers to what the kernel was started with.

#include "amd/Launch.h"
#include "amd/Rules.h"
#include "amd/State.h"
#include "core/Block.h"

namespace tilejit::sim {

namespace {

/// d (I32) = the lane's position in the block along dimension imm.
template <unsigned W> void workItem(Warp &warp, const Op &op) {
  const uint32_t *size = warp.block->launch().request->block;
  uint32_t first = warp.thread(0);
  auto *d = warp.reg<uint32_t>(op.d);
  if (op.imm == 0 && size[0] >= first + W)
    return map<W>(warp.mask, d, [&](unsigned l) { return first + l; });
  switch (op.imm) {
  case 0:
    return map<W>(warp.mask, d, [&](unsigned l) { return (first + l) % size[0]; });
  case 1:
    return map<W>(warp.mask, d, [&](unsigned l) { return (first + l) / size[0] % size[1]; });
  default:
    return map<W>(warp.mask, d, [&](unsigned l) { return (first + l) / size[0] / size[1]; });
  }
}

/// What is the same for a whole wave.
enum class WaveValue : int64_t {
  GroupX,
  GroupY,
  GroupZ,
  Wave, ///< In the block.
  StaticLds,
  Hidden, ///< Pointers.
  Arguments,
  Dispatch,
  Queue,
  Zero,
};

uint64_t valueOf(const Warp &warp, WaveValue value) {
  const LaunchState &launch = warp.block->launch();
  switch (value) {
  case WaveValue::GroupX:
  case WaveValue::GroupY:
  case WaveValue::GroupZ:
    return warp.block->blockOf(warp).index[static_cast<unsigned>(value)];
  case WaveValue::Wave:
    return warp.place;
  case WaveValue::StaticLds:
    return launch.program->staticShared;
  case WaveValue::Hidden:
    return launch.amdHidden;
  case WaveValue::Arguments:
    return launch.amdArguments;
  case WaveValue::Dispatch:
    return launch.amdHidden + hiddenBytes;
  case WaveValue::Queue:
    return launch.amdHidden + hiddenBytes + dispatchBytes;
  case WaveValue::Zero:
    return 0;
  }
  return 0;
}

template <unsigned W, class T> void waveValue(Warp &warp, const Op &op) {
  auto value = static_cast<T>(valueOf(warp, static_cast<WaveValue>(op.imm)));
  map<W>(warp.mask, warp.reg<T>(op.d), [&](unsigned) { return value; });
}

/// d (I64) = a clock that goes on with every instruction and every look at it.
template <unsigned W> void readClock(Warp &warp, const Op &op) {
  uint64_t executed = warp.block->options().instructionBudget - warp.budget;
  uint64_t now = std::max(executed * 4, warp.amd->clock + 4);
  warp.amd->clock = now;
  map<W>(warp.mask, warp.reg<uint64_t>(op.d), [&](unsigned) { return now; });
}

/// d (I1): pointer a lies in the window of shared (imm 0) or private memory.
template <unsigned W> void isInWindow(Warp &warp, const Op &op) {
  const uint64_t *pointer = warp.reg<uint64_t>(op.a);
  Space wanted = op.imm ? Space::Local : Space::Shared;
  map<W>(warp.mask, warp.reg<uint8_t>(op.d), [&](unsigned l) -> uint8_t { return spaceOf(pointer[l]) == wanted; });
}

/// d (I32) = bits of a hardware register: only MODE is there, everything else reads 0. imm as s_getreg has it.
struct HardwareRegister {
  unsigned id, offset, mask;
  explicit HardwareRegister(int64_t imm)
      : id(imm & 63), offset(imm >> 6 & 31), mask(static_cast<unsigned>((uint64_t(2) << (imm >> 11 & 31)) - 1)) {}
};
constexpr unsigned modeRegister = 1;

template <unsigned W> void getRegister(Warp &warp, const Op &op) {
  HardwareRegister which(op.imm);
  uint32_t value = which.id == modeRegister ? warp.amd->mode >> which.offset & which.mask : 0;
  map<W>(warp.mask, warp.reg<uint32_t>(op.d), [&](unsigned) { return value; });
}
template <unsigned W> void setRegister(Warp &warp, const Op &op) {
  HardwareRegister which(op.imm);
  if (which.id != modeRegister)
    return;
  uint32_t field = which.mask << which.offset;
  warp.amd->mode = (warp.amd->mode & ~field) | (warp.uniform<uint32_t>(op.a) << which.offset & field);
}

struct ValueRow {
  const char *name;
  WaveValue value;
};
constexpr ValueRow values[] = {
    {"workgroup.id.x", WaveValue::GroupX},  {"workgroup.id.y", WaveValue::GroupY},
    {"workgroup.id.z", WaveValue::GroupZ},  {"s.get.waveid.in.workgroup", WaveValue::Wave},
    {"wave.id", WaveValue::Wave},           {"groupstaticsize", WaveValue::StaticLds},
    {"implicitarg.ptr", WaveValue::Hidden}, {"kernarg.segment.ptr", WaveValue::Arguments},
    {"dispatch.ptr", WaveValue::Dispatch},  {"queue.ptr", WaveValue::Queue},
    {"dispatch.id", WaveValue::Zero},       {"s.getpc", WaveValue::Zero},
    {"lds.kernel.id", WaveValue::Zero},
};

void valueRule(Call &call) {
  Decoder &d = call.decoder;
  for (const ValueRow &row : values)
    if (shortName(call) == row.name) {
      Reg result = call.result();
      bool wide = sizeOf(d.kindOfReg(result)) == 8;
      d.emit(wide ? d.pick(waveValue<32, uint64_t>, waveValue<64, uint64_t>)
                  : d.pick(waveValue<32, uint32_t>, waveValue<64, uint32_t>),
             result, {}, static_cast<int64_t>(row.value));
      return;
    }
}

void workItemRule(Call &call) {
  call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(workItem)), call.result(), {}, call.name.back() - 'x');
}
void clockRule(Call &call) { call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(readClock)), call.result(), {}); }
void windowRule(Call &call) {
  call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(isInWindow)), call.result(), {call.reg(0)},
                    call.name.ends_with("private"));
}

/// The wavefront size is a constant once the width is known.
void widthRule(Call &call) {
  call.decoder.define(&call.call, {call.decoder.constant(Kind::I32, call.decoder.width())});
}

} // namespace

void addAmdIdRules(Rules &rules) {
  for (const ValueRow &row : values)
    rules.call(std::string("llvm.amdgcn.") + row.name, valueRule);
  for (const char *axis : {"x", "y", "z"})
    rules.call(std::string("llvm.amdgcn.workitem.id.") + axis, workItemRule);
  rules.call("llvm.amdgcn.wavefrontsize", widthRule);
  rules.call("llvm.amdgcn.s.memtime", clockRule);
  rules.call("llvm.amdgcn.s.memrealtime", clockRule);
  rules.call("llvm.amdgcn.is.shared", windowRule);
  rules.call("llvm.amdgcn.is.private", windowRule);
  rules.call("llvm.amdgcn.s.getreg", [](Call &call) {
    call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(getRegister)), call.result(), {}, call.constant(0));
  });
  rules.call("llvm.amdgcn.s.setreg", [](Call &call) {
    Op &op = call.decoder.emit(call.decoder.pick(TILEJIT_BOTH(setRegister)));
    op.a = call.reg(1);
    op.registers |= Op::HasA;
    op.imm = call.constant(0);
  });
}

} // namespace tilejit::sim
