// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What hangs on a context and is made on first use: cache, devices, workers, toolchain; and its counters as text.

#include "ContextImpl.h"

#include "Locate.h"

#include "tilejit/Base/File.h"
#include "tilejit/Base/Hash.h"
#include "tilejit/Base/Ptxas.h"
#include "tilejit/Base/Text.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Runtime/Package.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

namespace tilejit {

std::string_view tilejitVersion() { return TILEJIT_VERSION; }

std::string_view cacheUseName(CacheUse use) {
  switch (use) {
  case CacheUse::Off:
    return "off";
  case CacheUse::Miss:
    return "miss";
  case CacheUse::Hit:
    return "hit";
  }
  return "off";
}

/// Whether a text is meant as tile IR: by the name of its file, else by how MLIR begins. A brace always begins JSON,
/// and so does whatever nobody can make sense of: the JSON reader's message is the better one.
static bool looksLikeTile(std::string_view text, std::string_view name) {
  std::string_view rest = trimText(text);
  bool onlyComments = false;
  while (rest.starts_with("//")) {
    size_t end = rest.find('\n');
    rest = end == rest.npos ? std::string_view() : trimText(rest.substr(end));
    onlyComments = rest.empty();
  }
  if (rest.starts_with('{') || name.ends_with(".json"))
    return false;
  if (name.ends_with(".mlir") || onlyComments)
    return true;
  for (std::string_view begin : {"#", "!", "module", "tile.", "\"builtin.", "\"tile."})
    if (rest.starts_with(begin))
      return true;
  return false;
}

Expected<Source> parseSource(std::string text, std::string name) {
  Source source;
  source.name = std::move(name);
  if (isPackage(text)) {
    if (Status status = readPackage(text, source); !status)
      return std::move(status).inContext(shorten(source.name, 200));
    return source;
  }
  if (looksLikeTile(text, source.name)) {
    source.tileText = std::move(text);
    return source;
  }
  TILEJIT_ASSIGN_OR_RETURN(Description description, parseDescription(text, source.name));
  source.description = std::make_shared<const Description>(std::move(description));
  return source;
}

Expected<std::shared_ptr<Context>> Context::create(ContextOptions options) {
  if (!options.system)
    return Status(StatusCode::InvalidArgument, "a context needs a System");
  return std::shared_ptr<Context>(std::make_shared<ContextImpl>(std::move(options)));
}

ContextImpl::ContextImpl(ContextOptions options)
    : options_(std::move(options)), devices_(options_.settings, options_.executor) {}

ContextImpl::~ContextImpl() {
  // Workers of a parent process are its own to end; the object stays, since its threads' state does not exist here.
  if (workers_ && workersGeneration_ != forkGeneration())
    new std::shared_ptr<WorkerPool>(std::move(workers_));
}

Cache &ContextImpl::cache() {
  std::lock_guard lock(mutex_);
  if (!cache_)
    cache_ = Cache::open(options_.settings, options_.logger, *options_.system);
  return *cache_;
}

Expected<TargetSpec> ContextImpl::target(std::string_view name, int number) {
  if (name.empty())
    name = options_.settings.text(SettingId::Target);
  for (DeviceKind kind : {DeviceKind::Cuda, DeviceKind::Hip})
    if (name == deviceKindName(kind)) {
      TILEJIT_ASSIGN_OR_RETURN(Device * named, device(kind, std::max(number, 0)));
      return named->properties().target;
    }
  {
    std::lock_guard lock(mutex_);
    if (auto known = targets_.find(name); known != targets_.end())
      return known->second;
  }
  TILEJIT_ASSIGN_OR_RETURN(TargetSpec target, parseTarget(name));
  std::lock_guard lock(mutex_);
  targets_.emplace(name, target);
  return target;
}

std::string ContextImpl::findWorkerProgram() const { return findWorker(options_.settings, *options_.system); }

std::shared_ptr<WorkerPool> ContextImpl::workers() {
  WorkerOptions worker;
  worker.program = findWorkerProgram();
  worker.home = options_.settings.text(SettingId::Home);
  worker.ptxas = options_.settings.text(SettingId::Ptxas);
  worker.timeoutSeconds = options_.settings.compileTimeoutSeconds();
  worker.memoryBytes = options_.settings.compileMemoryBytes();
  worker.system = options_.system;
  std::lock_guard lock(mutex_);
  if (workers_ && workersGeneration_ != forkGeneration())
    new std::shared_ptr<WorkerPool>(std::move(workers_)); // See the destructor.
  if (!workers_) {
    workers_ = std::make_shared<WorkerPool>(std::move(worker), options_.settings.workers(), options_.logger);
    workersGeneration_ = forkGeneration();
  }
  return workers_;
}

/// Where the identity of the toolchain is remembered: apart for each tree that a compiler library can come from.
std::string ContextImpl::toolchainFolder() {
  std::string folder = cache().stateFolder();
  const std::string &home = options_.settings.text(SettingId::Home);
  return folder.empty() || home.empty() ? folder : joinPath(folder, "home-" + digest(home).hex().substr(0, 16));
}

Expected<Toolchain> ContextImpl::toolchain() {
  bool asked = false;
  return findToolchainNow(asked);
}

/// `asked` becomes true where a worker had to be asked.
Expected<Toolchain> ContextImpl::findToolchainNow(bool &asked) {
  {
    std::lock_guard lock(mutex_);
    if (toolchain_)
      return *toolchain_;
  }
  std::string program = findWorkerProgram();
  if (program.empty())
    return Status(StatusCode::WorkerFailed,
                  "there is no compile worker: tilejit-worker was not found beside " + ownFolder())
        .withHint("set TILEJIT_HOME to the folder where tilejit is installed, or TILEJIT_WORKER to the program");
  auto ask = [&]() -> Expected<Toolchain> {
    asked = true;
    TILEJIT_ASSIGN_OR_RETURN(WorkerPool::Lease worker, workers()->lease());
    return worker->identity();
  };
  // Of many processes that start on an empty cache one loads the compiler to learn who it is.
  auto await = [&] {
    int64_t timeoutNs = options_.settings.compileTimeoutSeconds() * int64_t{1'000'000'000};
    return cache().beginFlight("toolchain " + program, timeoutNs);
  };
  TILEJIT_ASSIGN_OR_RETURN(Toolchain found, findToolchain(*options_.system, toolchainFolder(), program, ask, await));
  std::lock_guard lock(mutex_);
  toolchain_ = std::move(found);
  return *toolchain_;
}

/// The part of the toolchain that makes cubins of PTX; empty where there is none. Looked for anew each time, as it
/// comes and goes without tilejit; read only where it is another file than the last time.
Expected<std::vector<ToolchainPart>> ContextImpl::assembler() {
  System &system = *options_.system;
  TILEJIT_ASSIGN_OR_RETURN(std::string program, findPtxas(system, options_.settings.text(SettingId::Ptxas)));
  if (program.empty())
    return std::vector<ToolchainPart>();
  FileInfo info;
  bool isKnown = system.stat(program, true, info) == 0;
  {
    std::lock_guard lock(mutex_);
    if (isKnown && assembler_ && assembler_->path == program && assembler_->info == info)
      return assembler_->parts;
  }
  auto ask = [&]() -> Expected<Toolchain> {
    TILEJIT_ASSIGN_OR_RETURN(std::string identity, fileIdentity(system, program));
    return Toolchain{{{"ptxas", identity, program}}, ""};
  };
  TILEJIT_ASSIGN_OR_RETURN(Toolchain found, findToolchain(system, toolchainFolder(), program, ask));
  std::lock_guard lock(mutex_);
  assembler_ = isKnown ? std::optional(Assembler{program, info, found.parts}) : std::nullopt;
  return std::move(found.parts);
}

ContextCounters ContextImpl::counters() const {
  ContextCounters out;
  out.memoryHits = counters_.memoryHits;
  out.cacheHits = counters_.cacheHits;
  out.cacheMisses = counters_.cacheMisses;
  out.compiles = counters_.compiles;
  out.compileFailures = counters_.compileFailures;
  out.launches = counters_.launches;
  out.launchFailures = counters_.launchFailures;
  out.referenceRuns = counters_.referenceRuns;
  out.compileSeconds = static_cast<double>(counters_.compileNanoseconds.load()) * 1e-9;
  std::lock_guard lock(mutex_);
  if (workers_) {
    out.workerStarts = workers_->starts();
    out.workerDeaths = workers_->deaths();
  }
  return out;
}

std::string ContextImpl::metricsText() const {
  ContextCounters c = counters();
  std::string text;
  auto add = [&](const char *name, const char *help, double value) {
    char line[400];
    std::snprintf(line, sizeof line, "# HELP %s %s\n# TYPE %s counter\n%s %.17g\n", name, help, name, name, value);
    text += line;
  };
  auto addCount = [&](const char *name, const char *help, int64_t value) {
    add(name, help, static_cast<double>(value));
  };
  addCount("tilejit_memory_hits_total", "Kernels that the context still had.", c.memoryHits);
  addCount("tilejit_cache_hits_total", "Kernels found in the cache on disk.", c.cacheHits);
  addCount("tilejit_cache_misses_total", "Kernels that the cache on disk did not have.", c.cacheMisses);
  addCount("tilejit_compiles_total", "Compiles, failed ones included.", c.compiles);
  addCount("tilejit_compile_failures_total", "Compiles that gave no kernel.", c.compileFailures);
  add("tilejit_compile_seconds_total", "Time spent compiling.", c.compileSeconds);
  addCount("tilejit_worker_starts_total", "Compile workers started.", c.workerStarts);
  addCount("tilejit_worker_deaths_total", "Compile workers that ended on their own.", c.workerDeaths);
  addCount("tilejit_launches_total", "Launches, refused ones included.", c.launches);
  addCount("tilejit_launch_failures_total", "Launches that were refused or failed.", c.launchFailures);
  addCount("tilejit_reference_runs_total", "Launches that ran as the reference implementation.", c.referenceRuns);
  return text;
}

} // namespace tilejit
