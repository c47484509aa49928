// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Decoding of wgmma and setmaxnreg.

#include "nvidia/Capability.h"
#include "nvidia/WarpgroupHandlers.h"
#include "nvidia/WarpgroupProduct.h"

namespace tilejit::sim {

bool isWarpgroupProduct(const Op &op) { return op.run == warpgroupProduct || op.inner == warpgroupProduct; }

namespace {

struct TypeRow {
  llvm::StringLiteral name;
  ProductType type;
  unsigned depth; ///< K.
  bool integer;
};
const TypeRow types[] = {
    {"f16", ProductType::F16, 16, false},   {"bf16", ProductType::BF16, 16, false},
    {"tf32", ProductType::TF32, 8, false},  {"e4m3", ProductType::E4M3, 32, false},
    {"e5m2", ProductType::E5M2, 32, false}, {"s8", ProductType::S8, 32, true},
    {"u8", ProductType::U8, 32, true},      {"b1", ProductType::B1, 256, true},
};

const TypeRow *findType(llvm::StringRef name) {
  const auto *found = llvm::find_if(types, [&](const TypeRow &row) { return row.name == name; });
  return found == std::end(types) ? nullptr : found;
}

bool is16Bit(ProductType type) { return type == ProductType::F16 || type == ProductType::BF16; }
bool is8BitFloat(ProductType type) { return type == ProductType::E4M3 || type == ProductType::E5M2; }

/// Whether the types go together.
bool fits(const TypeRow &a, const TypeRow &b, llvm::StringRef sum) {
  bool pair = a.type == b.type || (is8BitFloat(a.type) && is8BitFloat(b.type)) ||
              (a.integer && b.integer && a.depth == 32 && b.depth == 32);
  if (a.integer)
    return pair && sum == "s32";
  return pair && (sum == "f32" || (sum == "f16" && (a.type == ProductType::F16 || is8BitFloat(a.type))));
}

/// wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16[.satfinite | .and.popc]
bool parseMnemonic(AsmStatement &s, ProductSpec &spec) {
  auto refuse = [&] {
    s.decoder.fail("unsupported product '" + s.mnemonic + "'");
    return false;
  };
  if (s.words.size() < 8)
    return refuse();
  llvm::StringRef shape = s.words[4];
  unsigned n = 0, k = 0;
  const TypeRow *a = findType(s.words[6]), *b = findType(s.words[7]);
  if (!shape.consume_front("m64n") || shape.consumeInteger(10, n) || !shape.consume_front("k") ||
      shape.getAsInteger(10, k) || !a || !b || !fits(*a, *b, s.words[5]))
    return refuse();
  // Of integers only every other width exists beyond 32.
  if (k != a->depth || n % 8 || n < 8 || n > 256 || (a->integer && n > 24 && n % 16))
    return refuse();
  if (a->type == ProductType::B1 && !s.has("and"))
    return refuse();
  spec.a = a->type;
  spec.b = b->type;
  spec.columns = static_cast<uint16_t>(n);
  spec.sum = a->integer ? ProductSum::S32 : s.words[5] == "f16" ? ProductSum::F16 : ProductSum::F32;
  spec.saturate = s.has("satfinite");
  return true;
}

/// The numbers after the flag: signs of A and B, then which operands are contiguous across k.
bool parseModifiers(AsmStatement &s, unsigned first, ProductSpec &spec) {
  bool integer = spec.sum == ProductSum::S32;
  unsigned wanted = integer ? 0 : is16Bit(spec.a) ? (spec.aInRegisters ? 3 : 4) : 2;
  if (s.operands.size() != first + wanted) {
    s.decoder.fail("malformed assembly: '" + s.mnemonic + "' has " + llvm::Twine(s.operands.size()) +
                   " operands, expected " + llvm::Twine(first + wanted));
    return false;
  }
  if (!wanted)
    return true;
  int64_t signs[2] = {s.number(first), s.number(first + 1)};
  if ((signs[0] != 1 && signs[0] != -1) || (signs[1] != 1 && signs[1] != -1)) {
    s.decoder.fail("malformed assembly: the scales of '" + s.mnemonic + "' must be 1 or -1");
    return false;
  }
  spec.negateA = signs[0] < 0;
  spec.negateB = signs[1] < 0;
  if (wanted == 4)
    spec.transposeA = s.number(first + 2) != 0;
  if (wanted >= 3)
    spec.transposeB = s.number(first + wanted - 1) != 0;
  return !s.decoder.failed();
}

/// The registers of {...}.
bool groupRegisters(AsmStatement &s, unsigned operand, unsigned wanted, Regs &regs) {
  const AsmOperand *group = operand < s.operands.size() ? &s.operands[operand] : nullptr;
  if (!group || group->form != AsmOperand::Form::Group || group->parts.size() != wanted) {
    s.decoder.fail("malformed assembly: operand " + llvm::Twine(operand + 1) + " of '" + s.mnemonic + "' must have " +
                   llvm::Twine(wanted) + " registers");
    return false;
  }
  for (const AsmOperand &part : group->parts)
    regs.push_back(s.decoder.asmRegister(part, Kind::I32, s.text));
  return !s.decoder.failed();
}

/// Whether D is added to: a number, or a register.
Reg keepOperand(AsmStatement &s, unsigned operand, ProductSpec &spec) {
  if (operand < s.operands.size() && s.operands[operand].form == AsmOperand::Form::Number) {
    spec.keep = s.operands[operand].number ? ProductSpec::Keep::Always : ProductSpec::Keep::Never;
    return 0;
  }
  spec.keep = ProductSpec::Keep::Register;
  return s.reg(operand, Kind::I1);
}

void productStatement(AsmStatement &s) {
  Decoder &decoder = s.decoder;
  ProductSpec spec;
  Regs sums, a;
  if (!needsChip(decoder, 90, s.mnemonic, true) || !parseMnemonic(s, spec) || !groupRegisters(s, 0, spec.sums(), sums))
    return;
  spec.aInRegisters = s.operands.size() > 1 && s.operands[1].form == AsmOperand::Form::Group;
  if (spec.aInRegisters) {
    if (!groupRegisters(s, 1, 4, a))
      return;
  } else {
    a.push_back(s.reg(1, Kind::I64));
  }
  Reg b = s.reg(2, Kind::I64), flag = keepOperand(s, 3, spec);
  if (decoder.failed() || !parseModifiers(s, 4, spec))
    return;
  Regs in;
  if (spec.keep != ProductSpec::Keep::Never)
    in = sums;
  in.append(a.begin(), a.end());
  in.push_back(b);
  if (spec.keep == ProductSpec::Keep::Register)
    in.push_back(flag);
  decoder.noteSharedAccess(16, 16);
  Op &op = decoder.emitWide(warpgroupProduct, sums, in);
  setProductSpec(decoder.operandsOf(op), spec);
}

void emitSimple(Decoder &decoder, llvm::StringRef name, Handler handler, int64_t imm = 0) {
  if (!needsChip(decoder, 90, name, true))
    return;
  if (imm < 0 || imm > 7)
    return decoder.fail("'" + name + "' of " + llvm::Twine(imm) + " groups: 0 to 7 may stay in flight");
  decoder.emit(handler).imm = imm;
}

/// How many registers a warp holds changes nothing here.
void checkRegisterCount(Decoder &decoder, llvm::StringRef name, int64_t count) {
  if (needsChip(decoder, 90, name, true) && (count < 24 || count > 256 || count % 8))
    decoder.fail("'" + name + "' of " + llvm::Twine(count) + " registers: a multiple of 8 from 24 to 256 is possible");
}

} // namespace

void addNvidiaWarpgroupRules(Rules &rules) {
  rules.call("llvm.nvvm.wgmma.fence.sync.aligned",
             [](Call &call) { emitSimple(call.decoder, call.name, warpgroupFence); });
  rules.call("llvm.nvvm.wgmma.commit_group.sync.aligned",
             [](Call &call) { emitSimple(call.decoder, call.name, warpgroupCommit); });
  rules.call("llvm.nvvm.wgmma.wait_group.sync.aligned",
             [](Call &call) { emitSimple(call.decoder, call.name, warpgroupWait, call.constant(0)); });
  rules.callPrefix("llvm.nvvm.setmaxnreg.",
                   [](Call &call) { checkRegisterCount(call.decoder, call.name, call.constant(0)); });
  rules.assembly("wgmma.fence", [](AsmStatement &s) { emitSimple(s.decoder, s.mnemonic, warpgroupFence); });
  rules.assembly("wgmma.commit_group", [](AsmStatement &s) { emitSimple(s.decoder, s.mnemonic, warpgroupCommit); });
  rules.assembly("wgmma.wait_group",
                 [](AsmStatement &s) { emitSimple(s.decoder, s.mnemonic, warpgroupWait, s.number(0)); });
  rules.assembly("wgmma.mma_async", productStatement);
  rules.assembly("setmaxnreg", [](AsmStatement &s) { checkRegisterCount(s.decoder, s.mnemonic, s.number(0)); });
}

} // namespace tilejit::sim
