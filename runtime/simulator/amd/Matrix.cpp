// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Decoding of matrix intrinsics: finds the row of the chip, checks modifiers and register counts.

#include "amd/Matrix.h"

#include "amd/Rules.h"

namespace tilejit::sim {

namespace {

/// The row that a name and chip mean; the longest name wins, since some are the beginning of others.
const MatrixRow *findRow(Call &call) {
  llvm::StringRef name = shortName(call);
  uint32_t chip = generationBit(call.decoder.chip().generation);
  const MatrixRow *found = nullptr;
  bool elsewhere = false;
  for (const MatrixRow &row : matrixRows()) {
    llvm::StringRef rowName(row.name.data(), row.name.size());
    if (!isNamed(name, rowName))
      continue;
    elsewhere = true;
    if (row.chips & chip && (!found || row.name.size() > found->name.size()))
      found = &row;
  }
  if (!found && elsewhere)
    requireChips(call, 0);
  else if (!found)
    call.decoder.fail(llvm::Twine("unsupported matrix instruction ") + call.name);
  return found;
}

Element resolve(Element element, Generation generation) {
  if (generation != Generation::Cdna3)
    return element;
  return element == Element::Fp8 ? Element::Fp8Fnuz : element == Element::Bf8 ? Element::Bf8Fnuz : element;
}

/// Positions of a, b and c among the arguments.
struct Operands {
  unsigned a, b, c;
};

Operands operandsOf(MatrixForm form) {
  bool hasSigns = form == MatrixForm::Integer || form == MatrixForm::SparseInteger;
  return hasSigns ? Operands{1, 3, 4} : Operands{0, 1, 2};
}

/// Modifiers of MFMA: which block of A each block takes, and which lanes B comes from.
bool decodeModifiers(Call &call, const MatrixRow &row, std::vector<int64_t> &numbers) {
  int64_t cbsz = call.constant(3), abid = call.constant(4), blgp = call.constant(5);
  auto wrong = [&](const char *what, int64_t value) {
    call.decoder.fail(llvm::Twine(call.name) + " cannot have " + what + " " + llvm::Twine(value));
    return false;
  };
  if (cbsz < 0 || cbsz > 4 || 1 << cbsz > row.blocks)
    return wrong("cbsz", cbsz);
  if (abid < 0 || abid >= 1 << cbsz)
    return wrong("abid", abid);
  if (blgp < 0 || blgp > 7 || (blgp && row.c == Element::F64 && call.decoder.chip().generation == Generation::Cdna2))
    return wrong("blgp", blgp);
  numbers[MatrixCbsz] = cbsz;
  numbers[MatrixAbid] = abid;
  numbers[row.c == Element::F64 ? MatrixSelectA : MatrixBlgp] = blgp;
  return true;
}

/// Formats and scales of f8f6f4.
bool decodeScales(Call &call, std::vector<int64_t> &numbers, Regs &in) {
  constexpr Element formats[] = {Element::Fp8, Element::Bf8, Element::Fp6, Element::Bf6, Element::Fp4};
  for (unsigned operand = 0; operand < 2; ++operand) {
    int64_t format = call.constant(3 + operand);
    if (format < 0 || format > 4) {
      call.decoder.fail(llvm::Twine(call.name) + " has no operand format " + llvm::Twine(format));
      return false;
    }
    numbers[operand ? MatrixB : MatrixA] = static_cast<int64_t>(formats[format]);
    numbers[operand ? MatrixSelectB : MatrixSelectA] = call.constant(5 + 2 * operand) & 3;
    in.push_back(call.reg(6 + 2 * operand));
  }
  return true;
}

/// Signs of integers; clamp is the last argument.
void decodeSigns(Call &call, const MatrixRow &row, std::vector<int64_t> &numbers, unsigned clamp) {
  bool wide = bitsOf(row.a) == 8;
  auto type = [&](unsigned argument) {
    Element signedType = wide ? Element::I8 : Element::I4, unsignedType = wide ? Element::U8 : Element::U4;
    return static_cast<int64_t>(call.constant(argument) & 1 ? signedType : unsignedType);
  };
  numbers[MatrixA] = type(0);
  numbers[MatrixB] = type(2);
  numbers[MatrixClamp] = call.constant(clamp) & 1;
}

bool decodeForm(Call &call, const MatrixRow &row, std::vector<int64_t> &numbers, Regs &in) {
  switch (row.form) {
  case MatrixForm::Mfma:
    return decodeModifiers(call, row, numbers);
  case MatrixForm::Scaled:
    return decodeScales(call, numbers, in);
  case MatrixForm::Sparse:
    in.push_back(call.reg(3));
    numbers[MatrixCbsz] = call.constant(4);
    numbers[MatrixAbid] = call.constant(5);
    return true;
  case MatrixForm::Half:
  case MatrixForm::Tied:
    if (row.layout == MatrixLayout::Rdna3)
      numbers[MatrixHalf] = call.constant(3) & 1;
    return true;
  case MatrixForm::SparseWmma:
    in.push_back(call.reg(3));
    return true;
  case MatrixForm::SparseInteger:
    in.push_back(call.reg(5));
    decodeSigns(call, row, numbers, 6);
    return true;
  case MatrixForm::Integer:
    decodeSigns(call, row, numbers, 5);
    return true;
  case MatrixForm::Wmma:
    return true;
  }
  return true;
}

unsigned bitsOfRegs(Call &call, unsigned argument) {
  unsigned bits = 0;
  for (Reg reg : call.regs(argument))
    bits += 8 * sizeOf(call.decoder.kindOfReg(reg));
  return bits;
}

/// A shape whose types do not fit the instruction for this width of waves.
bool checkSizes(Call &call, const MatrixPlan &plan, const std::vector<int64_t> &numbers, Operands at) {
  auto need = [&](unsigned argument, unsigned bits, bool exact) {
    unsigned have = bitsOfRegs(call, argument);
    if (have == bits || (!exact && have > bits))
      return true;
    call.decoder.fail(llvm::Twine(call.name) + " with waves of " + llvm::Twine(call.decoder.width()) + " lanes takes " +
                      llvm::Twine(bits) + " bits as operand " + llvm::Twine(argument) + ", not " + llvm::Twine(have));
    return false;
  };
  MatrixForm form = plan.row->form;
  bool scaled = form == MatrixForm::Scaled;
  // Other chips choose a part of the index by a modifier, RDNA 4 by what is passed.
  if (form == MatrixForm::SparseWmma && !need(3, 2 * plan.perLaneA, false))
    return false;
  if (form == MatrixForm::SparseInteger && !need(5, 2 * plan.perLaneA, false))
    return false;
  return need(at.a, plan.perLaneA * bitsOf(static_cast<Element>(numbers[MatrixA])), !scaled) &&
         need(at.b, plan.perLane * bitsOf(static_cast<Element>(numbers[MatrixB])), !scaled) &&
         need(at.c, plan.perLaneC * plan.strideC * bitsOf(plan.row->c), true);
}

void matrixRule(Call &call) {
  Decoder &decoder = call.decoder;
  const MatrixRow *row = findRow(call);
  if (!row)
    return;
  bool rdna = row->layout == MatrixLayout::Rdna3 || row->layout == MatrixLayout::Rdna4;
  if (!rdna && decoder.width() != 64)
    return decoder.fail(llvm::Twine(call.name) + " needs waves of 64 lanes");
  const MatrixPlan &plan = matrixPlan(*row, decoder.width());
  Operands at = operandsOf(row->form);
  std::vector<int64_t> numbers(MatrixNumbers, 0);
  numbers[MatrixA] = static_cast<int64_t>(resolve(row->a, decoder.chip().generation));
  numbers[MatrixB] = static_cast<int64_t>(resolve(row->b, decoder.chip().generation));
  Regs in;
  unsigned operand = 0;
  for (unsigned argument : {at.a, at.b, at.c}) {
    const Regs &regs = call.regs(argument);
    numbers[MatrixRegsA + operand++] = static_cast<int64_t>(regs.size());
    in.append(regs.begin(), regs.end());
  }
  if (!decodeForm(call, *row, numbers, in) || !checkSizes(call, plan, numbers, at))
    return;
  Op &op = emitOn(decoder, runMatrix32, runMatrix64, call.results(), in);
  OpOperands &operands = decoder.operandsOf(op);
  operands.numbers = std::move(numbers);
  operands.table = &plan;
}

} // namespace

void addAmdMatrixRules(Rules &rules) {
  for (const char *family : {"mfma", "smfmac", "wmma", "swmmac"})
    rules.callPrefix(std::string("llvm.amdgcn.") + family + ".", matrixRule);
}

} // namespace tilejit::sim
