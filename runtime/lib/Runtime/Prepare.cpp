// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From a source to a kernel on its device. What a context has loaded it keeps; of several threads that want one kernel
// at once, one compiles and the others wait.

#include "ContextImpl.h"

#include "tilejit/Runtime/Kernel.h"
#include "tilejit/Runtime/Package.h"
#include "tilejit/Target/CodeFit.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace tilejit {

namespace {

constexpr size_t maxLoaded = 4096;

} // namespace

struct ContextImpl::Flight {
  const uint32_t generation = forkGeneration(); ///< In a forked child nobody flies it any more.
  std::mutex mutex;
  std::condition_variable landed;
  std::optional<Expected<std::shared_ptr<LoadedKernel>>> result;

  void land(Expected<std::shared_ptr<LoadedKernel>> value) {
    std::lock_guard lock(mutex);
    result = std::move(value);
    landed.notify_all();
  }
  Expected<std::shared_ptr<LoadedKernel>> wait() {
    std::unique_lock lock(mutex);
    landed.wait(lock, [this] { return result.has_value(); });
    return *result;
  }
};

struct ContextImpl::Order {
  const Source &source;
  const TargetSpec &target;
  const CompileOptions &options;
  Device &device;
};

std::shared_ptr<LoadedKernel> ContextImpl::findLoaded(const std::string &key) {
  std::lock_guard lock(mutex_);
  auto found = loaded_.find(key);
  if (found == loaded_.end())
    return nullptr;
  found->second.second = ++useClock_;
  return found->second.first;
}

void ContextImpl::keepLoaded(const std::string &key, std::shared_ptr<LoadedKernel> kernel) {
  std::shared_ptr<LoadedKernel> dropped; // Unloaded after the lock is gone.
  std::lock_guard lock(mutex_);
  if (loaded_.size() >= maxLoaded && !loaded_.contains(key)) {
    auto oldest = loaded_.begin();
    for (auto it = loaded_.begin(); it != loaded_.end(); ++it)
      if (it->second.second < oldest->second.second)
        oldest = it;
    dropped = std::move(oldest->second.first);
    loaded_.erase(oldest);
  }
  loaded_[key] = {std::move(kernel), ++useClock_};
}

namespace {

/// What tells one device's loaded kernels from another's.
std::string placeOf(const Device &device) {
  const DeviceProperties &properties = device.properties();
  return "@" + std::string(deviceKindName(properties.kind)) + std::to_string(properties.index);
}

/// The forms of a kernel's code; what is none (a text, an alias) is left out.
std::vector<PayloadView> payloadsOf(const CachedKernel &kernel) {
  std::vector<PayloadView> views;
  for (const Payload &payload : kernel.payloads)
    if (auto kind = abi::parsePayloadKind(payload.kind))
      views.push_back({*kind, payload.bytes});
  return views;
}

} // namespace

Expected<std::shared_ptr<LoadedKernel>> ContextImpl::loadOn(CompiledKernel compiled, Device &device) {
  TILEJIT_ASSIGN_OR_RETURN(std::shared_ptr<LoadedModule> module,
                           device.load(compiled.manifest, payloadsOf(compiled.entry)));
  return std::make_shared<LoadedKernel>(LoadedKernel{std::move(compiled), &device, std::move(module)});
}

Expected<std::shared_ptr<LoadedKernel>> ContextImpl::compileAndLoad(const Order &order) {
  for (bool lastTry = false;; lastTry = true) {
    TILEJIT_ASSIGN_OR_RETURN(CompiledKernel compiled, compile(order.source, order.target, order.options));
    bool wasHit = compiled.report.cache == CacheUse::Hit;
    KeyMaterial material = compiled.entry.material;
    auto loaded = loadOn(std::move(compiled), order.device);
    if (loaded || !wasHit || lastTry || loaded.status().code() != StatusCode::DeviceFailed)
      return loaded;
    // The entry is whole and still the device refuses it: put aside once, then compiled anew.
    cache().reject(material, loaded.status().message());
  }
}

/// compileAndLoad() for the first who comes; the others get its result. `wasFirst` says which the caller was.
Expected<std::shared_ptr<LoadedKernel>> ContextImpl::flyTogether(const std::string &key, const Order &order,
                                                                 bool &wasFirst) {
  auto mine = std::make_shared<Flight>();
  std::shared_ptr<Flight> other;
  {
    std::lock_guard lock(mutex_);
    std::shared_ptr<Flight> &slot = flights_[key];
    if (slot && slot->generation == mine->generation)
      other = slot;
    else
      slot = mine;
  }
  wasFirst = !other;
  if (other) {
    auto result = other->wait();
    // The other one was perhaps not allowed to compile; this one is.
    if (result || result.status().code() != StatusCode::NotCached || order.options.noCompile)
      return result;
    wasFirst = true;
    return compileAndLoad(order);
  }
  auto result = compileAndLoad(order);
  if (result)
    keepLoaded(key, *result);
  {
    std::lock_guard lock(mutex_);
    flights_.erase(key);
  }
  mine->land(result);
  return result;
}

Expected<std::shared_ptr<Kernel>> ContextImpl::prepare(const Source &source, const TargetSpec &target,
                                                       const CompileOptions &options) {
  if (abi::isText(options.emit))
    return Status(StatusCode::InvalidArgument, "only a package or an object can be prepared for a device");
  if (source.package) {
    if (!options.config.empty())
      return Status(StatusCode::InvalidArgument, "config key '" + options.config.begin()->first + "': " + source.name +
                                                     " is a package, which is compiled already");
    TILEJIT_ASSIGN_OR_RETURN(CompiledKernel packaged, takeFromPackage(*source.package, target));
    return load(std::move(packaged), source, target, options.device);
  }
  TILEJIT_ASSIGN_OR_RETURN(Device * onto, deviceFor(target, options.device));
  Order order{source, target, options, *onto};
  auto self = std::static_pointer_cast<ContextImpl>(shared_from_this());
  Expected<std::shared_ptr<LoadedKernel>> loaded = Status(StatusCode::Internal, "not prepared");
  CompileReport report;
  bool asked = false;
  int64_t started = options_.system->monotonicNanoseconds();
  auto material = materialFor(source, target, options, asked);
  double askedMs = asked ? static_cast<double>(options_.system->monotonicNanoseconds() - started) * 1e-6 : 0;
  if (options.noCache || !material) {
    loaded = compileAndLoad(order);
    if (loaded)
      report = (*loaded)->compiled.report;
  } else {
    std::string key = cacheKey(*material);
    std::string loadedKey = key + placeOf(*onto);
    bool wasFirst = false;
    std::shared_ptr<LoadedKernel> known = findLoaded(loadedKey);
    loaded = known ? known : flyTogether(loadedKey, order, wasFirst);
    if (loaded && wasFirst) {
      report = (*loaded)->compiled.report;
    } else if (loaded) {
      ++counters_.memoryHits;
      report.cache = cache().isEnabled() ? CacheUse::Hit : CacheUse::Off;
      report.fromMemory = true;
      report.key = key;
      report.payloadKind = (*loaded)->compiled.report.payloadKind;
      report.payloadBytes = (*loaded)->compiled.report.payloadBytes;
    }
  }
  if (!loaded)
    return options.allowReference ? fallBack(source, target, loaded.status()) : loaded.status();
  report.workerStarted |= asked;
  if (asked && report.cache != CacheUse::Hit) {
    // Asking the worker who it is loads the compiler: part of what a first compile costs.
    report.compileMs += askedMs;
    report.stagesMs.insert(report.stagesMs.begin(), {"worker_start", askedMs});
  }
  report.totalMs = static_cast<double>(options_.system->monotonicNanoseconds() - started) * 1e-6;
  return makeKernel(self, *std::move(loaded), std::move(report), source);
}

Expected<std::shared_ptr<Kernel>> ContextImpl::load(CompiledKernel compiled, const Source &source,
                                                    const TargetSpec &target, int device) {
  TILEJIT_ASSIGN_OR_RETURN(Device * onto, deviceFor(target, device));
  bool fits = false;
  if (!payloadsOf(compiled.entry).empty())
    if (Expected<TargetSpec> code = targetOfKey(compiled.entry.payloads.front().target))
      fits = codeFit(*code, target) > 0;
  if (!fits)
    return Status(StatusCode::InvalidArgument, "the package holds no code for " + target.name);
  CompileReport report = compiled.report;
  TILEJIT_ASSIGN_OR_RETURN(std::shared_ptr<LoadedKernel> loaded, loadOn(std::move(compiled), *onto));
  return makeKernel(std::static_pointer_cast<ContextImpl>(shared_from_this()), std::move(loaded), std::move(report),
                    source);
}

} // namespace tilejit
