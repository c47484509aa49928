// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// lld over memory files and a pipe. It would create a temporary beside an output that is a regular file, in memory or
// not; into anything else it writes straight. It names its inputs in nothing that is loaded, so that the descriptors'
// numbers don't show.

#include "Link.h"

#include "MemoryFile.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <vector>

LLD_HAS_DRIVER(elf)

namespace tilejit::backends {

namespace {

/// Collects what is written to /proc/self/fd/N until finish().
class PipeReader {
public:
  PipeReader() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      ends_[0] = ends_[1] = -1;
    else
      started_ = pthread_create(&thread_, nullptr, drain, this) == 0;
  }
  PipeReader(const PipeReader &) = delete;
  PipeReader &operator=(const PipeReader &) = delete;
  ~PipeReader() {
    finish();
    if (ends_[0] >= 0)
      close(ends_[0]);
  }

  bool isOpen() const { return started_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[1]); }

  /// All that was written.
  std::string finish() {
    if (ends_[1] >= 0)
      close(ends_[1]);
    ends_[1] = -1;
    if (started_)
      pthread_join(thread_, nullptr);
    started_ = false;
    return std::move(bytes_);
  }

private:
  static void *drain(void *self) {
    auto *reader = static_cast<PipeReader *>(self);
    char block[1 << 16];
    for (;;) {
      ssize_t count = read(reader->ends_[0], block, sizeof block);
      if (count == 0 || (count < 0 && errno != EINTR))
        return nullptr;
      if (count > 0)
        reader->bytes_.append(block, static_cast<size_t>(count));
    }
  }

  int ends_[2];
  pthread_t thread_ = {};
  bool started_ = false;
  std::string bytes_;
};

std::string systemError(std::string what) { return what.append(": ").append(std::strerror(errno)); }

} // namespace

std::string linkSharedObject(std::span<const std::string> objects, const char *emulation, std::string &error) {
  PipeReader output;
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
                                    emulation,         "-shared",
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
  std::string payload = output.finish();
  if (payload.empty())
    error = "the linker wrote nothing";
  return payload;
}

} // namespace tilejit::backends
