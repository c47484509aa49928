// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The choices. What the user gave is checked in GpuFit.cpp.

#include "GpuSchedule.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <bit>

namespace tilejit::oplib {

namespace {
/// Blocks that keep a chip busy: about one for each multiprocessor of a large one.
constexpr int64_t enoughInstances = 128;
/// Threads of a block where nothing asks for more.
constexpr int64_t usualThreads = 128;
constexpr int64_t maxWarps = 8;
/// Rows of tiles that share what the second-level cache holds of the columns.
constexpr int64_t groupedRows = 8;

/// Whether any operand or result has elements of 8 bytes.
bool hasWideElements(const Description &description) {
  auto isWide = [](const Operand &operand) { return storageBytes(operand.dtype) == 8; };
  return std::any_of(description.inputs.begin(), description.inputs.end(), isWide) ||
         std::any_of(description.outputs.begin(), description.outputs.end(), isWide);
}
} // namespace

int64_t raisedToPowerOfTwo(int64_t value) {
  constexpr int64_t highest = int64_t{1} << 62;
  if (value >= highest)
    return highest;
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, value))));
}

GpuSchedule::GpuSchedule(const Description &description, const TargetSpec &target, const abi::Config &config)
    : Schedule(description, target.kind == TargetKind::Nvidia ? "nvvm" : "rocdl", config), name_(target.name),
      facts_(target.gpuFacts), bytes_(hasWideElements(description) ? 8 : 4) {}

int64_t GpuSchedule::warpsFor(int64_t elements, int64_t perThread) const {
  auto wanted = static_cast<uint64_t>(std::max<int64_t>(1, elements / perThread / facts_.warpLanes));
  int64_t chosen = std::min<int64_t>(maxWarps, static_cast<int64_t>(std::bit_floor(wanted)));
  return get("warps", chosen);
}

int64_t GpuSchedule::covering(const Size &size, int64_t limit) const {
  return std::min(limit, raisedToPowerOfTwo(largest(size)));
}

int64_t GpuSchedule::instances(const Space &space, std::initializer_list<std::pair<int, int64_t>> tile) const {
  int64_t count = 1;
  for (int d = 0; d < space.rank(); ++d) {
    int64_t size = largest(space.dims[d].size);
    for (auto [dim, length] : tile)
      if (dim == d)
        size = llvm::divideCeilSigned(size, length);
    if (space.dims[d].tag != swept)
      count = saturatingProduct(count, size);
  }
  return count;
}

//===--- matmul -------------------------------------------------------------------------------------------------===//

/// The largest tile, its accumulator at most 64 registers of a thread, of which there are enough.
MatmulRegime GpuSchedule::product(const MatmulShape &shape, std::string name, int64_t maxRows) const {
  constexpr int64_t minSide = 16, minColumns = 32, maxSide = 128;
  const auto &attributes = description_.as<MatmulAttributes>();
  const Size &columns = shape.size(shape.columns), &depth = shape.size(shape.depth);
  int64_t scale = storageBytes(attributes.accumulate) / 4; // 2 for f64.
  int64_t rows = std::min(largest(shape.size(shape.rows)), maxRows), batch = 1;
  for (int d = 0; d < shape.batchRank(); ++d)
    batch = saturatingProduct(batch, largest(shape.size(d)));

  // An epilogue needs registers beside the accumulator's.
  int64_t widest = description_.epilogue.empty() ? maxSide : maxSide / 2;
  int64_t m = std::clamp(raisedToPowerOfTwo(rows), minSide, maxSide / scale);
  int64_t n = std::max(minSide, covering(columns, widest));
  auto count = [&] {
    return saturatingProduct(
        batch, saturatingProduct(llvm::divideCeilSigned(rows, m), llvm::divideCeilSigned(largest(columns), n)));
  };
  while (count() < enoughInstances && (m > minSide || n > minColumns))
    (m >= n || n <= minColumns ? m : n) /= 2;
  int64_t threads = std::clamp<int64_t>(m * n * scale / 32, std::min(usualThreads, m * n / 8), 2 * usualThreads);
  int64_t warps = std::max<int64_t>(1, threads / facts_.warpLanes);

  // Terms: a line of 128 bytes where they are what lies side by side, at most 32 loaded elements for a thread.
  int64_t bytes = storageBytes(description_.inputs[0].dtype);
  int64_t k = shape.columnsAreContiguous() && bytes >= 4 ? 32 : std::min<int64_t>(64, 128 / bytes);
  k = std::max(minSide, covering(depth, k));
  while (k > minSide && ((m + n) * k * scale / threads > 32 || (m + n) * k * bytes > facts_.maxBlockShared / 2))
    k /= 2;
  return {std::move(name), m, n, k, warps, std::nullopt, 1, splitOf(shape, count()), groupedRows};
}

/// Where there are few tiles of long sums, several instances share one, each with at least 256 terms.
int64_t GpuSchedule::splitOf(const MatmulShape &shape, int64_t instances) const {
  constexpr int64_t minTerms = 256, maxSplit = 16;
  int64_t terms = smallest(shape.size(shape.depth));
  if (!shape.canSplitDepth() || instances <= 0)
    return 1;
  int64_t wanted = std::min({enoughInstances / instances, terms / minTerms, maxSplit});
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, wanted))));
}

/// Whether two regimes differ in nothing but the numbers of rows that they are for.
static bool isSameCode(MatmulRegime a, const MatmulRegime &b) {
  a.name = b.name;
  a.maxRows = b.maxRows;
  return a == b;
}

std::vector<MatmulRegime> GpuSchedule::matmul(const MatmulShape &shape) const {
  const Size &rows = shape.size(shape.rows);
  MatmulRegime block = product(shape, "block", largest(rows));
  MatmulRegime main = block;
  main.bm = get("bm", block.bm);
  main.bn = get("bn", block.bn);
  main.bk = get("bk", block.bk);
  main.warps = get("warps", block.warps);
  main.stages = get("stages", block.stages);
  main.splitK = get("split_k", block.splitK);
  main.order = get("order", block.order);
  std::vector<MatmulRegime> regimes;
  for (auto [name, bound] : {std::pair("skinny", int64_t{16}), {"medium", int64_t{128}}}) {
    if (rows.isStatic() || smallest(rows) > bound || largest(rows) <= bound)
      continue;
    MatmulRegime regime = product(shape, name, bound);
    if (regime.bm >= main.bm)
      continue;
    regime.maxRows = bound;
    if (!regimes.empty() && isSameCode(regimes.back(), regime))
      regimes.back() = std::move(regime);
    else
      regimes.push_back(std::move(regime));
  }
  regimes.push_back(main);
  return regimes;
}

//===--- elementwise, cast, transpose ---------------------------------------------------------------------------===//

/// 8 elements of a thread, fewer where there are many operands.
Tiling GpuSchedule::elementwise(const Space &space) const {
  int64_t operands = static_cast<int64_t>(description_.inputs.size() + description_.outputs.size());
  int64_t perThread = bytes_ > 4 ? 4 : 8;
  while (perThread > 1 && perThread * (operands + 2) * bytes_ / 4 > 64)
    perThread /= 2;
  int64_t elements = perThread * usualThreads;

  // Along the last dimension as much as wastes no more than an eighth of the tiles; whole lines of memory at least.
  constexpr int64_t lineElements = 64;
  const Size &inner = space.dims.back().size;
  int64_t length = std::max<int64_t>(1, largest(inner)), columns = covering(inner, elements);
  bool hasRows = space.rank() > 1;
  if (hasRows && !inner.isStatic())
    columns = std::min<int64_t>(columns, 256);
  auto wastes = [&] { return (llvm::divideCeilSigned(length, columns) * columns - length) * 8 > length; };
  while (hasRows && inner.isStatic() && columns > lineElements && wastes())
    columns /= 2;
  columns = get("bn", columns);
  int64_t rows = 1;
  if (hasRows)
    rows = covering(space.dims[space.rank() - 2].size, std::max<int64_t>(1, elements / columns));
  TileSize tile{get("bm", rows), columns};
  return {tile, warpsFor(tile.elements(), perThread)};
}

/// Squares that read and write whole lines; where one side is short, the other is longer.
Tiling GpuSchedule::transpose(const TransposeShape &shape) const {
  if (shape.copiesRows)
    return elementwise(shape.space);
  constexpr int64_t longest = 512;
  int64_t side = storageBytes(description_.inputs[0].dtype) >= 4 ? 32 : 64, elements = side * side;
  const Size &outer = shape.space.dims[shape.outer].size, &inner = shape.space.dims[shape.inner].size;
  TileSize tile{covering(outer, side), covering(inner, side)};
  if (tile.rows < side)
    tile.columns = covering(inner, std::min(longest, elements / tile.rows));
  else if (tile.columns < side)
    tile.rows = covering(outer, std::min(longest, elements / tile.columns));
  tile = {get("bm", tile.rows), get("bn", tile.columns)};
  return {tile, warpsFor(tile.elements(), side / 4)};
}

//===--- attention ----------------------------------------------------------------------------------------------===//

/// The weighted values and a step of keys at most 64 registers of a thread each; twice the usual threads, which leaves
/// half of that, but where they are small.
AttentionRegime GpuSchedule::attentionRegime(const AttentionShape &shape, int64_t rows, bool isLast) const {
  constexpr int64_t minSide = 16, registers = 64;
  int64_t depth = std::max(minSide, covering(shape.size(AttentionShape::element), 256));
  int64_t m = std::max(minSide, covering({rows, -1}, 64 * 4 / bytes_));
  int64_t n = std::max(minSide, covering(shape.isPaged() ? Size{shape.page, -1} : shape.size(AttentionShape::key), 32));
  int64_t perThread = registers * 4 / bytes_;
  while (m > minSide && m * depth / usualThreads > perThread)
    m /= 2;
  while (n > minSide && n * depth / usualThreads > perThread)
    n /= 2;
  int64_t threads = m * depth / usualThreads > perThread / 4 ? 2 * usualThreads : usualThreads;
  return {isLast ? get("bm", m) : m, get("bn", n), depth, get("warps", threads / facts_.warpLanes)};
}

std::vector<AttentionRegime> GpuSchedule::attention(const AttentionShape &shape) const {
  return attentionRegimes(shape, {enoughInstances, 128});
}

//===--- sweeps -------------------------------------------------------------------------------------------------===//

SweepRegime GpuSchedule::regimeOf(TileSize tile) const {
  return {tile, warpsFor(tile.elements(), sweepPerThread()), std::nullopt};
}

/// Short rows share a block, as long as there are enough blocks.
int64_t GpuSchedule::rowsTogether(const Space &space, int64_t width) const {
  int across = sweepAcross(space);
  if (across < 0)
    return 1;
  int64_t elements = sweepPerThread() * usualThreads;
  int64_t rows = covering(space.dims[across].size, std::max<int64_t>(1, elements / width));
  while (rows > 1 && rows * width > usualThreads && instances(space, {{across, rows}}) < enoughInstances)
    rows /= 2;
  return get("bm", rows);
}

/// A row that registers hold is read once. Where its length varies, so does the tile.
std::vector<SweepRegime> GpuSchedule::sweepOfRows(const Space &space, SweepSizes sizes) const {
  const Size &length = space.dims.back().size;
  bool isOneStep = onlySwept(space) == space.rank() - 1;
  if (isGiven("bn") || !isOneStep) {
    int64_t width = get("bn", covering(length, sizes.step));
    return {regimeOf({rowsTogether(space, width), width})};
  }
  std::vector<SweepRegime> regimes;
  for (int64_t limit : {sizes.step / 2, sizes.whole}) {
    if (limit < smallest(length) || (length.isStatic() && limit < length.factor))
      continue;
    int64_t width = covering(length, limit);
    regimes.push_back(regimeOf({rowsTogether(space, width), width}));
    regimes.back().maxLength = width;
    if (largest(length) <= width)
      return regimes;
  }
  regimes.push_back(regimeOf({rowsTogether(space, sizes.step), sizes.step}));
  return regimes;
}

/// Whole lines along the last dimension, and as many rows as fill the registers.
SweepRegime GpuSchedule::sweepOfColumns(const Space &space, SweepSizes sizes) const {
  const Size &last = space.dims.back().size;
  int64_t line = std::clamp<int64_t>(128 / storageBytes(description_.inputs[0].dtype), 32, 64);
  int64_t columns = covering(last, line), rows = 1, across = sweepAcross(space);
  if (across >= 0) {
    const Size &length = space.dims[across].size;
    bool isWhole = onlySwept(space) == across && raisedToPowerOfTwo(largest(length)) * columns <= sizes.whole;
    rows = covering(length, std::max<int64_t>(1, (isWhole ? sizes.whole : sizes.step) / columns));
  }
  rows = get("bm", rows);
  int64_t wanted = sweepPerThread() * usualThreads;
  if (rows * columns < wanted)
    columns = covering(last, std::max<int64_t>(1, wanted / rows));
  SweepRegime regime = regimeOf({across >= 0 ? rows : 1, get("bn", columns)});
  if (across >= 0 && onlySwept(space) == across && largest(space.dims[across].size) <= rows)
    regime.maxLength = rows;
  return regime;
}

std::vector<SweepRegime> GpuSchedule::sweep(const Space &space, SweepSizes sizes) const {
  return sweepsRows(space) ? sweepOfRows(space, sizes) : std::vector{sweepOfColumns(space, sizes)};
}

std::vector<SweepRegime> GpuSchedule::rows(const Space &space) const {
  int64_t scale = bytes_ / 4;
  int64_t block = maxWarps * facts_.warpLanes;
  return sweep(space, {block * 32 / scale, block * 8 / scale});
}

/// Indices take as many registers as values.
std::vector<SweepRegime> GpuSchedule::reduce(const Space &space) const {
  ReduceKind kind = description_.as<ReduceAttributes>().kind;
  int64_t scale = (bytes_ / 4) * (isArg(kind) ? 2 : 1);
  int64_t step = maxWarps * facts_.warpLanes * 8 / scale;
  return sweep(space, {step, step});
}

int64_t GpuSchedule::maxSplitResults(const Space &space, TileSize tile) const {
  // Results of one instance.
  int64_t together = sweepsRows(space) ? tile.rows : tile.columns;
  return enoughInstances * together;
}

std::unique_ptr<Schedule> createGpuSchedule(const Description &description, const TargetSpec &target,
                                            const abi::Config &config) {
  return std::make_unique<GpuSchedule>(description, target, config);
}

} // namespace tilejit::oplib
