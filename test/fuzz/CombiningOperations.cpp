// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Products, reductions and scans: what elements give together.

#include "ProgramBuilder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace tilejit::fuzz {

namespace {
/// A region's text: arguments of types, and lines that make and yield values from %l0, %l1, ..., %r0, %r1, ...
std::string combiner(const std::vector<const Element *> &types, const std::string &lines, const std::string &yielded) {
  std::string left, right, list;
  for (size_t i = 0; i < types.size(); ++i) {
    std::string number = std::to_string(i), type(types[i]->name);
    left += (i ? ", " : "") + ("%l" + number) + ": " + type;
    right += ", %r" + number + ": " + type;
    list += (i ? ", " : "") + type;
  }
  return " {\n  ^bb0(" + left + right + "):\n" + lines + "    tile.yield " + yielded + " : " + list + "\n  }";
}

/// One operation on two scalars.
std::string combineBy(const Element &type, const std::string &name) {
  return combiner({&type}, "    %t = arith." + name + " %l0, %r0 : " + std::string(type.name) + "\n", "%t");
}

Shape without(Shape shape, int64_t axis) {
  shape.erase(shape.begin() + axis);
  return shape;
}

/// A tile whose elements are to be combined along an axis, how, and what is known of the result.
struct Combination {
  Tile x;
  int64_t axis = 0;
  std::string name;
  double bound = 0;
};

/// Nothing where no tile of the pool is fit for what was drawn.
std::optional<Combination> chooseCombination(ProgramBuilder &b) {
  static const std::vector<std::string> integers{"addi", "muli", "andi", "ori", "xori", "maxsi", "minui"};
  static const std::vector<std::string> floats{"addf", "maximumf", "minimumf"};
  const Tile *found = b.find([](const Tile &tile) { return tile.type->computes(); });
  if (!found)
    return std::nullopt;
  Tile x = *found;
  int64_t axis = b.below(int64_t(x.shape.size()));
  if (!x.isFloat())
    return Combination{x, axis, b.choose(integers), 0};
  std::string name = b.choose(floats);
  if (name != "addf")
    return Combination{x, axis, name, x.bound};
  double bound = x.bound * double(x.shape[size_t(axis)]);
  if (!Tile::fits(*x.type, bound, x.quantum))
    return std::nullopt;
  return Combination{x, axis, name, bound};
}

bool reduce(ProgramBuilder &b) {
  std::optional<Combination> how = chooseCombination(b);
  if (!how)
    return false;
  const auto &[x, axis, name, bound] = *how;
  Shape left = without(x.shape, axis);
  std::string result = b.fresh(), type = b.text(left, x.type->name);
  b.line(result + " = tile.reduce " + x.name + " axis " + std::to_string(axis) + " : " + b.text(x) + " -> " + type +
         combineBy(*x.type, name));
  Shape back = left;
  back.insert(back.begin() + axis, 1);
  b.add("tile.expand " + result + " axis " + std::to_string(axis) + " : " + type + " -> " + b.text(back, x.type->name),
        back, *x.type, bound, x.quantum);
  return true;
}

/// The largest number and its lowest index: of all, or so far.
bool combinePairs(ProgramBuilder &b) {
  const Tile *found =
      b.find([](const Tile &tile) { return tile.type->computes() && (!tile.isFloat() || std::isfinite(tile.bound)); });
  if (!found)
    return false;
  Tile x = *found;
  const Element &integer = element("i32");
  int64_t axis = b.below(int64_t(x.shape.size()));
  Tile places = b.like({"", x.shape, &integer, 0, 0});
  std::string type(x.type->name), greater = x.isFloat() ? "arith.cmpf ogt," : "arith.cmpi sgt,";
  std::string lines = "    %g = " + greater + " %r0, %l0 : " + type + "\n    %s = " + greater + " %l0, %r0 : " + type +
                      "\n    %n = arith.cmpi slt, %r1, %l1 : i32\n    %o = arith.select %s, %g, %n : i1\n" +
                      "    %k = arith.ori %g, %o : i1\n    %t = arith.select %k, %r0, %l0 : " + type +
                      "\n    %u = arith.select %k, %r1, %l1 : i32\n";
  Shape left = without(x.shape, axis), back = left;
  back.insert(back.begin() + axis, 1);
  std::string values = b.fresh(), indices = b.fresh(), along = " axis " + std::to_string(axis);
  if (b.oneIn(2)) {
    b.line(values + ", " + indices + " = tile.scan " + x.name + ", " + places.name + along +
           (b.oneIn(2) ? " reverse" : "") + " : " + b.text(x) + ", " + b.text(places) + " -> " + b.text(x) + ", " +
           b.text(places) + combiner({x.type, &integer}, lines, "%t, %u"));
    b.pool_.push_back({values, x.shape, x.type, x.bound, x.quantum});
    b.pool_.push_back({indices, x.shape, &integer, 0, 0});
    return true;
  }
  std::string valueType = b.text(left, type), indexType = b.text(left, "i32");
  b.line(values + ", " + indices + " = tile.reduce " + x.name + ", " + places.name + along + " : " + b.text(x) + ", " +
         b.text(places) + " -> " + valueType + ", " + indexType + combiner({x.type, &integer}, lines, "%t, %u"));
  b.add("tile.expand " + values + along + " : " + valueType + " -> " + b.text(back, type), back, *x.type, x.bound,
        x.quantum);
  b.add("tile.expand " + indices + along + " : " + indexType + " -> " + b.text(back, "i32"), back, integer);
  return true;
}

bool scan(ProgramBuilder &b) {
  std::optional<Combination> how = chooseCombination(b);
  if (!how)
    return false;
  const auto &[x, axis, name, bound] = *how;
  std::string type(x.type->name), region = combineBy(*x.type, name);
  if (!x.isFloat() && b.oneIn(3)) // The latest that is not zero: the sides may not be exchanged.
    region = combiner({x.type},
                      "    %z = arith.constant 0 : " + type + "\n    %n = arith.cmpi ne, %r0, %z : " + type +
                          "\n    %t = arith.select %n, %r0, %l0 : " + type + "\n",
                      "%t");
  b.add("tile.scan " + x.name + " axis " + std::to_string(axis) + (b.oneIn(2) ? " reverse" : "") + " : " + b.text(x) +
            " -> " + b.text(x) + region,
        x.shape, *x.type, bound, x.quantum);
  return true;
}

/// The left operand is in the pool, the right one is loaded.
bool dot(ProgramBuilder &b) {
  static const std::vector<int64_t> sizes{1, 2, 4, 8, 16, 32, 5, 12};
  auto isByteFloat = [](const Element &type) { return type.isFloat() && type.bits == 8 && !type.isScale(); };
  const Tile *found = b.find([&](const Tile &tile) {
    bool isOperand = tile.isFloat() ? std::isfinite(tile.bound) && (tile.type->computes() || isByteFloat(*tile.type))
                                    : tile.type->name == "i8";
    return tile.shape.size() == 2 && isOperand;
  });
  Tile x = found ? *found : loadTile(b, {b.choose(sizes), b.choose(sizes)}, element(b.oneIn(2) ? "f16" : "f32"));
  static const std::vector<std::string> byteFloats{"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"};
  const Element &right = isByteFloat(*x.type) && b.oneIn(2) ? element(b.choose(byteFloats)) : *x.type;
  Tile y = loadTile(b, {x.shape[1], b.choose(sizes)}, right);
  const Element &sum = element(!x.isFloat() ? "i32" : x.type->name == "f64" ? "f64" : "f32");
  Shape shape{x.shape[0], y.shape[1]};
  Tile start = b.like({"", shape, &sum, 0, 0});
  double bound = x.bound * y.bound * double(x.shape[1]) + start.bound;
  int quantum = std::max(x.quantum + y.quantum, start.quantum);
  if (x.isFloat() && !Tile::fits(sum, bound, quantum))
    return false;
  std::string how;
  bool isCoarse = Tile::fits(element("bf16"), x.bound, x.quantum) && Tile::fits(element("bf16"), y.bound, y.quantum);
  if (x.type->name == "f32" && isCoarse && b.oneIn(3))
    how = b.oneIn(2) ? " precision tf32" : " precision bf16x3";
  if (!x.isFloat())
    how = std::string(b.oneIn(2) ? " unsigned_a" : "") + (b.oneIn(2) ? " unsigned_b" : "");
  b.add("tile.dot " + x.name + ", " + y.name + ", " + start.name + how + " : " + b.text(x) + ", " + b.text(y) + ", " +
            b.text(start),
        shape, sum, bound, quantum);
  return true;
}
} // namespace

std::span<const Operation> combiningOperations() {
  static constexpr std::array all{reduce, reduce, combinePairs, scan, dot, dot};
  return all;
}

} // namespace tilejit::fuzz
