// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// wgmma of sm_90a: products of a warpgroup, D[64][N] += A[64][K] * B[K][N], with A in registers or shared memory and B
// in shared memory. Each warp computes its 16 rows by itself. Numbers are there at once; that they are used, or
// operands in shared memory overwritten, before the wait is reported: of memory by the clock of an agent, of registers
// by slots that follow copies (ProductTracking.cpp).

#ifndef TILEJIT_SIMULATOR_NVIDIA_WARPGROUPPRODUCT_H
#define TILEJIT_SIMULATOR_NVIDIA_WARPGROUPPRODUCT_H

#include "core/Program.h"

#include <cstring>

namespace tilejit::sim {

class Rules;

/// Element types of operands, and the kinds of accumulators.
enum class ProductType : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8, B1 };
enum class ProductSum : uint8_t { F32, F16, S32 };

struct ProductSpec {
  ProductType a = ProductType::F16, b = ProductType::F16;
  ProductSum sum = ProductSum::F32;
  uint16_t columns = 8;      ///< N.
  bool aInRegisters = false; ///< Four registers instead of a descriptor.
  bool negateA = false, negateB = false;
  bool transposeA = false, transposeB = false;                               ///< Contiguous in m or n.
  bool saturate = false;                                                     ///< Integers stop at their limits.
  enum class Keep : uint8_t { Never, Always, Register } keep = Keep::Always; ///< Whether D is added to.

  /// Registers of D for each lane.
  unsigned sums() const { return sum == ProductSum::F16 ? columns / 4 : columns / 2; }
};

/// Where a product operation keeps what: in: D (unless Keep::Never), A (four registers or a descriptor), the descriptor
/// of B, the flag of Keep::Register; out: D; offsets: slots of D, then of A in registers; numbers: the bytes of the
/// spec.
bool isWarpgroupProduct(const Op &op);
inline ProductSpec productSpec(const OpOperands &operands) {
  ProductSpec spec;
  std::memcpy(static_cast<void *>(&spec), operands.numbers.data(), sizeof spec);
  return spec;
}
inline void setProductSpec(OpOperands &operands, const ProductSpec &spec) {
  operands.numbers.assign((sizeof spec + 7) / 8, 0);
  std::memcpy(operands.numbers.data(), &spec, sizeof spec);
}
inline unsigned firstOperand(const ProductSpec &spec) {
  return spec.keep == ProductSpec::Keep::Never ? 0 : spec.sums();
}

/// Gives the registers that products write, and those that feed them, slots in which it is known while running whether
/// a product in flight writes them and whether they were written otherwise. Called for decoded kernels, before
/// registers have their places.
void trackProducts(Program &program);

void addNvidiaWarpgroupRules(Rules &rules);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_NVIDIA_WARPGROUPPRODUCT_H
