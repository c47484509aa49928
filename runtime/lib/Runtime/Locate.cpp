// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Looking for the files of an installation.

#include "Locate.h"

#include "tilejit/Base/File.h"

#include <cstdint>
#include <link.h>
#include <unistd.h>

namespace tilejit {

namespace {

struct Search {
  uintptr_t address;
  std::string path;
  bool found = false;
};

int visitObject(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &segment = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || search.address < begin || search.address >= begin + segment.p_memsz)
      continue;
    search.path = info->dlpi_name ? info->dlpi_name : "";
    search.found = true;
    return 1;
  }
  return 0;
}

} // namespace

std::string ownFolder() {
  Search search{reinterpret_cast<uintptr_t>(&ownFolder), {}};
  dl_iterate_phdr(&visitObject, &search);
  if (!search.found)
    return {};
  // The program itself has no name in that list.
  if (search.path.empty()) {
    search.path = programPath(realSystem());
    if (search.path.empty())
      return {};
  }
  return parentPath(search.path);
}

std::string findWorker(const Settings &settings, System &system) {
  if (const std::string &set = settings.text(SettingId::Worker); !set.empty())
    return set;
  std::vector<std::string> folders;
  auto addTree = [&](const std::string &root) {
    folders.push_back(joinPath(root, "bin"));
    folders.push_back(joinPath(root, "libexec/tilejit"));
  };
  if (const std::string &home = settings.text(SettingId::Home); !home.empty())
    addTree(home);
  if (std::string own = ownFolder(); !own.empty()) {
    folders.push_back(own);
    addTree(parentPath(own));
    addTree(parentPath(parentPath(own))); // lib/x86_64-linux-gnu
  }
  FileInfo info;
  for (const std::string &folder : folders)
    if (std::string path = joinPath(folder, "tilejit-worker"); system.stat(path, true, info) == 0 && info.isRegular())
      return path;
  return {};
}

} // namespace tilejit
