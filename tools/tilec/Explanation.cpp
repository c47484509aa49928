// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Collecting what explains a kernel.

#include "Explanation.h"

#include "Sources.h"

#include "tilejit/Description/Cost.h"
#include "tilejit/Device/Peak.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace tilejit::tilec {

namespace {

/// Where a kernel for the target can be launched: on this machine's processor, or on the simulator.
Expected<TargetSpec> launchTarget(const TargetSpec &target) {
  if (target.isCpu()) {
    TILEJIT_RETURN_IF_ERROR(runsOnHost(target));
    return target;
  }
  if (target.simulated)
    return target;
  Expected<TargetSpec> simulated = parseTarget("sim:" + target.name);
  if (!simulated)
    return Status(StatusCode::Unavailable, "the simulator does not know " + target.name);
  return simulated;
}

/// Manifest and texts.
Status takeCompiled(const CompiledKernel &kernel, Explanation &explanation) {
  explanation.manifest = kernel.manifest;
  for (const Payload &payload : kernel.entry.payloads)
    if (payload.kind == abi::payloadKindName(abi::PayloadKind::Stages)) {
      TILEJIT_ASSIGN_OR_RETURN(explanation.texts, abi::decodeStageTexts(payload.bytes));
    }
  return Status::ok();
}

Status compileOnly(Context &context, const Source &source, const ExecutionOptions &options, Explanation &explanation) {
  TILEJIT_ASSIGN_OR_RETURN(CompileOptions compileOptions, options.compileOptions());
  TILEJIT_ASSIGN_OR_RETURN(CompiledKernel kernel, context.compile(source, explanation.target, compileOptions));
  explanation.report = kernel.report;
  return takeCompiled(kernel, explanation);
}

/// A launch of the kernel, and what is in it.
Status execute(Context &context, const Source &source, const TargetSpec &where, const ExecutionOptions &options,
               int64_t defaultSize, Explanation &explanation) {
  TILEJIT_ASSIGN_OR_RETURN(Execution execution, Execution::prepare(context, source, where, options, defaultSize));
  TILEJIT_ASSIGN_OR_RETURN([[maybe_unused]] double milliseconds, execution.launch());
  explanation.report = execution.kernel().report();
  TILEJIT_RETURN_IF_ERROR(takeCompiled(execution.kernel().compiled(), explanation));
  explanation.title = execution.title();
  explanation.execution.emplace(std::move(execution));
  return Status::ok();
}

/// Adds each instruction's counters to the line that it came from, and each line's to the tile line before it.
void addUpLines(Explanation &explanation) {
  const sim::Outcome *outcome = explanation.outcome();
  if (!outcome)
    return;
  explanation.tilegpu.resize(linesOf(explanation.texts.tilegpu).size());
  explanation.tile.resize(linesOf(explanation.texts.tile).size());
  for (const sim::SiteInfo &site : outcome->sites)
    if (size_t line = tilegpuLineOf(site); line > 0 && line <= explanation.tilegpu.size())
      explanation.tilegpu[line - 1] += site.counters;
  const std::vector<int64_t> &tileLines = explanation.texts.tileLines;
  for (size_t i = 0; i < std::min(tileLines.size(), explanation.tilegpu.size()); ++i)
    if (auto line = static_cast<size_t>(tileLines[i]); line > 0 && line <= explanation.tile.size())
      explanation.tile[line - 1] += explanation.tilegpu[i];
}

/// Those that ran; all where nothing ran.
void addKernels(Explanation &explanation) {
  std::set<std::string> ran;
  if (const sim::Outcome *outcome = explanation.outcome())
    for (const sim::SiteInfo &site : outcome->sites)
      ran.insert(site.kernel);
  for (const abi::GpuKernel &kernel : explanation.manifest.gpu.kernels) {
    if (!ran.empty() && !ran.contains(kernel.symbol))
      continue;
    BlockNeeds needs;
    needs.threads = kernel.threads;
    needs.registers = explanation.resource("registers").value_or(0);
    needs.sharedBytes = kernel.sharedBytes;
    if (needs.sharedBytes == 0) // Code that carries its size: the largest of its kernels.
      needs.sharedBytes = explanation.resource("shared_bytes").value_or(0);
    explanation.kernels.push_back(
        {kernel.symbol, needs.threads, needs.sharedBytes, occupancyOf(explanation.target.gpuFacts, needs)});
  }
}

/// See LaunchArguments::simulatedBlocks.
void countBlocks(Explanation &explanation) {
  if (!explanation.outcome())
    return;
  int64_t all = explanation.execution->lastLaunch().tasks, most = explanation.execution->mostSimulatedBlocks();
  explanation.simulatedBlocks = most > 0 && explanation.kernels.size() == 1 ? std::min(all, most) : all;
}

/// Sizes for the least work, where nothing is launched.
Expected<Binding> bind(const Description &description, const ExecutionOptions &options, int64_t defaultSize) {
  TILEJIT_ASSIGN_OR_RETURN(Binding binding, bindFromSettings(description, options.operands.set));
  bindRest(description, defaultSize, binding);
  TILEJIT_RETURN_IF_ERROR(checkBinding(description, binding));
  return binding;
}

void addPeak(const Explanation &explanation, const Description &description, const Board *board, Roofline &roofline) {
  if (board) {
    const sim::Outcome *outcome = explanation.outcome();
    bool usesMatrixUnits = outcome && outcome->counters.matrixInstructions > 0;
    roofline.machine = board->name;
    roofline.arithmetic = usesMatrixUnits ? "f16 in matrix units" : "f32 multiply-adds";
    roofline.gflops = 1000 * (usesMatrixUnits ? board->matrixTflops : board->vectorTflops);
    roofline.gbytesPerS = board->gbytesPerS;
    return;
  }
  bool isWide = !description.inputs.empty() && description.inputs.front().dtype == DType::F64;
  PeakQuery query;
  query.arithmetic = isWide ? DType::F64 : DType::F32;
  query.threads = static_cast<int>(std::max<int64_t>(1, explanation.execution->lastLaunch().threads));
  query.bytesRead = explanation.execution->bytesRead();
  query.bytesWritten = explanation.execution->bytesWritten();
  MachinePeak peak = measurePeak(query);
  roofline.machine = "this machine, measured";
  roofline.arithmetic = isWide ? "f64 multiply-adds" : "f32 multiply-adds";
  roofline.gflops = peak.gflops;
  roofline.gbytesPerS = peak.gbytesPerS;
}

/// Only for descriptions, whose work is known, and where there are peak rates.
Status addRoofline(const Source &source, const ExecutionOptions &options, int64_t defaultSize,
                   Explanation &explanation) {
  if (!source.description)
    return Status::ok();
  const Board *board = boardOf(explanation.target);
  if (!board && !(explanation.target.isCpu() && explanation.execution))
    return Status::ok();
  Roofline roofline;
  TILEJIT_ASSIGN_OR_RETURN(Binding binding, explanation.execution
                                                ? Expected<Binding>(explanation.execution->operands().binding())
                                                : bind(*source.description, options, defaultSize));
  roofline.flops = flops(*source.description, binding);
  roofline.leastBytes = bytesMoved(*source.description, binding);
  if (const sim::Outcome *outcome = explanation.outcome())
    roofline.movedBytes =
        static_cast<int64_t>(static_cast<double>(outcome->counters.sectors * 32) / explanation.simulatedShare());
  addPeak(explanation, *source.description, board, roofline);
  if (roofline.gflops <= 0 || roofline.gbytesPerS <= 0)
    return Status::ok();
  double arithmeticMs = roofline.flops / roofline.gflops * 1e-6;
  double memoryMs = static_cast<double>(roofline.leastBytes) / roofline.gbytesPerS * 1e-6;
  roofline.bound = arithmeticMs > memoryMs ? "arithmetic" : "memory";
  roofline.leastMs = std::max(arithmeticMs, memoryMs);
  explanation.roofline = roofline;
  return Status::ok();
}

} // namespace

size_t tilegpuLineOf(const sim::SiteInfo &site) {
  const std::string prefix = std::string(abi::tilegpuFile) + ":";
  return site.location.starts_with(prefix) ? std::strtoul(site.location.c_str() + prefix.size(), nullptr, 10) : 0;
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

const char *unitName(const TargetSpec &target) {
  if (target.kind == TargetKind::Nvidia)
    return "streaming multiprocessor";
  return target.gpuFacts.warpLanes == 64 ? "compute unit" : "work-group processor";
}

int64_t residentBlocks(const Explanation &explanation, const ExplainedKernel &kernel) {
  const Board *board = boardOf(explanation.target);
  return board ? board->units * kernel.occupancy.blocks : 0;
}

Expected<Explanation> explain(Context &context, const Source &source, const TargetSpec &target,
                              const ExecutionOptions &options, int64_t defaultSize) {
  if (source.package)
    return Status(StatusCode::InvalidArgument, source.name + " is a package, which is compiled already")
        .withHint("explain the description or tile file that it was made of");
  Explanation explanation;
  explanation.name = displayName(source);
  explanation.target = target;
  Expected<TargetSpec> where = launchTarget(target);
  if (where) {
    TILEJIT_RETURN_IF_ERROR(execute(context, source, *where, options, defaultSize, explanation));
  } else {
    explanation.notRun = where.status().message();
    TILEJIT_RETURN_IF_ERROR(compileOnly(context, source, options, explanation));
    explanation.title = explanation.manifest.op;
  }
  addUpLines(explanation);
  addKernels(explanation);
  countBlocks(explanation);
  TILEJIT_RETURN_IF_ERROR(addRoofline(source, options, defaultSize, explanation));
  return explanation;
}

} // namespace tilejit::tilec
