// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Conversions as statements and intrinsics emit them.

#ifndef TILEJIT_SIMULATOR_NVIDIA_NVVMRULES_H
#define TILEJIT_SIMULATOR_NVIDIA_NVVMRULES_H

#include "decode/Decoder.h"
#include "nvidia/Convert.h"

namespace tilejit::sim {

/// Whether the chip has a conversion; an error of the decoder otherwise.
bool conversionIsAvailable(Decoder &decoder, const Conversion &conversion, llvm::StringRef text);
/// Reads .rn, .ftz, .satfinite, ...; returns a word that it does not know, or nothing.
llvm::StringRef readConversion(llvm::ArrayRef<llvm::StringRef> words, Conversion &conversion);
/// to = cvt(from). `toPair`: two numbers, from two registers or (`fromPair`) from one that holds two.
void emitConversion(Decoder &decoder, const Conversion &conversion, bool toPair, bool fromPair, Reg to,
                    llvm::ArrayRef<Reg> from);
/// The operands of a statement: target first.
void emitConversion(AsmStatement &statement, const Conversion &conversion, bool toPair, bool fromPair);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_NVVMRULES_H
