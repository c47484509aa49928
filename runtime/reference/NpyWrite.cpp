// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Writing .npy files. A reader never sees half a file: data go to a temporary file in the same folder, which is renamed
// once it is complete and is removed on failure.

#include "NpyFile.h"
#include "tilejit/Reference/Npy.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace tilejit {

using reference::errorText;
using reference::FileHandle;

namespace {

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Status failed(const std::string &path, int error) {
  StatusCode code = error == ENOENT || error == ENOTDIR || error == EACCES || error == EISDIR || error == EROFS
                        ? StatusCode::InvalidArgument
                        : StatusCode::IoError;
  return {code, "can't write " + path + ": " + errorText(error)};
}

bool writeContent(const FileHandle &file, std::string_view header, const void *data, size_t bytes) {
  return file.writeAll(header.data(), header.size()) && file.writeAll(data, bytes);
}

bool isSpecial(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/// Opens a new file beside `path` whose name nothing else has; `name` is what it is called.
int openTemporary(const std::string &path, std::string &name) {
  static std::atomic<unsigned> counter{0};
  constexpr int attempts = 1000;
  for (int i = 0; i < attempts; ++i) {
    name = path + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
    int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
  return -1;
}

/// The file that a path means, behind symbolic links: these stay.
std::string behindLinks(const std::string &path) {
  std::unique_ptr<char, void (*)(void *)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

} // namespace

Status checkWritable(const std::string &path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return {StatusCode::InvalidArgument, "can't write an output: its path is empty or holds a NUL"};
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return {StatusCode::InvalidArgument, "can't write " + path + ": it is a folder, expected a file"};
    if (!S_ISREG(info.st_mode))
      return ::access(path.c_str(), W_OK) == 0 ? Status::ok() : failed(path, errno);
  } else if (path.back() == '/') {
    return {StatusCode::InvalidArgument, "can't write " + path + ": it names a folder, expected a file"};
  }
  std::string folder = folderOf(path);
  if (::stat(folder.c_str(), &info) != 0)
    return {StatusCode::InvalidArgument, "can't write " + path + ": there is no folder " + folder};
  if (!S_ISDIR(info.st_mode))
    return {StatusCode::InvalidArgument, "can't write " + path + ": " + folder + " is no folder"};
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return failed(path, errno);
  return Status::ok();
}

std::string npyHeaderText(std::string_view descr, std::span<const int64_t> shape) {
  std::string text =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + tensorShapeText(shape) + ", }";
  // NumPy maps data at multiples of 64 bytes.
  constexpr size_t prefix = 10, alignment = 64;
  text.append(alignment - 1 - (prefix + text.size()) % alignment, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

Status writeNpy(const std::string &path, const HostTensor &tensor) {
  return writeNpyBytes(path, npyHeaderText(npySpelling(tensor.dtype()), tensor.shape()), tensor.data(),
                       tensor.sizeInBytes());
}

Status writeNpyBytes(const std::string &path, std::string_view header, const void *data, size_t bytes) {
  TILEJIT_RETURN_IF_ERROR(checkWritable(path));
  if (isSpecial(path)) {
    FileHandle file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file.isOpen() && writeContent(file, header, data, bytes) ? Status::ok() : failed(path, errno);
  }
  std::string target = behindLinks(path), temporary;
  FileHandle file(openTemporary(target, temporary));
  if (!file.isOpen())
    return failed(path, errno);
  bool done = writeContent(file, header, data, bytes);
  int error = errno;
  if (done && !(done = file.close()))
    error = errno;
  if (done && ::rename(temporary.c_str(), target.c_str()) != 0) {
    done = false;
    error = errno;
  }
  if (done)
    return Status::ok();
  ::unlink(temporary.c_str());
  return failed(path, error);
}

} // namespace tilejit
