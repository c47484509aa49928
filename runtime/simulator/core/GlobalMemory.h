// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Global memory of a simulated device: allocations with gaps between them, and which of their bytes were ever written.
// Addresses are those of the host, so that handlers read and write directly once an access was checked. Also the
// windows at which generic pointers find shared and local memory.

#ifndef TILEJIT_SIMULATOR_CORE_GLOBALMEMORY_H
#define TILEJIT_SIMULATOR_CORE_GLOBALMEMORY_H

#include "tilejit/Base/Status.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::sim {

enum class Space : uint8_t { Global, Shared, Local };

/// Generic addresses: host addresses are below both windows.
inline constexpr uint64_t sharedWindow = 1ull << 60;
inline constexpr uint64_t localWindow = 1ull << 61;
inline constexpr uint64_t windowBytes = 1ull << 40;

/// The space of a generic address, and the address within it.
inline Space spaceOf(uint64_t generic) {
  if (generic - sharedWindow < windowBytes)
    return Space::Shared;
  return generic - localWindow < windowBytes ? Space::Local : Space::Global;
}
inline uint64_t windowOf(Space space) {
  return space == Space::Shared ? sharedWindow : space == Space::Local ? localWindow : 0;
}

struct Allocation {
  uint64_t base = 0, size = 0;
  std::string name;
  bool readOnly = false;
  std::vector<uint8_t> written; ///< One flag a byte; empty: all are.
  uint8_t *mapping = nullptr;
  uint64_t mappingBytes = 0;
};

class GlobalMemory {
public:
  ~GlobalMemory();

  Expected<void *> allocate(uint64_t bytes, std::string_view name, bool initialized, bool readOnly = false);
  void release(void *memory);
  void markWritten(const void *memory, uint64_t bytes);

  /// The allocation that holds [address, address + size), or null. Allocations do not change during a launch.
  Allocation *find(uint64_t address, uint64_t size) const;
  /// "a+0x40 (f32 buffer of 4096 bytes)" or "0x7f..., 16 bytes past the end of a": for messages.
  std::string describe(uint64_t address) const;

private:
  std::mutex mutex_;
  std::map<uint64_t, std::unique_ptr<Allocation>> allocations_; ///< By end address.
};

/// 32-byte sectors that an access touches, and the fewest that hold its bytes.
struct Sectors {
  uint32_t actual = 0, ideal = 0;
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_GLOBALMEMORY_H
