// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products of groups by AMX: matrix registers of up to 16 rows of 64 bytes. One of A holds a row of it in each row, one
// of B a step of the depth (the groups of 16 columns), and an instruction adds their product to one of the accumulator,
// which lies in memory as its tile does. Two by two of these are kept at a time. The sizes of all matrix registers are
// set at once, by a configuration in memory, and setting them clears the registers; so a panel is gone through once
// with registers of whole chunks of the depth, and once more with shorter ones where steps are left. (Intel, Software
// Developer's Manual, volume 1, chapter 18; the instructions in volume 2.)

#include "Dot.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::cpu;

namespace {

constexpr int64_t registerRows = 16, registerColumns = 16; ///< Of lanes of 32 bits.
constexpr int64_t chunk = registerColumns;                 ///< Steps of the depth that one register of A holds.
constexpr int64_t blockRows = 2 * registerRows, blockColumns = 2 * registerColumns;
constexpr int64_t configurationBytes = 64;

/// Numbers of the matrix registers.
int64_t sumAt(int64_t high, int64_t across) { return 2 * high + across; }
int64_t leftAt(int64_t high) { return 4 + high; }
int64_t rightAt(int64_t across) { return 6 + across; }

class AmxProduct {
public:
  AmxProduct(Product &p, const AmxPanel &panel) : p(p), l(p.l), panel(panel) {}

  /// Rows [from, to), in blocks of `rows` rows.
  LogicalResult rows(Index from, Index to, int64_t rows, int64_t form);

private:
  LogicalResult block(Index row, int64_t rows, Index pass);
  LogicalResult columns(Index row, int64_t rows, int64_t column, Index pass);

  /// Address of lanes of 32 bits.
  Value at(Value base, Index lanes) { return l.e.address(base, lanes, l.b.getI32Type()); }
  Value number(int64_t matrix) { return l.e.intConstant(l.b.getI8Type(), matrix); }
  Value strideOf(Index lanes) { return l.e.value(l.e.mul(lanes, 4)); }
  void emit(StringRef name, ValueRange operands) {
    LLVM::CallIntrinsicOp::create(l.b, l.e.loc, l.b.getStringAttr("llvm.x86." + name), operands);
  }
  StringRef instruction() const;

  Product &p;
  KernelLowering &l;
  const AmxPanel &panel;
};

} // namespace

StringRef AmxProduct::instruction() const {
  if (p.grouping == Grouping::Pairs)
    return "tdpbf16ps";
  if (p.op.getUnsignedA())
    return p.op.getUnsignedB() ? "tdpbuud" : "tdpbusd";
  return p.op.getUnsignedB() ? "tdpbsud" : "tdpbssd";
}

/// The sums of one or two registers of rows and of columns.
LogicalResult AmxProduct::columns(Index row, int64_t rows, int64_t column, Index pass) {
  int64_t high = llvm::divideCeil(rows, registerRows);
  int64_t across = std::min(panel.columns - column, blockColumns) / registerColumns;
  Value result = l.e.address(p.result, l.e.add(l.e.mul(row, p.resultStride), l.e.add(panel.column, column)), p.compute);
  auto eachSum = [&](StringRef name, bool isMoved) {
    for (int64_t i = 0; i < high; ++i)
      for (int64_t j = 0; j < across; ++j) {
        SmallVector<Value> operands{number(sumAt(i, j))};
        if (isMoved)
          operands.append(
              {at(result, i * registerRows * p.resultStride + j * registerColumns), strideOf(p.resultStride)});
        emit(name, operands);
      }
    return success();
  };
  auto clear = [&] { return eachSum("tilezero", /*isMoved=*/false); };
  auto load = [&] { return eachSum("tileloadd64", /*isMoved=*/true); };
  if (!p.startsAtZero)
    (void)load();
  else if (failed(l.branch(l.e.less(pass, 1), clear, load)))
    return failure();
  Index whole = l.e.divide(panel.steps, chunk);
  SmallVector<Value> nothing;
  auto multiply = [&](Index number_, auto &) {
    Index step = l.e.mul(number_, chunk);
    Value a = at(panel.a, l.e.add(l.e.mul(row, panel.rowStride), step));
    Value b = at(panel.b, l.e.add(l.e.mul(step, panel.stride), column));
    for (int64_t j = 0; j < across; ++j)
      emit("tileloadd64", {number(rightAt(j)), at(b, j * registerColumns), strideOf(panel.stride)});
    for (int64_t i = 0; i < high; ++i) {
      emit("tileloadd64", {number(leftAt(i)), at(a, i * registerRows * panel.rowStride), strideOf(panel.rowStride)});
      for (int64_t j = 0; j < across; ++j)
        emit(instruction(), {number(sumAt(i, j)), number(leftAt(i)), number(rightAt(j))});
    }
    return success();
  };
  if (failed(l.loop(l.e.mul(pass, whole), l.e.add(whole, pass), 1, nothing, multiply)))
    return failure();
  return eachSum("tilestored64", /*isMoved=*/true);
}

LogicalResult AmxProduct::block(Index row, int64_t rows, Index pass) {
  for (int64_t column = 0; column < panel.columns; column += blockColumns)
    if (failed(columns(row, rows, column, pass)))
      return failure();
  return success();
}

LogicalResult AmxProduct::rows(Index from, Index to, int64_t rows, int64_t form) {
  SmallVector<Value> nothing;
  Index passes = l.e.add(l.e.min(l.e.remainder(panel.steps, chunk), 1), 1);
  return l.loop(0, passes, 1, nothing, [&](Index pass, auto &) {
    Index offset = l.e.mul(l.e.add(pass, 2 * form), configurationBytes);
    emit("ldtilecfg", l.e.address(panel.configurations, offset, l.b.getI8Type()));
    return l.loop(from, to, rows, nothing, [&](Index row, auto &) { return block(row, rows, pass); });
  });
}

//===-- configurations
//-------------------------------------------------------------------------------------------===//

/// One of registers for blocks of so many rows and whole chunks: palette 1; bytes of a row of each register from byte
/// 16 on, two bytes each; its rows from byte 48 on.
static Value configuration(KernelLowering &l, int64_t rows) {
  std::array<int8_t, configurationBytes> bytes{1};
  auto set = [&](int64_t matrix, int64_t rowsOfIt) {
    bytes[16 + 2 * matrix] = 4 * registerColumns;
    bytes[48 + matrix] = static_cast<int8_t>(rowsOfIt);
  };
  for (int64_t i = 0; i * registerRows < rows; ++i) {
    int64_t own = std::min(rows - i * registerRows, registerRows);
    set(leftAt(i), own);
    for (int64_t j : {0, 1})
      set(sumAt(i, j), own);
  }
  for (int64_t j : {0, 1})
    set(rightAt(j), chunk);
  auto type = l.e.vector(l.b.getI8Type(), configurationBytes);
  return l.e.constant(DenseElementsAttr::get(type, ArrayRef(bytes)));
}

/// Makes the registers of a configuration in memory, for blocks of so many rows, those of so many steps.
static void shorten(KernelLowering &l, Value configuration, int64_t rows, Index steps) {
  auto store = [&](int64_t byte, Index number, Type type) {
    Value narrow = arith::TruncIOp::create(l.b, l.e.loc, type, l.e.value(number));
    l.e.store(narrow, l.e.address(configuration, byte, l.b.getI8Type()));
  };
  for (int64_t i = 0; i * registerRows < rows; ++i)
    store(16 + 2 * leftAt(i), l.e.mul(steps, 4), l.b.getI16Type());
  for (int64_t j : {0, 1})
    store(48 + rightAt(j), steps, l.b.getI8Type());
}

FailureOr<Value> tilejit::cpu::prepareAmx(Product &p, Index steps) {
  KernelLowering &l = p.l;
  FailureOr<Value> memory = l.allocateBytes(4 * configurationBytes, p.op);
  if (failed(memory))
    return failure();
  int64_t form = 0;
  for (int64_t rows : {blockRows, p.m % blockRows}) {
    for (int64_t pass = 0; pass < 2 && rows > 0; ++pass) {
      Value own = l.e.address(*memory, (2 * form + pass) * configurationBytes, l.b.getI8Type());
      l.e.store(configuration(l, rows), own);
      if (pass == 1)
        shorten(l, own, rows, l.e.remainder(steps, chunk));
    }
    ++form;
  }
  return *memory;
}

LogicalResult tilejit::cpu::multiplyByAmx(Product &p, const AmxPanel &panel) {
  AmxProduct product(p, panel);
  int64_t rest = p.m % blockRows, whole = p.m - rest;
  if (failed(product.rows(0, p.l.e.min(p.rows, whole), blockRows, /*form=*/0)))
    return failure();
  if (rest == 0)
    return success();
  return p.l.branch(p.l.e.less(whole, p.rows), [&] { return product.rows(whole, p.m, rest, /*form=*/1); }, nullptr);
}

Index tilejit::cpu::rowsOfAmx(Product &p) { return p.l.e.min(p.l.e.roundUp(p.rows, blockRows), p.m); }

void tilejit::cpu::finishAmx(Product &p) {
  LLVM::CallIntrinsicOp::create(p.l.b, p.l.e.loc, p.l.b.getStringAttr("llvm.x86.tilerelease"), ValueRange());
}
