// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Decoding of instructions on integers wider than 64 bits, alone and in vectors.

#ifndef TILEJIT_SIMULATOR_DECODE_WIDEINTEGERS_H
#define TILEJIT_SIMULATOR_DECODE_WIDEINTEGERS_H

#include "core/Handlers.h"
#include "decode/Decoder.h"

namespace tilejit::sim {

/// Whether a type, or its elements, are such integers.
bool isWideInteger(const llvm::Type *type);

void decodeWideBinary(Decoder &decoder, llvm::Instruction &instruction, IntegerOp op);
void decodeWideCompare(Decoder &decoder, llvm::CmpInst &compare, IntegerTest test);
/// Casts between integers of which one is wide.
void decodeWideCast(Decoder &decoder, llvm::CastInst &cast);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_WIDEINTEGERS_H
