// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// How what kernels print (tile.print) comes from a GPU to the host: as records in a buffer of device memory, which the
// runtime clears before a launch and reads after it.

#ifndef TILEJIT_ABI_GPUPRINT_H
#define TILEJIT_ABI_GPUPRINT_H

#include <cstdint>

namespace tilejit::abi {

/// The buffer's first 64-bit words. All words are zero before a launch, but for the room.
enum PrintWord : int64_t {
  PrintAsked, ///< Records that were asked for. Those beyond the room are not there.
  PrintLines, ///< Lines that were begun.
  PrintRoom,  ///< How many records the buffer holds.
};
/// Then records, of so many words each: a cell of a line. Cells are numbered as CpuPrintFunction lays them out, value
/// after value; a line without values has cell 0 with no meaning.
///   word 0: number of the program instance
///   word 1: 1 + number of the tile.print, times 2^32, + number of the cell
///   word 2: the bits that the number has in memory, zero-extended
/// An instance's records of one cell of one tile.print are in the order of execution; so are the records of cell 0 of
/// all of an instance's lines.
inline constexpr int64_t printHeaderWords = 4, printRecordWords = 3;
/// What the runtime's buffers have.
inline constexpr int64_t printBufferBytes = int64_t{1} << 20;

} // namespace tilejit::abi

#endif // TILEJIT_ABI_GPUPRINT_H
