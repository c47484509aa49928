// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Where this code was loaded from, and with it the worker program. Nothing is remembered.

#ifndef TILEJIT_LIB_RUNTIME_LOCATE_H
#define TILEJIT_LIB_RUNTIME_LOCATE_H

#include "tilejit/Base/Settings.h"
#include "tilejit/Base/System.h"

#include <string>

namespace tilejit {

/// Folder of the library or program that holds this function; empty where it can't be found out.
std::string ownFolder();
/// The worker program: the setting, else under `home`, else beside this code; empty where there is none.
std::string findWorker(const Settings &settings, System &system);

} // namespace tilejit

#endif // TILEJIT_LIB_RUNTIME_LOCATE_H
