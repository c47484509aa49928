// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Elimination and what follows from it: see the header.

#include "tilejit/Dialect/TileGPU/IR/Gf2.h"

#include <algorithm>
#include <cassert>

namespace tilejit::tilegpu::gf2 {

Vector combine(const Vectors &vectors, Vector selection) {
  assert((selection & ~lowBits(static_cast<int>(vectors.size()))) == 0 && "no such vector");
  Vector sum = 0;
  while (selection != 0) {
    sum ^= vectors[static_cast<size_t>(std::countr_zero(selection))];
    selection &= selection - 1;
  }
  return sum;
}

Vectors combineEach(const Vectors &vectors, const Vectors &selections) {
  Vectors sums(selections.size());
  std::transform(selections.begin(), selections.end(), sums.begin(), [&](Vector s) { return combine(vectors, s); });
  return sums;
}

Vectors units(int first, int count) {
  Vectors result;
  for (int i = 0; i < count; ++i)
    result.push_back(Vector(1) << (first + i));
  return result;
}

Vectors concat(Vectors first, const Vectors &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Span::Span(const Vectors &vectors) {
  for (Vector v : vectors)
    add(v);
}

Span::Reduced Span::reduce(Vector v) const {
  Vector selection = 0;
  for (Vector pending = v & leading_; pending != 0; pending = v & leading_) {
    auto bit = static_cast<size_t>(std::bit_width(pending) - 1);
    v ^= row_[bit];
    selection ^= selection_[bit];
  }
  return {v, selection};
}

bool Span::add(Vector v) {
  assert(added_ < 64 && "a span remembers at most 64 vectors");
  Reduced reduced = reduce(v);
  reduced.selection ^= Vector(1) << added_++;
  if (reduced.rest == 0) {
    relation_ = reduced.selection;
    return false;
  }
  auto bit = static_cast<size_t>(std::bit_width(reduced.rest) - 1);
  row_[bit] = reduced.rest;
  selection_[bit] = reduced.selection;
  leading_ |= Vector(1) << bit;
  return true;
}

bool Span::containsAll(const Vectors &vectors) const {
  return std::all_of(vectors.begin(), vectors.end(), [&](Vector v) { return contains(v); });
}

std::optional<Vector> Span::express(Vector v) const {
  Reduced reduced = reduce(v);
  if (reduced.rest != 0)
    return std::nullopt;
  return reduced.selection;
}

int rank(const Vectors &vectors) { return Span(vectors).rank(); }

Vectors independent(const Vectors &vectors) { return extension({}, vectors); }

Vectors extension(const Vectors &base, const Vectors &candidates) {
  Span span(base);
  Vectors result;
  for (Vector v : candidates)
    if (!span.contains(v)) {
      span.add(v);
      result.push_back(v);
    }
  return result;
}

Vectors kernel(const Vectors &vectors) {
  Span span;
  Vectors relations;
  for (Vector v : vectors)
    if (!span.add(v))
      relations.push_back(span.relation());
  return relations;
}

Vectors intersection(const Vectors &x, const Vectors &y) {
  const Vectors basisX = independent(x), basisY = independent(y);
  const Span inY(basisY);
  Vectors common;
  for (Vector v : basisX)
    if (inY.contains(v))
      common.push_back(v);
  // A sum of both bases that is zero is one of x that equals one of y.
  for (Vector relation : kernel(concat(basisX, basisY)))
    common.push_back(combine(basisX, relation & lowBits(static_cast<int>(basisX.size()))));
  return independent(common);
}

namespace {

/// `basis` and as many further vectors, of `preferred` before those of `space`, as make `size`.
Vectors grown(Vectors basis, const Vectors &preferred, const Vectors &space, int size) {
  for (Vector v : extension(basis, concat(preferred, space))) {
    if (static_cast<int>(basis.size()) >= size)
      break;
    basis.push_back(v);
  }
  return basis;
}

} // namespace

Vectors commonComplement(const Vectors &x, const Vectors &y, const Vectors &space, int size, int turn) {
  // Both grow to `size` dimensions, towards each other: the more they share, the fewer vectors need mixing.
  const Vectors wholeX = grown(independent(x), y, space, size), wholeY = grown(independent(y), wholeX, space, size);
  assert(wholeX.size() == wholeY.size() && "a side has too many dimensions");
  const Vectors shared = intersection(wholeX, wholeY);
  const Vectors onlyX = extension(shared, wholeX), onlyY = extension(shared, wholeY);
  Vectors complement = extension(concat(wholeX, onlyY), space);
  // A sum of pairs has a part that only x has and one that only y has, so it is in neither.
  for (size_t i = 0; i < onlyX.size(); ++i)
    complement.push_back(onlyX[i] ^ onlyY[(onlyY.size() - 1 - i + static_cast<size_t>(turn)) % onlyY.size()]);
  return complement;
}

} // namespace tilejit::tilegpu::gf2
