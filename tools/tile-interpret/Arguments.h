// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The arguments of tile-interpret: arrays from files or made in place, and scalars.
//
//   in:F.npy  inout:F.npy  out:F.npy:f32[4,4]      files
//   iota:f32[8,8]  zero:i8[4]  fill:f32[4]=1.5  data:f32[3]=1,nan,-inf
//   i32:5  i64:5  index:5  f32:0.5                 scalars

#ifndef TILEJIT_TILE_INTERPRET_ARGUMENTS_H
#define TILEJIT_TILE_INTERPRET_ARGUMENTS_H

#include "tilejit/Interpreter/Interpreter.h"
#include "tilejit/Reference/HostTensor.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// One argument with the memory behind it.
struct Argument {
  HostArgument host;
  std::optional<HostTensor> tensor;
  std::vector<std::byte> before; ///< The bytes before the run.
  std::string writeTo;           ///< File to write at the end; empty for none.
  bool fromFile = false;
};

/// Makes an argument from its text.
Expected<Argument> parseArgument(std::string_view text);
/// Whether the program changed the memory of an argument.
bool hasChanged(const Argument &argument);
/// "f32[2,2] = [[0, 1], [2, 3]]".
std::string describe(const HostTensor &tensor);

} // namespace tilejit

#endif // TILEJIT_TILE_INTERPRET_ARGUMENTS_H
