// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The search for ptxas and its command line. PTX goes in and the cubin comes out through files in memory, which ptxas
// opens as /proc/self/fd/0 and /dev/stdout.

#include "Ptxas.h"

#include "ChildProcess.h"

#include "backends/common/MemoryFile.h"

#include "tilejit/Base/Text.h"

#include <vector>

namespace tilejit::nvvm {

namespace {

/// Longer than any kernel of ours takes by far; the worker's own limit is wider.
constexpr int timeLimitSeconds = 120;

bool isProgram(System &system, const std::string &path) {
  FileInfo info;
  return system.stat(path, /*followLinks=*/true, info) == 0 && info.isRegular() && (info.mode & 0111) != 0;
}

std::vector<std::string> searchedFolders(const System &system) {
  std::vector<std::string> folders;
  std::string path = system.environment("PATH").value_or("");
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin && path[begin] == '/')
      folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto home = system.environment(variable); home && !home->empty())
      folders.push_back(*home + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  auto data = system.environment("XDG_DATA_HOME");
  auto home = system.environment("HOME");
  if (data && !data->empty())
    folders.push_back(*data + "/tilejit/ptxas/bin");
  else if (home && !home->empty())
    folders.push_back(*home + "/.local/share/tilejit/ptxas/bin");
  return folders;
}

} // namespace

Expected<std::string> findPtxas(System &system) {
  if (auto given = system.environment("TILEJIT_PTXAS"); given && !given->empty()) {
    if (isProgram(system, *given))
      return *given;
    return Status(StatusCode::InvalidArgument, "TILEJIT_PTXAS is '" + shorten(*given, 100) + "', which is no program")
        .withHint("give the path of ptxas itself, or unset the variable to have it looked for");
  }
  for (const std::string &folder : searchedFolders(system))
    if (std::string path = folder + "/ptxas"; isProgram(system, path))
      return path;
  return std::string();
}

Expected<Cubin> assemble(const std::string &ptxas, std::string_view ptx, const std::string &chip) {
  backends::MemoryFile input, output;
  if (!input.isOpen() || !output.isOpen() || !input.write(ptx) || !input.rewind())
    return Status(StatusCode::Internal, "no memory file for ptxas");
  ChildRequest request;
  request.command = {ptxas, "-v", "-arch=" + chip, "/proc/self/fd/0", "-o", "/dev/stdout"};
  request.input = input.descriptor();
  request.output = output.descriptor();
  request.timeLimitSeconds = timeLimitSeconds;
  ChildEnd end = runChild(request);
  if (!end.started)
    return Status(StatusCode::CompileFailed, "can't start " + ptxas + ": " + end.messages);
  if (end.timedOut)
    return Status(StatusCode::CompileFailed,
                  "ptxas took longer than " + std::to_string(timeLimitSeconds) + " s and was stopped");
  Cubin cubin;
  cubin.report = parsePtxasReport(end.messages);
  if (end.exitCode != 0) {
    std::string reason = cubin.report.errors.empty() ? end.messages : cubin.report.errors.front();
    return Status(StatusCode::CompileFailed, "ptxas failed with exit code " + std::to_string(end.exitCode) + " for " +
                                                 chip + ": " + shorten(reason, 200));
  }
  if (!output.read(cubin.bytes) || cubin.bytes.empty())
    return Status(StatusCode::CompileFailed, "ptxas wrote no cubin");
  return cubin;
}

} // namespace tilejit::nvvm
