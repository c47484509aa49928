// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The search for ptxas.

#include "tilejit/Base/Ptxas.h"

#include "tilejit/Base/Text.h"

#include <vector>

namespace tilejit {

namespace {

bool isProgram(System &system, const std::string &path) {
  FileInfo info;
  return system.stat(path, /*followLinks=*/true, info) == 0 && info.isRegular() && (info.mode & 0111) != 0;
}

std::vector<std::string> searchedFolders(const System &system) {
  std::vector<std::string> folders;
  std::string path = system.environment("PATH").value_or("");
  for (std::string_view folder : splitText(path, ':'))
    if (folder.starts_with('/'))
      folders.emplace_back(folder);
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto home = system.environment(variable); home && !home->empty())
      folders.push_back(*home + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  auto data = system.environment("XDG_DATA_HOME");
  auto home = system.environment("HOME");
  if (data && !data->empty())
    folders.push_back(*data + "/tilejit/ptxas/bin");
  else if (home && !home->empty())
    folders.push_back(*home + "/.local/share/tilejit/ptxas/bin");
  return folders;
}

} // namespace

Expected<std::string> findPtxas(System &system, std::string_view given) {
  if (!given.empty()) {
    if (isProgram(system, std::string(given)))
      return std::string(given);
    return Status(StatusCode::InvalidArgument,
                  std::string(ptxasVariable) + " is '" + shorten(given, 100) + "', which is no program")
        .withHint("give the path of ptxas itself, or unset the variable to have it looked for");
  }
  for (const std::string &folder : searchedFolders(system))
    if (std::string path = folder + "/ptxas"; isProgram(system, path))
      return path;
  return std::string();
}

} // namespace tilejit
