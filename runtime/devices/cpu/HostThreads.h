// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the CPU device knows about its machine beyond the target: name and memory, read when asked; and where threads
// run.

#ifndef TILEJIT_DEVICES_CPU_HOSTTHREADS_H
#define TILEJIT_DEVICES_CPU_HOSTTHREADS_H

#include <cstdint>
#include <string>

namespace tilejit::cpu {

/// Binds the calling thread to a processor; false where the system refuses.
bool bindThread(int processor);

/// The processor's name, as the system knows it; the architecture's where it doesn't.
std::string processorName();
int64_t memoryBytes();
int64_t freeMemoryBytes();

} // namespace tilejit::cpu

#endif // TILEJIT_DEVICES_CPU_HOSTTHREADS_H
