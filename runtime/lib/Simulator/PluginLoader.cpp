// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Finding and opening the simulator plug-in.

#include "tilejit/Simulator/PluginLoader.h"

#include "tilejit/Base/File.h"

#include <dlfcn.h>
#include <mutex>
#include <unistd.h>
#include <vector>

namespace tilejit::sim {

namespace {

/// Levels that this CPU runs, best first.
std::vector<std::string> levels() {
#if defined(__x86_64__)
  std::vector<std::string> found;
  if (__builtin_cpu_supports("x86-64-v4"))
    found.push_back("x86-64-v4");
  if (__builtin_cpu_supports("x86-64-v3"))
    found.push_back("x86-64-v3");
  found.push_back("x86-64");
  return found;
#else
  return {"generic"};
#endif
}

Expected<const Plugin *> open(const std::string &path) {
  void *handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!handle)
    return Status(StatusCode::Unavailable, std::string("can't open the simulator: ") + dlerror());
  auto function = reinterpret_cast<PluginFunction>(dlsym(handle, pluginSymbol));
  if (!function)
    return Status(StatusCode::Unavailable, "the simulator " + path + " has no function " + pluginSymbol);
  const Plugin *plugin = function();
  if (plugin->version != pluginVersion)
    return Status(StatusCode::Unavailable, "the simulator " + path + " has interface version " +
                                               std::to_string(plugin->version) + ", needed is " +
                                               std::to_string(pluginVersion));
  return plugin;
}

} // namespace

Expected<const Plugin *> openSimulator(const std::string &home) {
  static std::mutex mutex;
  static const Plugin *opened = nullptr;
  std::lock_guard lock(mutex);
  if (opened)
    return opened;
  std::string looked;
  std::vector<std::string> folders = libraryFolders(realSystem(), home);
  for (const std::string &folder : folders)
    for (const std::string &level : levels()) {
      std::string path = joinPath(folder, "tilejit-simulator/" + level + "/libtilejit-simulator.so");
      if (access(path.c_str(), R_OK) != 0)
        continue;
      TILEJIT_ASSIGN_OR_RETURN(opened, open(path));
      return opened;
    }
  for (const std::string &folder : folders)
    looked += (looked.empty() ? "" : ", ") + folder;
  return Status(StatusCode::Unavailable, "the simulator libtilejit-simulator.so was not found")
      .withDetail("looked for tilejit-simulator/ in " + looked)
      .withHint("build with TILEJIT_COMPILER=ON, or set TILEJIT_HOME to the folder where tilejit is installed");
}

} // namespace tilejit::sim
