// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Objects to an ELF shared object, with lld in this process. Its inputs are files in memory and its output is a pipe:
// nothing is written to a disk, and no name can clash.

#ifndef TILEJIT_BACKENDS_CPU_LINK_H
#define TILEJIT_BACKENDS_CPU_LINK_H

#include "tilejit/Target/TargetSpec.h"

#include <span>
#include <string>

namespace tilejit::cpu {

/// The shared object: the two functions of the kernel's interface exported, nothing needed from outside. The same
/// objects give the same bytes. Empty with the reason in `error`.
std::string linkSharedObject(std::span<const std::string> objects, CpuArch arch, std::string &error);

} // namespace tilejit::cpu

#endif // TILEJIT_BACKENDS_CPU_LINK_H
