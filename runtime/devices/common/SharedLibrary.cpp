// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// dlopen() of drivers.

#include "devices/common/SharedLibrary.h"

#include <dlfcn.h>

namespace tilejit::gpu {

Expected<SharedLibrary> SharedLibrary::open(std::initializer_list<const char *> names) {
  std::string said;
  for (const char *name : names) {
    SharedLibrary library;
    library.name_ = name;
    library.handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library.handle_)
      return library;
    const char *error = dlerror();
    said = error ? error : name;
  }
  return Status(StatusCode::Unavailable, said);
}

void *SharedLibrary::find(const char *symbol) const { return dlsym(handle_, symbol); }

} // namespace tilejit::gpu
