// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// lld over memory files. lld names its inputs in no output that is loaded, so the descriptors' numbers don't show.

#include "Link.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

LLD_HAS_DRIVER(elf)

namespace tilejit::cpu {

namespace {

/// A file without a name that others open as /proc/self/fd/N.
class MemoryFile {
public:
  MemoryFile() : fd_(memfd_create("tilejit-link", MFD_CLOEXEC)) {}
  MemoryFile(MemoryFile &&other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  MemoryFile &operator=(MemoryFile &&) = delete;
  ~MemoryFile() {
    if (fd_ >= 0)
      close(fd_);
  }

  bool isOpen() const { return fd_ >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

  bool write(const std::string &bytes) {
    for (size_t done = 0; done < bytes.size();) {
      ssize_t count = ::write(fd_, bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno != EINTR)
        return false;
      done += count > 0 ? static_cast<size_t>(count) : 0;
    }
    return true;
  }

  bool read(std::string &bytes) const {
    struct stat info;
    if (fstat(fd_, &info) != 0)
      return false;
    bytes.resize(static_cast<size_t>(info.st_size));
    for (size_t done = 0; done < bytes.size();) {
      ssize_t count = pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (count <= 0 && errno != EINTR)
        return false;
      done += count > 0 ? static_cast<size_t>(count) : 0;
    }
    return true;
  }

private:
  int fd_;
};

const char *emulation(CpuArch arch) {
  switch (arch) {
  case CpuArch::X86_64:
    return "elf_x86_64";
  case CpuArch::AArch64:
    return "aarch64linux";
  case CpuArch::RiscV64:
    return "elf64lriscv";
  }
  return "";
}

std::string systemError(const char *what) { return std::string(what) + ": " + std::strerror(errno); }

} // namespace

std::string linkSharedObject(std::span<const std::string> objects, CpuArch arch, std::string &error) {
  MemoryFile output;
  std::vector<MemoryFile> inputs(objects.size());
  std::vector<std::string> paths;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (!output.isOpen() || !inputs[i].isOpen() || !inputs[i].write(objects[i])) {
      error = systemError("no memory file for the linker");
      return {};
    }
    paths.push_back(inputs[i].path());
  }
  std::string outputPath = output.path();
  std::vector<const char *> args = {"ld.lld",          "-m",
                                    emulation(arch),   "-shared",
                                    "--no-undefined",  "--strip-all",
                                    "--build-id=none", "--hash-style=gnu",
                                    "--threads=1",     "--no-mmap-output-file",
                                    "--no-rosegment",  "-z",
                                    "noexecstack",     "-o",
                                    outputPath.c_str()};
  for (const std::string &path : paths)
    args.push_back(path.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) {
    error = "the linker failed: " + messages;
    return {};
  }
  std::string payload;
  if (!output.read(payload) || payload.empty()) {
    error = systemError("the linked code can't be read");
    return {};
  }
  return payload;
}

} // namespace tilejit::cpu
