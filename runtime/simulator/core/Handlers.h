// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The handlers of plain instructions, looked up by operation, kind and warp width: what the decoder emits for LLVM's
// own instructions. Families of intrinsics keep their handlers to themselves.

#ifndef TILEJIT_SIMULATOR_CORE_HANDLERS_H
#define TILEJIT_SIMULATOR_CORE_HANDLERS_H

#include "core/Program.h"

namespace tilejit::sim {

enum class IntegerOp : uint8_t {
  Add,
  Sub,
  Mul,
  UDiv,
  SDiv,
  URem,
  SRem,
  Shl,
  LShr,
  AShr,
  And,
  Or,
  Xor,
  UMin,
  UMax,
  SMin,
  SMax,
};
/// d = a op b, kinds I1 to I64 and Pointer. Divisions by zero give 0; shifts past the width 0 or the sign.
Handler integerHandler(IntegerOp op, Kind kind, unsigned width);

enum class IntegerTest : uint8_t { Eq, Ne, UGt, UGe, ULt, ULe, SGt, SGe, SLt, SLe };
/// d (I1) = a test b.
Handler integerTestHandler(IntegerTest test, Kind kind, unsigned width);

/// Integers of 65 to 128 bits (numbers[0] of them), each in two I64 of which the second is zero-extended. imm: the
/// IntegerOp or IntegerTest. x->in: first and second operand, x->out: the result (of a test, one I1).
Handler wideIntegerHandler();
Handler wideIntegerTestHandler();

/// d = the low `imm` bits of a, zero-extended (mask) or sign-extended in the container.
Handler maskHandler(Kind kind, unsigned width);
Handler signExtendHandler(Kind kind, unsigned width);

enum class FloatOp : uint8_t { Add, Sub, Mul, Div, Rem };
/// d = a op b, rounded to nearest even. Kinds F16, BF16, F32, F64.
Handler floatHandler(FloatOp op, Kind kind, unsigned width);
/// d = -a.
Handler negateHandler(Kind kind, unsigned width);
/// d = a * b + c, rounded once.
Handler fusedMultiplyAddHandler(Kind kind, unsigned width);
/// d (I1) = a test b; the number of the test is that of llvm::CmpInst (FCMP_FALSE 0 ... FCMP_TRUE 15): bit 0 equal,
/// 1 greater, 2 less, 3 unordered.
Handler floatTestHandler(unsigned test, Kind kind, unsigned width);

/// d = a converted: between integers (`isSigned` source extends the sign), floats, and both. Out of range gives the
/// nearest limit, NaN gives 0.
Handler convertHandler(Kind to, Kind from, bool isSigned, unsigned width);

/// d = a ? b : c for elements of this kind's size.
Handler selectHandler(Kind kind, unsigned width);
/// d = a.
Handler copyHandler(Kind kind, unsigned width);
/// Reinterprets x->in as x->out: the elements' bits follow each other (numbers: bits of each, inputs then outputs).
constexpr unsigned mostBitcastBytes = 1024;
Handler bitcastHandler(unsigned width);

/// d = a + b * imm with b of this integer kind, sign-extended. c is the mask of the address space: 0 for 64 bits.
Handler addressHandler(Kind index, unsigned width);
/// d = a + imm.
Handler displacementHandler(unsigned width);
/// d = a as a pointer of another space: `imm` is the window that is added (generic from a space) or, negative, taken
/// away; null stays null.
Handler addressSpaceHandler(unsigned width);
/// d = x->in[i] where i is the lane's value of a; out of range is undefined (extractelement by a variable).
Handler pickElementHandler(unsigned width);
/// x->out = x->in with element a replaced by b.
Handler putElementHandler(unsigned width);

/// x->out = memory at pointer a; `imm`: address space, numbers: {bytes, alignment}.
Handler loadHandler(unsigned width);
/// Memory at pointer a = x->in.
Handler storeHandler(unsigned width);

/// Terminators. Jump: edge imm. Branch: edge 0 where a holds, else 1. Switch: a, cases of the block.
Handler jumpHandler(unsigned width);
Handler branchHandler(unsigned width);
Handler switchHandler(unsigned width);
Handler returnHandler(unsigned width);
Handler unreachableHandler(unsigned width);
/// Runs op.inner in the lanes where the predicate holds.
Handler predicatedHandler(unsigned width);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_HANDLERS_H
