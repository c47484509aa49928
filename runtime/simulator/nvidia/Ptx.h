// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the rules of PTX statements share: types, modifiers, and emission from the tables of operations.

#ifndef TILEJIT_SIMULATOR_NVIDIA_PTX_H
#define TILEJIT_SIMULATOR_NVIDIA_PTX_H

#include "decode/Decoder.h"

#include "nvidia/FloatOperations.h"
#include "nvidia/IntegerOperations.h"

#include <optional>

namespace tilejit::sim {

/// A type word of a mnemonic: "s32", "f16x2", "pred".
struct PtxType {
  enum class Class : uint8_t { Bits, Unsigned, Signed, Float, Predicate };
  Class kind;
  Kind element;  ///< Of one number.
  unsigned bits; ///< Of one number.
  bool pair;     ///< x2: two numbers in one register of twice the bits.

  /// What a register of the type is.
  Kind container() const {
    if (!pair)
      return element;
    return bits == 32 ? Kind::I64 : bits == 16 ? Kind::I32 : Kind::I16;
  }
  bool isFloat() const { return kind == Class::Float; }
};
std::optional<PtxType> parsePtxType(llvm::StringRef word);

/// .rn, .ftz, .sat, ... of a list of words; others are left alone.
FloatFlags parseFloatFlags(llvm::ArrayRef<llvm::StringRef> words);
std::optional<Rounding> parseRounding(llvm::StringRef word);

/// Whether a statement has this many operands; an error otherwise.
bool expectOperands(const AsmStatement &statement, size_t least, size_t most);
void unsupportedStatement(const AsmStatement &statement);

/// d = row(sources).
void emitInteger(Decoder &decoder, const IntegerOperation &row, Reg d, llvm::ArrayRef<Reg> sources, int64_t number = 0);
/// False if there is no such operation.
bool emitFloat(Decoder &decoder, llvm::StringRef name, const PtxType &type, const FloatFlags &flags, Reg d,
               llvm::ArrayRef<Reg> sources);
/// Both halves of 32 bits as registers of a 16-bit kind, and back.
std::pair<Reg, Reg> splitPair(Decoder &decoder, Reg pair, Kind half);
void joinPair(Decoder &decoder, Reg to, Reg low, Reg high);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_PTX_H
