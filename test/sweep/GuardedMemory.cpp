// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Mappings with pages of no rights at both ends.

#include "GuardedMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace tilejit::sweep {

namespace {
constexpr size_t page = 4096;
/// A guard is wider than what a kernel could step over: rows and panels.
constexpr size_t guard = 16 * page;
} // namespace

GuardedMemory::~GuardedMemory() { release(); }

void GuardedMemory::release() {
  if (mapping_)
    munmap(mapping_, mappedBytes_);
  mapping_ = nullptr;
}

std::byte *GuardedMemory::place(int64_t bytes, Placement placement, int64_t align, int64_t offset) {
  size_t needed = (static_cast<size_t>(bytes) + page - 1) / page * page + 4 * page + 2 * guard;
  if (needed > mappedBytes_) {
    release();
    mappedBytes_ = std::max(needed, 2 * mappedBytes_);
    void *mapped = mmap(nullptr, mappedBytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED ||
        mprotect(static_cast<std::byte *>(mapped) + guard, mappedBytes_ - 2 * guard, PROT_READ | PROT_WRITE) != 0) {
      std::perror("memory for an operand");
      std::abort();
    }
    mapping_ = static_cast<std::byte *>(mapped);
  }
  std::byte *begin = mapping_ + guard, *end = mapping_ + mappedBytes_ - guard;
  if (placement == Placement::AtEnd)
    block_ = end - (bytes + align - 1) / align * align;
  else
    block_ = begin + (placement == Placement::AtBegin ? 0 : static_cast<int64_t>(page) + offset);
  blockBytes_ = bytes;
  windowBegin_ = std::max(begin, block_ - std::min<ptrdiff_t>(page, block_ - begin));
  windowEnd_ = block_ + bytes + std::min<ptrdiff_t>(page, end - block_ - bytes);
  return block_;
}

void GuardedMemory::fillWithNan() { std::memset(windowBegin_, 0xff, window().size()); }

void GuardedMemory::fillWithNoise(uint64_t seed) {
  for (std::byte &byte : window()) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<std::byte>(seed >> 56);
  }
}

void GuardedMemory::remember() { remembered_.assign(windowBegin_, windowEnd_); }

void GuardedMemory::allow(const std::byte *from, size_t bytes) {
  std::memcpy(remembered_.data() + (from - windowBegin_), from, bytes);
}

std::string GuardedMemory::changes() const {
  if (std::memcmp(remembered_.data(), windowBegin_, remembered_.size()) == 0)
    return {};
  size_t count = 0;
  const std::byte *first = nullptr;
  for (size_t i = 0; i < remembered_.size(); ++i)
    if (remembered_[i] != windowBegin_[i]) {
      ++count;
      first = first ? first : windowBegin_ + i;
    }
  return std::to_string(count) + " bytes changed, the first " + placeText(first);
}

std::string GuardedMemory::placeText(const std::byte *address) const {
  if (address >= block_ + blockBytes_)
    return "byte " + std::to_string(address - block_ - blockBytes_) + " behind its " + std::to_string(blockBytes_);
  return "byte " + std::to_string(address - block_) + " of its " + std::to_string(blockBytes_);
}

std::string GuardedMemory::describe(const void *address) const {
  auto *place = static_cast<const std::byte *>(address);
  return mapping_ && place >= mapping_ && place < mapping_ + mappedBytes_ ? placeText(place) : std::string();
}

} // namespace tilejit::sweep
