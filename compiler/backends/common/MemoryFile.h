// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A file in memory without a name, for programs and libraries that want their inputs and outputs as files.

#ifndef TILEJIT_BACKENDS_COMMON_MEMORYFILE_H
#define TILEJIT_BACKENDS_COMMON_MEMORYFILE_H

#include <string>
#include <string_view>

namespace tilejit::backends {

/// Closed, and with it gone, when the object ends.
class MemoryFile {
public:
  MemoryFile();
  MemoryFile(MemoryFile &&other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  MemoryFile &operator=(MemoryFile &&) = delete;
  ~MemoryFile();

  bool isOpen() const { return fd_ >= 0; }
  int descriptor() const { return fd_; }
  /// Under which others in this process open it.
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  /// Writes at the file's position.
  bool write(std::string_view bytes);
  /// Back to the start, for a reader that shares the position.
  bool rewind();
  /// All of the contents; false on a failure.
  bool read(std::string &bytes);

private:
  int fd_;
};

} // namespace tilejit::backends

#endif // TILEJIT_BACKENDS_COMMON_MEMORYFILE_H
