// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The families of AMD instructions, and what their decode rules share.

#ifndef TILEJIT_SIMULATOR_AMD_RULES_H
#define TILEJIT_SIMULATOR_AMD_RULES_H

#include "amd/Matrix.h"
#include "decode/Decoder.h"

namespace tilejit::sim {

void addAmdIdRules(Rules &rules);
void addAmdLaneRules(Rules &rules);
void addAmdCrossLaneRules(Rules &rules);
void addAmdSynchronizationRules(Rules &rules);
void addAmdMatrixRules(Rules &rules);
void addAmdDotRules(Rules &rules);
void addAmdBufferRules(Rules &rules);
void addAmdLdsLoadRules(Rules &rules);
void addAmdLdsTransposeRules(Rules &rules);
void addAmdAtomicRules(Rules &rules);
void addAmdMathRules(Rules &rules);
void addAmdIntegerRules(Rules &rules);
void addAmdConversionRules(Rules &rules);
void addAmdScaledConversionRules(Rules &rules);

// Sets of chips, as bits of generations.
inline constexpr uint32_t chipsGcn5 = generationBit(Generation::Gcn5);
inline constexpr uint32_t chipsCdna1 = generationBit(Generation::Cdna1);
inline constexpr uint32_t chipsCdna2 = generationBit(Generation::Cdna2);
inline constexpr uint32_t chipsCdna3 = generationBit(Generation::Cdna3);
inline constexpr uint32_t chipsCdna4 = generationBit(Generation::Cdna4);
inline constexpr uint32_t chipsRdna2 = generationBit(Generation::Rdna2);
inline constexpr uint32_t chipsRdna3 = generationBit(Generation::Rdna3);
inline constexpr uint32_t chipsRdna4 = generationBit(Generation::Rdna4);
inline constexpr uint32_t chipsSinceCdna3 = chipsCdna3 | chipsCdna4;
inline constexpr uint32_t chipsSinceCdna2 = chipsCdna2 | chipsSinceCdna3;
inline constexpr uint32_t chipsCdna = chipsCdna1 | chipsSinceCdna2;
inline constexpr uint32_t chipsGfx9 = chipsGcn5 | chipsCdna;
inline constexpr uint32_t chipsSinceRdna3 = chipsRdna3 | chipsRdna4;
inline constexpr uint32_t chipsRdna = chipsRdna2 | chipsSinceRdna3;
inline constexpr uint32_t chipsAll = chipsGfx9 | chipsRdna;

inline bool chipIsAmong(const Decoder &decoder, uint32_t chips) {
  return chips & generationBit(decoder.chip().generation);
}
/// Decodes inline assembly of AMD's syntax; false for what is not known.
bool decodeAmdAssembly(Decoder &decoder, llvm::CallBase &call);
/// Whether the chip has the called instruction; if not, the decoder has failed with both names.
bool requireChips(Call &call, uint32_t chips);
/// The name without "llvm.amdgcn.".
inline llvm::StringRef shortName(const Call &call) { return call.name.drop_front(12); }
/// Whether `name` is `base`, or `base` and the types it is overloaded with.
inline bool isNamed(llvm::StringRef name, llvm::StringRef base) {
  return name.consume_front(base) && (name.empty() || name.front() == '.');
}

/// Emits an operation on all scalars of all arguments.
Op &emitCall(Call &call, Handler narrow, Handler wide, int64_t imm = 0);
/// The same on chosen registers.
Op &emitOn(Decoder &decoder, Handler narrow, Handler wide, llvm::ArrayRef<Reg> out, llvm::ArrayRef<Reg> in,
           int64_t imm = 0);

/// A handler template for both widths.
#define TILEJIT_BOTH(name) name<32>, name<64>

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_RULES_H
