// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Matrix instructions as rows of data: MFMA and SMFMAC of CDNA, WMMA of RDNA 3 and 4, SWMMAC of RDNA 4. A row names an
// instruction, the chips that have it, its sizes and types, and the family of its register layout. What makes one
// engine fit them all: a register holds, for each group of M (or N) neighbouring lanes, a piece of one column of A, one
// row of B or one row of C.

#ifndef TILEJIT_SIMULATOR_AMD_MATRIX_H
#define TILEJIT_SIMULATOR_AMD_MATRIX_H

#include "core/Chip.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tilejit::sim {

/// What the elements of an operand are. Fp8 and Bf8 are the chip's own: FNUZ on CDNA 3, OCP on later ones.
enum class Element : uint8_t {
  F64,
  F32,
  XF32,
  F16,
  BF16,
  Fp8,
  Bf8,
  Fp8Fnuz,
  Bf8Fnuz,
  Fp6,
  Bf6,
  Fp4,
  I8,
  U8,
  I4,
  U4,
  I16,
  U16,
  I32,
  U32
};

constexpr unsigned bitsOf(Element element) {
  switch (element) {
  case Element::F64:
    return 64;
  case Element::F32:
  case Element::XF32:
  case Element::I32:
  case Element::U32:
    return 32;
  case Element::F16:
  case Element::BF16:
  case Element::I16:
  case Element::U16:
    return 16;
  case Element::Fp6:
  case Element::Bf6:
    return 6;
  case Element::Fp4:
  case Element::I4:
  case Element::U4:
    return 4;
  default:
    return 8;
  }
}

/// How lanes and registers map to rows and columns.
enum class MatrixLayout : uint8_t {
  Mfma,       ///< A: lane groups are blocks, or K / groups neighbouring k each.
  MfmaF64,    ///< The same; C and D hold every fourth row.
  MfmaF64x4,  ///< Four 4x4 products; lane groups of 16 are k (A, B) and rows (C, D).
  Mfma8Bit,   ///< Two pieces of 16 neighbouring k, K / 2 apart.
  Sparse,     ///< SMFMAC: A has two of each four k, B as Mfma.
  SparseWide, ///< SMFMAC of CDNA 4: B in two pieces, K / 2 apart.
  Rdna3,      ///< WMMA: all of K in each lane, the same in each group of 16 lanes.
  Rdna4,
};

/// How the intrinsic's arguments are to be read.
enum class MatrixForm : uint8_t {
  Mfma,         ///< a, b, c, cbsz, abid, blgp
  Scaled,       ///< a, b, c, format of a, format of b, byte of scale a, scale a, byte of scale b, scale b
  Sparse,       ///< a, b, c, index, cbsz, abid
  Wmma,         ///< a, b, c
  Half,         ///< a, b, c, half of the registers of c and d (RDNA 3)
  Tied,         ///< The same; the other half of d is c's.
  Integer,      ///< a is signed, a, b is signed, b, c, clamp
  SparseWmma,   ///< a, b, c, index (RDNA 4)
  SparseInteger ///< a is signed, a, b is signed, b, c, index, clamp
};

/// Whether A has two of each four k, and an index that says which.
constexpr bool isSparse(MatrixForm form) {
  return form == MatrixForm::Sparse || form == MatrixForm::SparseWmma || form == MatrixForm::SparseInteger;
}

struct MatrixRow {
  std::string_view name; ///< After "llvm.amdgcn.".
  uint32_t chips;        ///< Bit g: Generation(g) has it.
  MatrixForm form;
  MatrixLayout layout;
  Element a, b, c;
  uint8_t m, k, blocks; ///< M = N.
};

constexpr uint32_t generationBit(Generation generation) { return 1u << static_cast<unsigned>(generation); }

std::span<const MatrixRow> matrixRows();

/// Where one register's piece of a lane group belongs.
struct MatrixPiece {
  uint8_t block = 0, index = 0; ///< Block, and k (A, B) or row (C, D).
  bool used = true;             ///< Else the unit does not read it, or expects what group 0 has.
};

/// A row for one width of waves. Lane l = group * M + i.
struct MatrixPlan {
  const MatrixRow *row = nullptr;
  unsigned groups = 0;                  ///< Of M lanes.
  unsigned perLane = 0;                 ///< Elements of A and of B in a lane (of B where A is sparse),
  unsigned perLaneA = 0;                ///< those of A,
  unsigned perLaneC = 0;                ///< and those of C and D that count.
  unsigned strideC = 1;                 ///< Distance of these among the elements of C and D.
  std::vector<MatrixPiece> operand;     ///< Of element e, group g: [e * groups + g]
  std::vector<MatrixPiece> pairs;       ///< The same for pairs of elements of a sparse A: the first of the four k.
  std::vector<MatrixPiece> accumulator; ///< The same for C and D.
  /// Where row i of a block of C stands: [block * M + i], element * groups + group.
  std::vector<uint16_t> rowPlace;
};

/// Made at the first use, kept for good.
const MatrixPlan &matrixPlan(const MatrixRow &row, unsigned width);

/// Operands of the engine, in OpOperands::numbers.
enum MatrixNumber : unsigned {
  MatrixA,
  MatrixB, ///< Element types after signs and formats are known.
  MatrixRegsA,
  MatrixRegsB,
  MatrixRegsC, ///< Registers of each in `in`; scale or index registers follow.
  MatrixCbsz,
  MatrixAbid,
  MatrixBlgp,
  MatrixClamp,
  MatrixHalf,
  MatrixSelectA,
  MatrixSelectB, ///< Byte of the scales.
  MatrixNumbers
};

class Warp;
struct Op;
void runMatrix32(Warp &warp, const Op &op);
void runMatrix64(Warp &warp, const Op &op);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_MATRIX_H
