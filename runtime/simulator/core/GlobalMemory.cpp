// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Allocations of a simulated device.

#include "core/GlobalMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>

namespace tilejit::sim {

namespace {

// Room on both sides of an allocation, so that a small step outside meets nobody else.
constexpr uint64_t gap = 64 << 10;
constexpr uint64_t page = 4096;

uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

} // namespace

GlobalMemory::~GlobalMemory() {
  for (auto &[end, allocation] : allocations_)
    munmap(allocation->mapping, allocation->mappingBytes);
}

Expected<void *> GlobalMemory::allocate(uint64_t bytes, std::string_view name, bool initialized, bool readOnly) {
  uint64_t total = roundUp(bytes, page) + 2 * gap;
  void *mapping = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return Status(StatusCode::OutOfMemory, "can't allocate " + std::to_string(bytes) + " bytes of simulated memory");
  auto made = std::make_unique<Allocation>();
  made->mapping = static_cast<uint8_t *>(mapping);
  made->mappingBytes = total;
  made->base = reinterpret_cast<uint64_t>(mapping) + gap;
  made->size = bytes;
  made->name = name;
  made->readOnly = readOnly;
  if (!initialized) {
    made->written.assign(bytes, 0);
    std::memset(reinterpret_cast<void *>(made->base), 0xff, bytes);
  }
  void *memory = reinterpret_cast<void *>(made->base);
  std::lock_guard lock(mutex_);
  // Keyed by the last address that may still be meant, so that an empty allocation has a key of its own.
  allocations_[made->base + std::max<uint64_t>(bytes, 1)] = std::move(made);
  return memory;
}

void GlobalMemory::release(void *memory) {
  std::lock_guard lock(mutex_);
  auto found = allocations_.upper_bound(reinterpret_cast<uint64_t>(memory));
  if (found == allocations_.end() || found->second->base != reinterpret_cast<uint64_t>(memory))
    return;
  munmap(found->second->mapping, found->second->mappingBytes);
  allocations_.erase(found);
}

void GlobalMemory::markWritten(const void *memory, uint64_t bytes) {
  uint64_t address = reinterpret_cast<uint64_t>(memory);
  if (Allocation *allocation = find(address, bytes); allocation && !allocation->written.empty())
    std::memset(allocation->written.data() + (address - allocation->base), 1, bytes);
}

Allocation *GlobalMemory::find(uint64_t address, uint64_t size) const {
  auto found = allocations_.upper_bound(address);
  if (found == allocations_.end())
    return nullptr;
  Allocation *allocation = found->second.get();
  bool inside =
      address >= allocation->base && size <= allocation->size && address - allocation->base <= allocation->size - size;
  return inside ? allocation : nullptr;
}

std::string GlobalMemory::describe(uint64_t address) const {
  char text[64];
  const Allocation *below = nullptr, *above = nullptr;
  for (const auto &[end, allocation] : allocations_) {
    if (allocation->base <= address)
      below = allocation.get();
    else if (!above)
      above = allocation.get();
  }
  auto within = [&](const Allocation &a, uint64_t limit) { return address - a.base < a.size + limit; };
  if (below && within(*below, 0)) {
    std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(address - below->base));
    return below->name + text + " (of " + std::to_string(below->size) + " bytes)";
  }
  if (below && within(*below, gap))
    return std::to_string(address - below->base - below->size) + " bytes past the end of " + below->name + " (" +
           std::to_string(below->size) + " bytes)";
  if (above && above->base - address <= gap)
    return std::to_string(above->base - address) + " bytes before " + above->name;
  if (address < 1 << 16) {
    std::snprintf(text, sizeof text, "0x%llx (a null pointer)", static_cast<unsigned long long>(address));
    return text;
  }
  // Addresses of the host differ from run to run; what they have in common is that nothing is there.
  return "an address in no allocation";
}

} // namespace tilejit::sim
