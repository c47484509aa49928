// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Whole-file operations over System. Interrupted calls are repeated, short ones continued.

#include "tilejit/Base/File.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>

namespace tilejit {

FileHandle &FileHandle::operator=(FileHandle &&other) noexcept {
  if (this != &other) {
    reset();
    system_ = other.system_;
    fd_ = other.release();
  }
  return *this;
}

int FileHandle::release() { return std::exchange(fd_, -1); }

void FileHandle::reset() {
  if (fd_ >= 0)
    system_->close(fd_);
  fd_ = -1;
}

std::string errnoText(int error) {
  // The descriptions are constants of the C library; unlike strerror() this neither translates nor shares a buffer.
  const char *text = strerrordesc_np(error < 0 ? -error : error);
  return text ? text : "error " + std::to_string(error);
}

Status fileError(std::string_view action, std::string_view path, int error) {
  int positive = error < 0 ? -error : error;
  return Status(positive == ENOENT ? StatusCode::NotFound : StatusCode::IoError,
                "can't " + std::string(action) + " " + shorten(path, 200) + ": " + errnoText(positive));
}

int readAll(System &system, int fd, int64_t limit, std::string &out) {
  out.clear();
  FileInfo info;
  // The size is a hint only: files of /proc and pipes have none, and a file may grow.
  if (system.stat(fd, info) == 0 && info.isRegular()) {
    if (info.size > limit)
      return -EFBIG;
    out.reserve(static_cast<size_t>(info.size) + 1);
  }
  size_t used = 0;
  while (true) {
    size_t room = std::max<size_t>(out.capacity() - used, 64 << 10);
    room = std::min(room, static_cast<size_t>(limit) + 1 - used);
    out.resize(used + room);
    int64_t got = system.read(fd, out.data() + used, room);
    out.resize(used + static_cast<size_t>(std::max<int64_t>(got, 0)));
    if (got == -EINTR)
      continue;
    if (got <= 0)
      return static_cast<int>(got);
    used += static_cast<size_t>(got);
    if (used > static_cast<size_t>(limit))
      return -EFBIG;
  }
}

int writeAll(System &system, int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    int64_t done = system.write(fd, bytes.data(), bytes.size());
    if (done == -EINTR)
      continue;
    if (done < 0)
      return static_cast<int>(done);
    if (done == 0)
      return -ENOSPC;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return 0;
}

Expected<std::string> readFile(System &system, const std::string &path, int64_t limit) {
  FileHandle file(system, system.open(path, O_RDONLY, 0));
  if (!file.isOpen())
    return fileError("open", path, file.get());
  std::string content;
  if (int error = readAll(system, file.get(), limit, content); error == -EFBIG)
    return Status(StatusCode::InvalidArgument,
                  shorten(path, 200) + " is larger than " + formatSize(limit) + ", the most that is read");
  else if (error < 0)
    return fileError("read", path, error);
  return content;
}

namespace {

/// Writes a new file completely; 0 or a negated errno.
int writeNew(System &system, const std::string &path, std::string_view bytes, uint32_t mode, bool durable) {
  FileHandle file(system, system.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
  if (!file.isOpen())
    return file.get();
  if (int error = writeAll(system, file.get(), bytes))
    return error;
  if (durable)
    if (int error = system.fsync(file.get()))
      return error;
  // Some file systems report a failed write only here.
  return system.close(file.release());
}

} // namespace

int syncFolder(System &system, const std::string &path) {
  FileHandle folder(system, system.open(path, O_RDONLY | O_DIRECTORY, 0));
  if (!folder.isOpen())
    return folder.get();
  int error = system.fsync(folder.get());
  // File systems that can't do it for a folder say so; there is nothing more to ask of them.
  return error == -EINVAL ? 0 : error;
}

Status writeFileAtomically(System &system, const std::string &path, std::string_view bytes, uint32_t mode,
                           bool durable) {
  if (int error = replaceFile(system, path, bytes, mode, durable))
    return fileError("write", path, error);
  return {};
}

int replaceFile(System &system, const std::string &path, std::string_view bytes, uint32_t mode, bool durable) {
  std::array<char, 40> suffix;
  std::snprintf(suffix.data(), suffix.size(), "-%016llx.tmp", static_cast<unsigned long long>(system.random()));
  std::string folder = parentPath(path);
  std::string temporary = joinPath(folder, "." + std::string(fileName(path).substr(0, 100)) + suffix.data());
  int error = writeNew(system, temporary, bytes, mode, durable);
  if (!error)
    error = system.rename(temporary, path);
  if (error) {
    system.unlink(temporary);
    return error;
  }
  return durable ? syncFolder(system, folder) : 0;
}

int makeDirectories(System &system, const std::string &path, uint32_t mode) {
  int error = system.makeDirectory(path, mode);
  if (error == -EEXIST)
    return 0;
  if (error != -ENOENT)
    return error;
  std::string parent = parentPath(path);
  if (parent == path || parent == ".")
    return error;
  if (int parentError = makeDirectories(system, parent, mode))
    return parentError;
  error = system.makeDirectory(path, mode);
  return error == -EEXIST ? 0 : error;
}

std::string joinPath(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.starts_with('/'))
    return std::string(name);
  std::string path(folder);
  if (!path.ends_with('/'))
    path += '/';
  return path += name;
}

std::string parentPath(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos)
    return ".";
  while (slash > 0 && path[slash - 1] == '/')
    --slash;
  return std::string(slash == 0 ? "/" : path.substr(0, slash));
}

std::string programPath(System &system) {
  std::string path;
  return system.readLink("/proc/self/exe", path) == 0 ? path : std::string();
}

std::vector<std::string> libraryFolders(System &system, const std::string &home) {
  constexpr size_t most = 4;
  std::vector<std::string> folders;
  if (!home.empty())
    folders.push_back(joinPath(home, "lib"));
  std::string program = programPath(system);
  if (program.empty())
    return folders;
  std::string folder = parentPath(program);
  folders.push_back(folder);
  for (folder = parentPath(folder); folder != "/" && folders.size() < most; folder = parentPath(folder))
    folders.push_back(joinPath(folder, "lib"));
  return folders;
}

std::string_view fileName(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos || path == "/" ? path : path.substr(slash + 1);
}

bool isOnNetwork(System &system, const std::string &path) {
  // f_type of NFS, SMB (three generations), CIFS, Lustre, GPFS, Ceph, AFS, FUSE, 9P, BeeGFS, PanFS, OCFS2, GFS2, Coda.
  static constexpr std::array<int64_t, 16> networks = {
      0x6969,     0x517B,     0xFE534D42, 0xFF534D42, 0x0BD00BD0, 0x47504653, 0x00C36400, 0x5346414F,
      0x65735546, 0x01021997, 0x19830326, 0xAAD7AAEA, 0x7461636F, 0x01161970, 0x73757245, 0x6B414653};
  FileSystemInfo info;
  return system.fileSystem(path, info) == 0 &&
         std::find(networks.begin(), networks.end(), info.magic) != networks.end();
}

} // namespace tilejit
