// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Everything the runtime asks of the operating system about environment, clocks, randomness and files, as virtual
// functions: tests make any call fail with any errno. Calls mirror POSIX; where POSIX sets errno they return it
// negated. Nothing here retries, logs or decides; that is for File.h and the callers. No process is started here.

#ifndef TILEJIT_BASE_SYSTEM_H
#define TILEJIT_BASE_SYSTEM_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilejit {

/// What stat() says, as far as anybody here asks.
struct FileInfo {
  uint64_t device = 0, inode = 0;
  int64_t size = 0;
  int64_t allocatedBytes = 0; ///< Blocks on disk, in bytes.
  int64_t mtimeNs = 0, ctimeNs = 0;
  uint32_t mode = 0; ///< Type and permission bits.
  uint32_t owner = 0;

  bool isRegular() const { return (mode & 0170000) == 0100000; }
  bool isDirectory() const { return (mode & 0170000) == 0040000; }
  bool isLink() const { return (mode & 0170000) == 0120000; }
  bool othersMayWrite() const { return (mode & 0022) != 0; }
  bool operator==(const FileInfo &) const = default;
};

/// What statfs() says.
struct FileSystemInfo {
  int64_t magic = 0;     ///< f_type.
  int64_t freeBytes = 0; ///< For an unprivileged user.
};

/// The operating system. Thread-safe. All paths are taken as they are; flags and modes are those of <fcntl.h>.
class System {
public:
  virtual ~System() = default;

  // Environment and identity.
  virtual std::optional<std::string> environment(const std::string &name) const = 0;
  virtual uint32_t userId() const = 0; ///< Effective.
  virtual int64_t processId() const = 0;
  virtual std::string currentFolder() const = 0; ///< Empty where it is gone.

  // Time and chance.
  virtual int64_t wallNanoseconds() const = 0;
  virtual int64_t monotonicNanoseconds() const = 0;
  virtual uint64_t random() = 0; ///< For names, not for secrets.
  virtual void pause(int64_t nanoseconds) = 0;

  // Open files. open() adds O_CLOEXEC and gives a descriptor.
  virtual int open(const std::string &path, int flags, uint32_t mode) = 0;
  virtual int64_t read(int fd, void *buffer, size_t bytes) = 0;
  virtual int64_t readAt(int fd, void *buffer, size_t bytes, int64_t offset) = 0;
  virtual int64_t write(int fd, const void *buffer, size_t bytes) = 0;
  virtual int fsync(int fd) = 0;
  virtual int close(int fd) = 0;
  virtual int stat(int fd, FileInfo &out) = 0;
  virtual int lock(int fd, int operation) = 0; ///< flock().
  virtual int touch(int fd) = 0;               ///< Both times become now.

  // Names.
  virtual int stat(const std::string &path, bool followLinks, FileInfo &out) = 0;
  virtual int fileSystem(const std::string &path, FileSystemInfo &out) = 0;
  virtual int readLink(const std::string &path, std::string &out) = 0;
  virtual int makeDirectory(const std::string &path, uint32_t mode) = 0;
  virtual int changeMode(const std::string &path, uint32_t mode) = 0;
  virtual int rename(const std::string &from, const std::string &to) = 0;
  virtual int unlink(const std::string &path) = 0;
  virtual int removeDirectory(const std::string &path) = 0; ///< Empty ones only.
  /// Names in a folder, without "." and "..", sorted.
  virtual int list(const std::string &path, std::vector<std::string> &out) = 0;
};

/// The real one. It has no state, so that there is nothing to construct or destroy.
System &realSystem();

} // namespace tilejit

#endif // TILEJIT_BASE_SYSTEM_H
