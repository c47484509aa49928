// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads and stores of whole matrices by a warp: ldmatrix, stmatrix and movmatrix (eight rows of 16 bytes each), and
// wmma's fragments from any memory. Data and handlers; the rules are in LoadMatrix.cpp and Matrix.cpp.

#ifndef TILEJIT_SIMULATOR_NVIDIA_MATRIXMEMORY_H
#define TILEJIT_SIMULATOR_NVIDIA_MATRIXMEMORY_H

#include "nvidia/Matrix.h"

namespace tilejit::sim {

/// Bits of imm of the 8x8 instructions; the address space of the pointer stands above.
constexpr int64_t matrixTransposed = 1;
constexpr unsigned matrixSpaceShift = 8;

/// x->out: a register for each matrix; a: addresses of rows.
void loadMatrices(Warp &warp, const Op &op);
/// x->in: a register for each matrix; a: addresses of rows.
void storeMatrices(Warp &warp, const Op &op);
/// d = a, an 8x8 matrix of 16 bits, transposed.
void transposeMatrix(Warp &warp, const Op &op);

/// How a fragment lies in memory: worked out when it is decoded.
struct WmmaAccess {
  MmaOperand operand;
  unsigned bits = 16, strideBits = 16; ///< Of an element, and of what strides count.
  bool store = false;
  unsigned run = 1; ///< Neighbouring elements of a lane that are next to each other in memory too.
  unsigned runBytes = 2;
  std::vector<uint16_t> line, column; ///< Of run i and lane l at [i * 32 + l]; consecutive columns are adjacent.
};
/// `which`: 'a', 'b', 'c' (also for d); `rowMajor`: as the instruction says it.
const WmmaAccess &wmmaAccess(const MmaRow &row, char which, MmaType type, unsigned registerBytes, bool rowMajor,
                             bool store);
/// x->out (load) or x->in (store): registers; a: pointer, b: elements from line to line; imm: address space;
/// x->table: WmmaAccess.
void accessFragment(Warp &warp, const Op &op);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_MATRIXMEMORY_H
