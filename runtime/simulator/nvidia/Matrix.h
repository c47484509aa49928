// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Matrix instructions of NVIDIA's warps (mma, its sparse form, wmma) as rows of data. A row names sizes, types, the
// chip that brought it, and which element of which lane stands where in A, B, C and D; one engine runs them all.
// Sources: PTX ISA, "Matrix Fragments for mma" of each shape; CuTe's layouts agree where it has them. For wmma the ISA
// leaves the distribution open: the one here is what Turing and later machines are seen to use.

#ifndef TILEJIT_SIMULATOR_NVIDIA_MATRIX_H
#define TILEJIT_SIMULATOR_NVIDIA_MATRIX_H

#include "core/Program.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tilejit::sim {

enum class MmaType : uint8_t { F16, BF16, TF32, F32, F64, E4M3, E5M2, S8, U8, S4, U4, B1, S32 };
/// PTX's spelling.
std::string_view mmaTypeName(MmaType type);
/// Bits of an element in a register. B1 counts as words of 32 of them, sizes of k too.
unsigned mmaBits(MmaType type);

/// Types of A and B that share rows.
enum class MmaClass : uint8_t { F16, BF16, TF32, F64, Fp8, Int8, Int4, Bit };
MmaClass mmaClassOf(MmaType type);

enum class MmaFamily : uint8_t { Mma, Sparse, Wmma };

/// Where elements stand: what each bit of the lane number, and of the element number, adds to a coordinate. "k2 m1"
/// says: bit 0 adds 2 to k, bit 1 adds 1 to m; "-": the bit makes copies; "b": which of several independent products.
struct MmaFragment {
  std::string_view lane, element;
};

/// How the metadata of sparse products lie in the lanes of a quad.
enum class MmaMetadata : uint8_t {
  None,
  Halves, ///< A word: row g below, row g + 8 above; the next lane has the next columns.
  Rows,   ///< Even lanes: row g, odd lanes: row g + 8; the next pair has the next columns.
};

struct MmaRow {
  MmaFamily family;
  std::string_view shape; ///< "m16n8k16"
  MmaClass types;
  std::string_view layouts; ///< "row.col", or empty: any.
  unsigned capability;      ///< 80: sm_80 and later.
  MmaFragment a, b, c;
  MmaFragment c16 = {}; ///< Of C and D in f16 where it is another.
  MmaMetadata metadata = MmaMetadata::None;
};
std::span<const MmaRow> mmaRows();

/// One operand of an instruction, worked out for the registers that hold it.
struct MmaOperand {
  MmaType type = MmaType::F16;
  unsigned elements = 0;    ///< Of a lane,
  unsigned perRegister = 1; ///< and of one of its registers.
  unsigned registers = 0;
  unsigned columns = 0;        ///< Of the matrix that `place` counts in.
  std::vector<uint16_t> place; ///< [element * 32 + lane]: row * columns + column, of all products one after another.
  unsigned matrix = 0;         ///< Elements of one product.
  bool inOrder = false;        ///< Kept as [element * 32 + lane] instead.
};

/// A product taken apart into products of 8 rows and 8 columns, each of which a warp holds in the same way: lane (g, t)
/// has row g of A and column g of B, lane t of a quad at the same k of both, and columns 2t and 2t + 1 of row g of C.
struct MmaTiles {
  static constexpr unsigned most = 4;
  struct Step {
    unsigned k = 0;                     ///< Of lane 0.
    std::array<uint8_t, most> a{}, b{}; ///< Elements of each group of rows, and of columns.
  };
  std::vector<Step> steps;        ///< Empty: the product is not of this kind.
  unsigned rows = 0, columns = 0; ///< How many groups.
  uint8_t c[most][most][2] = {};  ///< Elements of C.
};

/// An instruction with its types chosen.
struct MmaPlan {
  const MmaRow *row = nullptr;
  unsigned m = 0, n = 0, k = 0, blocks = 1;
  MmaOperand a, b, c, d;
  MmaTiles tiles;
  bool saturate = false, isXor = false; ///< B1: xor, else and.
  bool fast = false;                    ///< 16 bits to f32: has a kernel of its own.
};

/// What an instruction says.
struct MmaSpec {
  MmaFamily family = MmaFamily::Mma;
  std::string_view shape, layouts;
  MmaType a = MmaType::F16, b = MmaType::F16, c = MmaType::F32, d = MmaType::F32;
  bool saturate = false, isXor = false;
  /// Bytes of a register of A, B, C and D: 2 where elements of f16 have a register each.
  std::array<uint8_t, 4> registerBytes = {4, 4, 4, 4};
};

/// The row of a spec, whatever the chip; null when there is none.
const MmaRow *findMmaRow(const MmaSpec &spec);
/// Made at the first use, kept for good.
const MmaPlan &mmaPlan(const MmaSpec &spec, const MmaRow &row);
/// Sizes that a shape names; k of B1 in words.
struct MmaSizes {
  unsigned m = 0, n = 0, k = 0;
};
MmaSizes mmaSizes(std::string_view shape, MmaClass types);
/// An operand of a row: which is 'a', 'b', 'c' or 'd' (that counts as c).
MmaOperand mmaOperand(const MmaRow &row, char which, MmaType type, unsigned registerBytes);

/// x->out: D; x->in: registers of A, B, C, and the metadata of sparse products; x->table: MmaPlan; imm: the selector of
/// sparse products.
void runMma(Warp &warp, const Op &op);
/// The kernel of plans that are `fast`: m16n8k16 and m16n8k8 of f16 and bf16 with sums in f32. False: not on this CPU.
bool runFastMma(Warp &warp, const OpOperands &x, const MmaPlan &plan);
/// c += a * b, all in order of elements and lanes, for plans with tiles.
void multiplyTiles(const MmaPlan &plan, const float *a, const float *b, float *c);
/// Waits for the whole warp and reports lanes that are missing. False: the operation must return at once.
bool meetWarp(Warp &warp, const Op &op);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_MATRIX_H
