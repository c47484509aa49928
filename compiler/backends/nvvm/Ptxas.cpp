// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The command line of ptxas. PTX goes in and the cubin comes out through files in memory, which ptxas
// opens as /proc/self/fd/0 and /dev/stdout.

#include "Ptxas.h"

#include "ChildProcess.h"

#include "backends/common/MemoryFile.h"

#include "tilejit/Base/Ptxas.h"
#include "tilejit/Base/Text.h"

#include <algorithm>
#include <vector>

namespace tilejit::nvvm {

namespace {

/// Longer than any kernel of ours takes by far; the worker's own limit is wider.
constexpr int timeLimitSeconds = 120;

bool spills(const PtxasReport &report) {
  return std::any_of(report.kernels.begin(), report.kernels.end(),
                     [](const PtxasKernel &kernel) { return kernel.spillStoreBytes + kernel.spillLoadBytes > 0; });
}

} // namespace

Expected<std::string> findPtxas(System &system) {
  return tilejit::findPtxas(system, system.environment(ptxasVariable).value_or(""));
}

static Expected<Cubin> run(const std::string &ptxas, std::string_view ptx, const std::string &chip,
                           const std::vector<std::string> &options) {
  backends::MemoryFile input, output;
  if (!input.isOpen() || !output.isOpen() || !input.write(ptx) || !input.rewind())
    return Status(StatusCode::Internal, "no memory file for ptxas");
  ChildRequest request;
  request.command = {ptxas, "-v", "-arch=" + chip, "/proc/self/fd/0", "-o", "/dev/stdout"};
  request.command.insert(request.command.end(), options.begin(), options.end());
  request.input = input.descriptor();
  request.output = output.descriptor();
  request.timeLimitMs = 1000 * timeLimitSeconds;
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

Expected<Cubin> assemble(const std::string &ptxas, std::string_view ptx, const std::string &chip) {
  Expected<Cubin> cubin = run(ptxas, ptx, chip, {});
  if (!cubin || !spills(cubin->report))
    return cubin;
  // It spills a little for the sake of one more block on a unit, although threads may have more registers: not where
  // one block is said to do.
  Expected<Cubin> roomy = run(ptxas, ptx, chip, {"--minnctapersm", "1"});
  return roomy && !spills(roomy->report) ? roomy : cubin;
}

} // namespace tilejit::nvvm
