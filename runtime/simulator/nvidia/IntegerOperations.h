// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// PTX's integer operations by name and type: "mul.hi.s32", "bfe.u32", "lop3.b32". PTX assembly and llvm.nvvm intrinsics
// share them.

#ifndef TILEJIT_SIMULATOR_NVIDIA_INTEGEROPERATIONS_H
#define TILEJIT_SIMULATOR_NVIDIA_INTEGEROPERATIONS_H

#include "core/Elementwise.h"

#include <string_view>

namespace tilejit::sim {

struct IntegerOperation {
  std::string_view name;
  /// Registers, result first, by size: p(redicate), h(alf word), r (32 bits), l(ong). A last '#' is a number, which
  /// becomes that of the operation.
  std::string_view registers;
  Handler handler;
};

/// Null for what does not exist.
const IntegerOperation *findIntegerOperation(std::string_view name);

/// Additions and subtractions with the carry flag, and multiply-adds: x->out {d, carry}, x->in {a, b, (c,) carry}.
enum class CarryOp : uint8_t { Add, Sub, MadLow, MadHigh };
struct CarryFlags {
  CarryOp op = CarryOp::Add;
  bool carryIn = false, carryOut = false, isSigned = false;
};
/// The operation's number is the op, and bits 8, 9, 10 for the flags. `bits`: 32 or 64.
Handler carryHandler(unsigned bits);
inline int64_t encodeCarry(const CarryFlags &f) {
  return static_cast<int64_t>(f.op) | f.carryIn << 8 | f.carryOut << 9 | f.isSigned << 10;
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_INTEGEROPERATIONS_H
