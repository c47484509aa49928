// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Which lane and register of a matrix instruction holds which element: one row of data for each instruction shape and
// width of elements. Types of one width share a row (f16 and bf16; s8, u8 and fp8; ...). Sparse instructions are not
// here.
//
// A fragment is a layout over (register, lane[, warp]). Registers count elements, not 32-bit registers: an element of w
// bits is bits w*e.. of the operand's registers in order. Operand A is m x k, B is k x n, results and accumulators are
// m x n; an instruction with several blocks has the block as a leading dimension.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_FRAGMENTS_H
#define TILEJIT_DIALECT_TILEGPU_IR_FRAGMENTS_H

#include "tilejit/Dialect/TileGPU/IR/LinearLayout.h"

#include <span>

namespace tilejit::tilegpu {

enum class MatrixFamily {
  Mma,   ///< NVIDIA mma.sync (PTX ISA, "Matrix fragments for mma...").
  Wgmma, ///< NVIDIA wgmma of four warps, A in registers. The result is that of n = 8: larger n repeat it in registers.
  Mfma,  ///< AMD CDNA (AMD matrix instruction calculator; gfx950: public kernels).
  MfmaScaled, ///< AMD gfx950, f8f6f4: A and B may be of different rows of one shape.
  WmmaGfx11,  ///< AMD RDNA 3: operands are needed twice (wave32) or four times (wave64).
  WmmaGfx12,  ///< AMD RDNA 4.
};

enum class MatrixOperand { A, B, Result };

struct MatrixInstruction {
  MatrixFamily family;
  int lanes; ///< Of a warp.
  int m, n, k, blocks;
  int operandBits;
  int resultBits; ///< 0: results of every width the instruction has are laid out alike.
  /// Steps of the bits of each input dimension as fragmentFromText() reads them, letters b m n k. Empty: not in
  /// registers.
  std::string_view a, b, result;

  bool isInRegisters(MatrixOperand operand) const;
  LinearLayout layout(MatrixOperand operand) const;
};

std::span<const MatrixInstruction> matrixInstructions();

struct MatrixShape {
  int m, n, k, blocks = 1;
};
/// Null if there is no such instruction. A row whose resultBits is 0 fits every `resultBits`.
const MatrixInstruction *findMatrixInstruction(MatrixFamily family, const MatrixShape &shape, int operandBits,
                                               int resultBits = 32, int lanes = 32);

/// What the lanes receive from (or give to) ldmatrix and stmatrix of 1, 2 or 4 8x8 matrices of 16-bit elements: a tile
/// of matrix x row x column.
LinearLayout matrixLoad(int matrices, bool transposed);
/// The row of which matrix each lane addresses: a tile of matrix x row. Lanes beyond 8 * matrices are not read; here
/// they are copies.
LinearLayout matrixLoadAddress(int matrices);

/// A layout in words: `register k1 m8; lane k2 k4 m1+k8 0` gives, for each bit of each input dimension, the step it
/// makes along the dimensions that `letters` names in order; 0 is a copy. Asserts that the text has this form.
LinearLayout fragmentFromText(std::string_view text, std::string_view letters, const std::vector<int64_t> &shape);

} // namespace tilejit::tilegpu

#endif // TILEJIT_DIALECT_TILEGPU_IR_FRAGMENTS_H
