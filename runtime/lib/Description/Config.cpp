// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The table of config keys and the check against it.

#include "tilejit/Description/Config.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tilejit {
namespace {

constexpr std::string_view noWarps = "a CPU's program instance runs on one thread; --threads sets their number";
constexpr std::string_view noStages = "a CPU prefetches by itself; there are no copies to overlap";
constexpr std::string_view noSplit = "CPUs split products over rows and columns only";
constexpr std::string_view noOrder = "CPUs take program instances in the order that shares operands best";

constexpr ConfigKey warps{"warps", 1, 32, "Warps of a program instance.", noWarps};
constexpr ConfigKey stages{"stages", 1, 8, "Tiles of k that are on their way at a time, the one in use included.",
                           noStages};
constexpr ConfigKey splitK{"split_k", 1, 64, "Program instances that share the terms of one tile of the result.",
                           noSplit};
constexpr ConfigKey order{
    "order", 0, 64, "Rows of tiles that go through the columns together, so that they share them; 0: all.", noOrder};

constexpr std::string_view oneRow = "a CPU's program instance takes one row at a time";

constexpr int64_t maxSide = int64_t{1} << 16;

constexpr std::array matmulKeys{
    ConfigKey{"bm", 1, maxSide, "Rows of a tile of the result (where rows vary: of the regime for many rows).", {}},
    ConfigKey{"bn", 1, maxSide, "Columns of a tile of the result.", {}},
    ConfigKey{"bk", 1, maxSide, "Terms that are added to a tile at a time.", {}},
    warps,
    stages,
    splitK,
    order};
constexpr std::array elementwiseKeys{
    ConfigKey{"bm", 1, maxSide, "Rows of a tile (along the last but one dimension, after merging dimensions).", {}},
    ConfigKey{"bn", 1, maxSide, "Columns of a tile (along the last dimension).", {}}, warps};
constexpr std::array transposeKeys{ConfigKey{"bm", 1, 4096, "Rows of a block of the result.", {}},
                                   ConfigKey{"bn", 1, 4096, "Columns of a block of the result.", {}}, warps};
constexpr std::array reduceKeys{
    ConfigKey{"bm", 1, maxSide, "Rows of a tile: results, or elements of each where the last dimension is kept.",
              oneRow},
    ConfigKey{"bn", 1, maxSide, "Elements of the last dimension that are combined side by side.", {}},
    ConfigKey{"chunk", 1024, int64_t{1} << 40, "Elements of a part where a long row is reduced in two phases.", {}},
    warps};
constexpr std::array rowKeys{
    ConfigKey{"bm", 1, maxSide, "Rows of a tile: of x, or elements of each column where the axis is not the last.",
              oneRow},
    ConfigKey{"bn", 1, maxSide, "Elements of the last dimension that are taken at a time.", {}}, warps};
constexpr std::array attentionKeys{ConfigKey{"bm", 1, 4096, "Queries of a tile.", {}},
                                   ConfigKey{"bn", 1, 4096, "Keys that are taken at a time.", {}},
                                   ConfigKey{"split_k",
                                             1,
                                             64,
                                             "Program instances that share the keys of a tile of few queries; 1: each "
                                             "takes all.",
                                             {}},
                                   warps};

const ConfigKey *findKey(Family family, std::string_view name) {
  for (const ConfigKey &key : configKeys(family))
    if (key.name == name)
      return &key;
  return nullptr;
}

std::string knownKeys(Family family, bool isCpu) {
  std::string text = "known keys:";
  for (const ConfigKey &key : configKeys(family))
    if (!isCpu || key.notOnCpu.empty())
      (text += ' ') += key.name;
  return text;
}

} // namespace

std::span<const ConfigKey> configKeys(Family family) {
  switch (family) {
  case Family::Matmul:
    return matmulKeys;
  case Family::Elementwise:
  case Family::Cast:
    return elementwiseKeys;
  case Family::Transpose:
    return transposeKeys;
  case Family::Reduce:
    return reduceKeys;
  case Family::Softmax:
  case Family::LogSoftmax:
  case Family::LayerNorm:
  case Family::RmsNorm:
    return rowKeys;
  case Family::Attention:
  case Family::AttentionDecode:
    return attentionKeys;
  }
  return {};
}

Status checkConfig(Family family, bool isCpu, const std::map<std::string, int64_t> &config) {
  for (const auto &[name, value] : config) {
    const ConfigKey *key = findKey(family, name);
    if (!key)
      return Status(StatusCode::InvalidArgument,
                    "expected a config key of " + std::string(familyName(family)) + ", found '" + shorten(name) + "'")
          .withHint(knownKeys(family, isCpu));
    if (isCpu && !key->notOnCpu.empty())
      return Status(StatusCode::InvalidArgument,
                    "config key '" + name + "' does not apply to CPU targets: " + std::string(key->notOnCpu))
          .withHint(knownKeys(family, isCpu));
    if (value < key->min || value > key->max)
      return Status(StatusCode::InvalidArgument, "expected config key '" + name + "' from " + std::to_string(key->min) +
                                                     " to " + std::to_string(key->max) + ", found " +
                                                     std::to_string(value));
  }
  return Status::ok();
}

} // namespace tilejit
