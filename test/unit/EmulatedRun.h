// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// For tests: launches a CPU payload of another kind than this machine's, under a user-mode emulator.

#ifndef TILEJIT_TEST_UNIT_EMULATEDRUN_H
#define TILEJIT_TEST_UNIT_EMULATEDRUN_H

#include "CompiledRun.h"

namespace tilejit::test {

/// Why code for `target` can't be launched here; empty where it can.
std::string whyNotEmulated(const TargetSpec &target);
/// Whether the emulator stops, with an assertion of its own, at an instruction in `payload`: version 7 of QEMU at
/// RISC-V's conversions of vectors whose rounding mode is part of the instruction.
bool stopsEmulator(const std::string &payload, const TargetSpec &target);

/// Launches `payload`, an ELF shared object for `target`, on `operands`; a failure fails the test.
RunOutcome runEmulated(const std::string &payload, const TargetSpec &target, std::span<RunOperand> operands);

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_EMULATEDRUN_H
