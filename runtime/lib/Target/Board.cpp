// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows, from NVIDIA's and AMD's data sheets and architecture papers of each board.

#include "tilejit/Target/Board.h"

#include <algorithm>
#include <array>

namespace tilejit {

namespace {

constexpr std::array boards = std::to_array<Board>({
    {"sm_75", "T4", 40, 8.1, 65, 320},
    {"sm_80", "A100 80GB SXM", 108, 19.5, 312, 2039},
    {"sm_86", "A10", 72, 31.2, 125, 600},
    {"sm_87", "Jetson AGX Orin 64GB", 16, 5.3, 42.6, 204.8},
    {"sm_89", "L40S", 142, 91.6, 362, 864},
    {"sm_90", "H100 80GB SXM", 132, 66.9, 989, 3350},
    {"sm_100", "B200", 148, 75, 2250, 8000},
    {"sm_120", "RTX 5090", 170, 104.8, 209.5, 1792},
    {"gfx900", "Radeon Instinct MI25", 64, 12.3, 0, 484},
    {"gfx906", "Radeon Instinct MI50", 60, 13.3, 0, 1024},
    {"gfx908", "Instinct MI100", 120, 23.1, 184.6, 1228.8},
    {"gfx90a", "Instinct MI210", 104, 22.6, 181, 1638.4},
    {"gfx942", "Instinct MI300X", 304, 163.4, 1307.4, 5300},
    {"gfx950", "Instinct MI355X", 256, 157.3, 2516.6, 8000},
    {"gfx1010", "Radeon RX 5700 XT", 20, 9.75, 0, 448},
    {"gfx1030", "Radeon RX 6800", 30, 16.2, 0, 512},
    {"gfx1100", "Radeon RX 7900 XTX", 48, 61.4, 122.8, 960},
    {"gfx1101", "Radeon RX 7800 XT", 30, 37.3, 74.7, 624},
    {"gfx1151", "Radeon 8060S", 20, 29.7, 59.4, 256},
    {"gfx1200", "Radeon RX 9060 XT", 16, 25.6, 103, 320},
    {"gfx1201", "Radeon RX 9070 XT", 32, 48.7, 195, 640},
});

} // namespace

const Board *boardOf(const TargetSpec &target) {
  std::string_view chip = target.cpu;
  if (target.kind == TargetKind::Nvidia && chip.ends_with('a'))
    chip.remove_suffix(1); // The same chip with instructions that no other has.
  auto found = std::ranges::find(boards, target.isGpu() ? chip : std::string_view(), &Board::target);
  return found == boards.end() ? nullptr : &*found;
}

} // namespace tilejit
