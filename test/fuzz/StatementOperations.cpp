// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operations that only say something: facts, hints, assertions that hold, and what is printed.

#include "ProgramBuilder.h"

#include <array>

namespace tilejit::fuzz {

namespace {
bool facts(ProgramBuilder &b) {
  std::string count = b.fresh(), known = b.fresh(), holds = b.fresh();
  b.line(count + " = tile.num_programs 0");
  b.line(known + " = tile.assume " + count + " min 1 max 64 : index");
  b.line(holds + " = arith.cmpi ult, %row, " + known + " : index");
  b.line("tile.assert " + holds + ", \"an instance beyond the grid\" : i1");
  b.line("tile.hint {cpu = {unroll = 2 : i64}}");
  return true;
}

/// Of all elements at once.
bool assertion(ProgramBuilder &b) {
  const Tile *found = b.find([](const Tile &tile) { return !tile.isFloat() && tile.type->bits >= 8; });
  if (!found)
    return false;
  Tile x = *found, same{b.fresh(), x.shape, &element("i1")};
  b.line(same.name + " = arith.cmpi ule, " + x.name + ", " + x.name + " : " + b.text(x));
  b.line("tile.assert " + same.name + ", \"a number beyond itself\" : " + b.text(same));
  return true;
}

/// None to three tiles, and the instance's number.
bool print(ProgramBuilder &b) {
  std::string values, types;
  for (int64_t i = b.below(4); i > 0; --i)
    if (const Tile *tile = b.find([](const Tile &) { return true; })) {
      values += ", " + tile->name;
      types += ", " + b.text(*tile);
    }
  if (b.oneIn(8))
    b.line("tile.print \"here\"");
  else
    b.line("tile.print \"" + std::to_string(b.below(100)) + ":\", %p" + values + " : index" + types);
  return true;
}
} // namespace

std::span<const Operation> statementOperations() {
  static constexpr std::array all{facts, assertion, print, print, print};
  return all;
}

} // namespace tilejit::fuzz
