// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// For tests: AMX on a CPU that lacks it. Its instructions raise SIGILL there; a handler does what the manual says of
// them on matrix registers of the thread's own, and steps over them.

#ifndef TILEJIT_TEST_UNIT_AMXTRAP_H
#define TILEJIT_TEST_UNIT_AMXTRAP_H

#include "tilejit/Target/TargetSpec.h"

#include <csignal>
#include <cstdint>
#include <string>

namespace tilejit::test {

/// This machine's CPU with AMX.
TargetSpec hostWithAmx();
/// Why code for that can't be run here, trapped or not; empty where it can.
std::string whyNoAmx();
/// Whether code for `target` runs here with the trap and without it does not.
bool needsAmxTrap(const TargetSpec &target);

/// Handles SIGILL as long as it lives. An instruction that the manual forbids ends the process with the reason.
class AmxTrap {
public:
  AmxTrap();
  ~AmxTrap();
  AmxTrap(const AmxTrap &) = delete;
  AmxTrap &operator=(const AmxTrap &) = delete;

private:
  struct sigaction before_;
};
/// Products of matrix registers that were trapped in this process.
int64_t trappedProducts();

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_AMXTRAP_H
