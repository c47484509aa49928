// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// memfd and the loops around its system calls.

#include "MemoryFile.h"

#include <cerrno>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilejit::backends {

MemoryFile::MemoryFile() : fd_(memfd_create("tilejit", MFD_CLOEXEC)) {}

MemoryFile::~MemoryFile() {
  if (fd_ >= 0)
    close(fd_);
}

bool MemoryFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR)
      return false;
    bytes.remove_prefix(count > 0 ? static_cast<size_t>(count) : 0);
  }
  return true;
}

bool MemoryFile::rewind() { return lseek(fd_, 0, SEEK_SET) == 0; }

bool MemoryFile::read(std::string &bytes) {
  struct stat facts;
  if (fstat(fd_, &facts) != 0)
    return false;
  bytes.resize(static_cast<size_t>(facts.st_size));
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count == 0 || (count < 0 && errno != EINTR))
      return false;
    done += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return true;
}

} // namespace tilejit::backends
