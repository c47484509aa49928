// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Pictures of layouts for people: the tile as a table of rows and columns whose cells say where the element is. A tile
// of rank 1 is one row; of a higher rank the leading dimensions are flattened into rows.

#ifndef TILEJIT_DIALECT_TILEGPU_IR_LAYOUTPICTURE_H
#define TILEJIT_DIALECT_TILEGPU_IR_LAYOUTPICTURE_H

#include "tilejit/Dialect/TileGPU/IR/LinearLayout.h"

namespace tilejit::tilegpu {

struct PictureOptions {
  /// Larger tiles are cut, which a last line says.
  int64_t maxRows = 64, maxColumns = 64;
};

/// Cells such as `w1 l12 r3`: warp 1, lane 12, register 3 (input dimensions by their first letter, the last one first,
/// those of size 1 left out); of several copies the one with the lowest flat number, then `+3` for three more; `-` for
/// an element that is nowhere. Ends with a line break.
std::string textPicture(const LinearLayout &layout, const PictureOptions &options = {});

/// The same as a standalone SVG document: a lane's elements have one hue, lighter with each register. A cell's tooltip
/// names its coordinates and all copies. `title` stands above the table.
std::string svgPicture(const LinearLayout &layout, std::string_view title, const PictureOptions &options = {});

} // namespace tilejit::tilegpu

#endif // TILEJIT_DIALECT_TILEGPU_IR_LAYOUTPICTURE_H
