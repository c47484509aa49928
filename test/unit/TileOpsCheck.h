// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// For tests: runs one small tile program on this machine's CPU, an emulated one and simulated GPUs, and compares every
// byte of its arguments with what the interpreter leaves there. Programs whose sums are exact in any order need no
// tolerance: data are whole numbers from -20 to 20.

#ifndef TILEJIT_TEST_UNIT_TILEOPSCHECK_H
#define TILEJIT_TEST_UNIT_TILEOPSCHECK_H

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::test {

struct TileOpsRun {
  int programs = 1;             ///< Instances of the kernel.
  std::vector<int> warps = {0}; ///< The GPU runs once with each number of warps; 0: as the compiler chooses.
  std::vector<std::string> targets = {"sm_80", "gfx942", "gfx1100"};
};

/// `arguments` and `body` of a kernel. The body may use %c0, an index. Views of the arguments have static shapes and
/// are dense; pointers lead to 4096 elements.
void checkTileOps(std::string_view arguments, std::string_view body, const TileOpsRun &run = {});

/// Changes to what the GPU lowering makes of a kernel. Each says whether it found its place.
struct TileOpsFault {
  std::function<bool(mlir::ModuleOp)> planned; ///< In the kernel with layouts and planned memory.
  std::function<bool(mlir::ModuleOp)> lowered; ///< In the program of one thread.
};
struct TileOpsOutcome {
  bool isApplied = true;            ///< Whether the fault found its place.
  int64_t wrongBytes = 0;           ///< Of all arguments, against the interpreter.
  std::vector<std::string> reports; ///< Of the simulator.
};
/// Runs a kernel with a fault on one simulated GPU, with the first of `run.warps`.
TileOpsOutcome runWithFault(std::string_view arguments, std::string_view body, const TileOpsRun &run,
                            const std::string &target, const TileOpsFault &fault);

/// "%x: !tile.view<X>, %y: !tile.view<Y>"
std::string twoViews(std::string_view x, std::string_view y);
/// "%name = tile.load %view[0...]" of the whole of a static view, and the store back. `type` is such as "3x5xf32".
std::string loadWhole(std::string_view name, std::string_view view, std::string_view type);
std::string storeWhole(std::string_view name, std::string_view view, std::string_view type);
/// "3x5xf32" from {3, 5} and "f32".
std::string typeText(const std::vector<int> &shape, std::string_view element);

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_TILEOPSCHECK_H
