// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What this machine can do at most, measured: multiply-add throughput of the vector units and memory bandwidth. Shares
// of peak in reports are relative to this, measured in the same run, because clocks and neighbours change.

#ifndef TILEJIT_DEVICE_PEAK_H
#define TILEJIT_DEVICE_PEAK_H

#include "tilejit/Base/DType.h"

#include <cstdint>

namespace tilejit {

/// Peak figures of `threads` threads together.
struct MachinePeak {
  double gflops = 0;     ///< 1e9 floating (or integer) operations a second; a multiply-add counts two.
  double gbytesPerS = 0; ///< 1e9 bytes a second, reads and writes both counted.
};

/// What the figures are measured for.
struct PeakQuery {
  DType arithmetic = DType::F32; ///< F64, F32, BF16 (dot of pairs where there is one) or I8 (dot of quadruples).
  int threads = 1;
  int64_t bytesRead = 0;    ///< Memory that one execution reads: picks the level of the memory that is measured.
  int64_t bytesWritten = 0; ///< A kernel that writes less than half of what it reads is compared with pure reading.
};

/// Measures for about 30 ms: the best of several repetitions of a loop without dependences between its multiply-adds
/// (in AMX's matrix registers, where there are such of the type),
/// and of read and copy loops (plain and non-temporal stores) over a buffer of the working set's size.
MachinePeak measurePeak(const PeakQuery &query);

} // namespace tilejit

#endif // TILEJIT_DEVICE_PEAK_H
