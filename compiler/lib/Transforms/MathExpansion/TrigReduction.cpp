// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Two ways. Moderate arguments: pi/2 in three parts whose multiples are subtracted exactly (Cody and Waite). Where a
// vector holds a larger one, a branch that is hardly ever taken does those lanes one by one: the product with 192 bits
// of 2/pi, chosen by the exponent, in integers (Payne and Hanek).

#include "TrigReduction.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <array>
#include <cmath>

using namespace mlir;

namespace tilejit::math {

namespace {

/// 64 zero bits, then 1216 bits of 2/pi, most significant first: enough for every exponent of a double.
constexpr std::array<uint64_t, 20> twoOverPi = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};
constexpr const char *tableName = "tilejit_two_over_pi";

/// Largest magnitudes that the first way serves.
constexpr double moderate32 = 32768.0, moderate64 = 0x1p20;

/// The first way.
QuarterTurn reduceModerate(Num x) {
  bool wide = x.isDouble();
  Num magic = x.like(wide ? 0x1.8p52 : 0x1.8p23);
  Num shifted = fma(x, 0x1.45f306dc9c883p-1, magic);
  Num quadrant = bitsOf(shifted), turns = shifted - magic;
  if (!wide) {
    Num rest = fma(turns, -0x1.921fb6p+0, x);
    rest = fma(turns, 0x1.777a5cp-25, rest);
    return {quadrant, {fma(turns, 0x1.ee59dap-50, rest), Num()}};
  }
  // The first two parts have 33 bits, so that their products with 20 bits of turns are exact.
  Num rest = x - turns * 0x1.921fb544p+0;
  Pair sum = exactSum(rest, -(turns * 0x1.0b4611a6p-34));
  Num low = sum.lo - turns * 0x1.3198a2e037073p-69;
  return {quadrant, exactSumOrdered(sum.hi, low)};
}

/// The table in the module around the builder's place.
Value tableAddress(const Emit &emit) {
  OpBuilder &builder = emit.builder;
  auto module = builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto table = module.lookupSymbol<LLVM::GlobalOp>(tableName);
  if (!table) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto vectorType = RankedTensorType::get({static_cast<int64_t>(twoOverPi.size())}, builder.getI64Type());
    auto values = DenseElementsAttr::get(vectorType, ArrayRef<uint64_t>(twoOverPi.data(), twoOverPi.size()));
    auto arrayType = LLVM::LLVMArrayType::get(builder.getI64Type(), twoOverPi.size());
    table = LLVM::GlobalOp::create(builder, module.getLoc(), arrayType, /*isConstant=*/true, LLVM::Linkage::Internal,
                                   tableName, values);
  }
  return LLVM::AddressOfOp::create(builder, emit.loc, LLVM::LLVMPointerType::get(builder.getContext()), tableName);
}

/// 64 bits of the table from a bit position on.
Num tableBits(const Emit &emit, Value table, Num position, int64_t plus) {
  Num word = shiftRightLogical(position, 6), shift = position & 63;
  auto load = [&](int64_t index) {
    Type type = emit.builder.getI64Type();
    Num at = addInt(word, index);
    Value address =
        LLVM::GEPOp::create(emit.builder, emit.loc, table.getType(), type, table, ArrayRef<LLVM::GEPArg>{at.value()});
    return Num(emit, LLVM::LoadOp::create(emit.builder, emit.loc, type, address));
  };
  Num first = load(plus), second = load(plus + 1);
  Num high = Num(emit, arith::ShLIOp::create(emit.builder, emit.loc, first.value(), shift.value()));
  // Two shifts, because one by 64 has no result.
  Num low = shiftRightLogical(shiftRightLogical(second, 1), (shift ^ 63));
  return high | low;
}

struct Wide {
  Num low, high;
};
Wide multiplyWide(Num a, Num b) {
  auto product = arith::MulUIExtendedOp::create(a.emit().builder, a.emit().loc, a.value(), b.value());
  return {Num(a.emit(), product.getLow()), Num(a.emit(), product.getHigh())};
}
/// 1 where a sum of unsigned numbers wrapped.
Num carry(Num sum, Num addend) {
  Num wrapped = compareInt(arith::CmpIPredicate::ult, sum, addend);
  return extendInt(wrapped, 64, /*isSigned=*/false);
}
Num unsignedToDouble(Num small) { return toFloat(small); }

/// The second way, for one positive finite double of at least 2^12.
QuarterTurn reduceLarge(Num magnitude) {
  const Emit &emit = magnitude.emit();
  Num bits = bitsOf(magnitude);
  Num exponent = addInt(shiftRightLogical(bits, 52), -1075);
  Num significand = (bits & 0xfffffffffffff) | int64_t{1} << 52;
  // Bits of 2/pi that give multiples of four quadrants are skipped: the window begins with the bit of weight 2.
  Num position = addInt(exponent, 64 - 2);
  Value table = tableAddress(emit);
  Num w0 = tableBits(emit, table, position, 0), w1 = tableBits(emit, table, position, 1),
      w2 = tableBits(emit, table, position, 2);
  Wide p2 = multiplyWide(significand, w2), p1 = multiplyWide(significand, w1);
  Num middle = p2.high + p1.low;
  Num top = p1.high + significand * w0 + carry(middle, p1.low);
  // Two bits of quadrant, then the fraction: as a signed number of 128 bits in units of 2^-128 quarter turns.
  Num high = (top << 2) | shiftRightLogical(middle, 62);
  Num low = (middle << 2) | shiftRightLogical(p2.low, 62);
  Num quadrant = shiftRightLogical(top, 62) + shiftRightLogical(high, 63);
  Num a = toFloat(shiftRight(high, 32)) * 0x1p-32;
  Num b = unsignedToDouble(high & 0xffffffff) * 0x1p-64;
  Num c = unsignedToDouble(shiftRightLogical(low, 32)) * 0x1p-96;
  Num d = unsignedToDouble(low & 0xffffffff) * 0x1p-128;
  Pair first = exactSum(a, b), second = exactSum(first.hi, c);
  Pair fraction = exactSum(second.hi, first.lo + second.lo + d);
  Pair product = exactProduct(fraction.hi, fraction.hi.like(0x1.921fb54442d18p+0));
  Num rest = fma(fraction.hi, 0x1.1a62633145c07p-54, fma(fraction.lo, 0x1.921fb54442d18p+0, product.lo));
  return {quadrant, exactSumOrdered(product.hi, rest)};
}

/// The first way for half turns, all parts of pi with one sign so that that of a zero stays.
HalfTurn reduceModerateToHalf(Num x, bool ofCosine) {
  constexpr double invPi = 0x1.45f306dc9c883p-2;
  Num magic = x.like(0x1.8p23), shifted = ofCosine ? fma(x, invPi, x.like(-0.5)) + magic : fma(x, invPi, magic);
  Num turns = shifted - magic, half = ofCosine ? turns + 0.5 : turns;
  return {bitsOf(shifted), fma(half, -0x1.4442d0p-23, fma(half, -0x1.921fb4p+1, x))};
}

/// The results of both ways as values that a branch or a loop carries.
using Values = SmallVector<Value>;
using Lanewise = function_ref<Values(Num)>;
Values valuesOf(const QuarterTurn &turn) {
  Values values = {turn.quadrant.value(), turn.rest.hi.value()};
  if (turn.rest.hi.isDouble())
    values.push_back(turn.rest.lo.value());
  return values;
}

/// A scalar by the second way, in its width.
QuarterTurn reduceLane(Num x) {
  bool wide = x.isDouble();
  Num exact = wide ? x : widen(x);
  QuarterTurn turn = reduceLarge(abs(exact));
  Num negative = exact < 0.0;
  turn.quadrant = select(negative, -turn.quadrant, turn.quadrant);
  turn.rest = {select(negative, -turn.rest.hi, turn.rest.hi), select(negative, -turn.rest.lo, turn.rest.lo)};
  if (!wide) {
    turn.quadrant = truncateInt(turn.quadrant, 32);
    turn.rest = {narrow(turn.rest.hi), Num()};
  }
  return turn;
}

/// The same in half turns: an odd quadrant goes to the nearer side.
HalfTurn reduceLaneToHalf(Num x, bool ofCosine) {
  QuarterTurn turn = reduceLane(x);
  Num quadrant = ofCosine ? addInt(turn.quadrant, -1) : turn.quadrant, rest = turn.rest.hi;
  constexpr double quarter = 0x1.921fb6p+0;
  Num isOdd = isNotZeroInt(quadrant & 1), isAbove = rest > 0.0;
  Num whole = select(isOdd & isAbove, addInt(quadrant, 1), quadrant);
  return {shiftRight(whole, 1), select(isOdd, rest - copySign(rest.like(quarter), rest), rest)};
}

/// Replaces the large lanes of a vector's result, one by one.
Values replaceLargeLanes(const Emit &emit, Value x, Value large, ValueRange results, Lanewise reduce) {
  OpBuilder &builder = emit.builder;
  Location loc = emit.loc;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0), one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = arith::ConstantIndexOp::create(builder, loc, emit.lanes);
  auto loop = scf::ForOp::create(builder, loc, zero, count, one, results);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value index = loop.getInductionVar();
  Value isLargeLane = vector::ExtractOp::create(builder, loc, large, index);
  auto branch = scf::IfOp::create(builder, loc, results.getTypes(), isLargeLane, /*withElse=*/true);
  scf::YieldOp::create(builder, loc, branch.getResults());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, loop.getRegionIterArgs());
  builder.setInsertionPointToStart(branch.thenBlock());
  Emit scalar{builder, loc, 0, emit.options};
  Value lane = vector::ExtractOp::create(builder, loc, x, index);
  Values replaced;
  for (auto [value, vector] : llvm::zip_equal(reduce(Num(scalar, lane)), loop.getRegionIterArgs()))
    replaced.push_back(vector::InsertOp::create(builder, loc, value, vector, OpFoldResult(index)));
  scf::YieldOp::create(builder, loc, replaced);
  return Values(loop.getResults());
}

/// What the first way gave, with the second in its place where an argument is large.
Values withLarge(Num x, const Values &moderate, Lanewise reduce) {
  const Emit &emit = x.emit();
  OpBuilder &builder = emit.builder;
  Location loc = emit.loc;
  // Of a vector infinities may take the branch, which leaves them as they are: one comparison less where it is not
  // taken.
  Num magnitude = abs(x), beyond = magnitude > (x.isDouble() ? moderate64 : moderate32);
  auto isLarge = [&] { return beyond & (magnitude < std::numeric_limits<double>::infinity()); };
  Value any = emit.lanes ? vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, beyond.value())
                         : isLarge().value();
  auto branch = scf::IfOp::create(builder, loc, ValueRange(moderate).getTypes(), any, /*withElse=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, moderate);
    builder.setInsertionPointToStart(branch.thenBlock());
    Values replaced = emit.lanes ? replaceLargeLanes(emit, x.value(), isLarge().value(), moderate, reduce) : reduce(x);
    scf::YieldOp::create(builder, loc, replaced);
  }
  return Values(branch.getResults());
}

} // namespace

QuarterTurn reduceToQuarterTurn(Num x) {
  const Emit &emit = x.emit();
  Values values = withLarge(x, valuesOf(reduceModerate(x)), [](Num lane) { return valuesOf(reduceLane(lane)); });
  Num low = x.isDouble() ? Num(emit, values[2]) : Num();
  return {Num(emit, values[0]), {Num(emit, values[1]), low}};
}

HalfTurn reduceToHalfTurn(Num x, bool ofCosine) {
  auto valuesOfHalf = [](const HalfTurn &turn) { return Values{turn.turns.value(), turn.rest.value()}; };
  Values values = withLarge(x, valuesOfHalf(reduceModerateToHalf(x, ofCosine)),
                            [&](Num lane) { return valuesOfHalf(reduceLaneToHalf(lane, ofCosine)); });
  return {Num(x.emit(), values[0]), Num(x.emit(), values[1])};
}

} // namespace tilejit::math
