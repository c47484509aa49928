// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a HSACO says about its kernels: registers, spills, on-chip and private memory.

#ifndef TILEJIT_BACKENDS_ROCDL_KERNELFACTS_H
#define TILEJIT_BACKENDS_ROCDL_KERNELFACTS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::rocdl {

/// Registers are counted for one lane (vector) or one wavefront (scalar); bytes are those of one thread, shared memory
/// aside.
struct KernelFacts {
  std::string name;
  int64_t vectorRegisters = 0; ///< Accumulation registers included where both are one file.
  int64_t accumulationRegisters = 0;
  int64_t scalarRegisters = 0;
  int64_t vectorSpills = 0, scalarSpills = 0; ///< Registers.
  int64_t privateBytes = 0;                   ///< Scratch memory.
  int64_t sharedBytes = 0;                    ///< Of a block, without what a launch adds.
};

/// Reads the metadata note of a code object; false where there is none.
bool readKernelFacts(std::string_view codeObject, std::vector<KernelFacts> &kernels);

} // namespace tilejit::rocdl

#endif // TILEJIT_BACKENDS_ROCDL_KERNELFACTS_H
