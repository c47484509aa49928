// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a kernel was on its way from tiles to instructions, for people who look for what costs time: the texts of the
// stages, and how their lines belong together.

#ifndef TILEJIT_ABI_STAGETEXTS_H
#define TILEJIT_ABI_STAGETEXTS_H

#include "tilejit/Base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::abi {

/// The payload of kind Stages. Lines are counted from 1. The bitcode beside it names places of `tilegpu` by the file
/// name tilegpuFile.
struct StageTexts {
  struct Layout {
    std::string title; ///< Number, operation of the first use, and the attribute.
    std::string svg;   ///< A standalone picture.
  };
  std::string tile;
  std::string tilegpu;            ///< GPU targets only, as the three members after it.
  std::vector<int64_t> tileLines; ///< For each line of `tilegpu` the line of `tile` that it came from; 0: none.
  std::vector<Layout> layouts;    ///< Of the tiles and of on-chip memory, in the order of first use.
  std::string llvm;               ///< As it goes to the code generator, without places.
};
inline constexpr const char *tileFile = "tile", *tilegpuFile = "tilegpu";

std::string encode(const StageTexts &texts);
/// InvalidArgument for what encode() has not written.
Expected<StageTexts> decodeStageTexts(std::string_view bytes);

} // namespace tilejit::abi

#endif // TILEJIT_ABI_STAGETEXTS_H
