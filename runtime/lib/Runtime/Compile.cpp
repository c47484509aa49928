// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From a source to a compiled kernel: key, cache, worker, and what is said and kept when a compile fails.

#include "ContextImpl.h"

#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Base/Hash.h"
#include "tilejit/Base/Text.h"
#include "tilejit/Description/Config.h"
#include "tilejit/Description/Parse.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace tilejit {

namespace {

constexpr double msPerNs = 1e-6;

std::string operatorName(const Source &source) {
  return source.isTile() ? "the kernel of " + source.name : std::string(familyName(source.description->family));
}

std::string sourceText(const Source &source) {
  return source.isTile() ? source.tileText : canonicalJson(*source.description);
}

/// Whether a worker is the one that a key names; it does not speak for the assembler.
bool isCompilerOf(const Toolchain &toolchain, const KeyMaterial &material) {
  auto named = material.toolchain;
  std::erase_if(named, [](const auto &part) { return part.first == "ptxas"; });
  return toolchain.identities() == named;
}

/// The source as a file that says how it failed and can be compiled again.
std::string reproducerText(const Source &source, const TargetSpec &target, const abi::Config &config,
                           const Status &status) {
  std::string comment = "tilec compile FILE --target " + target.name;
  for (const auto &[key, value] : config)
    comment += (&key == &config.begin()->first ? " --config " : ",") + key + "=" + std::to_string(value);
  comment = shorten(comment + " failed: " + status.message(), 500);
  if (source.isTile())
    return "// " + comment + "\n" + source.tileText;
  std::string json = canonicalJson(*source.description);
  return "{\"//\":" + quoteJson(comment) + "," + json.substr(1) + "\n";
}

} // namespace

/// One try of a compile, with what is found out on the way.
struct ContextImpl::Attempt {
  const Source &source;
  const TargetSpec &target;
  const CompileOptions &options;
  KeyMaterial material;
  CompileReport report;
  bool toolchainChanged = false; ///< The worker is another one than the key says: start again.
  bool damagedEntry = false;     ///< A hit whose manifest can't be read: start again.
  int64_t compileNs = 0;
  std::optional<CachedKernel> meaning; ///< A tile file's kernel, where its spelling was not known.
  bool meaningWasHit = false;          ///< It came from the cache.
};

/// Refuses schedule options that the compiler would refuse, without asking it.
static Status checkOptions(const Source &source, const TargetSpec &target, const CompileOptions &options) {
  if (source.package)
    return Status(StatusCode::InvalidArgument,
                  source.name + " is a package: expected a description (.json) or tile file (.mlir) to compile");
  TILEJIT_RETURN_IF_ERROR(abi::checkEmit(options.emit, target));
  if (!source.isTile())
    return checkConfig(source.description->family, target.isCpu(), options.config);
  if (options.config.empty())
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "config key '" + options.config.begin()->first + "': a tile file has its schedule in its text");
}

Expected<KeyMaterial> ContextImpl::keyMaterial(const Source &source, const TargetSpec &target,
                                               const CompileOptions &options) {
  TILEJIT_RETURN_IF_ERROR(checkOptions(source, target, options));
  bool asked = false;
  return materialFor(source, target, options, asked);
}

Expected<KeyMaterial> ContextImpl::materialFor(const Source &source, const TargetSpec &target,
                                               const CompileOptions &options, bool &asked) {
  TILEJIT_ASSIGN_OR_RETURN(Toolchain toolchain, findToolchainNow(asked));
  KeyMaterial material;
  material.kind = source.isTile() ? DescriptionKind::FileHash : DescriptionKind::Json;
  material.description = source.isTile() ? hashTileFile(source.tileText) : canonicalJson(*source.description);
  material.config = options.config;
  material.emit = abi::emitKindName(options.emit);
  material.withBitcode =
      options.emit == abi::EmitKind::Package && target.isGpu() && (options.withBitcode || target.simulated);
  material.target = target.keyText();
  material.targetFolder = target.folderName();
  if (target.kind == TargetKind::Nvidia && !abi::isText(options.emit)) {
    TILEJIT_ASSIGN_OR_RETURN(std::vector<ToolchainPart> parts, assembler());
    toolchain.parts.insert(toolchain.parts.end(), parts.begin(), parts.end());
    std::ranges::sort(toolchain.parts, {}, &ToolchainPart::name);
  }
  material.toolchain = toolchain.identities();
  material.llvmVersion = toolchain.llvmVersion;
  material.tilejitVersion = tilejitVersion();
  material.abiVersion = abi::kernelAbiVersion;
  return material;
}

Expected<CompiledKernel> ContextImpl::compile(const Source &source, const TargetSpec &target,
                                              const CompileOptions &options) {
  TILEJIT_RETURN_IF_ERROR(checkOptions(source, target, options));
  int64_t started = options_.system->monotonicNanoseconds();
  bool workerStarted = false;
  for (int round = 0;; ++round) {
    Attempt attempt{source, target, options, {}, {}, false, false, 0, std::nullopt, false};
    Expected<CompiledKernel> result = compileOnce(attempt);
    workerStarted |= attempt.report.workerStarted;
    bool again = (attempt.toolchainChanged || attempt.damagedEntry) && round < 2;
    if (attempt.toolchainChanged) {
      std::lock_guard lock(mutex_);
      toolchain_.reset();
    }
    if (again)
      continue;
    if (result) {
      result->report.workerStarted = workerStarted;
      result->report.totalMs = static_cast<double>(options_.system->monotonicNanoseconds() - started) * msPerNs;
    }
    return result;
  }
}

Expected<CompiledKernel> ContextImpl::compileOnce(Attempt &attempt) {
  const CompileOptions &options = attempt.options;
  int64_t started = options_.system->monotonicNanoseconds();
  auto material = materialFor(attempt.source, attempt.target, options, attempt.report.workerStarted);
  if (!material && options.noCompile)
    return Status(StatusCode::NotCached, "compiling is forbidden, and the cache can't be asked without knowing the "
                                         "compiler: " +
                                             material.status().message());
  if (!material)
    return material.status();
  attempt.material = *std::move(material);
  // Asking the worker who it is loads the compiler: part of what a first compile costs.
  if (attempt.report.workerStarted)
    attempt.compileNs = options_.system->monotonicNanoseconds() - started;
  attempt.report.key = cacheKey(attempt.material);
  TILEJIT_ASSIGN_OR_RETURN(CachedKernel entry, findKernel(attempt));

  CompiledKernel compiled;
  auto manifest = abi::parseManifest(entry.manifest);
  if (!manifest || entry.payloads.empty() || manifest->abiVersion != abi::kernelAbiVersion) {
    std::string reason = manifest ? "no payload, or one of another ABI" : manifest.status().message();
    attempt.damagedEntry = attempt.report.cache == CacheUse::Hit;
    if (attempt.damagedEntry)
      cache().reject(entry.material, reason);
    return Status(StatusCode::Internal, "the compiler's answer can't be used: " + reason);
  }
  compiled.manifest = *std::move(manifest);
  compiled.entry = std::move(entry);
  compiled.report = std::move(attempt.report);
  compiled.report.payloadKind = compiled.entry.payloads.front().kind;
  compiled.report.payloadBytes = static_cast<int64_t>(compiled.payload().size());
  if (compiled.report.cache != CacheUse::Hit)
    compiled.report.compileMs = static_cast<double>(attempt.compileNs) * msPerNs;
  return compiled;
}

/// From the cache or the worker; says in the report which.
Expected<CachedKernel> ContextImpl::findKernel(Attempt &attempt) {
  CompileReport &report = attempt.report;
  if (attempt.options.noCache || !cache().isEnabled()) {
    report.cache = CacheUse::Off;
    if (attempt.options.noCompile)
      return Status(StatusCode::NotCached, "compiling is forbidden and the cache is off");
    return runWorker(attempt);
  }
  report.cache = CacheUse::Miss;
  if (attempt.options.noCompile) {
    CacheLookup found = cache().lookup(attempt.material);
    ++(found.isHit() ? counters_.cacheHits : counters_.cacheMisses);
    if (!found.isHit())
      return Status(StatusCode::NotCached, operatorName(attempt.source) + " for " + attempt.target.name +
                                               " is not in the cache and compiling is forbidden: " + found.missReason);
    report.cache = CacheUse::Hit;
    return *std::move(found.kernel);
  }
  int64_t timeoutNs = options_.settings.compileTimeoutSeconds() * int64_t{1'000'000'000};
  // A tile file as tile IR is not worth a look for other spellings: finding them is the whole work.
  bool hasSpellings = attempt.source.isTile() && attempt.options.emit != abi::EmitKind::Tile;
  auto found = cache().findOrCompile(attempt.material, timeoutNs,
                                     [&] { return hasSpellings ? compileTile(attempt) : runWorker(attempt); });
  bool wasHit = found && (found->wasHit || attempt.meaningWasHit);
  ++(wasHit ? counters_.cacheHits : counters_.cacheMisses);
  if (!found)
    return found.status();
  if (wasHit)
    report.cache = CacheUse::Hit;
  else
    report.missReason = std::move(found->missReason);
  return attempt.meaning ? *std::move(attempt.meaning) : std::move(found->kernel);
}

/// A tile file whose bytes are new: the worker says what it means, and the kernel of that is found or compiled. Gives
/// an alias for the file's bytes; the kernel itself is in the attempt.
Expected<CachedKernel> ContextImpl::compileTile(Attempt &attempt) {
  TILEJIT_RETURN_IF_ERROR(crashMemory(attempt.options).recent(attempt.report.key));
  int64_t started = options_.system->monotonicNanoseconds();
  Expected<abi::CompileResponse> meaning = exchange(attempt, abi::EmitKind::Tile);
  if (!meaning) {
    counters_.compiles += !attempt.toolchainChanged;
    counters_.compileFailures += !attempt.toolchainChanged;
    return meaning.status();
  }
  int64_t spent = options_.system->monotonicNanoseconds() - started;
  attempt.report.stagesMs.emplace_back("meaning", static_cast<double>(spent) * msPerNs);
  // The printed form has no names and places; what of them the manifest keeps is part of the meaning.
  KeyMaterial file = attempt.material;
  attempt.material.kind = DescriptionKind::TileIR;
  attempt.material.description =
      KeyHasher().add("tile ir", meaning->text).add("manifest", abi::manifestJson(meaning->manifest)).finish().hex();
  if (CacheLookup known = cache().lookup(attempt.material, Cache::Look::AfterWait); known.isHit()) {
    attempt.meaning = *std::move(known.kernel);
    attempt.meaningWasHit = true;
  } else {
    TILEJIT_ASSIGN_OR_RETURN(attempt.meaning, runWorker(attempt));
    cache().publish(*attempt.meaning);
  }
  attempt.compileNs += spent;
  return makeAlias(std::move(file), *attempt.meaning);
}

CrashMemory ContextImpl::crashMemory(const CompileOptions &options) {
  bool usable = !options.noCache && cache().isEnabled();
  return CrashMemory(*options_.system, usable ? cache().stateFolder() : "");
}

Expected<CachedKernel> ContextImpl::runWorker(Attempt &attempt) {
  TILEJIT_RETURN_IF_ERROR(crashMemory(attempt.options).recent(attempt.report.key));
  ++counters_.compiles;
  int64_t started = options_.system->monotonicNanoseconds();
  Expected<CachedKernel> result = askWorker(attempt);
  int64_t spent = options_.system->monotonicNanoseconds() - started;
  attempt.compileNs += spent;
  counters_.compileNanoseconds += spent;
  if (!result && !attempt.toolchainChanged)
    ++counters_.compileFailures;
  return result;
}

Expected<CachedKernel> ContextImpl::askWorker(Attempt &attempt) {
  TILEJIT_ASSIGN_OR_RETURN(abi::CompileResponse response, exchange(attempt, attempt.options.emit));
  CachedKernel kernel;
  kernel.material = attempt.material;
  kernel.manifest = abi::manifestJson(response.manifest);
  if (abi::isText(attempt.options.emit))
    kernel.payloads.push_back({"text", attempt.material.target, std::move(response.text)});
  for (abi::Payload &payload : response.payloads)
    kernel.payloads.push_back(
        {std::string(abi::payloadKindName(payload.kind)), attempt.material.target, std::move(payload.bytes)});
  return kernel;
}

/// Has the worker bring the source into a form; its stages are reported where that is the form that was asked for. The
/// response's status is ok.
Expected<abi::CompileResponse> ContextImpl::exchange(Attempt &attempt, abi::EmitKind emit) {
  attempt.report.workerStarted = true;
  int64_t started = options_.system->monotonicNanoseconds();
  std::shared_ptr<WorkerPool> pool = workers();
  TILEJIT_ASSIGN_OR_RETURN(WorkerPool::Lease worker, pool->lease());
  TILEJIT_ASSIGN_OR_RETURN(Toolchain identity, worker->identity());
  if (!isCompilerOf(identity, attempt.material) || identity.llvmVersion != attempt.material.llvmVersion) {
    attempt.toolchainChanged = true;
    return Status(StatusCode::WorkerFailed, "the compile worker is replaced again and again");
  }
  bool isReported = emit == attempt.options.emit;
  int64_t startNs = options_.system->monotonicNanoseconds() - started + attempt.compileNs;
  if (isReported)
    attempt.report.stagesMs.emplace_back("worker", static_cast<double>(startNs) * msPerNs);

  abi::CompileRequest request;
  request.sourceKind = attempt.source.isTile() ? abi::SourceKind::TileIR : abi::SourceKind::Description;
  request.source = sourceText(attempt.source);
  request.sourceName = attempt.source.name;
  request.target = encodeTarget(attempt.target);
  request.emit = emit;
  request.config = attempt.options.config;
  request.withBitcode = attempt.material.withBitcode;
  WorkerFault fault;
  auto response = worker->compile(request, fault);
  if (!response) {
    pool->countDeath();
    Status status =
        std::move(fault.status).inContext("compiling " + operatorName(attempt.source) + " for " + attempt.target.name);
    options_.logger.debug("worker", status.message(), {{"output", fault.output}});
    if (fault.byRequest)
      crashMemory(attempt.options).remember(attempt.report.key, status);
    return explainFailure(attempt, std::move(status));
  }
  if (isReported)
    for (auto &stage : response->stagesMs)
      attempt.report.stagesMs.push_back(std::move(stage));
  if (!response->status.isOk())
    return explainFailure(attempt, std::move(response->status));
  return *std::move(response);
}

/// Leaves a file that shows the failure again, except where the fault is in the user's own file.
Status ContextImpl::explainFailure(const Attempt &attempt, Status status) {
  switch (status.code()) {
  case StatusCode::CompileFailed:
  case StatusCode::WorkerFailed:
  case StatusCode::TimedOut:
  case StatusCode::Internal:
    break;
  default:
    return status;
  }
  std::string name = attempt.report.key.substr(0, 16) + (attempt.source.isTile() ? ".mlir" : ".json");
  std::string text = reproducerText(attempt.source, attempt.target, attempt.options.config, status);
  std::string path = crashMemory(attempt.options).writeReproducer(name, text);
  return path.empty() ? status : std::move(status).withDetail("reproducer: " + path);
}

} // namespace tilejit
