// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The stand-ins' devices.

#include "Machine.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace standin {

namespace {

std::string environment(const char *name, const std::string &fallback) {
  const char *value = std::getenv(name);
  return value && *value ? value : fallback;
}

std::string hex(const void *pointer) {
  std::ostringstream text;
  text << pointer;
  return text.str();
}

/// Kernels of a stand-in's own text.
int parseOwn(const char *image, const std::string &arch, Module &module) {
  std::istringstream lines(image);
  std::string word, name;
  std::getline(lines, word);
  while (lines >> word) {
    if (word == "arch") {
      lines >> name;
      if (name != arch)
        return NoBinary;
    } else if (word == "kernel") {
      int parameters = -1;
      lines >> name >> parameters;
      module.kernels[name] = parameters;
    } else {
      return InvalidImage;
    }
  }
  return module.kernels.empty() ? InvalidImage : Success;
}

/// Entries of PTX: `.entry NAME(` up to the closing bracket, each `.param` 64 bits.
int parsePtx(const std::string &text, Module &module) {
  for (size_t at = 0; (at = text.find(".entry ", at)) != text.npos;) {
    at += 7;
    size_t open = text.find('(', at), close = text.find(')', at);
    if (open == text.npos || close == text.npos)
      return InvalidImage;
    std::string name = text.substr(at, open - at);
    int parameters = 0;
    for (size_t p = open; (p = text.find(".param", p)) < close; p += 6)
      ++parameters;
    module.kernels[name] = parameters;
  }
  return module.kernels.empty() ? InvalidImage : Success;
}

} // namespace

int Machine::begin(const char *symbol) {
  std::lock_guard lock(mutex_);
  int number = ++calls_[symbol];
  std::istringstream wanted(environment("TILEJIT_STANDIN_FAIL", ""));
  for (std::string entry; std::getline(wanted, entry, ',');) {
    size_t equals = entry.find('='), at = entry.find('@');
    if (equals == entry.npos || entry.substr(0, equals) != symbol)
      continue;
    if (at == entry.npos || std::atoi(entry.c_str() + at + 1) == number)
      return std::atoi(entry.c_str() + equals + 1);
  }
  return Success;
}

int Machine::misuse(const std::string &what, int code) {
  std::lock_guard lock(mutex_);
  misused_ += name_ + ": " + what + "\n";
  if (std::string path = environment("TILEJIT_STANDIN_MISUSE", ""); !path.empty())
    std::ofstream(path, std::ios::app) << name_ << ": " << what << "\n";
  return code;
}

std::string Machine::takeMisuse() {
  std::lock_guard lock(mutex_);
  calls_.clear();
  return std::exchange(misused_, "");
}

int Machine::devices() const { return std::atoi(environment("TILEJIT_STANDIN_DEVICES", "2").c_str()); }
std::string Machine::arch(int device) const {
  std::istringstream all(environment("TILEJIT_STANDIN_ARCH", defaultArch_));
  std::string arch;
  for (int i = 0; i <= device && std::getline(all, arch, ','); ++i)
    ;
  return arch;
}

int64_t Machine::memoryBytes() const { return std::atoll(environment("TILEJIT_STANDIN_MEMORY", "1073741824").c_str()); }

int64_t Machine::freeBytes(int device) {
  std::lock_guard lock(mutex_);
  int64_t used = 0;
  for (const auto &[start, block] : memory_)
    used += block.device == device ? static_cast<int64_t>(block.bytes) : 0;
  return memoryBytes() - used;
}

// ---- Memory ----

int Machine::allocate(int device, void **out, size_t bytes) {
  std::lock_guard lock(mutex_);
  if (!out || bytes == 0)
    return misuse("allocation of no bytes, or without a place for it");
  if (isAnyCapturing())
    return misuse("allocation during a capture", CaptureUnsupported);
  if (static_cast<int64_t>(bytes) > freeBytes(device))
    return OutOfMemory;
  auto *memory = static_cast<char *>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(memory, 0xa5, bytes);
  memory_[memory] = {std::unique_ptr<char, Free>(memory), bytes, device};
  *out = memory;
  return Success;
}

int Machine::release(int device, void *memory) {
  std::lock_guard lock(mutex_);
  auto known = memory_.find(static_cast<char *>(memory));
  if (known == memory_.end() || known->second.device != device)
    return misuse("free of " + hex(memory) + ", which device " + std::to_string(device) + " never gave");
  memory_.erase(known);
  return Success;
}

bool Machine::isDeviceMemory(const void *memory, size_t bytes) {
  std::lock_guard lock(mutex_);
  auto *place = static_cast<char *>(const_cast<void *>(memory));
  auto next = memory_.upper_bound(place);
  if (next == memory_.begin())
    return false;
  const auto &[start, block] = *std::prev(next);
  return place + bytes <= start + block.bytes;
}

int Machine::copy(void *to, const void *from, size_t bytes, bool toDevice, bool fromDevice) {
  std::lock_guard lock(mutex_);
  if (!to || !from)
    return misuse("copy to or from null");
  if (isDeviceMemory(to, bytes) != toDevice || isDeviceMemory(from, bytes) != fromDevice)
    return misuse("copy of " + std::to_string(bytes) + " bytes whose ends are not where they should be");
  std::memmove(to, from, bytes);
  return Success;
}

int Machine::clear(void *memory, int value, size_t bytes) {
  std::lock_guard lock(mutex_);
  if (!isDeviceMemory(memory, bytes))
    return misuse("memset outside of device memory");
  std::memset(memory, value, bytes);
  return Success;
}

// ---- Streams and events ----

int Machine::createStream(int device, void **out) {
  std::lock_guard lock(mutex_);
  if (!out)
    return misuse("a stream without a place for it");
  auto stream = std::make_unique<StreamState>(StreamState{device, false});
  *out = stream.get();
  streams_[*out] = std::move(stream);
  return Success;
}

int Machine::destroyStream(void *stream) {
  std::lock_guard lock(mutex_);
  if (streams_.erase(stream) == 0)
    return misuse("end of a stream that is none", InvalidHandle);
  return Success;
}

bool Machine::isStream(void *stream) {
  std::lock_guard lock(mutex_);
  return !stream || streams_.count(stream) != 0;
}

bool Machine::isCapturing(void *stream) {
  std::lock_guard lock(mutex_);
  auto known = streams_.find(stream);
  return known != streams_.end() && known->second->capturing;
}

bool Machine::isAnyCapturing() {
  std::lock_guard lock(mutex_);
  for (const auto &[handle, stream] : streams_)
    if (stream->capturing)
      return true;
  return false;
}

void Machine::capture(void *stream, bool on) {
  std::lock_guard lock(mutex_);
  if (auto known = streams_.find(stream); known != streams_.end())
    known->second->capturing = on;
}

int Machine::createEvent(int device, void **out) {
  std::lock_guard lock(mutex_);
  if (!out)
    return misuse("an event without a place for it");
  auto event = std::make_unique<EventState>(EventState{device, false});
  *out = event.get();
  events_[*out] = std::move(event);
  return Success;
}

int Machine::destroyEvent(void *event) {
  std::lock_guard lock(mutex_);
  if (events_.erase(event) == 0)
    return misuse("end of an event that is none", InvalidHandle);
  return Success;
}

int Machine::record(void *event, void *stream) {
  std::lock_guard lock(mutex_);
  auto known = events_.find(event);
  if (known == events_.end() || !isStream(stream))
    return misuse("record of an event or stream that is none", InvalidHandle);
  known->second->recorded = true;
  return Success;
}

int Machine::query(void *event) {
  std::lock_guard lock(mutex_);
  return events_.count(event) ? Success : misuse("query of an event that is none", InvalidHandle);
}

int Machine::elapsed(float *milliseconds, void *first, void *second) {
  std::lock_guard lock(mutex_);
  auto one = events_.find(first), other = events_.find(second);
  if (!milliseconds || one == events_.end() || other == events_.end())
    return misuse("time between events that are none", InvalidHandle);
  if (!one->second->recorded || !other->second->recorded)
    return InvalidHandle;
  *milliseconds = 0.25f;
  return Success;
}

// ---- Modules ----

int Machine::loadModule(int device, void **out, const char *image) {
  std::lock_guard lock(mutex_);
  if (!out || !image)
    return misuse("a module without image, or without a place for it");
  if (isAnyCapturing())
    return misuse("a module loaded during a capture", CaptureUnsupported);
  auto module = std::make_unique<Module>(Module{device, {}});
  int code = InvalidImage;
  if (std::strncmp(image, "tilejit stand-in\n", 17) == 0) {
    code = parseOwn(image, arch(device), *module);
  } else if (std::memcmp(image,
                         "\x7f"
                         "ELF",
                         4) == 0) {
    module->kernels["*"] = -1;
    code = defaultArch_.compare(0, 3, "sm_") == 0 ? NoBinary : Success; // NVIDIA's: the PTX says more.
  } else if (std::strstr(image, ".version")) {
    code = parsePtx(image, *module);
  }
  if (code != Success)
    return code;
  *out = module.get();
  modules_[*out] = std::move(module);
  return Success;
}

int Machine::unloadModule(void *module) {
  std::lock_guard lock(mutex_);
  if (modules_.erase(module) == 0)
    return misuse("unload of a module that is none", InvalidHandle);
  for (auto it = functions_.begin(); it != functions_.end();)
    it = it->second->module == module ? functions_.erase(it) : std::next(it);
  return Success;
}

int Machine::findFunction(void **out, void *module, const char *name) {
  std::lock_guard lock(mutex_);
  auto known = modules_.find(module);
  if (!out || !name || known == modules_.end())
    return misuse("a function of a module that is none", InvalidHandle);
  auto &kernels = known->second->kernels;
  auto kernel = kernels.find(name);
  if (kernel == kernels.end() && kernels.count("*") == 0)
    return NotFound;
  auto function = std::make_unique<Function>();
  function->module = known->second.get();
  function->name = name;
  function->parameters = kernel == kernels.end() ? -1 : kernel->second;
  *out = function.get();
  functions_[*out] = std::move(function);
  return Success;
}

Function *Machine::function(void *handle) {
  std::lock_guard lock(mutex_);
  auto known = functions_.find(handle);
  return known == functions_.end() ? nullptr : known->second.get();
}

int Machine::launch(int device, void *handle, const unsigned (&grid)[3], const unsigned (&block)[3], unsigned shared,
                    void *stream, void **parameters, void **extra, void *endOfExtra) {
  std::lock_guard lock(mutex_);
  Function *known = function(handle);
  if (!known || known->module->device != device || !isStream(stream))
    return misuse("launch of a function, or in a stream, that is none here", InvalidHandle);
  if (grid[0] == 0 || grid[1] != 1 || grid[2] != 1 || block[0] == 0 || block[0] > 1024 || block[1] != 1 ||
      block[2] != 1)
    return misuse("launch with an impossible grid or block");
  if (static_cast<int>(shared) > known->dynamicShared)
    return misuse("launch with more on-chip memory than was asked for");
  if (parameters || !extra)
    return misuse("launch without a buffer of parameters");
  const char *buffer = nullptr;
  size_t bytes = 0;
  for (; *extra != endOfExtra; extra += 2) {
    if (*extra == reinterpret_cast<void *>(1))
      buffer = static_cast<const char *>(extra[1]);
    else if (*extra == reinterpret_cast<void *>(2))
      bytes = *static_cast<size_t *>(extra[1]);
    else
      return misuse("launch with an unknown word in `extra`");
  }
  if (!buffer || bytes % 8 != 0 || (known->parameters >= 0 && bytes != 8 * static_cast<size_t>(known->parameters)))
    return misuse("launch of " + known->name + " with " + std::to_string(bytes) + " bytes of parameters, expected " +
                  std::to_string(8 * known->parameters));
  std::vector<int64_t> words(bytes / 8);
  std::memcpy(words.data(), buffer, bytes);
  return run(*known, words, grid[0]);
}

/// Runs the kernels that the conformance suite has: see test/cts/Subject.h.
int Machine::run(const Function &function, const std::vector<int64_t> &words, int64_t blocks) {
  if (function.name == "say")
    return say(words, blocks);
  bool isAdd = function.name == "add", isStage = function.name == "stage", isFinish = function.name == "finish";
  if (!isAdd && !isStage && !isFinish)
    return Success;
  int64_t count = words[1], first = words.back();
  auto at = [&](size_t slot, int64_t i, int64_t stride) { return reinterpret_cast<float *>(words[slot]) + i * stride; };
  for (int64_t i = 64 * first; i < 64 * (first + blocks) && i < count; ++i) {
    float *x = at(0, i, words[2]), *y = at(3, i, words[5]), *z = at(6, i, words[8]);
    if (!isDeviceMemory(x, 4) || !isDeviceMemory(y, 4) || !isDeviceMemory(z, 4) ||
        (!isAdd && !isDeviceMemory(at(9, i, 1), 4)))
      return misuse(function.name + " reads or writes outside of device memory", 700);
    if (isAdd)
      *z = *x + *y;
    if (isStage)
      *at(9, i, 1) = *x + *y;
    if (!isFinish)
      continue;
    *z = 2 * *at(9, i, 1);
    if (auto *status = reinterpret_cast<int64_t *>(words[10]); *at(9, i, 1) >= 1e6f && *status == 0)
      *status = 3;
  }
  return Success;
}

/// Two records for each block, as ABI/GpuPrint.h has them.
int Machine::say(const std::vector<int64_t> &words, int64_t blocks) {
  auto *buffer = reinterpret_cast<int64_t *>(words[9]);
  constexpr int64_t header = 4, record = 3;
  if (!isDeviceMemory(buffer, 8 * header) ||
      !isDeviceMemory(buffer, 8 * static_cast<size_t>(header + record * buffer[2])))
    return misuse("say prints to what is no device memory, or smaller than it says", 700);
  if (buffer[0] != 0 || buffer[1] != 0)
    return misuse("say prints to a buffer that was not cleared");
  for (int64_t i = words.back(); i < words.back() + blocks; ++i) {
    int64_t at = buffer[0];
    uint32_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<float *>(words[0]) + 64 * i * words[2], sizeof bits);
    ++buffer[1];
    buffer[0] += 2;
    if (buffer[0] > buffer[2])
      continue;
    int64_t made[] = {i, int64_t{1} << 32, i, i, (int64_t{1} << 32) + 1, bits};
    std::memcpy(buffer + header + at * record, made, sizeof made);
  }
  return Success;
}

int Machine::living() {
  std::lock_guard lock(mutex_);
  return static_cast<int>(memory_.size() + streams_.size() + events_.size() + modules_.size());
}

} // namespace standin
