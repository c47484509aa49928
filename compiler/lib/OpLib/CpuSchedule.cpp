// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tile sizes for CPUs. A tile is a block for L1 or L2; register tiles are the back end's.

#include "Schedule.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tilejit::oplib {

namespace {
class CpuSchedule final : public Schedule {
public:
  CpuSchedule(const Description &description, const CpuFacts &facts, const abi::Config &config)
      : Schedule(description, cpuBackEnd, config), facts_(facts) {}

  Status check() const override { return isAttention(description_.family) ? checkAttentionSplit() : Status::ok(); }
  std::vector<MatmulRegime> matmul(const MatmulShape &shape) const override;
  std::optional<PackedForm> packedForm(const MatmulShape &shape) const override;
  Tiling elementwise(const Space &space) const override;
  Tiling transpose(const TransposeShape &shape) const override;
  std::vector<SweepRegime> reduce(const Space &space) const override;
  std::vector<SweepRegime> rows(const Space &space) const override;
  std::vector<AttentionRegime> attention(const AttentionShape &shape) const override {
    return attentionRegimes(shape, {32, 256});
  }
  int64_t reduceChunk() const override { return get("chunk", int64_t{1} << 16); }
  int64_t maxSplitResults(const Space &space, TileSize tile) const override;
  bool parksExponentials() const override { return true; }

private:
  /// Vector registers that hold tiles four vectors wide.
  static constexpr int manyRegisters = 32;
  /// Up to so many rows the right operand is met by few register tiles.
  static constexpr int64_t skinnyRows = 64;

  AttentionRegime attentionRegime(const AttentionShape &shape, int64_t rows, bool isLast) const override;
  bool multipliesGroups() const;
  int64_t leastRowsToPackFor(const MatmulShape &shape) const;
  MatmulRegime blockRegime(const MatmulShape &shape, bool isPacked) const;
  void cutBlocks(const MatmulShape &shape, int64_t deepest, MatmulRegime &regime) const;
  std::vector<MatmulRegime> plainRegimes(const MatmulShape &shape) const;
  bool parksInResult(const Space &space) const;
  std::vector<SweepRegime> steps(const Space &space, DType compute, int registers) const;

  const CpuFacts &facts_;
};
} // namespace

using llvm::divideCeilSigned;

static int64_t roundUp(int64_t value, int64_t unit) { return divideCeilSigned(value, unit) * unit; }

/// A tile size that cuts `size` into so many pieces of about the same length, a multiple of `unit`.
static int64_t pieceOf(int64_t size, int64_t pieces, int64_t unit) {
  return roundUp(divideCeilSigned(size, pieces), unit);
}

/// A tile size near `target` that cuts `size` into pieces of about the same length, a multiple of `unit`.
static int64_t balanced(int64_t size, int64_t target, int64_t unit) {
  return size <= 0 ? unit : pieceOf(size, divideCeilSigned(size, target), unit);
}

/// A tile size from half of `target` to a third more than it (or all of a smaller size) that cuts `size` into equal
/// pieces, an even number of them or one where that is asked for; 0: there is none.
static int64_t evenPiece(int64_t size, int64_t target, bool wantsEven) {
  int64_t best = 0, least = std::max<int64_t>(1, std::min(size, divideCeilSigned(target, 2)));
  for (int64_t piece = std::min(size, 4 * target / 3); piece >= least; --piece) {
    int64_t pieces = size / piece;
    if (size % piece || (wantsEven && pieces % 2 && pieces > 1))
      continue;
    if (best == 0 || std::abs(piece - target) <= std::abs(best - target))
      best = piece;
  }
  return best;
}

/// Of these tile sizes the first that leaves hardly more of its last tile empty than the best.
static int64_t leastEmpty(int64_t size, std::initializer_list<int64_t> tiles) {
  int64_t least = roundUp(
      size, *llvm::min_element(tiles, [&](int64_t a, int64_t b) { return roundUp(size, a) < roundUp(size, b); }));
  return *llvm::find_if(tiles, [&](int64_t tile) { return roundUp(size, tile) * 15 <= least * 16; });
}

//===--- matmul -------------------------------------------------------------------------------------------------===//

/// Operands of bytes and of bf16 stay what they are where there are products of groups.
bool CpuSchedule::multipliesGroups() const {
  DType accumulate = description_.as<MatmulAttributes>().accumulate, element = description_.inputs[0].dtype;
  if (element == DType::BF16)
    return accumulate == DType::F32 && facts_.prefersBf16Dot();
  return accumulate == DType::I32 && storageBytes(element) == 1 && facts_.hasInt8Dot && facts_.arch == CpuArch::X86_64;
}

/// Rows from which on it pays to pack a right operand as a whole before the product begins: more of them where blocks
/// read it as it lies.
int64_t CpuSchedule::leastRowsToPackFor(const MatmulShape &shape) const {
  const auto &attributes = description_.as<MatmulAttributes>();
  bool isPlain = shape.operand(shape.right).dtype == attributes.accumulate && attributes.precision == Precision::Ieee;
  bool readsInPlace =
      isPlain && shape.columnsAreContiguous() && facts_.vectorRegisters >= manyRegisters && facts_.vectorBits >= 256;
  return readsInPlace ? 768 : 512;
}

/// Blocks whose accumulator, left and right operand share L2 with room to spare. They are as high as wide where both
/// operands are packed again for each; where the right one is packed already, low and wide ones save the left one's.
MatmulRegime CpuSchedule::blockRegime(const MatmulShape &shape, bool isPacked) const {
  int64_t bytes = storageBytes(description_.as<MatmulAttributes>().accumulate);
  int64_t lanes = std::max<int64_t>(1, facts_.vectorBits / 8 / bytes);
  // Packing weighs more beside products of groups.
  bool areGroups = multipliesGroups();
  int64_t packed = areGroups ? storageBytes(description_.inputs[0].dtype) : bytes;
  int64_t m = areGroups ? 352 : 192, n = 512 * 4 / bytes, k = areGroups ? 512 : 256, deepest = k * 3 / 2;
  if (isPacked) {
    m = 96, n = 1024 * 4 / bytes, k = std::min<int64_t>(2048 / packed, 1024);
    deepest = k;
  }
  // The right operand is there a panel at a time.
  auto footprint = [&] { return bytes * m * n + packed * k * (m + 4 * lanes); };
  while (footprint() > facts_.l2Bytes * 3 / 4 && n > 4 * lanes)
    (2 * n > k ? n : k) /= 2;
  MatmulRegime regime{isPacked ? "packed" : "block", m, n, k, 0, std::nullopt};
  cutBlocks(shape, std::min(deepest, k * 3 / 2), regime);
  return {regime.name, get("bm", regime.bm), get("bn", regime.bn), get("bk", regime.bk), 0, std::nullopt};
}

/// Blocks of about the size that a regime has, but such that they cut known sizes into equal pieces where there are
/// some, since tiles without a rest are read where they lie; and that their number is even, since three would keep two
/// threads busy for as long as four. A depth up to `deepest` stays whole.
void CpuSchedule::cutBlocks(const MatmulShape &shape, int64_t deepest, MatmulRegime &regime) const {
  const Size &rows = shape.size(shape.rows), &columns = shape.size(shape.columns), &depth = shape.size(shape.depth);
  int64_t bytes = storageBytes(description_.as<MatmulAttributes>().accumulate), m = regime.bm, k = regime.bk;
  int64_t lanes = std::max<int64_t>(1, facts_.vectorBits / 8 / bytes), panel = 4 * lanes;
  int64_t maxRows = largest(rows), width = std::max<int64_t>(1, largest(columns));
  regime.bm = std::max<int64_t>(1, std::min(m, maxRows));
  regime.bn =
      columns.isStatic() ? balanced(columns.factor, regime.bn, lanes) : std::min(regime.bn, roundUp(width, lanes));
  if (rows.isStatic() && maxRows > 32) {
    int64_t pieces = divideCeilSigned(maxRows, m);
    bool wantsEven = divideCeilSigned(width, regime.bn) % 2 != 0, isOdd = pieces > 1 && pieces % 2 != 0 && wantsEven;
    regime.bm = pieceOf(maxRows, isOdd ? pieces + 1 : pieces, 8);
    if (int64_t even = evenPiece(maxRows, m, wantsEven))
      regime.bm = even;
    // What would be a single block is two, if that is worth the time to meet.
    constexpr int64_t leastWork = 1 << 20;
    bool isSingle = regime.bm >= maxRows && columns.isStatic() && regime.bn >= width && shape.batchRank() == 0;
    if (isSingle && width > panel &&
        maxRows * width >= divideCeilSigned(leastWork, std::max<int64_t>(1, smallest(depth))))
      regime.bn = roundUp(divideCeilSigned(width, 2), panel);
  }
  if (!depth.isStatic())
    return;
  regime.bk = depth.factor <= deepest ? std::max<int64_t>(1, depth.factor) : balanced(depth.factor, k, 8);
  int64_t even = evenPiece(depth.factor, k, false);
  if (even > 0 && regime.bk != depth.factor && !multipliesGroups())
    regime.bk = even;
}

std::vector<MatmulRegime> CpuSchedule::plainRegimes(const MatmulShape &shape) const {
  const Size &rows = shape.size(shape.rows), &columns = shape.size(shape.columns), &depth = shape.size(shape.depth);
  bool columnsAreContiguous = shape.columnsAreContiguous();
  constexpr int64_t skinnyDepth = 32, rowColumns = 1024, rowDepth = 4096;
  int64_t minRows = smallest(rows), maxRows = largest(rows);
  int64_t lanes = std::max(1, facts_.vectorBits / 32);
  auto bounded = [&](const Size &size, int64_t limit) { return std::max<int64_t>(1, std::min(limit, largest(size))); };
  // Long pieces of the right operand's rows are what memory gives fastest. A quarter each leaves work for threads.
  int64_t mostColumns = bounded(columns, 16 * rowColumns);
  int64_t longPiece = std::min(std::max(rowColumns, divideCeilSigned(mostColumns, 4)), mostColumns);
  int64_t rowPiece = columnsAreContiguous ? longPiece : bounded(columns, 64);
  MatmulRegime row{"row", 1, roundUp(rowPiece, multipliesGroups() ? 4 * lanes : lanes), bounded(depth, rowDepth), 0, 1};
  MatmulRegime block = blockRegime(shape, false), skinny = block;
  skinny.name = "skinny";
  skinny.bm = std::min(skinnyRows, std::max<int64_t>(1, maxRows));
  // The right operand is read in place: few rows of it, since those a power of two apart share few places in the
  // caches; more of them where many rows of the left operand bring the accumulator in and out.
  if (columnsAreContiguous) {
    // Whole panels: the back end's are three or two vectors wide for a few rows, four for more.
    constexpr int64_t fewRows = 12;
    int64_t unit = (maxRows > fewRows ? 4 : 3) * lanes, deep = maxRows > skinnyRows / 2 ? 2 * skinnyDepth : skinnyDepth;
    // Smaller elements leave room for more rows, and are packed by whole registers.
    if (multipliesGroups()) {
      unit = 4 * lanes;
      deep = skinnyDepth * 4 / storageBytes(description_.inputs[0].dtype);
    }
    skinny.bn = roundUp(longPiece, unit);
    // Rows of the accumulator that lie pages apart would meet in the first-level cache.
    constexpr int64_t page = 4096;
    if (skinny.bn * 4 % page == 0 && skinny.bn < mostColumns)
      skinny.bn += unit;
    int64_t pieces = divideCeilSigned(mostColumns, skinny.bn);
    if (columns.isStatic() && pieces > 1 && pieces % 2 != 0)
      skinny.bn = pieceOf(mostColumns, pieces + 1, unit);
    skinny.bk = std::min(skinny.bk, depth.isStatic() ? balanced(depth.factor, deep, 8) : deep);
  }
  if (maxRows <= 1)
    return {{row.name, get("bm", 1), get("bn", row.bn), get("bk", row.bk), 0, std::nullopt}};
  std::vector<MatmulRegime> regimes;
  if (!rows.isStatic() && minRows <= 1)
    regimes.push_back(row);
  if (!rows.isStatic() && minRows <= skinnyRows && maxRows > skinnyRows)
    regimes.push_back({skinny.name, skinny.bm, skinny.bn, skinny.bk, 0, skinnyRows});
  if (maxRows <= skinnyRows)
    block = {skinny.name, get("bm", skinny.bm), get("bn", skinny.bn), get("bk", skinny.bk), 0, std::nullopt};
  regimes.push_back(block);
  return regimes;
}

/// Those of operands that lie anyhow, but of whole panels. Where a panel meets one register tile only it is streamed
/// from memory, as deep as it is; where it meets several it stays in the second-level cache.
std::vector<MatmulRegime> CpuSchedule::matmul(const MatmulShape &shape) const {
  std::vector<MatmulRegime> regimes = plainRegimes(shape);
  std::optional<PackedForm> form = packedForm(shape);
  if (!form)
    return regimes;
  constexpr int64_t deepest = 8192;
  const Operand &right = shape.operand(shape.right);
  int64_t bytes = storageBytes(right.dtype), depth = shape.size(shape.depth).factor;
  const Size &rows = shape.size(shape.rows);
  if (largest(rows) > skinnyRows) {
    if (int64_t leastRows = leastRowsToPackFor(shape); !right.constant && smallest(rows) < leastRows)
      regimes.back().maxRows = leastRows - 1;
    else
      regimes.pop_back();
    regimes.push_back(blockRegime(shape, /*isPacked=*/true));
  }
  for (MatmulRegime &regime : regimes) {
    bool isMain = &regime == &regimes.back();
    if (!isMain && !right.constant)
      continue;
    regime.isPacked = true;
    if (regime.bm <= skinnyRows && !(isMain && isGiven("bk"))) {
      int64_t resident = facts_.l2Bytes / 8 / bytes / form->columns;
      regime.bk = balanced(depth, regime.bm <= 4 ? deepest : resident, form->depthUnit());
    }
    regime.bn = roundUp(regime.bn, form->columns);
    regime.bk = roundUp(regime.bk, form->depthUnit());
  }
  return regimes;
}

/// Of an operand without symbolic dimensions.
static int64_t bytesOf(const Operand &operand) {
  int64_t bytes = storageBytes(operand.dtype);
  for (const Dim &dim : operand.shape)
    bytes *= dim.size;
  return bytes;
}

std::optional<PackedForm> CpuSchedule::packedForm(const MatmulShape &shape) const {
  const auto &attributes = description_.as<MatmulAttributes>();
  const Operand &right = shape.operand(shape.right);
  bool isKnown = llvm::none_of(right.shape, [](const Dim &dim) { return dim.isSymbolic(); });
  bool areGroups = multipliesGroups() && !(isUnsigned(description_.inputs[0].dtype) && isUnsigned(right.dtype));
  bool isPlain = right.dtype == attributes.accumulate && attributes.precision == Precision::Ieee;
  int64_t columns = shape.size(shape.columns).factor, depth = shape.size(shape.depth).factor;
  if (!isKnown || columns == 0 || depth == 0 || !(areGroups || (isPlain && isFloat(right.dtype))))
    return std::nullopt;
  // Blocks down the rows pack for themselves where they are few, or where a copy would take much memory. Few of the
  // sizes that rows may have are not worth code of their own.
  constexpr int64_t mostBytes = int64_t{64} << 20;
  const Size &rows = shape.size(shape.rows);
  int64_t leastRows = (rows.isStatic() ? 1 : 2) * leastRowsToPackFor(shape);
  if (!right.constant && (largest(rows) < leastRows || bytesOf(right) > mostBytes))
    return std::nullopt;
  int64_t lanes = facts_.vectorBits / 8 / storageBytes(attributes.accumulate);
  if (lanes < 4)
    return std::nullopt;
  int64_t vectors = facts_.vectorRegisters < manyRegisters ? 2 : 4;
  // Narrower panels where the last one would be emptier otherwise.
  if (facts_.vectorRegisters >= manyRegisters)
    vectors = leastEmpty(columns, {4 * lanes, 3 * lanes, 2 * lanes}) / lanes;
  PackedForm form{vectors * lanes, areGroups ? 4 / storageBytes(right.dtype) : 1};
  bool fits = get("bn", form.columns) % form.columns == 0 && get("bk", form.depthUnit()) % form.depthUnit() == 0;
  return fits ? std::optional(form) : std::nullopt;
}

//===--- other families -----------------------------------------------------------------------------------------===//

Tiling CpuSchedule::elementwise(const Space &space) const {
  constexpr int64_t elements = 4096;
  const Size &inner = space.dims.back().size;
  int64_t longest = std::max<int64_t>(1, largest(inner));
  int64_t columns = longest <= elements ? longest : 1024;
  if (inner.isStatic() || space.rank() == 1)
    columns = longest <= elements ? longest : balanced(inner.isStatic() ? inner.factor : elements, elements, 64);
  columns = get("bn", columns);
  int64_t rows = std::max<int64_t>(1, elements / columns);
  if (space.rank() == 1)
    rows = 1;
  else
    rows = std::max<int64_t>(1, std::min(rows, largest(space.dims[space.rank() - 2].size)));
  return {{get("bm", rows), columns}};
}

Tiling CpuSchedule::transpose(const TransposeShape &shape) const {
  if (shape.copiesRows)
    return elementwise(shape.space);
  // Rows of y are written in pieces of whole cache lines; few of them, since rows of x lie far apart.
  int bytes = storageBytes(description_.inputs[0].dtype);
  auto bounded = [&](int64_t size, int dim) {
    return std::max<int64_t>(1, std::min(size, largest(shape.space.dims[dim].size)));
  };
  return {{bounded(get("bm", bytes >= 4 ? 64 : 128), shape.outer), bounded(get("bn", bytes >= 4   ? 32
                                                                                     : bytes == 2 ? 64
                                                                                                  : 128),
                                                                           shape.inner)}};
}

/// Steps of so many registers along the last dimension.
std::vector<SweepRegime> CpuSchedule::steps(const Space &space, DType compute, int registers) const {
  int64_t lanes = std::max(1, facts_.vectorBits / std::max(8, bitWidth(compute)));
  int64_t longest = std::max<int64_t>(1, largest(space.dims.back().size));
  return {SweepRegime{{1, get("bn", std::min(registers * lanes, longest))}}};
}

/// Whether the exponentials of a long softmax had better wait in its result than in scratch memory: what it writes
/// meets the computation then, while results from scratch memory are written when all else is done. But where they
/// don't stay in the last cache, or share lines with other rows, it is the writing that takes longer.
bool CpuSchedule::parksInResult(const Space &space) const {
  constexpr int64_t leastRow = 8192, line = 64;
  const Operand &result = description_.outputs[0];
  int64_t bytes = storageBytes(result.dtype), row = space.dims.back().size.factor;
  int64_t rows = facts_.l3Bytes / 2 / (2 * bytes) / std::max<int64_t>(1, row);
  for (const SpaceDim &dim : llvm::drop_end(space.dims))
    rows = dim.size.isStatic() ? rows / std::max<int64_t>(1, dim.size.factor) : 0;
  return description_.family == Family::Softmax && result.dtype == DType::F32 && row > leastRow &&
         row * bytes % line == 0 && rows > 0;
}

/// A row that leaves most of L2 to others is taken as a whole: it is read once from where it lies, and what the sweeps
/// share is kept in scratch memory. (The bound on its elements keeps the error of its sum small.)
std::vector<SweepRegime> CpuSchedule::rows(const Space &space) const {
  constexpr int64_t longest = 32768;
  DType compute = description_.inputs[0].dtype == DType::F64 ? DType::F64 : DType::F32;
  int64_t limit = std::min<int64_t>(longest, facts_.l2Bytes / 4 / storageBytes(compute));
  const Size &last = space.dims.back().size;
  bool isOneRow = onlySwept(space) == space.rank() - 1;
  if (isOneRow && last.isStatic() && last.factor <= limit && !parksInResult(space))
    return {SweepRegime{{1, get("bn", std::max<int64_t>(1, last.factor))}}};
  return steps(space, compute, 8);
}

/// Blocks whose scores and queries share L1. Where keys and values have to be converted, more rows share what that
/// costs, unless many of them would not see the last keys of their block, or may not be there. Where they come from a
/// cache as they are, a few rows do as well, which leave less empty where their number varies, and see nearly the same
/// keys. A page is too short a stream for the CPU to see where the next one lies.
AttentionRegime CpuSchedule::attentionRegime(const AttentionShape &shape, int64_t rows, bool isLast) const {
  constexpr int64_t leastTurned = 16, narrow = 512;
  const auto &attributes = description_.as<AttentionAttributes>();
  bool converts = storageBytes(description_.inputs[1].dtype) < 4;
  bool hasPairs = description_.inputs[1].dtype == DType::BF16 && facts_.prefersBf16Dot();
  bool isCausal = attributes.causal;
  // At both ends of a window there are blocks that are partly outside.
  bool isNarrow = attributes.window && *attributes.window <= narrow && rows >= leastTurned && (hasPairs || !converts);
  int64_t mostKeys = isNarrow && !shape.isPaged() ? 32 : 64;
  bool isStatic = shape.size(AttentionShape::query).isStatic();
  bool isMany = converts && !hasPairs && !isCausal && isStatic && rows > 512;
  const Size &keys = shape.size(AttentionShape::key), &depth = shape.size(AttentionShape::element);
  // Of keys and values that many cores may read at once.
  int64_t nearKeys = 2 * facts_.l2Bytes / storageBytes(description_.inputs[1].dtype) / depth.factor;
  bool isNear = !converts && !shape.isPaged() && largest(keys) <= nearKeys;
  bool isFew = isNear && (isCausal || !isStatic);
  int64_t m = leastEmpty(rows, {64, 48, 32});
  if (rows <= leastTurned || isFew)
    m = std::clamp<int64_t>(rows, 1, leastTurned);
  else if (isMany)
    m = 128;
  else if (isNarrow && hasPairs)
    m = leastEmpty(rows, {32, 16});
  int64_t n = keys.isStatic() ? balanced(keys.factor, mostKeys, 4) : std::clamp<int64_t>(largest(keys), 1, mostKeys);
  if (shape.isPaged())
    n = balanced(shape.page, mostKeys, 1);
  AttentionRegime regime{isLast ? get("bm", m) : m, get("bn", n), shape.size(AttentionShape::element).factor};
  regime.looksAhead = shape.isPaged();
  regime.isTurned = regime.bm >= leastTurned;
  regime.keepsType = hasPairs && regime.isTurned && regime.bn % 2 == 0 && regime.depth % 2 == 0;
  return regime;
}

/// Indices take as many registers as values, so argmax and argmin get by with half the lanes.
std::vector<SweepRegime> CpuSchedule::reduce(const Space &space) const {
  const auto &attributes = description_.as<ReduceAttributes>();
  DType compute = reduceComputeType(attributes.kind, description_.inputs[0].dtype, description_.outputs[0].dtype);
  return steps(space, compute, isArg(attributes.kind) ? 4 : 8);
}

/// A few rows, each swept along its last dimension only, leave cores without work.
int64_t CpuSchedule::maxSplitResults(const Space &space, TileSize) const {
  bool isRow = sweepsRows(space) && space.rank() <= 2;
  bool isFew = space.rank() == 1 || (space.dims[0].tag == kept && space.dims[0].size.isStatic());
  return isRow && isFew ? 64 : 0;
}

std::unique_ptr<Schedule> createCpuSchedule(const Description &description, const CpuFacts &facts,
                                            const abi::Config &config) {
  return std::make_unique<CpuSchedule>(description, facts, config);
}

} // namespace tilejit::oplib
