// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operations that move elements of tiles.

#include "ProgramBuilder.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace tilejit::fuzz {

namespace {
constexpr int64_t maxElements = 4096;

/// A tile that may become larger.
const Tile *aSmallTile(ProgramBuilder &b, int64_t growth = 1) {
  return b.find([&](const Tile &tile) { return tile.count() * growth <= maxElements && tile.shape.size() <= 4; });
}

std::string arrow(const Tile &x, const Shape &shape) {
  return " : " + ProgramBuilder::text(x) + " -> " + ProgramBuilder::text(shape, x.type->name);
}

/// The same numbers in another shape.
void addMoved(ProgramBuilder &b, const Tile &x, const std::string &words, const Shape &shape) {
  b.add(words + arrow(x, shape), shape, *x.type, x.bound, x.quantum);
}

bool iota(ProgramBuilder &b) {
  static const std::vector<std::string> names{"i32", "i64", "i16"};
  Shape shape = b.shape(1);
  const Element &type = element(b.choose(names));
  b.add("tile.iota : " + b.text(shape, type.name), shape, type);
  return true;
}

/// Numbers that the program's text lists.
bool table(ProgramBuilder &b) {
  static const std::vector<std::string> names{"i32", "f32", "i8", "f16", "i64", "f64"};
  Shape shape = b.shape(2);
  if (shape[0] * shape[1] > 64)
    shape = {3, 5};
  const Element &type = element(b.choose(names));
  std::string rows;
  for (int64_t r = 0; r < shape[0]; ++r) {
    std::string row;
    for (int64_t c = 0; c < shape[1]; ++c)
      row += (c ? ", " : "") + std::to_string(b.below(9) - 4) + (type.isFloat() ? ".0" : "");
    rows += (r ? ", [" : "[") + row + "]";
  }
  b.add("arith.constant dense<[" + rows + "]> : " + b.text(shape, type.name), shape, type, 4);
  return true;
}

/// One element everywhere.
bool splat(ProgramBuilder &b) {
  const Tile *found = b.find([](const Tile &) { return true; });
  if (!found)
    return false;
  Tile x = *found;
  std::string scalar = b.fresh(), places;
  for (int64_t size : x.shape)
    places += (places.empty() ? "" : ", ") + b.index(b.below(size));
  b.line(scalar + " = tile.extract " + x.name + "[" + places + "] : " + b.text(x) + " -> " + std::string(x.type->name));
  Shape shape = b.shape();
  b.add("tile.splat " + scalar + " : " + std::string(x.type->name) + " -> " + b.text(shape, x.type->name), shape,
        *x.type, x.bound, x.quantum);
  return true;
}

bool expandAndBroadcast(ProgramBuilder &b) {
  static const std::vector<int64_t> sizes{2, 3, 4, 8};
  const Tile *found = aSmallTile(b, 8);
  if (!found || found->shape.size() > 3)
    return false;
  Tile x = *found;
  int64_t axis = b.below(int64_t(x.shape.size()) + 1);
  Shape shape = x.shape;
  shape.insert(shape.begin() + axis, 1);
  addMoved(b, x, "tile.expand " + x.name + " axis " + std::to_string(axis), shape);
  if (b.oneIn(3))
    return true;
  Tile flat = b.pool_.back();
  shape[size_t(axis)] = b.choose(sizes);
  addMoved(b, flat, "tile.broadcast " + flat.name, shape);
  return true;
}

bool reshape(ProgramBuilder &b) {
  const Tile *found = aSmallTile(b);
  if (!found)
    return false;
  Tile x = *found;
  Shape shape;
  int64_t left = x.count();
  while (left > 1 && shape.size() < 2) {
    int64_t size = 1 + b.below(left);
    while (left % size != 0)
      --size;
    shape.push_back(size);
    left /= size;
  }
  shape.push_back(left);
  addMoved(b, x, "tile.reshape " + x.name, shape);
  return true;
}

bool transpose(ProgramBuilder &b) {
  const Tile *found = b.find([](const Tile &tile) { return tile.shape.size() > 1; });
  if (!found)
    return false;
  Tile x = *found;
  std::vector<int64_t> order(x.shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[size_t(b.below(int64_t(i) + 1))]);
  Shape shape;
  std::string words;
  for (int64_t dim : order) {
    shape.push_back(x.shape[size_t(dim)]);
    words += (words.empty() ? "" : ", ") + std::to_string(dim);
  }
  addMoved(b, x, "tile.transpose " + x.name + " [" + words + "]", shape);
  return true;
}

bool cat(ProgramBuilder &b) {
  const Tile *found = aSmallTile(b, 2);
  if (!found)
    return false;
  Tile x = *found, y = b.like(x);
  int64_t axis = b.below(int64_t(x.shape.size()));
  Shape shape = x.shape;
  shape[size_t(axis)] *= 2;
  b.add("tile.cat " + x.name + ", " + y.name + " axis " + std::to_string(axis) + " : " + b.text(x) + ", " + b.text(y) +
            " -> " + b.text(shape, x.type->name),
        shape, *x.type, std::max(x.bound, y.bound), std::max(x.quantum, y.quantum));
  return true;
}

bool joinAndSplit(ProgramBuilder &b) {
  const Tile *found = aSmallTile(b, 2);
  if (!found || found->shape.size() > 3)
    return false;
  Tile x = *found, y = b.like(x);
  Shape shape = x.shape;
  shape.push_back(2);
  double bound = std::max(x.bound, y.bound);
  int quantum = std::max(x.quantum, y.quantum);
  Tile pairs = b.add("tile.join " + x.name + ", " + y.name + arrow(x, shape), shape, *x.type, bound, quantum);
  if (b.oneIn(2))
    return true;
  std::string second = b.fresh(), first = b.fresh();
  b.line(first + ", " + second + " = tile.split " + pairs.name + arrow(pairs, x.shape));
  b.pool_.push_back({first, x.shape, x.type, bound, quantum});
  b.pool_.push_back({second, x.shape, x.type, bound, quantum});
  return true;
}

bool extract(ProgramBuilder &b) {
  const Tile *found = aSmallTile(b);
  if (!found)
    return false;
  Tile x = *found;
  Shape shape = x.shape;
  std::string places;
  for (int64_t &size : shape) {
    int64_t parts = size % 2 == 0 && b.oneIn(2) ? 2 : 1;
    size /= parts;
    places += (places.empty() ? "" : ", ") + b.index(b.below(parts));
  }
  addMoved(b, x, "tile.extract " + x.name + "[" + places + "]", shape);
  return true;
}

bool gatherInTile(ProgramBuilder &b) {
  const Tile *found = aSmallTile(b);
  if (!found)
    return false;
  Tile x = *found;
  int64_t axis = b.below(int64_t(x.shape.size()));
  const Element &integer = element("i32");
  Tile where = b.like({"", x.shape, &integer, 0, 0});
  Tile size = b.constant(x.shape, integer, x.shape[size_t(axis)]);
  std::string type = b.text(where);
  Tile inside = b.add("arith.remui " + where.name + ", " + size.name + " : " + type, x.shape, integer);
  b.add("tile.gather_in_tile " + x.name + "[" + inside.name + "] axis " + std::to_string(axis) + " : " + b.text(x) +
            ", " + type + " -> " + b.text(x),
        x.shape, *x.type, x.bound, x.quantum);
  return true;
}

/// Pairs of 4 bits.
bool packing(ProgramBuilder &b) {
  const Tile *found =
      b.find([](const Tile &tile) { return tile.type->name == "i8" && tile.count() <= maxElements / 2; });
  if (!found)
    return false;
  Tile x = *found;
  const Element &nibble = element("i4"), &byte = element("i8");
  Shape twice = x.shape;
  twice.back() *= 2;
  Tile halves = b.add("tile.unpack " + x.name + " : " + b.text(x) + " -> " + b.text(twice, "i4"), twice, nibble);
  Tile wide = b.add((b.oneIn(2) ? "arith.extsi " : "arith.extui ") + halves.name + " : " + b.text(halves) + " to " +
                        b.text(twice, "i8"),
                    twice, byte);
  if (b.oneIn(2))
    return true;
  Tile narrow = b.add("arith.trunci " + wide.name + " : " + b.text(wide) + " to " + b.text(twice, "i4"), twice, nibble);
  b.add("tile.pack " + narrow.name + " : " + b.text(narrow) + " -> " + b.text(x), x.shape, byte);
  return true;
}
} // namespace

std::span<const Operation> shapeOperations() {
  static constexpr std::array all{table,        iota,   splat,     expandAndBroadcast, expandAndBroadcast,
                                  reshape,      cat,    transpose, joinAndSplit,       extract,
                                  gatherInTile, packing};
  return all;
}

} // namespace tilejit::fuzz
