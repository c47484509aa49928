// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Schedules: the questions about tile sizes that generators ask. Each kind of chip has its answers (CpuSchedule.cpp,
// GpuSchedule.cpp), from its facts and from the config that the user gave. The only part of the operator library that
// looks at a target.

#ifndef TILEJIT_LIB_OPLIB_SCHEDULE_H
#define TILEJIT_LIB_OPLIB_SCHEDULE_H

#include "Shapes.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/Target/TargetSpec.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::oplib {

struct TileSize {
  int64_t rows = 1, columns = 1;

  int64_t elements() const { return rows * columns; }
};

/// The tile of a kernel without a loop, and how many warps compute it (0: the target has none).
struct Tiling {
  TileSize tile;
  int64_t warps = 0;
};

/// How a right operand lies in memory once it is packed: panels of so many columns, and in these, step after step,
/// `terms` neighbours of each column side by side. What is missing of the last panel and step is 0.
struct PackedForm {
  int64_t columns = 1, terms = 1;

  /// Terms of the depth come in multiples of this.
  int64_t depthUnit() const { return 2 * terms; }
};

/// Tile sizes of one way to compute a matrix product, and up to how many rows it is taken.
struct MatmulRegime {
  std::string name; ///< "row", "skinny", "block", "packed"; another for each that a kernel has.
  int64_t bm = 1, bn = 1, bk = 1;
  int64_t warps = 0;
  std::optional<int64_t> maxRows = std::nullopt; ///< Nothing: for any number of rows.
  int64_t stages = 1;                            ///< Tiles of k that are on their way, the one in use included.
  int64_t splitK = 1;                            ///< Instances that share the terms of a tile.
  int64_t order = 0;                             ///< Rows of tiles that go through the columns together; 0: all.
  bool isPacked = false; ///< The right operand is brought to packedForm() first; tiles are of whole panels and steps.

  bool operator==(const MatmulRegime &) const = default;
};

/// One way to sweep. The tile runs along the last dimension of the space and, where it has more than one row, along
/// sweepAcross() too.
struct SweepRegime {
  TileSize tile;
  int64_t warps = 0;
  /// Up to which length of the only swept dimension it is taken, which the tile then covers; nothing: for any length.
  std::optional<int64_t> maxLength = std::nullopt;
};

/// One way to compute attention: rows of a block, keys of a step, elements of a head with what pads them.
struct AttentionRegime {
  int64_t bm = 1, bn = 1, depth = 1;
  int64_t warps = 0;
  bool isGrouped = false;  ///< Rows are the queries of all heads that share keys, else those of one head.
  int64_t split = 1;       ///< Instances that share the keys of a block.
  bool looksAhead = false; ///< Announces the next block of keys and values.
  bool isTurned = false;   ///< Queries run along the last dimension of tiles, else along the first.
  bool keepsType = false;  ///< Products are of operands as they are, else of such in the type of the results.
  std::optional<int64_t> maxQueries = std::nullopt; ///< Up to how many it is taken; nothing: for any number.
  std::optional<int64_t> maxBatches = std::nullopt;
};

/// What generators ask. Lists of regimes are in the order in which they are tried; the last one takes what is left.
class Schedule {
public:
  static std::unique_ptr<Schedule> create(const Description &description, const TargetSpec &target,
                                          const abi::Config &config);
  virtual ~Schedule() = default;

  /// The back end that compiles for the target, by its name in hints.
  std::string_view backEnd() const { return backEnd_; }
  /// Whether what the config says can be compiled for the target and fits the chip.
  virtual Status check() const = 0;
  /// All keys that apply to the family and the target, filled in.
  abi::Config complete() const;

  virtual std::vector<MatmulRegime> matmul(const MatmulShape &shape) const = 0;
  /// The form in which the right operand is packed before the product begins, where that gains something: for all
  /// regimes where it is constant, so that it can be done once for many launches, else for those that say so.
  virtual std::optional<PackedForm> packedForm(const MatmulShape &) const { return std::nullopt; }
  /// The tile along the last two dimensions of a collapsed space.
  virtual Tiling elementwise(const Space &space) const = 0;
  virtual Tiling transpose(const TransposeShape &shape) const = 0;
  virtual std::vector<SweepRegime> reduce(const Space &space) const = 0;
  /// The same for softmax and norms, which sweep more than once.
  virtual std::vector<SweepRegime> rows(const Space &space) const = 0;
  /// Those for few queries come first, and of these those whose keys are shared.
  virtual std::vector<AttentionRegime> attention(const AttentionShape &shape) const = 0;
  /// Elements of a part where a long reduction is done in two phases.
  virtual int64_t reduceChunk() const = 0;
  /// Up to how many results a long reduction is done in two phases; 0: never.
  virtual int64_t maxSplitResults(const Space &space, TileSize tile) const = 0;
  /// Whether the exponentials of a row of more than one step wait in the output until their sum is known. Else they are
  /// computed twice.
  virtual bool parksExponentials() const = 0;

protected:
  static constexpr std::string_view cpuBackEnd = "cpu";

  Schedule(const Description &description, std::string_view backEnd, const abi::Config &config)
      : description_(description), config_(config), backEnd_(backEnd) {}

  bool isCpu() const { return backEnd_ == cpuBackEnd; }
  /// The value of a key, or `fallback` where the config lacks it.
  int64_t get(const char *key, int64_t fallback) const;
  bool isGiven(const char *key) const { return config_.contains(key); }
  int64_t largest(const Size &size) const { return oplib::largest(description_, size); }
  int64_t smallest(const Size &size) const { return oplib::smallest(description_, size); }

  /// Up to how many queries the heads that share keys are computed together, and their keys in parts.
  static constexpr int64_t fewQueries = 16;
  /// Instances that keep a chip busy, and keys that are worth one.
  struct AttentionNeeds {
    int64_t instances, keys;
  };
  std::vector<AttentionRegime> attentionRegimes(const AttentionShape &shape, const AttentionNeeds &needs) const;
  /// Tiles for at most so many rows; those of the last regime are what a config sets.
  virtual AttentionRegime attentionRegime(const AttentionShape &shape, int64_t rows, bool isLast) const = 0;
  /// Whether the parts of keys that a config asks for can be had.
  Status checkAttentionSplit() const;

  const Description &description_;
  const abi::Config &config_;

private:
  static constexpr int64_t mostParts = 16;

  void addWithSplit(const AttentionShape &shape, const AttentionNeeds &needs, AttentionRegime regime,
                    std::vector<AttentionRegime> &regimes) const;

  std::string_view backEnd_;
};

std::unique_ptr<Schedule> createCpuSchedule(const Description &description, const CpuFacts &facts,
                                            const abi::Config &config);
std::unique_ptr<Schedule> createGpuSchedule(const Description &description, const TargetSpec &target,
                                            const abi::Config &config);

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_SCHEDULE_H
