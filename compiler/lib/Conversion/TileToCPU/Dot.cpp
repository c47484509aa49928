// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile.dot: where the accumulator lies, what is multiplied with what, and the choice of the form of the product.

#include "Dot.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

//===-- operands
//-----------------------------------------------------------------------------------------------------===//

std::optional<Clipped> tilejit::cpu::clipped(KernelLowering &l, Value tile) {
  auto select = l.stored(tile) ? arith::SelectOp() : tile.getDefiningOp<arith::SelectOp>();
  if (!select || !isZero(select.getFalseValue()))
    return {};
  auto broadcast = select.getCondition().getDefiningOp<tile::BroadcastOp>();
  auto expand = broadcast ? broadcast.getSource().getDefiningOp<tile::ExpandOp>() : tile::ExpandOp();
  auto compare = expand ? expand.getSource().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  auto splat = compare ? compare.getRhs().getDefiningOp<tile::SplatOp>() : tile::SplatOp();
  if (!splat || cast<RankedTensorType>(tile.getType()).getRank() != 2 ||
      compare.getPredicate() != arith::CmpIPredicate::slt || !compare.getLhs().getDefiningOp<tile::IotaOp>())
    return {};
  return Clipped{select.getTrueValue(), static_cast<unsigned>(1 - expand.getAxis()), splat.getValue(), compare};
}

/// How many rows or columns are kept.
static Index keptOf(KernelLowering &l, const Clipped &clip) {
  Value kept = l.scalar(clip.kept);
  if (kept.getType() != l.e.i64())
    kept = arith::ExtSIOp::create(l.b, l.e.loc, l.e.i64(), kept);
  return Emitter::known(kept);
}

/// How many elements along a dimension can differ from zero, as far as the bounds of a zero-padded load tell.
static Index extentOf(KernelLowering &l, Value tile, unsigned dim) {
  Index size = cast<RankedTensorType>(tile.getType()).getShape()[dim];
  while (!l.stored(tile)) {
    Operation *op = tile.getDefiningOp();
    if (!op)
      break;
    if (std::optional<Clipped> clip = clipped(l, tile)) {
      if (clip->dim == dim)
        size = l.e.max(l.e.min(size, keptOf(l, *clip)), 0);
      tile = clip->tile;
      continue;
    }
    if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
      dim = transpose.getPermutation()[dim];
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (load.getPad() == tile::Pad::Zero)
        return l.e.min(size, l.e.max(l.loadAccess(op).extents[dim], 0));
      break;
    } else if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, tile::FpToFpOp>(op)) {
      break;
    }
    tile = op->getOperand(0);
  }
  return size;
}

tile::LoadOp tilejit::cpu::plainLoad(KernelLowering &l, Value tile) {
  if (Value source = l.transposeSource(tile))
    tile = source;
  return l.stored(tile) ? tile::LoadOp() : tile.getDefiningOp<tile::LoadOp>();
}

static Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

static bool areBytes(tile::DotOp op) {
  return elementOf(op.getA()).isInteger(8) && elementOf(op.getB()).isInteger(8) &&
         elementOf(op.getResult()).isInteger(32);
}

bool tilejit::cpu::multipliesByQuads(KernelLowering &l, tile::DotOp op) {
  return l.model.quads && l.lanes >= 4 && areBytes(op) && !(op.getUnsignedA() && op.getUnsignedB());
}

static Grouping groupingOfQuads(tile::DotOp op) {
  if (op.getUnsignedA())
    return Grouping::QuadsUnsignedA;
  return op.getUnsignedB() ? Grouping::QuadsUnsignedB : Grouping::QuadsRaised;
}

static Grouping chooseGrouping(KernelLowering &l, tile::DotOp op) {
  bool areBf16 = elementOf(op.getA()).isBF16() && elementOf(op.getB()).isBF16() && elementOf(op.getResult()).isF32();
  int64_t rows = cast<RankedTensorType>(op.getType()).getShape()[0];
  // Lanes of a transposition are read several times as many at once, which only views take.
  bool isReadable = !l.transposeSource(op.getB()) || plainLoad(l, op.getB());
  if (l.lanes < 4 || !isReadable)
    return Grouping::None;
  if (l.model.pairs && areBf16 && rows > skinnyRows)
    return Grouping::Pairs;
  if (rows == 1 || takesSkinnyQuads(l, op))
    return Grouping::None;
  if (multipliesByQuads(l, op))
    return groupingOfQuads(op);
  return l.model.words && areBytes(op) && rows > skinnyRows ? Grouping::Words : Grouping::None;
}

std::optional<PackedPanels> tilejit::cpu::packedPanels(KernelLowering &l, tile::DotOp op) {
  auto reshape = op.getB().getDefiningOp<tile::ReshapeOp>();
  auto transpose = reshape ? reshape.getSource().getDefiningOp<tile::TransposeOp>() : tile::TransposeOp();
  auto load = transpose ? transpose.getSource().getDefiningOp<tile::LoadOp>() : tile::LoadOp();
  if (!load || l.stored(load.getResult()))
    return std::nullopt;
  ArrayRef<int64_t> sizes = load.getType().getShape();
  bool hasTerms = sizes.size() == 4;
  SmallVector<int64_t> order = hasTerms ? SmallVector<int64_t>{1, 3, 0, 2} : SmallVector<int64_t>{1, 0, 2};
  if (transpose.getPermutation() != ArrayRef(order))
    return std::nullopt;
  PackedPanels panels{load, sizes[2], hasTerms ? sizes[3] : 1};
  if (reshape.getType().getShape() != ArrayRef<int64_t>{sizes[1] * panels.terms, sizes[0] * panels.columns})
    return std::nullopt;
  ArrayRef<Index> strides = l.loadAccess(load).strides;
  bool isDense = strides.back().is(1) && strides[2].is(panels.terms) && strides[1].is(panels.columns * panels.terms);
  int64_t across = panels.columns / l.lanes;
  bool fits = l.lanes >= 4 && panels.columns % l.lanes == 0 && 2 * across + 1 <= l.model.vectorRegisters;
  Type element = elementOf(op.getB()), sum = elementOf(op.getResult());
  bool isPlain = panels.terms == 1 && element == sum && isa<FloatType>(sum) &&
                 op.getPrecision() == tile::Precision::Ieee && elementOf(op.getA()) == sum;
  bool arePairs =
      panels.terms == 2 && l.model.pairs && element.isBF16() && elementOf(op.getA()).isBF16() && sum.isF32();
  bool areQuads = panels.terms == 4 && multipliesByQuads(l, op);
  return isDense && fits && (isPlain || arePairs || areQuads) ? std::optional(panels) : std::nullopt;
}

Product::Product(KernelLowering &l, tile::DotOp op) : l(l), op(op) {
  auto a = cast<RankedTensorType>(op.getA().getType()), b = cast<RankedTensorType>(op.getB().getType());
  m = a.getShape()[0];
  k = a.getShape()[1];
  n = b.getShape()[1];
  compute = cast<RankedTensorType>(op.getType()).getElementType();
  rows = extentOf(l, op.getA(), 0);
  columns = extentOf(l, op.getB(), 1);
  packed = packedPanels(l, op);
  Index depthOfB = extentOf(l, op.getB(), 0);
  if (packed) {
    const Access &access = l.loadAccess(packed->load);
    columns = l.e.mul(l.e.max(access.extents[0], 0), packed->columns);
    depthOfB = l.e.mul(l.e.max(access.extents[1], 0), packed->terms);
    grouping = packed->terms == 1 ? Grouping::None : packed->terms == 2 ? Grouping::Pairs : groupingOfQuads(op);
  } else {
    grouping = chooseGrouping(l, op);
  }
  // Matrix registers hold 16 columns of lanes.
  byAmx = isGrouped() && l.lanes == 16 && n > 1 && (grouping == Grouping::Pairs ? l.model.amxPairs : l.model.amxQuads);
  if (byAmx && grouping != Grouping::Pairs)
    grouping = Grouping::QuadsOfAnySigns;
  // A product with the padding of one operand only may still be NaN.
  depth = l.e.max(extentOf(l, op.getA(), 1), depthOfB);
}

Value Product::convert(Value value, bool isUnsigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == compute)
    return value;
  Type type = compute;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = l.e.vector(compute, vector.getNumElements());
  if (isa<FloatType>(compute))
    return arith::ExtFOp::create(l.b, l.e.loc, type, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(l.b, l.e.loc, type, value);
  return arith::ExtSIOp::create(l.b, l.e.loc, type, value);
}

Value tilejit::cpu::addGroups(KernelLowering &l, StringRef instruction, Type element, Value a, Value b, Value sum) {
  auto type = cast<VectorType>(sum.getType());
  int64_t bits = 32 * type.getNumElements();
  VectorType groups = l.e.vector(element, bits / element.getIntOrFloatBitWidth());
  auto asGroups = [&](Value value) { return LLVM::BitcastOp::create(l.b, l.e.loc, groups, value).getResult(); };
  std::string name = ("llvm.x86." + instruction + "." + Twine(bits)).str();
  return LLVM::CallIntrinsicOp::create(l.b, l.e.loc, type, l.b.getStringAttr(name),
                                       ValueRange{sum, asGroups(a), asGroups(b)})
      .getResult(0);
}

Value tilejit::cpu::addQuads(KernelLowering &l, Value isUnsigned, Value isSigned, Value sum) {
  return addGroups(l, "avx512.vpdpbusd", l.b.getI8Type(), isUnsigned, isSigned, sum);
}

Value tilejit::cpu::addWords(KernelLowering &l, Value a, Value b, Value sum) {
  auto type = cast<VectorType>(sum.getType());
  VectorType words = l.e.vector(l.b.getI16Type(), 2 * type.getNumElements());
  auto asWords = [&](Value value) { return LLVM::BitcastOp::create(l.b, l.e.loc, words, value).getResult(); };
  StringRef name = type.getNumElements() == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                   : type.getNumElements() == 8 ? "llvm.x86.avx2.pmadd.wd"
                                                : "llvm.x86.sse2.pmadd.wd";
  Value both =
      LLVM::CallIntrinsicOp::create(l.b, l.e.loc, type, l.b.getStringAttr(name), ValueRange{asWords(a), asWords(b)})
          .getResult(0);
  return arith::AddIOp::create(l.b, l.e.loc, sum, both);
}

Value tilejit::cpu::toWords(KernelLowering &l, Value bytes, bool isUnsigned) {
  VectorType words = l.e.vector(l.b.getI16Type(), cast<VectorType>(bytes.getType()).getNumElements());
  return isUnsigned ? Value(arith::ExtUIOp::create(l.b, l.e.loc, words, bytes))
                    : Value(arith::ExtSIOp::create(l.b, l.e.loc, words, bytes));
}

Value Product::multiplyAdd(Value a, Value b, Value sum) {
  if (grouping == Grouping::Pairs)
    return addPairs(l, a, b, sum, keepsSubnormals);
  if (grouping == Grouping::Words)
    return addWords(l, a, b, sum);
  if (isGrouped())
    return grouping == Grouping::QuadsUnsignedB ? addQuads(l, b, a, sum) : addQuads(l, a, b, sum);
  if (!isa<FloatType>(compute))
    return arith::AddIOp::create(l.b, l.e.loc, arith::MulIOp::create(l.b, l.e.loc, a, b), sum);
  if (l.model.fma)
    return math::FmaOp::create(l.b, l.e.loc, a, b, sum);
  return arith::AddFOp::create(l.b, l.e.loc, arith::MulFOp::create(l.b, l.e.loc, a, b), sum);
}

void Product::step(Value rowOfB, llvm::function_ref<Value(int64_t)> elementOfA, MutableArrayRef<Value> sums,
                   int64_t across) {
  SmallVector<Value> vectors;
  for (int64_t v = 0; v < across; ++v)
    vectors.push_back(l.e.load(vectorType(), l.e.address(rowOfB, v * l.lanes, compute)));
  for (int64_t r = 0; r * across < static_cast<int64_t>(sums.size()); ++r) {
    Value factor = l.e.splat(l.e.load(compute, elementOfA(r)), l.lanes);
    for (int64_t v = 0; v < across; ++v)
      sums[r * across + v] = multiplyAdd(factor, vectors[v], sums[r * across + v]);
  }
}

Value Product::zero(Type type) {
  return isa<FloatType>(compute) ? l.e.floatConstant(type, 0.0) : l.e.intConstant(type, 0);
}

//===-- the register tile
//--------------------------------------------------------------------------------------------===//

double tilejit::cpu::cyclesOfStep(const CpuModel &model, int64_t tall, int64_t wide) {
  constexpr double latency = 4;
  auto high = static_cast<double>(tall), across = static_cast<double>(wide);
  return std::max({high * across / static_cast<double>(model.fmaPorts),
                   (high + across) / static_cast<double>(model.loadPorts), latency});
}

/// The same for all rows of a panel, which comes from the second-level cache: that takes three cycles a vector.
static double cyclesOfPanel(const CpuModel &model, int64_t m, int64_t tall, int64_t wide) {
  auto cycles = [&](int64_t rows) {
    return rows == 0 ? 0 : std::max(cyclesOfStep(model, rows, wide), 3 * static_cast<double>(wide));
  };
  return static_cast<double>(m / tall) * cycles(tall) + cycles(m % tall);
}

RegisterTile tilejit::cpu::chooseRegisterTile(const CpuModel &model, int64_t lanes, int64_t m, int64_t mostVectors,
                                              int64_t n, int64_t together) {
  int64_t vectors = llvm::divideCeil(n, lanes), unit = vectors < together ? 1 : together;
  RegisterTile best{1, lanes};
  double bestCost = 0;
  // Panels that were packed may be wider than that where vectors of the widest type of the kernel have fewer lanes.
  for (int64_t wide = unit; wide <= std::max(std::min<int64_t>(4, mostVectors), unit); wide += unit) {
    for (int64_t tall = 1; tall <= 14 && tall * wide + wide + 1 <= model.vectorRegisters; ++tall) {
      double cost = static_cast<double>(vectors / wide) * cyclesOfPanel(model, m, tall, wide) +
                    static_cast<double>(vectors % wide) * cyclesOfPanel(model, m, 8, 1);
      // Among equals the one with fewer loads for each multiply-add, those of the panel above all.
      cost *= 1 + 0.02 * static_cast<double>(tall + wide) / static_cast<double>(tall * wide) +
              0.2 / static_cast<double>(tall);
      if (bestCost == 0 || cost < bestCost) {
        bestCost = cost;
        best = {tall, wide * lanes};
      }
    }
  }
  return best;
}

//===-- tile.dot
//-------------------------------------------------------------------------------------------------------===//

bool tilejit::cpu::isZero(Value tile) { return matchPattern(tile, m_PosZeroFloat()) || matchPattern(tile, m_Zero()); }

static LogicalResult lowerDot(KernelLowering &l, Operation *operation) {
  auto op = cast<tile::DotOp>(operation);
  Value sum = op.getAcc();
  auto type = cast<RankedTensorType>(op.getType());
  if (!type.getElementType().isF32() && !type.getElementType().isF64() && !type.getElementType().isInteger(32))
    return l.refuse(op, "expected an accumulator of f32, f64 or i32");
  if (readsInPlace(l, op))
    return lowerProductInPlace(l, op);
  Stored place;
  Stored *old = l.stored(sum);
  Product product(l, op);
  bool inPlace = old && sum.hasOneUse() && sum.getParentBlock() == op->getBlock() && l.hasUsualLayout(*old, type);
  if (inPlace) {
    place = *old;
  } else {
    FailureOr<Buffer> buffer = l.allocate(type, op);
    product.startsAtZero = !old && product.coversAll() && isZero(sum);
    if (failed(buffer) || (!product.startsAtZero && failed(l.assign(*buffer, sum))))
      return failure();
    place.buffer = *buffer;
  }
  int64_t mark = l.scratchMark();
  product.result = place.buffer.pointer;
  product.resultStride = place.buffer.strides[0];
  LogicalResult done = product.isSkinny() ? lowerSkinnyProduct(product) : lowerBlockedProduct(product);
  l.scratchRelease(mark);
  l.setStored(op.getResult(), place);
  return done;
}

void tilejit::cpu::registerDot(OpTables &tables) { tables.eager[tile::DotOp::getOperationName()] = lowerDot; }
