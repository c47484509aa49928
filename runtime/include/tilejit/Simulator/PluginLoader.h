// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Opens the simulator plug-in. The caller links no LLVM; the plug-in brings it along.

#ifndef TILEJIT_SIMULATOR_PLUGINLOADER_H
#define TILEJIT_SIMULATOR_PLUGINLOADER_H

#include "tilejit/Base/Status.h"
#include "tilejit/Simulator/Simulator.h"

#include <string>

namespace tilejit::sim {

/// The plug-in of the best CPU level that this machine runs, opened once in a process:
/// tilejit-simulator/<level>/libtilejit-simulator.so below one of libraryFolders(). Unavailable where there is none.
Expected<const Plugin *> openSimulator(const std::string &home);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_PLUGINLOADER_H
