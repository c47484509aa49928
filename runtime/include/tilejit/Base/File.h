// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Whole-file operations over System: bounded reading, atomic writing, making folders, and the facts about a folder that
// decide whether it can be trusted. Interrupted and short calls are continued here; every other failure is a Status
// that names path and reason.

#ifndef TILEJIT_BASE_FILE_H
#define TILEJIT_BASE_FILE_H

#include "tilejit/Base/Status.h"
#include "tilejit/Base/System.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// Owns a descriptor.
class FileHandle {
public:
  FileHandle() = default;
  FileHandle(System &system, int fd) : system_(&system), fd_(fd) {}
  FileHandle(FileHandle &&other) noexcept : system_(other.system_), fd_(other.release()) {}
  FileHandle &operator=(FileHandle &&other) noexcept;
  ~FileHandle() { reset(); }

  bool isOpen() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release();
  void reset();

private:
  System *system_ = nullptr;
  int fd_ = -1;
};

/// The text of an errno, without touching global state: "No space left on device".
std::string errnoText(int error);
/// IoError (NotFound for ENOENT): "can't open /x/y: Permission denied".
Status fileError(std::string_view action, std::string_view path, int error);

/// Reads all of an open file, at most `limit` bytes; 0 or a negated errno (-EFBIG past the limit).
int readAll(System &system, int fd, int64_t limit, std::string &out);
/// Writes all bytes; 0 or a negated errno.
int writeAll(System &system, int fd, std::string_view bytes);

/// Reads a whole file (follows links, works for pipes and /proc too).
Expected<std::string> readFile(System &system, const std::string &path, int64_t limit = int64_t{1} << 30);
/// Writes a file so that a reader sees the old content or all of the new one: a temporary beside it, then rename.
/// `durable` adds fsync of the file and of its folder.
Status writeFileAtomically(System &system, const std::string &path, std::string_view bytes, uint32_t mode,
                           bool durable = false);
/// The same with a negated errno as the answer, for those who count failures.
int replaceFile(System &system, const std::string &path, std::string_view bytes, uint32_t mode, bool durable);
/// fsync of a folder, after names in it have changed; 0 or a negated errno.
int syncFolder(System &system, const std::string &path);
/// Makes a folder and what is missing above it; 0 or a negated errno. An existing folder is left as it is.
int makeDirectories(System &system, const std::string &path, uint32_t mode);

/// "a/b" from "a" and "b"; an absolute `name` stays as it is.
std::string joinPath(std::string_view folder, std::string_view name);
/// The folder part: "." for a bare name, "/" for the root.
std::string parentPath(std::string_view path);
/// The last component.
std::string_view fileName(std::string_view path);

/// The running program's file; empty where /proc does not say.
std::string programPath(System &system);
/// Where an installed or built tree keeps its own libraries, seen from the running program: `home`/lib (with a home),
/// the program's folder, and lib in the folders above it; four at most.
std::vector<std::string> libraryFolders(System &system, const std::string &home);

/// Whether the file system of a path is reached over a network (NFS, SMB, Lustre, FUSE ...): flock and fsync there
/// promise little. False where it can't be found out.
bool isOnNetwork(System &system, const std::string &path);

} // namespace tilejit

#endif // TILEJIT_BASE_FILE_H
