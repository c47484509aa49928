// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The class of layouts: see the header.

#include "tilejit/Dialect/TileGPU/IR/LinearLayout.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>

namespace tilejit::tilegpu {

namespace {

int totalBits(const Dims &dims) {
  return std::accumulate(dims.begin(), dims.end(), 0, [](int sum, const Dim &dim) { return sum + dim.bits; });
}

/// The place of a name; the number of dimensions if there is none.
size_t find(const Dims &dims, std::string_view name) {
  return static_cast<size_t>(std::find_if(dims.begin(), dims.end(), [&](const Dim &d) { return d.name == name; }) -
                             dims.begin());
}

/// Bits of the dimensions before place `i`, and of those after it.
int bitsBefore(const Dims &dims, size_t i) {
  int bits = 0;
  for (size_t d = 0; d < i; ++d)
    bits += dims[d].bits;
  return bits;
}
int bitsAfter(const Dims &dims, size_t i) { return totalBits(dims) - bitsBefore(dims, std::min(i + 1, dims.size())); }

std::string numbered(size_t i) { return "dim" + std::to_string(i); }

/// The names dim0, dim1, ... for dimensions of the same sizes.
Dims renumbered(Dims dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    dims[i].name = numbered(i);
  return dims;
}

} // namespace

Dims tileDims(const std::vector<int64_t> &shape) {
  Dims dims;
  for (int64_t size : shape) {
    assert(size > 0 && std::has_single_bit(static_cast<uint64_t>(size)) && "tile sizes are powers of two");
    dims.push_back({numbered(dims.size()), std::countr_zero(static_cast<uint64_t>(size))});
  }
  return dims;
}

// --- Construction
// ------------------------------------------------------------------------------------------------------

LinearLayout::LinearLayout(Dims ins, Dims outs, gf2::Vectors columns)
    : ins_(std::move(ins)), outs_(std::move(outs)), columns_(std::move(columns)), outBits_(totalBits(outs_)) {
  assert(check(ins_, outs_, columns_).empty());
}

std::string LinearLayout::check(const Dims &ins, const Dims &outs, const gf2::Vectors &columns) {
  for (const Dims *dims : {&ins, &outs}) {
    std::set<std::string_view> names;
    for (const Dim &dim : *dims) {
      if (dim.bits < 0 || dim.bits > 63)
        return "dimension " + dim.name + " has " + std::to_string(dim.bits) + " bits, expected 0 to 63";
      if (!names.insert(dim.name).second)
        return "dimension " + dim.name + " appears twice";
    }
    if (totalBits(*dims) > 63)
      return "there are " + std::to_string(totalBits(*dims)) + " bits, expected at most 63";
  }
  if (columns.size() != static_cast<size_t>(totalBits(ins)))
    return "there are " + std::to_string(columns.size()) + " columns, expected one for each of " +
           std::to_string(totalBits(ins)) + " input bits";
  for (uint64_t column : columns)
    if (column > gf2::lowBits(totalBits(outs)))
      return "column " + std::to_string(column) + " is outside of a tile with " +
             std::to_string(uint64_t(1) << totalBits(outs)) + " elements";
  return "";
}

LinearLayout LinearLayout::identity(std::string_view in, std::string_view out, int bits) {
  return {{{std::string(in), bits}}, {{std::string(out), bits}}, gf2::units(0, bits)};
}

LinearLayout LinearLayout::zero(std::string_view in, int bits, Dims outs) {
  return {{{std::string(in), bits}}, std::move(outs), gf2::Vectors(static_cast<size_t>(bits))};
}

// --- Sizes and values
// --------------------------------------------------------------------------------------------------

int LinearLayout::inBits(std::string_view dim) const {
  size_t i = find(ins_, dim);
  return i < ins_.size() ? ins_[i].bits : 0;
}

int LinearLayout::outBits(std::string_view dim) const {
  size_t i = find(outs_, dim);
  return i < outs_.size() ? outs_[i].bits : 0;
}

int LinearLayout::inShift(std::string_view dim) const { return bitsBefore(ins_, find(ins_, dim)); }

int LinearLayout::outShift(std::string_view dim) const { return bitsAfter(outs_, find(outs_, dim)); }

gf2::Vectors LinearLayout::columns(std::string_view dim) const {
  auto first = columns_.begin() + inShift(dim);
  return {first, first + inBits(dim)};
}

std::vector<int64_t> LinearLayout::shape() const {
  std::vector<int64_t> sizes;
  for (const Dim &dim : outs_)
    sizes.push_back(static_cast<int64_t>(dim.size()));
  return sizes;
}

uint64_t LinearLayout::flatIn(const std::vector<std::pair<std::string_view, uint64_t>> &values) const {
  uint64_t flat = 0;
  for (auto [name, value] : values) {
    assert(value <= gf2::lowBits(inBits(name)) && "value outside of its dimension");
    flat |= value << inShift(name);
  }
  return flat;
}

std::vector<uint64_t> LinearLayout::splitOut(uint64_t flatOut) const {
  std::vector<uint64_t> coordinates(outs_.size());
  for (size_t i = outs_.size(); i-- > 0; flatOut >>= outs_[i].bits)
    coordinates[i] = flatOut & gf2::lowBits(outs_[i].bits);
  return coordinates;
}

uint64_t LinearLayout::joinOut(const std::vector<uint64_t> &coordinates) const {
  assert(coordinates.size() == outs_.size());
  uint64_t flat = 0;
  for (size_t i = 0; i < outs_.size(); ++i) {
    assert(coordinates[i] <= gf2::lowBits(outs_[i].bits) && "coordinate outside of its dimension");
    flat = flat << outs_[i].bits | coordinates[i];
  }
  return flat;
}

// --- Composition
// -------------------------------------------------------------------------------------------------------

LinearLayout LinearLayout::then(const LinearLayout &next) const {
  assert(next.inBits() == outBits() && "the output of one is the input of the other");
  return {ins_, next.outs_, gf2::combineEach(next.columns_, columns_)};
}

namespace {

/// Places bits of a flat output of `from` in that of `to`: in each dimension above `below`'s bits of the same name.
uint64_t moved(uint64_t flat, const Dims &from, const Dims &to, const Dims *below) {
  uint64_t result = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    uint64_t value = flat >> bitsAfter(from, i) & gf2::lowBits(from[i].bits);
    size_t under = below ? find(*below, from[i].name) : 0;
    int shift = below && under < below->size() ? (*below)[under].bits : 0;
    result |= value << (bitsAfter(to, find(to, from[i].name)) + shift);
  }
  return result;
}

/// `high` with the bits of equal names in `low` added; dimensions that only one has stay.
Dims joined(const Dims &first, const Dims &second) {
  Dims all = first;
  for (const Dim &dim : second) {
    size_t i = find(all, dim.name);
    if (i < all.size())
      all[i].bits += dim.bits;
    else
      all.push_back(dim);
  }
  return all;
}

} // namespace

LinearLayout LinearLayout::product(const LinearLayout &outer) const {
  Dims outs;
  for (const Dim &dim : outer.outs_)
    if (find(outs_, dim.name) == outs_.size())
      outs.push_back({dim.name, 0});
  outs = joined(joined(outs, outs_), outer.outs_);
  Dims ins = joined(ins_, outer.ins_);
  gf2::Vectors columns;
  for (const Dim &dim : ins) {
    for (uint64_t column : this->columns(dim.name))
      columns.push_back(moved(column, outs_, outs, nullptr));
    for (uint64_t column : outer.columns(dim.name))
      columns.push_back(moved(column, outer.outs_, outs, &outs_));
  }
  return {std::move(ins), std::move(outs), std::move(columns)};
}

std::optional<LinearLayout> LinearLayout::quotient(const LinearLayout &inner) const {
  const auto reduced = [](const Dims &whole, const Dims &part) -> std::optional<Dims> {
    Dims rest = whole;
    for (const Dim &dim : part) {
      size_t i = find(rest, dim.name);
      if (i == rest.size() || (rest[i].bits -= dim.bits) < 0)
        return std::nullopt;
    }
    return rest;
  };
  auto ins = reduced(ins_, inner.ins_), outs = reduced(outs_, inner.outs_);
  if (!ins || !outs)
    return std::nullopt;
  // High bits of every input dimension, of which the high bits of every output are the step.
  gf2::Vectors columns;
  for (const Dim &dim : ins_) {
    gf2::Vectors all = this->columns(dim.name);
    for (size_t i = static_cast<size_t>(inner.inBits(dim.name)); i < all.size(); ++i) {
      uint64_t step = 0;
      for (size_t d = 0; d < outs_.size(); ++d) {
        uint64_t value = all[i] >> bitsAfter(outs_, d) & gf2::lowBits(outs_[d].bits);
        step = step << (*outs)[d].bits | value >> (outs_[d].bits - (*outs)[d].bits);
      }
      columns.push_back(step);
    }
  }
  LinearLayout result(*ins, *outs, std::move(columns));
  const LinearLayout again = inner.product(result);
  std::vector<std::string_view> inNames, outNames;
  for (const Dim &dim : ins_)
    inNames.push_back(dim.name);
  for (const Dim &dim : outs_)
    outNames.push_back(dim.name);
  if (again.withIns(inNames).withOuts(outNames) != *this)
    return std::nullopt;
  return result;
}

LinearLayout LinearLayout::pseudoInverse() const {
  // Unit vectors of the output complete what is reached; they are sent to zero.
  gf2::Span span(columns_);
  gf2::Vectors basis = gf2::independent(columns_), places;
  for (size_t i = 0, next = 0; i < columns_.size() && next < basis.size(); ++i)
    if (columns_[i] == basis[next]) {
      places.push_back(uint64_t(1) << i);
      ++next;
    }
  for (uint64_t unit : gf2::extension(basis, gf2::units(0, outBits_))) {
    basis.push_back(unit);
    places.push_back(0);
  }
  const gf2::Span complete(basis);
  gf2::Vectors columns;
  for (uint64_t unit : gf2::units(0, outBits_))
    columns.push_back(gf2::combine(places, *complete.express(unit)));
  // Seen flat, outputs have the last dimension lowest and inputs the first.
  return {Dims(outs_.rbegin(), outs_.rend()), Dims(ins_.rbegin(), ins_.rend()), std::move(columns)};
}

std::optional<LinearLayout> LinearLayout::inverse() const {
  if (inBits() != outBits() || !isSurjective())
    return std::nullopt;
  return pseudoInverse();
}

// --- Questions, other places
// -------------------------------------------------------------------------------------------

uint64_t LinearLayout::broadcastBits(std::string_view dim) const {
  uint64_t bits = 0;
  gf2::Vectors steps = columns(dim);
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] == 0)
      bits |= uint64_t(1) << i;
  return bits;
}

uint64_t LinearLayout::copyBits() const {
  uint64_t copies = 0;
  gf2::Span seen(columns(kRegister));
  const gf2::Vectors threads = gf2::concat(columns(kLane), columns(kWarp));
  for (size_t i = 0; i < threads.size(); ++i)
    if (!seen.add(threads[i]))
      copies |= uint64_t(1) << i;
  return copies;
}

LinearLayout LinearLayout::withoutBroadcast(std::string_view dim) const {
  size_t place = find(ins_, dim);
  if (place == ins_.size())
    return *this;
  Dims ins = ins_;
  gf2::Vectors kept = gf2::independent(columns(dim));
  gf2::Vectors columns = columns_;
  auto first = columns.begin() + inShift(dim);
  columns.erase(std::copy(kept.begin(), kept.end(), first), first + ins[place].bits);
  ins[place].bits = static_cast<int>(kept.size());
  return {std::move(ins), outs_, std::move(columns)};
}

LinearLayout LinearLayout::withIns(const std::vector<std::string_view> &names) const {
  Dims ins;
  gf2::Vectors columns;
  for (std::string_view name : names) {
    ins.push_back({std::string(name), inBits(name)});
    columns = gf2::concat(std::move(columns), this->columns(name));
  }
  return {std::move(ins), outs_, std::move(columns)};
}

LinearLayout LinearLayout::pickOuts(const std::vector<int> &order, Dims outs) const {
  gf2::Vectors columns;
  for (uint64_t column : columns_) {
    uint64_t picked = 0;
    for (int i : order)
      picked = picked << outs_[static_cast<size_t>(i)].bits |
               (column >> bitsAfter(outs_, static_cast<size_t>(i)) & gf2::lowBits(outs_[static_cast<size_t>(i)].bits));
    columns.push_back(picked);
  }
  return {ins_, std::move(outs), std::move(columns)};
}

LinearLayout LinearLayout::withOuts(const std::vector<std::string_view> &names) const {
  std::vector<int> order;
  Dims outs;
  for (std::string_view name : names) {
    size_t i = find(outs_, name);
    assert(i < outs_.size() && "no such output dimension");
    order.push_back(static_cast<int>(i));
    outs.push_back(outs_[i]);
  }
  return pickOuts(order, std::move(outs));
}

// --- Other tiles
// -------------------------------------------------------------------------------------------------------

LinearLayout LinearLayout::sliced(int axis) const {
  assert(axis >= 0 && static_cast<size_t>(axis) < outs_.size());
  std::vector<int> order(outs_.size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  Dims outs = outs_;
  outs.erase(outs.begin() + axis);
  return pickOuts(order, renumbered(std::move(outs)));
}

LinearLayout LinearLayout::expanded(int axis) const {
  assert(axis >= 0 && static_cast<size_t>(axis) <= outs_.size());
  Dims outs = outs_;
  outs.insert(outs.begin() + axis, Dim{"", 0});
  return {ins_, renumbered(std::move(outs)), columns_};
}

LinearLayout LinearLayout::transposed(const std::vector<int> &order) const {
  assert(order.size() == outs_.size());
  Dims outs;
  for (int i : order)
    outs.push_back(outs_[static_cast<size_t>(i)]);
  return pickOuts(order, renumbered(std::move(outs)));
}

LinearLayout LinearLayout::reshaped(const std::vector<int64_t> &shape) const {
  Dims outs = tileDims(shape);
  assert(totalBits(outs) == outBits_ && "a reshaped tile has as many elements");
  return {ins_, std::move(outs), columns_};
}

// --- Text
// --------------------------------------------------------------------------------------------------------------

std::string LinearLayout::describe() const {
  std::string text;
  for (const Dim &dim : ins_) {
    text += dim.name + ":";
    for (uint64_t column : columns(dim.name)) {
      std::string step;
      std::vector<uint64_t> coordinates = splitOut(column);
      for (size_t d = 0; d < outs_.size(); ++d)
        if (coordinates[d] != 0)
          step += (step.empty() ? "" : "+") + outs_[d].name + "=" + std::to_string(coordinates[d]);
      text += " " + (step.empty() ? "0" : step);
    }
    text += "\n";
  }
  return text;
}

} // namespace tilejit::tilegpu
