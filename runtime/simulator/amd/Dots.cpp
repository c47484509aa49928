// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Dot products of packed elements: fdot2, sdot4, udot8 and their kin. Integers are exact, with or without saturation at
// the end; floats are summed in double and rounded once.

#include "amd/Elements.h"
#include "amd/Rules.h"
#include "core/Block.h"

#include <algorithm>
#include <cmath>

namespace tilejit::sim {

namespace {

struct DotRow {
  const char *name;
  uint32_t chips;
  Element a, b, c;
  unsigned count;
  bool signs; ///< Signs of a and b are arguments before them.
};

constexpr uint32_t chipsDot = chipsAll;
constexpr uint32_t chipsSigned = chipsGcn5 | chipsCdna | chipsRdna2;
constexpr DotRow rows[] = {
    {"fdot2", chipsDot, Element::F16, Element::F16, Element::F32, 2, false},
    {"fdot2.f16.f16", chipsSinceRdna3, Element::F16, Element::F16, Element::F16, 2, false},
    {"fdot2.bf16.bf16", chipsSinceRdna3, Element::BF16, Element::BF16, Element::BF16, 2, false},
    {"fdot2.f32.bf16", chipsSinceRdna3 | chipsCdna4, Element::BF16, Element::BF16, Element::F32, 2, false},
    {"fdot2c.f32.bf16", chipsCdna4, Element::BF16, Element::BF16, Element::F32, 2, false},
    {"sdot2", chipsSigned, Element::I16, Element::I16, Element::I32, 2, false},
    {"udot2", chipsSigned, Element::U16, Element::U16, Element::U32, 2, false},
    {"sdot4", chipsDot, Element::I8, Element::I8, Element::I32, 4, false},
    {"udot4", chipsDot, Element::U8, Element::U8, Element::U32, 4, false},
    {"sudot4", chipsSinceRdna3, Element::U8, Element::U8, Element::I32, 4, true},
    {"sdot8", chipsDot, Element::I4, Element::I4, Element::I32, 8, false},
    {"udot8", chipsDot, Element::U4, Element::U4, Element::U32, 8, false},
    {"sudot8", chipsSinceRdna3, Element::U4, Element::U4, Element::I32, 8, true},
    {"dot4.f32.fp8.fp8", chipsRdna4, Element::Fp8, Element::Fp8, Element::F32, 4, false},
    {"dot4.f32.fp8.bf8", chipsRdna4, Element::Fp8, Element::Bf8, Element::F32, 4, false},
    {"dot4.f32.bf8.fp8", chipsRdna4, Element::Bf8, Element::Fp8, Element::F32, 4, false},
    {"dot4.f32.bf8.bf8", chipsRdna4, Element::Bf8, Element::Bf8, Element::F32, 4, false},
};

/// Numbers of a dot product, in OpOperands::numbers.
enum DotNumber : unsigned { DotCount, DotBits, DotSignedA, DotSignedB, DotSignedC, DotClamp, DotA, DotB, DotC };

/// Element e of a lane, from one register or one of several.
uint32_t elementBits(Warp &warp, const Reg *regs, Kind kind, unsigned e, unsigned bits, unsigned l) {
  unsigned size = 8 * sizeOf(kind), at = e * bits;
  uint32_t value = size == 16 ? warp.reg<uint16_t>(regs[at / size])[l] : warp.reg<uint32_t>(regs[at / size])[l];
  return value >> (at % size) & (bits == 32 ? ~0u : (1u << bits) - 1);
}
int64_t integerOf(uint32_t bits, unsigned width, bool isSigned) {
  return isSigned ? static_cast<int32_t>(bits << (32 - width)) >> (32 - width) : static_cast<int64_t>(bits);
}

/// Registers of a, b and c in x->in: the same number for a and b, one for c.
template <unsigned W> void integerDot(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  size_t each = (x.in.size() - 1) / 2;
  auto count = static_cast<unsigned>(x.numbers[DotCount]), bits = static_cast<unsigned>(x.numbers[DotBits]);
  const uint32_t *c = warp.reg<uint32_t>(x.in.back());
  bool isSigned = x.numbers[DotSignedC], clamp = x.numbers[DotClamp];
  map<W>(warp.mask, warp.reg<uint32_t>(x.out[0]), [&](unsigned l) {
    int64_t sum = integerOf(c[l], 32, isSigned);
    for (unsigned e = 0; e < count; ++e)
      sum += integerOf(elementBits(warp, x.in.data(), x.inKinds[0], e, bits, l), bits, x.numbers[DotSignedA]) *
             integerOf(elementBits(warp, x.in.data() + each, x.inKinds[0], e, bits, l), bits, x.numbers[DotSignedB]);
    if (clamp)
      sum = isSigned ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : std::clamp<int64_t>(sum, 0, UINT32_MAX);
    return static_cast<uint32_t>(sum);
  });
}

template <unsigned W> void floatDot(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  size_t each = (x.in.size() - 1) / 2;
  auto count = static_cast<unsigned>(x.numbers[DotCount]), bits = static_cast<unsigned>(x.numbers[DotBits]);
  auto typeA = static_cast<Element>(x.numbers[DotA]), typeB = static_cast<Element>(x.numbers[DotB]),
       typeC = static_cast<Element>(x.numbers[DotC]);
  float values[W];
  for (unsigned l = 0; l < W; ++l) {
    double sum = valueOf(elementBits(warp, &x.in.back(), x.inKinds.back(), 0, bitsOf(typeC), l), typeC);
    for (unsigned e = 0; e < count; ++e)
      sum += valueOf(elementBits(warp, x.in.data(), x.inKinds[0], e, bits, l), typeA) *
             valueOf(elementBits(warp, x.in.data() + each, x.inKinds[0], e, bits, l), typeB);
    values[l] = static_cast<float>(sum);
    if (x.numbers[DotClamp])
      values[l] = std::fmin(std::fmax(values[l], 0.0f), 1.0f);
  }
  if (typeC == Element::F32)
    return blend<W>(warp.reg<float>(x.out[0]), values, warp.mask);
  map<W>(warp.mask, warp.reg<uint16_t>(x.out[0]),
         [&](unsigned l) { return typeC == Element::F16 ? floatToF16(values[l]) : floatToBf16(values[l]); });
}

void dotRule(Call &call) {
  Decoder &decoder = call.decoder;
  const DotRow *found = nullptr;
  for (const DotRow &row : rows)
    if (shortName(call) == row.name)
      found = &row;
  if (!found)
    return decoder.fail(llvm::Twine("unsupported dot product ") + call.name);
  if (!requireChips(call, found->chips))
    return;
  bool isFloat = found->c == Element::F32 || found->c == Element::F16 || found->c == Element::BF16;
  unsigned a = found->signs ? 1 : 0, b = found->signs ? 3 : 1, c = b + 1;
  std::vector<int64_t> numbers(DotC + 1, 0);
  numbers[DotCount] = found->count;
  numbers[DotBits] = bitsOf(found->a);
  bool isSigned = found->c == Element::I32;
  numbers[DotSignedA] = found->signs ? call.constant(0) & 1 : isSigned;
  numbers[DotSignedB] = found->signs ? call.constant(2) & 1 : isSigned;
  numbers[DotSignedC] = isSigned;
  numbers[DotClamp] = c + 1 < call.size() ? call.constant(c + 1) & 1 : 0;
  numbers[DotA] = static_cast<int64_t>(found->a);
  numbers[DotB] = static_cast<int64_t>(found->b);
  numbers[DotC] = static_cast<int64_t>(found->c);
  Regs in = call.regs(a), second = call.regs(b);
  in.append(second.begin(), second.end());
  in.push_back(call.reg(c));
  Reg out = call.result();
  Handler handler = isFloat ? decoder.pick(TILEJIT_BOTH(floatDot)) : decoder.pick(TILEJIT_BOTH(integerDot));
  decoder.operandsOf(decoder.emitWide(handler, {out}, in)).numbers = std::move(numbers);
}

} // namespace

void addAmdDotRules(Rules &rules) {
  for (const DotRow &row : rows)
    rules.call(std::string("llvm.amdgcn.") + row.name, dotRule);
}

} // namespace tilejit::sim
