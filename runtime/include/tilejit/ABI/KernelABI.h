// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How compiled CPU code is called. The payload is an ELF shared object without dependencies that exports the
// functions below; the same header is compiled into the runtime (caller) and described to the back end (callee).
// Changing anything here means a new kernelAbiVersion, which is part of every cache key.

#ifndef TILEJIT_ABI_KERNELABI_H
#define TILEJIT_ABI_KERNELABI_H

#include <cstdint>

namespace tilejit::abi {

inline constexpr int kernelAbiVersion = 3;

/// Arguments of a launch are one array of 64-bit slots, operand after operand in canonical order (inputs, outputs):
/// a view of rank r takes 1 + 2r slots: address of element 0, r sizes, r strides in elements; a pointer or scalar one
/// slot (the scalar's bits, zero-extended).
///
/// A launch runs `phases` phases one after the other; phase p consists of `tasks[p]` independent tasks, which may run
/// on any thread in any order. All scratch memory is the caller's, 64-byte aligned, uninitialised.
inline constexpr int maxPhases = 4;

struct CpuPlan {
  int64_t phases = 0;
  int64_t tasks[maxPhases] = {};
  int64_t sharedScratchBytes = 0; ///< One block for the launch, seen by all tasks of all phases.
  int64_t threadScratchBytes = 0; ///< One block per thread.
  int64_t path = 0;               ///< Which of the kernel's regimes was chosen; index into the manifest's list.
};

/// Chooses regime, phases and tasks for the actual sizes. `grid` is null, or three counts of program instances that
/// take the place of the kernel's own launch rule (tile files without one).
using CpuPlanFunction = void (*)(const int64_t *args, int64_t threads, const int64_t *grid, CpuPlan *plan);

/// Runs tasks [begin, end) of a phase on the calling thread. Returns 0, or 1 + the number of the failed assertion.
using CpuRunFunction = int64_t (*)(const int64_t *args, const int64_t *grid, const CpuPlan *plan, int64_t phase,
                                   int64_t begin, int64_t end, void *sharedScratch, void *threadScratch);

/// Prints one line: a text of so many bytes, then values. `types` names them, separated by spaces, with the number of
/// elements of a tile: "i64 f32[64]". `cells` has the bits that each has in memory, zero-extended: one cell for a
/// number; for a tile all elements, or, of more than twice printedAtEachEnd, that many first and last ones.
using CpuPrintFunction = void (*)(void *user, const char *text, int64_t textBytes, const char *types,
                                  const int64_t *cells);
inline constexpr int64_t printedAtEachEnd = 3;

/// Says who prints, before the first launch. Only kernels that print have this function.
using CpuSetPrinterFunction = void (*)(CpuPrintFunction print, void *user);

inline constexpr const char *cpuPlanSymbol = "tilejit_plan";
inline constexpr const char *cpuRunSymbol = "tilejit_run";
inline constexpr const char *cpuSetPrinterSymbol = "tilejit_set_printer";

} // namespace tilejit::abi

#endif // TILEJIT_ABI_KERNELABI_H
