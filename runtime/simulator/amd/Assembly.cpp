// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reads inline assembly of AMD code line by line: control instructions by name, 32-bit vector arithmetic by a table.
// Anything else is an error that names the instruction.

#include "amd/Assembly.h"

#include "amd/Elementwise.h"
#include "amd/Waits.h"
#include "core/NarrowFloat.h"
#include "core/VectorMath.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tilejit::sim {

namespace {

// --- Vector instructions ---------------------------------------------------------------------------------------------

uint32_t moveBits(uint32_t a) { return a; }
uint32_t addBits(uint32_t a, uint32_t b) { return a + b; }
uint32_t subtractBits(uint32_t a, uint32_t b) { return a - b; }
uint32_t multiplyBits(uint32_t a, uint32_t b) { return a * b; }
uint32_t multiplyHigh(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t(a) * b >> 32); }
uint32_t andBits(uint32_t a, uint32_t b) { return a & b; }
uint32_t orBits(uint32_t a, uint32_t b) { return a | b; }
uint32_t xorBits(uint32_t a, uint32_t b) { return a ^ b; }
uint32_t notBits(uint32_t a) { return ~a; }
uint32_t shiftLeft(uint32_t by, uint32_t a) { return a << (by & 31); }
uint32_t shiftRight(uint32_t by, uint32_t a) { return a >> (by & 31); }
uint32_t shiftArithmetic(uint32_t by, uint32_t a) {
  return static_cast<uint32_t>(static_cast<int32_t>(a) >> (by & 31));
}
uint32_t addThree(uint32_t a, uint32_t b, uint32_t c) { return a + b + c; }
uint32_t shiftAdd(uint32_t a, uint32_t by, uint32_t c) { return (a << (by & 31)) + c; }
uint32_t andOr(uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; }
uint32_t chooseBits(uint32_t mask, uint32_t a, uint32_t b) { return (mask & a) | (~mask & b); }
uint32_t alignBits(uint32_t a, uint32_t b, uint32_t by) {
  return static_cast<uint32_t>((uint64_t(a) << 32 | b) >> (by & 31));
}
float addFloats(float a, float b) { return a + b; }
float subtractFloats(float a, float b) { return a - b; }
float multiplyFloats(float a, float b) { return a * b; }
float smallerFloat(float a, float b) { return std::fmin(a, b); }
float largerFloat(float a, float b) { return std::fmax(a, b); }
float fuseFloats(float a, float b, float c) { return std::fma(a, b, c); }
float largestFloat(float a, float b, float c) { return std::fmax(std::fmax(a, b), c); }
float powerOfTwo(float a) { return lane::exp2(a); }
float logarithm(float a) { return lane::log2(a); }
float reciprocal(float a) { return static_cast<float>(1.0 / a); }
float reciprocalRoot(float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); }
float squareRoot(float a) { return std::sqrt(a); }
float roundFloat(float a) { return std::rint(a); }
float floorFloat(float a) { return std::floor(a); }
uint32_t toHalf(float a) { return floatToF16(a); }
float fromHalf(uint32_t a) { return f16ToFloat(static_cast<uint16_t>(a)); }
uint32_t packBf16(float a, float b) { return floatToBf16(a) | uint32_t(floatToBf16(b)) << 16; }
uint32_t packTruncated(float a, float b) {
  return encodeFloat(formatF16, a, Rounding::Zero) | encodeFloat(formatF16, b, Rounding::Zero) << 16;
}

struct VectorRow {
  const char *name;
  HandlerPair handlers;
  unsigned sources;
  uint32_t chips = chipsAll;
};
constexpr VectorRow vectorRows[] = {
    {"v_mov_b32", lanesOf<moveBits>, 1},
    {"s_mov_b32", lanesOf<moveBits>, 1},
    {"v_accvgpr_write_b32", lanesOf<moveBits>, 1, chipsCdna},
    {"v_accvgpr_read_b32", lanesOf<moveBits>, 1, chipsCdna},
    {"v_add_u32", lanesOf<addBits>, 2, chipsGfx9},
    {"v_add_nc_u32", lanesOf<addBits>, 2, chipsRdna},
    {"v_sub_u32", lanesOf<subtractBits>, 2, chipsGfx9},
    {"v_sub_nc_u32", lanesOf<subtractBits>, 2, chipsRdna},
    {"v_mul_lo_u32", lanesOf<multiplyBits>, 2},
    {"v_mul_hi_u32", lanesOf<multiplyHigh>, 2},
    {"v_and_b32", lanesOf<andBits>, 2},
    {"v_or_b32", lanesOf<orBits>, 2},
    {"v_xor_b32", lanesOf<xorBits>, 2},
    {"v_not_b32", lanesOf<notBits>, 1},
    {"v_lshlrev_b32", lanesOf<shiftLeft>, 2},
    {"v_lshrrev_b32", lanesOf<shiftRight>, 2},
    {"v_ashrrev_i32", lanesOf<shiftArithmetic>, 2},
    {"v_add3_u32", lanesOf<addThree>, 3},
    {"v_lshl_add_u32", lanesOf<shiftAdd>, 3},
    {"v_and_or_b32", lanesOf<andOr>, 3},
    {"v_bfi_b32", lanesOf<chooseBits>, 3},
    {"v_alignbit_b32", lanesOf<alignBits>, 3},
    {"v_add_f32", lanesOf<addFloats>, 2},
    {"v_sub_f32", lanesOf<subtractFloats>, 2},
    {"v_mul_f32", lanesOf<multiplyFloats>, 2},
    {"v_min_f32", lanesOf<smallerFloat>, 2},
    {"v_max_f32", lanesOf<largerFloat>, 2},
    {"v_fma_f32", lanesOf<fuseFloats>, 3},
    {"v_max3_f32", lanesOf<largestFloat>, 3},
    {"v_exp_f32", lanesOf<powerOfTwo>, 1},
    {"v_log_f32", lanesOf<logarithm>, 1},
    {"v_rcp_f32", lanesOf<reciprocal>, 1},
    {"v_rsq_f32", lanesOf<reciprocalRoot>, 1},
    {"v_sqrt_f32", lanesOf<squareRoot>, 1},
    {"v_rndne_f32", lanesOf<roundFloat>, 1},
    {"v_floor_f32", lanesOf<floorFloat>, 1},
    {"v_cvt_f16_f32", lanesOf<toHalf>, 1},
    {"v_cvt_f32_f16", lanesOf<fromHalf>, 1},
    {"v_cvt_pkrtz_f16_f32", lanesOf<packTruncated>, 2},
    {"v_cvt_pk_bf16_f32", lanesOf<packBf16>, 2, chipsCdna4 | chipsRdna4},
};

/// Instructions that change nothing here: caches, priorities, waits for other counters.
constexpr const char *ignored[] = {
    "s_nop",
    "s_setprio",
    "s_waitcnt_depctr",
    "s_waitcnt_vscnt",
    "s_waitcnt_lgkmcnt",
    "s_waitcnt_expcnt",
    "s_sendmsg",
    "s_wait_dscnt",
    "s_wait_kmcnt",
    "s_wait_storecnt",
    "s_wait_samplecnt",
    "s_wait_bvhcnt",
    "s_wait_expcnt",
    "s_wait_alu",
    "s_wait_idle",
    "s_dcache_inv",
    "s_dcache_wb",
    "s_icache_inv",
    "s_inst_prefetch",
    "s_clause",
    "s_delay_alu",
    "s_code_end",
    "buffer_wbinvl1",
    "buffer_wbinvl1_vol",
    "buffer_inv",
    "buffer_wbl2",
    "buffer_gl0_inv",
    "buffer_gl1_inv",
    "global_inv",
    "global_wb",
    "global_wbinv",
    "s_set_inst_prefetch_distance",
    "s_sched_barrier",
};

// --- Lines -----------------------------------------------------------------------------------------------------------

class AmdAssembly {
public:
  AmdAssembly(Decoder &decoder, llvm::CallBase &call) : decoder_(decoder), call_(call) {}

  bool run() {
    auto *assembly = llvm::cast<llvm::InlineAsm>(call_.getCalledOperand());
    if (!bindOperands(*assembly))
      return false;
    llvm::SmallVector<llvm::StringRef, 8> lines;
    llvm::StringRef text = assembly->getAsmString();
    text.split(lines, '\n');
    for (llvm::StringRef line : lines) {
      line = line.split(';').first.split("//").first.trim();
      if (!line.empty() && !decodeLine(line))
        return false;
    }
    return true;
  }

private:
  bool fail(const llvm::Twine &what) {
    decoder_.fail(what);
    return false;
  }

  /// Registers of $0, $1, …: results first, tied ones beginning with what they are tied to.
  bool bindOperands(const llvm::InlineAsm &assembly) {
    Regs results;
    if (!call_.getType()->isVoidTy())
      results = decoder_.freshResults(&call_);
    llvm::InlineAsm::ConstraintInfoVector constraints = assembly.ParseConstraints();
    unsigned argument = 0;
    size_t output = 0;
    for (const llvm::InlineAsm::ConstraintInfo &constraint : constraints) {
      if (constraint.isIndirect)
        return fail("unsupported memory operand of inline assembly");
      if (constraint.Type == llvm::InlineAsm::isClobber)
        continue;
      if (constraint.Type == llvm::InlineAsm::isOutput) {
        if (output >= results.size())
          return fail("unsupported result of inline assembly");
        operands_.push_back(results[output++]);
        continue;
      }
      const Regs from = decoder_.regs(call_.getArgOperand(argument++));
      int tied = tiedOutput(constraint);
      if (tied >= 0 && static_cast<size_t>(tied) < operands_.size() && from.size() == 1)
        decoder_.copy(operands_[static_cast<size_t>(tied)], from[0]);
      // Operands of several registers may be there, but no instruction here takes them.
      operands_.push_back(from.size() == 1 ? from[0] : noOperand);
    }
    if (output != results.size())
      return fail("unsupported results of inline assembly: each must be one scalar");
    return true;
  }

  static int tiedOutput(const llvm::InlineAsm::ConstraintInfo &constraint) {
    unsigned number;
    if (constraint.Codes.size() == 1 && !llvm::StringRef(constraint.Codes[0]).getAsInteger(10, number))
      return static_cast<int>(number);
    return -1;
  }

  bool decodeLine(llvm::StringRef line) {
    size_t space = line.find_first_of(" \t");
    llvm::StringRef name = line.take_front(space), rest = space == llvm::StringRef::npos ? "" : line.substr(space);
    rest = rest.trim();
    if (!name.consume_back("_e32"))
      name.consume_back("_e64");
    if (std::any_of(std::begin(ignored), std::end(ignored), [&](const char *other) { return name == other; }))
      return true;
    if (decodeControl(name, rest) || decoder_.failed())
      return !decoder_.failed();
    for (const VectorRow &row : vectorRows)
      if (name == row.name)
        return decodeVector(row, rest);
    return fail(llvm::Twine("unsupported instruction '") + name + "' of inline assembly");
  }

  /// True where the name was one of these, whether or not it could be decoded.
  bool decodeControl(llvm::StringRef name, llvm::StringRef rest) {
    int64_t number = 0;
    bool hasNumber = !rest.getAsInteger(0, number);
    if (name == "s_waitcnt")
      return waitFor(rest);
    if (name == "s_wait_loadcnt" || name == "s_waitcnt_vmcnt") {
      rest.consume_front("null,");
      if (rest.trim().getAsInteger(0, number))
        return !fail("unsupported operand of " + name + ": '" + rest + "'");
      emitAmdWaitLoads(decoder_, static_cast<unsigned>(number));
      return true;
    }
    if (name == "s_barrier")
      emitAmdBarrier(decoder_);
    else if (name == "s_barrier_signal" || name == "s_barrier_wait")
      return splitBarrier(name, hasNumber && number == -1);
    else if (name == "s_trap")
      emitAmdTrap(decoder_, hasNumber ? number : 0);
    else if (name == "s_sleep")
      emitAmdPause(decoder_);
    else if (name == "s_endpgm")
      emitAmdEnd(decoder_);
    else
      return false;
    return true;
  }

  bool splitBarrier(llvm::StringRef name, bool workGroup) {
    if (!workGroup || !chipIsAmong(decoder_, chipsRdna4))
      return !fail("unsupported barrier " + name + " of inline assembly");
    if (name == "s_barrier_signal")
      emitAmdSignal(decoder_);
    else
      emitAmdSignalWait(decoder_);
    return true;
  }

  /// s_waitcnt 0x3f70, or counters with numbers: vmcnt(0) & lgkmcnt(0).
  bool waitFor(llvm::StringRef rest) {
    int64_t number;
    if (!rest.getAsInteger(0, number)) {
      emitAmdWaitLoads(decoder_, vectorLoadsOf(decoder_, number));
      return true;
    }
    while (!rest.empty()) {
      auto [counter, after] = rest.split(')');
      auto [kind, value] = counter.split('(');
      kind = kind.ltrim(" \t,&").rtrim();
      if (value.trim().getAsInteger(0, number))
        return !fail("unsupported operand of s_waitcnt: '" + rest + "'");
      if (kind == "vmcnt")
        emitAmdWaitLoads(decoder_, static_cast<unsigned>(number));
      else if (kind != "lgkmcnt" && kind != "expcnt" && kind != "vscnt")
        return !fail("unsupported counter '" + kind + "' of s_waitcnt");
      rest = after.trim();
    }
    return true;
  }

  bool decodeVector(const VectorRow &row, llvm::StringRef rest) {
    if (!chipIsAmong(decoder_, row.chips))
      return fail(llvm::Twine("unsupported instruction: ") + llvm::StringRef(decoder_.chip().info.name) + " has no " +
                  row.name);
    llvm::SmallVector<llvm::StringRef, 4> words;
    rest.split(words, ',');
    if (words.size() != row.sources + 1)
      return fail(llvm::Twine("unsupported operands of ") + row.name + " in inline assembly: '" + rest + "'");
    Reg regs[4];
    for (size_t i = 0; i < words.size(); ++i)
      if (!operand(words[i].trim(), regs[i]))
        return false;
    Op &op = decoder_.emit(decoder_.pick(row.handlers.narrow, row.handlers.wide), regs[0], {});
    uint32_t *slots[] = {&op.a, &op.b, &op.c};
    for (unsigned i = 0; i < row.sources; ++i) {
      *slots[i] = regs[i + 1];
      op.registers |= static_cast<uint8_t>(Op::HasA << i);
    }
    return true;
  }

  /// $2, ${2}, a number, or a float.
  bool operand(llvm::StringRef word, Reg &reg) {
    llvm::StringRef name = word;
    unsigned index;
    int64_t number;
    double real;
    if (name.consume_front("$")) {
      if (name.consume_front("{"))
        name = name.take_until([](char c) { return c == '}' || c == ':'; });
      if (name.getAsInteger(10, index) || index >= operands_.size() || operands_[index] == noOperand ||
          sizeOf(decoder_.kindOfReg(operands_[index])) != 4)
        return fail("unsupported operand '" + word + "' of inline assembly");
      reg = operands_[index];
    } else if (!word.getAsInteger(0, number)) {
      reg = decoder_.constant(Kind::I32, static_cast<uint64_t>(number));
    } else if (!word.getAsDouble(real)) {
      reg = decoder_.constant(Kind::I32, std::bit_cast<uint32_t>(static_cast<float>(real)));
    } else {
      return fail("unsupported operand '" + word + "' of inline assembly");
    }
    return true;
  }

  static constexpr Reg noOperand = ~0u;

  Decoder &decoder_;
  llvm::CallBase &call_;
  Regs operands_;
};

} // namespace

bool decodeAmdAssembly(Decoder &decoder, llvm::CallBase &call) { return AmdAssembly(decoder, call).run(); }

} // namespace tilejit::sim
