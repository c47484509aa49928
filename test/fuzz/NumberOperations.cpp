// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operations on each element: arithmetic, comparison, conversion. Integers wrap; what is undefined (division by zero,
// shifts by too much) is masked away first.

#include "ProgramBuilder.h"

#include <array>
#include <cmath>

namespace tilejit::fuzz {

namespace {
using Words = std::vector<std::string>;

std::string binary(const std::string &name, const Tile &x, const Tile &y) {
  return name + " " + x.name + ", " + y.name + " : " + ProgramBuilder::text(x);
}

std::string cast(const std::string &name, const Tile &x, const Element &to) {
  return name + " " + x.name + " : " + ProgramBuilder::text(x) + " to " + ProgramBuilder::text(x.shape, to.name);
}

const Tile *anInteger(ProgramBuilder &b) {
  return b.find([](const Tile &tile) { return !tile.isFloat() && tile.type->computes(); });
}

const Tile *aNumber(ProgramBuilder &b) {
  return b.find([](const Tile &tile) { return tile.isFloat() && tile.type->computes() && tile.bound < unknown; });
}

bool integerArithmetic(ProgramBuilder &b) {
  static const Words names{"addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"};
  const Tile *found = anInteger(b);
  if (!found)
    return false;
  Tile x = *found, y = b.like(x);
  b.add(binary("arith." + b.choose(names), x, y), x.shape, *x.type);
  return true;
}

/// By numbers from 1 to 7.
bool integerDivision(ProgramBuilder &b) {
  static const Words names{"divui", "divsi", "remui", "remsi", "ceildivui", "ceildivsi", "floordivsi"};
  const Tile *found = anInteger(b);
  if (!found)
    return false;
  Tile x = *found, y = b.like(x);
  Tile low = b.add(binary("arith.andi", y, b.constant(x.shape, *x.type, 7)), x.shape, *x.type);
  Tile divisor = b.add(binary("arith.ori", low, b.constant(x.shape, *x.type, 1)), x.shape, *x.type);
  b.add(binary("arith." + b.choose(names), x, divisor), x.shape, *x.type);
  return true;
}

bool shift(ProgramBuilder &b) {
  static const Words names{"shli", "shrsi", "shrui"};
  const Tile *found = anInteger(b);
  if (!found)
    return false;
  Tile x = *found, y = b.like(x);
  Tile amount = b.add(binary("arith.andi", y, b.constant(x.shape, *x.type, x.type->bits - 1)), x.shape, *x.type);
  b.add(binary("arith." + b.choose(names), x, amount), x.shape, *x.type);
  return true;
}

bool bitsOfIntegers(ProgramBuilder &b) {
  static const Words names{"ctpop", "ctlz", "cttz", "absi"};
  const Tile *found = anInteger(b);
  if (!found)
    return false;
  Tile x = *found;
  b.add("math." + b.choose(names) + " " + x.name + " : " + b.text(x), x.shape, *x.type);
  return true;
}

bool addOrSubtract(ProgramBuilder &b) {
  const Tile *found = aNumber(b);
  if (!found)
    return false;
  Tile x = *found, y = b.like(x);
  double bound = x.bound + y.bound;
  int quantum = std::max(x.quantum, y.quantum);
  if (!Tile::fits(*x.type, bound, quantum))
    return false;
  b.add(binary(b.oneIn(2) ? "arith.addf" : "arith.subf", x, y), x.shape, *x.type, bound, quantum);
  return true;
}

/// A product, or one with a sum.
bool multiply(ProgramBuilder &b) {
  const Tile *found = aNumber(b);
  if (!found)
    return false;
  Tile x = *found, y = b.like(x), z = b.like(x);
  bool adds = b.oneIn(2);
  double bound = x.bound * y.bound + (adds ? z.bound : 0);
  int quantum = std::max(x.quantum + y.quantum, adds ? z.quantum : 0);
  if (!Tile::fits(*x.type, bound, quantum))
    return false;
  if (adds)
    b.add("math.fma " + x.name + ", " + y.name + ", " + z.name + " : " + b.text(x), x.shape, *x.type, bound, quantum);
  else
    b.add(binary("arith.mulf", x, y), x.shape, *x.type, bound, quantum);
  return true;
}

/// Divides by 4, so that there is something to round.
bool scaleDown(ProgramBuilder &b) {
  const Tile *found = aNumber(b);
  if (!found || !Tile::fits(*found->type, found->bound, found->quantum + 2))
    return false;
  Tile x = *found;
  std::string type = b.text(x), name = b.fresh();
  b.line(name + " = arith.constant dense<2.5e-01> : " + type);
  b.add("arith.mulf " + x.name + ", " + name + " : " + type, x.shape, *x.type, x.bound / 4, x.quantum + 2);
  return true;
}

bool roundToWhole(ProgramBuilder &b) {
  static const Words names{"floor", "ceil", "trunc", "roundeven", "round", "absf"};
  const Tile *found = aNumber(b);
  if (!found)
    return false;
  Tile x = *found;
  std::string name = b.choose(names);
  b.add("math." + name + " " + x.name + " : " + b.text(x), x.shape, *x.type, x.bound + 1,
        name == "absf" ? x.quantum : 0);
  return true;
}

/// Maximum, minimum, negation: of infinities and NaN, too.
bool extremes(ProgramBuilder &b) {
  static const Words names{"maximumf", "minimumf", "negf"};
  const Tile *found = b.find([](const Tile &tile) { return tile.isFloat() && tile.type->computes(); });
  if (!found)
    return false;
  Tile x = *found, y = b.like(x);
  std::string name = b.choose(names);
  if (name == "negf")
    b.add("arith.negf " + x.name + " : " + b.text(x), x.shape, *x.type, x.bound, x.quantum);
  else
    b.add(binary("arith." + name, x, y), x.shape, *x.type, std::max(x.bound, y.bound), std::max(x.quantum, y.quantum));
  return true;
}

bool compare(ProgramBuilder &b) {
  static const Words integers{"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
  static const Words floats{"oeq", "one", "olt", "ole", "ogt", "oge", "ord", "ueq", "une", "ult", "uge", "uno"};
  const Tile *found = b.find([](const Tile &tile) { return tile.type->computes(); });
  if (!found)
    return false;
  Tile x = *found, y = b.like(x);
  std::string name = x.isFloat() ? "arith.cmpf " + b.choose(floats) + "," : "arith.cmpi " + b.choose(integers) + ",";
  b.add(binary(name, x, y), x.shape, element("i1"));
  return true;
}

bool select(ProgramBuilder &b) {
  const Tile *condition = b.find([](const Tile &tile) { return tile.type->bits == 1; });
  if (!condition)
    return false;
  Tile c = *condition;
  const Tile *found = b.find([&](const Tile &tile) { return tile.shape == c.shape; });
  Tile x = found ? *found : b.constant(c.shape, element("i32"), b.below(9)), y = b.like(x);
  b.add("arith.select " + c.name + ", " + x.name + ", " + y.name + " : " + b.text(c) + ", " + b.text(x), x.shape,
        *x.type, std::max(x.bound, y.bound), std::max(x.quantum, y.quantum));
  return true;
}

bool integerWidth(ProgramBuilder &b) {
  static const Words names{"i8", "i16", "i32", "i64"};
  const Tile *found = b.find([](const Tile &tile) { return !tile.isFloat() && tile.type->bits != 4; });
  if (!found)
    return false;
  Tile x = *found;
  const Element &to = element(b.choose(names));
  if (to.bits == x.type->bits)
    return false;
  bool narrows = to.bits < x.type->bits;
  b.add(cast(narrows ? "arith.trunci" : b.oneIn(2) ? "arith.extsi" : "arith.extui", x, to), x.shape, to);
  return true;
}

bool integerToFloat(ProgramBuilder &b) {
  static const Words names{"f32", "f16", "bf16", "f64"};
  const Tile *found = anInteger(b);
  if (!found)
    return false;
  Tile x = *found;
  Tile low = b.add(binary("arith.andi", x, b.constant(x.shape, *x.type, 15)), x.shape, *x.type);
  const Element &to = element(b.choose(names));
  b.add(cast(b.oneIn(2) ? "arith.sitofp" : "arith.uitofp", low, to), x.shape, to, 15, 0);
  return true;
}

bool floatToInteger(ProgramBuilder &b) {
  static const Words names{"i8", "i16", "i32", "i64"};
  const Tile *found = b.find([](const Tile &tile) { return tile.isFloat() && tile.type->computes(); });
  if (!found)
    return false;
  Tile x = *found;
  const Element &to = element(b.choose(names));
  b.add("tile.fp_to_int " + x.name + (b.oneIn(2) ? " signed : " : " unsigned : ") + b.text(x) + " -> " +
            b.text(x.shape, to.name),
        x.shape, to);
  return true;
}

bool floatToFloat(ProgramBuilder &b) {
  const Tile *found = b.find([](const Tile &tile) { return tile.isFloat(); });
  const Element &to = b.anyElement();
  if (!found || !to.isFloat() || found->type == &to)
    return false;
  Tile x = *found;
  std::string how = b.oneIn(3) ? " rounding toward_zero" : "";
  if (b.oneIn(3))
    how += " saturate";
  double bound = Tile::fits(to, x.bound, x.quantum) ? x.bound : x.bound * 2;
  b.add("tile.fp_to_fp " + x.name + how + " : " + b.text(x) + " -> " + b.text(x.shape, to.name), x.shape, to,
        bound > to.highest || to.isScale() ? unknown : bound, x.quantum);
  return true;
}

/// Halves of products and sums of twice the width.
bool extendedArithmetic(ProgramBuilder &b) {
  static const Words names{"mulsi_extended", "mului_extended", "addui_extended"};
  const Tile *found = anInteger(b);
  if (!found)
    return false;
  Tile x = *found, y = b.like(x);
  std::string low = b.fresh(), high = b.fresh(), name = b.choose(names);
  bool isSum = name == "addui_extended";
  const Element &type = isSum ? element("i1") : *x.type;
  b.line(low + ", " + high + " = " + binary("arith." + name, x, y) + (isSum ? ", " + b.text(x.shape, "i1") : ""));
  b.pool_.push_back({low, x.shape, x.type, 0, 0});
  b.pool_.push_back({high, x.shape, &type, 0, 0});
  return true;
}

/// What gives one of its operands, or a remainder, which is exact.
bool choices(ProgramBuilder &b) {
  static const Words names{"arith.maxnumf", "arith.minnumf", "math.copysign", "arith.remf"};
  const Tile *found = aNumber(b);
  if (!found)
    return false;
  Tile x = *found, y = b.like(x);
  std::string name = b.choose(names);
  if (name == "arith.remf") {
    Tile size = b.add("math.absf " + y.name + " : " + b.text(y), y.shape, *y.type, y.bound, y.quantum);
    y = b.add(binary("arith.maximumf", size, b.constant(x.shape, *x.type, 3)), y.shape, *y.type, std::max(3.0, y.bound),
              y.quantum);
  }
  b.add(binary(name, x, y), x.shape, *x.type, std::max(x.bound, y.bound), std::max(x.quantum, y.quantum));
  return true;
}

/// Of one element, outside of tiles.
bool scalarArithmetic(ProgramBuilder &b) {
  const Tile *found = b.find([](const Tile &tile) {
    return tile.type->computes() && (!tile.isFloat() || Tile::fits(*tile.type, 2 * tile.bound, tile.quantum));
  });
  if (!found)
    return false;
  Tile x = *found;
  std::string one = b.fresh(), two = b.fresh(), places, type(x.type->name);
  for (int64_t size : x.shape)
    places += (places.empty() ? "" : ", ") + b.index(b.below(size));
  b.line(one + " = tile.extract " + x.name + "[" + places + "] : " + b.text(x) + " -> " + type);
  b.line(two + " = arith." + (x.isFloat() ? "addf " : "addi ") + one + ", " + one + " : " + type);
  b.add("tile.splat " + two + " : " + type + " -> " + b.text(x), x.shape, *x.type, 2 * x.bound, x.quantum);
  return true;
}

/// Any bits as a floating-point number.
bool bitsAsFloat(ProgramBuilder &b) {
  const Tile *found = b.find([](const Tile &tile) { return !tile.isFloat() && tile.type->bits >= 16; });
  if (!found)
    return false;
  Tile x = *found;
  const Element &to = element(x.type->bits == 64 ? "f64" : x.type->bits == 32 ? "f32" : b.oneIn(2) ? "f16" : "bf16");
  b.add(cast("arith.bitcast", x, to), x.shape, to, unknown);
  return true;
}

/// A function that is accurate to a few units of the last place goes straight to an output.
bool function(ProgramBuilder &b) {
  static const Words anywhere{"exp", "exp2", "tanh", "erf", "sin", "cos", "expm1"};
  static const Words positive{"log", "log2", "log1p", "sqrt", "rsqrt"};
  const Tile *found = b.find(
      [](const Tile &tile) { return (tile.type->name == "f32" || tile.type->name == "f64") && tile.bound <= 64; });
  if (!found || b.isNested())
    return false;
  Tile x = *found;
  std::string type = b.text(x), name = b.choose(anywhere);
  if (b.oneIn(2)) {
    Tile one = b.constant(x.shape, *x.type, 1);
    Tile size = b.add("math.absf " + x.name + " : " + type, x.shape, *x.type, x.bound, x.quantum);
    x = b.add(binary("arith.addf", size, one), x.shape, *x.type, x.bound + 1, x.quantum);
    name = b.choose(positive);
  }
  Tile result{b.fresh(), x.shape, x.type, unknown, 0};
  if (b.oneIn(6)) {
    Tile three = b.constant(x.shape, *x.type, 3);
    b.line(result.name + " = " + binary("arith.divf", x, three));
  } else {
    b.line(result.name + " = math." + name + " " + x.name + " : " + type);
  }
  b.store(result, 2e-6);
  return true;
}
} // namespace

std::span<const Operation> numberOperations() {
  static constexpr std::array all{
      integerArithmetic, integerArithmetic, integerDivision, shift,     bitsOfIntegers,     addOrSubtract,
      addOrSubtract,     multiply,          multiply,        scaleDown, roundToWhole,       extremes,
      compare,           compare,           select,          select,    integerWidth,       integerToFloat,
      floatToInteger,    floatToFloat,      bitsAsFloat,     function,  extendedArithmetic, choices,
      scalarArithmetic};
  return all;
}

} // namespace tilejit::fuzz
