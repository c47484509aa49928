// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The CPUs that have a name: what LLVM calls them, which features they have, how large their caches are. Data only.

#ifndef TILEJIT_LIB_TARGET_CPUROWS_H
#define TILEJIT_LIB_TARGET_CPUROWS_H

#include "CpuFeatures.h"

#include <span>
#include <string_view>

namespace tilejit::target {

struct CpuRow {
  std::string_view name;
  std::string_view cpu; ///< LLVM's name.
  CpuArch arch;
  FeatureSet features;    ///< What `cpu` and `extra` mean to LLVM, among the features of the table.
  int64_t l1, l2, l3;     ///< Bytes of data cache.
  std::string_view about; ///< For people.
  std::string_view extra; ///< Features beyond `cpu`, LLVM's spelling, comma-separated, sorted.
  CpuPorts ports = {};    ///< For vectors of the CPU's full width.
};

std::span<const CpuRow> cpuRows();
/// The row of a name, or null.
const CpuRow *findRow(std::string_view name);
/// The row of LLVM's name of a CPU, or null.
const CpuRow *findCpu(CpuArch arch, std::string_view cpu);
/// The row nearest to an x86 processor: that of its model, else the highest level that `features` contains.
const CpuRow &x86RowFor(const X86Model &model, FeatureSet features);
std::string_view tripleOf(CpuArch arch);
/// The ports of a row's CPU; of an ordinary one for narrower vectors than its own, which more units take.
CpuPorts portsOf(const CpuRow &row, int vectorBits);
/// The target that a row stands for.
TargetSpec specOf(const CpuRow &row);

} // namespace tilejit::target

#endif // TILEJIT_LIB_TARGET_CPUROWS_H
