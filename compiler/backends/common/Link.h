// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Objects to an ELF shared object, with lld in this process. Its inputs are files in memory and its output is a pipe:
// nothing is written to a disk, and no name can clash.

#ifndef TILEJIT_BACKENDS_COMMON_LINK_H
#define TILEJIT_BACKENDS_COMMON_LINK_H

#include <span>
#include <string>

namespace tilejit::backends {

/// The shared object: what the objects export exported, nothing needed from outside. The same objects give the same
/// bytes. `emulation` is lld's name of the machine ("elf_x86_64"). Empty with the reason in `error`.
std::string linkSharedObject(std::span<const std::string> objects, const char *emulation, std::string &error);

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_LINK_H
