// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tile sizes for GPUs. A program instance is a block of a few warps, and a tile lives in its registers, padded to
// powers of two: so sides of tiles are powers of two, a whole small dimension rounded up. Choices keep a thread's tiles
// within about a quarter of its registers and give every multiprocessor a block where the operator is large enough.

#ifndef TILEJIT_LIB_OPLIB_GPUSCHEDULE_H
#define TILEJIT_LIB_OPLIB_GPUSCHEDULE_H

#include "Schedule.h"

namespace tilejit::oplib {

class GpuSchedule final : public Schedule {
public:
  GpuSchedule(const Description &description, const TargetSpec &target, const abi::Config &config);

  Status check() const override;
  std::vector<MatmulRegime> matmul(const MatmulShape &shape) const override;
  Tiling elementwise(const Space &space) const override;
  Tiling transpose(const TransposeShape &shape) const override;
  std::vector<SweepRegime> reduce(const Space &space) const override;
  std::vector<SweepRegime> rows(const Space &space) const override;
  std::vector<AttentionRegime> attention(const AttentionShape &shape) const override;
  int64_t reduceChunk() const override { return get("chunk", int64_t{1} << 14); }
  int64_t maxSplitResults(const Space &space, TileSize tile) const override;
  /// What other threads stored would have to be waited for; reading the row again costs no more.
  bool parksExponentials() const override { return false; }

private:
  /// Elements of the tiles of a sweep: of a row that is taken as a whole, and of a step of a longer one.
  struct SweepSizes {
    int64_t whole, step;
  };

  /// How many warps compute a tile, each thread taking about `perThread` elements.
  int64_t warpsFor(int64_t elements, int64_t perThread) const;
  /// A power of two that covers a size, at most `limit` and at least 1.
  int64_t covering(const Size &size, int64_t limit) const;
  /// Number of program instances, dimensions without an entry in `tile` counted one by one.
  int64_t instances(const Space &space, std::initializer_list<std::pair<int, int64_t>> tile) const;

  AttentionRegime attentionRegime(const AttentionShape &shape, int64_t rows, bool isLast) const override;
  MatmulRegime product(const MatmulShape &shape, std::string name, int64_t maxRows) const;
  int64_t splitOf(const MatmulShape &shape, int64_t instances) const;
  std::vector<SweepRegime> sweep(const Space &space, SweepSizes sizes) const;
  std::vector<SweepRegime> sweepOfRows(const Space &space, SweepSizes sizes) const;
  SweepRegime sweepOfColumns(const Space &space, SweepSizes sizes) const;
  int64_t rowsTogether(const Space &space, int64_t width) const;
  SweepRegime regimeOf(TileSize tile) const;
  int64_t sweepPerThread() const { return bytes_ > 4 ? 4 : 8; }

  // What a config needs, and the limits that it may break; GpuFit.cpp.
  struct Need {
    int64_t registers = 0; ///< Of a thread, 32 bits each: an estimate.
    int64_t shared = 0;    ///< Bytes of on-chip memory of a block.
    int64_t warps = 1;
    const char *keys = ""; ///< Those that lower both.
  };
  Status checkPowersOfTwo() const;
  Status checkSplit() const;
  Status checkNeed(const Need &need) const;
  Need matmulNeed() const;
  Need elementwiseNeed() const;
  Need transposeNeed() const;
  Need sweepNeed() const;
  Need attentionNeed() const;
  Need need() const;

  std::string name_;
  const GpuFacts &facts_;
  int bytes_; ///< Of an element in registers: 4, or 8.
};

/// The smallest power of two that is not below a number; 1 for what is not positive.
int64_t raisedToPowerOfTwo(int64_t value);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_GPUSCHEDULE_H
