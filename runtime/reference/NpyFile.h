// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A file descriptor that closes itself, and reads and writes that go on after short counts. For NpyRead and NpyWrite.

#ifndef TILEJIT_REFERENCE_NPYFILE_H
#define TILEJIT_REFERENCE_NPYFILE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <unistd.h>

namespace tilejit::reference {

class FileHandle {
public:
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  FileHandle(const FileHandle &) = delete;
  FileHandle &operator=(const FileHandle &) = delete;
  ~FileHandle() { close(); }

  bool isOpen() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// False where the system reports that written data were lost.
  bool close() {
    int descriptor = descriptor_;
    descriptor_ = -1;
    return descriptor < 0 || ::close(descriptor) == 0;
  }
  /// Bytes read, fewer than `size` only at the end of the file; -1 with errno on failure.
  ssize_t readAt(void *to, size_t size, int64_t offset) const;
  bool writeAll(const void *from, size_t size) const;

private:
  int descriptor_;
};

/// "No such file or directory" for an errno value.
std::string errorText(int error);

} // namespace tilejit::reference

#endif // TILEJIT_REFERENCE_NPYFILE_H
