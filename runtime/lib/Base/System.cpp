// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// System on Linux: one call of the kernel behind each function, errno negated.

#include "tilejit/Base/System.h"

#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>

namespace tilejit {
namespace {

/// -1 with errno as a negated errno, everything else as it is.
template <typename T> T answer(T result) { return result == -1 ? static_cast<T>(-errno) : result; }

int64_t nanoseconds(const timespec &time) { return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec; }

int64_t readClock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return nanoseconds(time);
}

void convert(const struct stat &in, FileInfo &out) {
  out.device = in.st_dev;
  out.inode = in.st_ino;
  out.size = in.st_size;
  out.allocatedBytes = static_cast<int64_t>(in.st_blocks) * 512;
  out.mtimeNs = nanoseconds(in.st_mtim);
  out.ctimeNs = nanoseconds(in.st_ctim);
  out.mode = in.st_mode;
  out.owner = in.st_uid;
}

class LinuxSystem final : public System {
public:
  std::optional<std::string> environment(const std::string &name) const override {
    const char *value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  }
  uint32_t userId() const override { return geteuid(); }
  int64_t processId() const override { return getpid(); }

  std::string currentFolder() const override {
    std::array<char, PATH_MAX> path;
    return ::getcwd(path.data(), path.size()) ? path.data() : "";
  }

  int64_t wallNanoseconds() const override { return readClock(CLOCK_REALTIME); }
  int64_t monotonicNanoseconds() const override { return readClock(CLOCK_MONOTONIC); }
  uint64_t random() override {
    uint64_t value = 0;
    if (getrandom(&value, sizeof(value), GRND_NONBLOCK) != sizeof(value))
      value = static_cast<uint64_t>(monotonicNanoseconds()) * 0x9E3779B97F4A7C15u ^ static_cast<uint64_t>(getpid());
    return value;
  }
  void pause(int64_t ns) override {
    timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
    nanosleep(&time, nullptr);
  }

  int open(const std::string &path, int flags, uint32_t mode) override {
    return answer(::open(path.c_str(), flags | O_CLOEXEC, mode));
  }
  int64_t read(int fd, void *buffer, size_t bytes) override {
    return answer(static_cast<int64_t>(::read(fd, buffer, bytes)));
  }
  int64_t readAt(int fd, void *buffer, size_t bytes, int64_t offset) override {
    return answer(static_cast<int64_t>(::pread(fd, buffer, bytes, offset)));
  }
  int64_t write(int fd, const void *buffer, size_t bytes) override {
    return answer(static_cast<int64_t>(::write(fd, buffer, bytes)));
  }
  int fsync(int fd) override { return answer(::fsync(fd)); }
  int close(int fd) override { return answer(::close(fd)); }
  int stat(int fd, FileInfo &out) override {
    struct stat info{};
    int result = answer(::fstat(fd, &info));
    convert(info, out);
    return result;
  }
  int lock(int fd, int operation) override { return answer(::flock(fd, operation)); }
  int touch(int fd) override { return answer(::futimens(fd, nullptr)); }

  int stat(const std::string &path, bool followLinks, FileInfo &out) override {
    struct stat info{};
    int result = answer(::fstatat(AT_FDCWD, path.c_str(), &info, followLinks ? 0 : AT_SYMLINK_NOFOLLOW));
    convert(info, out);
    return result;
  }
  int fileSystem(const std::string &path, FileSystemInfo &out) override {
    struct statfs info{};
    int result = answer(::statfs(path.c_str(), &info));
    out.magic = static_cast<int64_t>(static_cast<uint32_t>(info.f_type));
    out.freeBytes = static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_bsize);
    return result;
  }
  int readLink(const std::string &path, std::string &out) override {
    std::array<char, PATH_MAX> target;
    ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    out.assign(target.data(), static_cast<size_t>(std::max<ssize_t>(length, 0)));
    return length < 0 ? -errno : 0;
  }
  int makeDirectory(const std::string &path, uint32_t mode) override { return answer(::mkdir(path.c_str(), mode)); }
  int changeMode(const std::string &path, uint32_t mode) override { return answer(::chmod(path.c_str(), mode)); }
  int rename(const std::string &from, const std::string &to) override {
    return answer(::rename(from.c_str(), to.c_str()));
  }
  int unlink(const std::string &path) override { return answer(::unlink(path.c_str())); }
  int removeDirectory(const std::string &path) override { return answer(::rmdir(path.c_str())); }
  int list(const std::string &path, std::vector<std::string> &out) override {
    out.clear();
    DIR *folder = ::opendir(path.c_str());
    if (!folder)
      return -errno;
    errno = 0;
    while (const dirent *entry = ::readdir(folder))
      if (std::string_view name = entry->d_name; name != "." && name != "..")
        out.emplace_back(name);
    int error = errno;
    ::closedir(folder);
    std::sort(out.begin(), out.end());
    return -error;
  }
};

} // namespace

System &realSystem() {
  static LinuxSystem system;
  return system;
}

} // namespace tilejit
