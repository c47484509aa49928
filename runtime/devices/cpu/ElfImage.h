// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads the CPU back end's payload, an ELF shared object without dependencies, from memory: no file, no dynamic linker,
// no initialisers. Every offset, size and index is checked against the bytes, so that a damaged payload is refused. No
// page is writable and executable at any time after loading. It does not look at the code itself.

#ifndef TILEJIT_DEVICES_CPU_ELFIMAGE_H
#define TILEJIT_DEVICES_CPU_ELFIMAGE_H

#include "tilejit/Base/Status.h"

#include <cstddef>
#include <string_view>

namespace tilejit::cpu {

/// Mapped code. Unmapped when destroyed.
class ElfImage {
public:
  ElfImage() = default;
  ElfImage(ElfImage &&other) noexcept;
  ElfImage &operator=(ElfImage &&other) noexcept;
  ~ElfImage();

  /// DeviceFailed, with what is wrong, for anything but a payload for this machine's architecture.
  static Expected<ElfImage> load(std::string_view bytes);

  /// Address of a function in executable memory; null where there is none of this name.
  void *function(std::string_view name) const;
  size_t bytes() const { return size_; }

private:
  friend class ElfLoader;
  char *base_ = nullptr; ///< Where address 0 of the image lies.
  size_t size_ = 0;
  size_t symbols_ = 0, symbolCount_ = 0; ///< Address in the image, and how many.
  size_t strings_ = 0, stringBytes_ = 0;
  size_t codeBegin_ = 0, codeEnd_ = 0; ///< The executable segment.
};

} // namespace tilejit::cpu

#endif // TILEJIT_DEVICES_CPU_ELFIMAGE_H
