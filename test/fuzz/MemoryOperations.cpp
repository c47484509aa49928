// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads of views in all forms, gathers, scatters and atomics. Program instances write to places of their own, or by
// updates that give the same in any order.

#include "ProgramBuilder.h"

#include <algorithm>
#include <array>

namespace tilejit::fuzz {

namespace {
std::string viewType(const std::vector<std::string> &sizes, const Element &type, const std::string &strides = "") {
  std::string words = "!tile.view<";
  for (const std::string &size : sizes)
    words += size + "x";
  return words + std::string(type.name) + (strides.empty() ? "" : ", strides = [" + strides + "]") + ">";
}

ProgramArgument::Fill fillOf(ProgramBuilder &b, const Element &type) {
  return type.isFloat() || type.bits == 1 || b.oneIn(3) ? ProgramArgument::Fill::Numbers : ProgramArgument::Fill::Bits;
}

/// How large numbers are that lie in memory.
double loadedBound(const Element &type) { return type.isScale() ? unknown : 4; }

/// What a load puts outside a view, and the largest number that this may be.
std::pair<std::string, double> randomPad(ProgramBuilder &b, const Element &type) {
  static const std::vector<std::string> both{"zero", "one", "lowest", "highest", ""};
  std::string pad = b.choose(both);
  if (pad.empty()) // Not in all types.
    pad = !type.isFloat() ? "all_ones" : type.bits < 8 ? "zero" : "nan";
  return {" pad " + pad, pad == "zero" || pad == "one" || !type.isFloat() ? loadedBound(type) : unknown};
}
} // namespace

/// A tile of a view that ends inside it, or not; of memory that holds more than the tile.
Tile loadTile(ProgramBuilder &b, const Shape &shape, const Element &type) {
  ProgramArgument input{std::string(type.name), shape, false, fillOf(b, type)};
  input.shape[0] *= b.programs;
  bool isRagged = false;
  std::vector<std::string> sizes;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1 && b.oneIn(3)) {
      input.shape[d] -= 1 + b.below(shape[d] - 1);
      isRagged = true;
    }
    sizes.push_back(b.oneIn(3) ? "?" : std::to_string(input.shape[d]));
    isRagged |= sizes.back() == "?" && b.oneIn(2);
  }
  auto [pad, bound] = isRagged ? randomPad(b, type) : std::pair<std::string, double>("", loadedBound(type));
  std::string view = viewType(sizes, type), name = b.argument(std::move(input));
  b.addParameter(name, view);
  if (b.oneIn(8))
    b.line("tile.prefetch " + name + b.place(int(shape.size())) + " shape [" +
           [&] {
             std::string list;
             for (int64_t size : shape)
               list += (list.empty() ? "" : ", ") + std::to_string(size);
             return list;
           }() +
           "] : " + view);
  return b.add("tile.load " + name + b.place(int(shape.size())) + pad + " : " + view + " -> " +
                   b.text(shape, type.name),
               shape, type, bound);
}

namespace {
bool load(ProgramBuilder &b) {
  loadTile(b, b.shape(), b.anyElement());
  return true;
}

/// The same view made anew of what is known of one: its address, its sizes and strides, the last two exchanged.
void loadAgain(ProgramBuilder &b, const std::string &part, const std::string &partType, const Element &type) {
  std::string base = b.fresh(), again = b.fresh(), numbers[4];
  std::string pointer = "!tile.ptr<" + std::string(type.name) + ">", turned = viewType({"?", "?"}, type, "?, ?");
  b.line(base + " = tile.base " + part + " : " + partType + " -> " + pointer);
  for (int i = 0; i < 4; ++i) {
    numbers[i] = b.fresh();
    b.line(numbers[i] + (i < 2 ? " = tile.dim " : " = tile.stride ") + part + ", " + std::to_string(1 - i % 2) + " : " +
           partType);
  }
  b.line(again + " = tile.view " + base + " sizes [" + numbers[0] + ", " + numbers[1] + "] strides [" + numbers[2] +
         ", " + numbers[3] + "] : " + pointer + " -> " + turned);
  b.add("tile.load " + again + "[" + b.index(b.below(2)) + ", " + b.index(0) + "] pad one : " + turned + " -> " +
            b.text({8, 4}, type.name),
        {8, 4}, type, loadedBound(type));
}

/// Through a pointer, rows apart; a part of that view.
bool loadPart(ProgramBuilder &b) {
  const Element &type = b.anyElement();
  constexpr int64_t rows = 12, columns = 20, pitch = 24;
  std::string pointer = b.argument({std::string(type.name), {rows * pitch}, true, fillOf(b, type)});
  b.addParameter(pointer, "!tile.ptr<" + std::string(type.name) + ">");
  std::string whole = b.fresh(), part = b.fresh();
  std::string wholeType = viewType({"?", std::to_string(columns)}, type, "?, 1");
  b.line(whole + " = tile.view " + pointer + " sizes [" + b.index(rows) + "] strides [" + b.index(pitch) +
         "] : !tile.ptr<" + std::string(type.name) + "> -> " + wholeType);
  int64_t firstRow = b.below(4), firstColumn = b.below(4);
  std::string partType = viewType({"8", "?"}, type, "?, 1");
  b.line(part + " = tile.subview " + whole + "[" + b.index(firstRow) + ", " + b.index(firstColumn) + "] sizes [" +
         b.index(16) + "] : " + wholeType + " -> " + partType);
  b.add("tile.load " + part + "[" + b.index(0) + ", " + b.index(b.below(2)) + "] pad zero : " + partType + " -> " +
            b.text({4, 8}, type.name),
        {4, 8}, type, loadedBound(type));
  if (b.oneIn(2))
    loadAgain(b, part, partType, type);
  return true;
}

/// A single number, as a tile of no dimension.
bool loadOne(ProgramBuilder &b) {
  const Element &type = b.anyElement();
  std::string view = "!tile.view<" + std::string(type.name) + ">", one = "tensor<" + std::string(type.name) + ">";
  std::string name = b.argument({std::string(type.name), {1}, true, fillOf(b, type)}), loaded = b.fresh();
  std::string viewed = b.fresh(), pointer = "!tile.ptr<" + std::string(type.name) + ">";
  b.addParameter(name, pointer);
  b.line(viewed + " = tile.view " + name + " : " + pointer + " -> " + view);
  b.line(loaded + " = tile.load " + viewed + "[] : " + view + " -> " + one);
  b.add("tile.reshape " + loaded + " : " + one + " -> " + b.text({1, 1}, type.name), {1, 1}, type, loadedBound(type));
  return true;
}

/// Pointers into memory behind a pointer argument, at the places that a tile of i32 holds.
std::string pointers(ProgramBuilder &b, const std::string &base, const Tile &places, const Element &type) {
  std::string pointer = "!tile.ptr<" + std::string(type.name) + ">", tile = b.text(places.shape, pointer);
  std::string spread = b.fresh(), moved = b.fresh();
  std::string start = base;
  if (b.oneIn(2)) { // There and back.
    std::string there = b.fresh();
    start = b.fresh();
    b.line(there + " = tile.addptr " + base + ", " + b.index(7) + " : " + pointer + ", index");
    b.line(start + " = tile.addptr " + there + ", " + b.index(-7) + " : " + pointer + ", index");
  }
  b.line(spread + " = tile.splat " + start + " : " + pointer + " -> " + tile);
  b.line(moved + " = tile.addptr " + spread + ", " + places.name + " : " + tile + ", " + b.text(places));
  return moved;
}

bool gather(ProgramBuilder &b) {
  constexpr int64_t size = 256;
  const Tile *found = b.find([](const Tile &tile) { return tile.type->name == "i32"; });
  const Element &type = b.anyElement();
  if (!found)
    return false;
  Tile where = *found;
  Tile inside = b.add("arith.andi " + where.name + ", " + b.constant(where.shape, *where.type, size - 1).name + " : " +
                          b.text(where),
                      where.shape, *where.type);
  std::string base = b.argument({std::string(type.name), {size}, true, fillOf(b, type)});
  std::string pointer = "!tile.ptr<" + std::string(type.name) + ">";
  b.addParameter(base, pointer);
  std::string moved = pointers(b, base, inside, type), masking;
  Tile other = b.like({"", where.shape, &type, 0, 0});
  const Tile *mask = b.find([&](const Tile &tile) { return tile.type->bits == 1 && tile.shape == where.shape; });
  if (mask)
    masking = " mask " + mask->name + " other " + other.name;
  b.add(
      "tile.gather " + moved + masking + " : " + b.text(where.shape, pointer) + " -> " + b.text(where.shape, type.name),
      where.shape, type, mask ? std::max(loadedBound(type), other.bound) : loadedBound(type), mask ? other.quantum : 0);
  return true;
}

/// Each place once, in the part of memory that belongs to the instance.
Tile ownPlaces(ProgramBuilder &b, const Shape &shape) {
  const Element &integer = element("i32");
  Tile counted{"", shape, &integer, 0, 0};
  int64_t count = counted.count();
  Tile places = b.add("tile.iota : " + b.text({count}, "i32"), {count}, integer);
  auto apply = [&](const char *name, int64_t value) {
    Tile constant = b.constant({count}, integer, value);
    places =
        b.add(std::string(name) + " " + places.name + ", " + constant.name + " : " + b.text(places), {count}, integer);
  };
  if ((count & (count - 1)) == 0) { // Another order.
    apply("arith.muli", 1 + 2 * b.below(8));
    apply("arith.addi", b.below(count));
    apply("arith.andi", count - 1);
  }
  std::string first = b.fresh(), narrow = b.fresh();
  b.line(first + " = arith.muli %p, " + b.index(count) + " : index");
  b.line(narrow + " = arith.index_cast " + first + " : index to i32");
  Tile start = b.add("tile.splat " + narrow + " : i32 -> " + b.text(places), {count}, integer);
  Tile own = b.add("arith.addi " + places.name + ", " + start.name + " : " + b.text(places), {count}, integer);
  return b.add("tile.reshape " + own.name + " : " + b.text(own) + " -> " + b.text(shape, "i32"), shape, integer);
}

bool scatter(ProgramBuilder &b) {
  const Tile *found = b.find([](const Tile &) { return true; });
  if (!found)
    return false;
  Tile x = *found;
  std::string pointer = "!tile.ptr<" + std::string(x.type->name) + ">";
  std::string base = b.argument({std::string(x.type->name), {x.count() * b.programs}, true});
  b.addParameter(base, pointer);
  std::string moved = pointers(b, base, ownPlaces(b, x.shape), *x.type), masking;
  if (const Tile *mask = b.find([&](const Tile &tile) { return tile.type->bits == 1 && tile.shape == x.shape; }))
    masking = " mask " + mask->name;
  b.line("tile.scatter " + x.name + ", " + moved + masking + " : " + b.text(x) + ", " + b.text(x.shape, pointer));
  return true;
}

/// Updates of places of one's own, whose previous values are known.
bool atomicRmw(ProgramBuilder &b) {
  static const std::vector<std::string> kinds{"addi", "maxs", "mins", "maxu", "minu", "andi", "ori", "xori", "xchg"};
  static const std::vector<std::string> orders{"relaxed", "acquire", "release", "acq_rel"};
  static const std::vector<std::string> scopes{"block", "device", "system"};
  const Tile *found = b.find([](const Tile &tile) {
    return tile.type->name == "i32" || tile.type->name == "i64" || (tile.type->computes() && tile.bound <= 64);
  });
  if (!found)
    return false;
  Tile x = *found;
  std::string pointer = "!tile.ptr<" + std::string(x.type->name) + ">";
  std::string base = b.argument({std::string(x.type->name), {x.count() * b.programs}, true});
  b.addParameter(base, pointer);
  std::string moved = pointers(b, base, ownPlaces(b, x.shape), *x.type);
  std::string suffix =
      " " + b.choose(orders) + " " + b.choose(scopes) + " : " + b.text(x) + ", " + b.text(x.shape, pointer);
  if (!x.isFloat() && b.oneIn(4)) {
    Tile expected = b.like(x);
    b.add("tile.atomic_cas " + expected.name + ", " + x.name + ", " + moved + suffix, x.shape, *x.type);
  } else {
    std::string kind = x.isFloat() ? (b.oneIn(2) ? "addf" : "xchg") : b.choose(kinds), masking;
    const Tile *mask = b.find([&](const Tile &tile) { return tile.type->bits == 1 && tile.shape == x.shape; });
    if (mask)
      masking = " mask " + mask->name;
    std::string old = b.fresh(), words = "tile.atomic_rmw " + kind + " " + x.name + ", " + moved + masking + suffix;
    b.line(old + " = " + words);
    if (!mask) {
      b.pool_.push_back({old, x.shape, x.type, 4, 0});
      return true;
    }
    Tile condition = *mask, zero = b.constant(x.shape, *x.type, 0); // Where nothing was updated, it is not known.
    b.add("arith.select " + condition.name + ", " + old + ", " + zero.name + " : " + b.text(condition) + ", " +
              b.text(x),
          x.shape, *x.type, 4);
  }
  return true;
}

/// Updates of one view by all instances.
bool atomic(ProgramBuilder &b) {
  static const std::vector<std::string> kinds{"addi", "maxs", "minu", "xori"};
  const Tile *found = b.find([&](const Tile &tile) {
    bool isSum = tile.isFloat() && tile.type->bits >= 32 &&
                 Tile::fits(*tile.type, 4 + double(b.programs) * tile.bound, tile.quantum);
    return tile.type->name == "i32" || tile.type->name == "i64" || isSum;
  });
  if (!found)
    return false;
  Tile x = *found;
  std::vector<std::string> sizes;
  std::string places;
  for (int64_t size : x.shape) {
    sizes.push_back(std::to_string(size));
    places += (places.empty() ? "" : ", ") + b.index(0);
  }
  std::string view = viewType(sizes, *x.type), name = b.argument({std::string(x.type->name), x.shape});
  b.addParameter(name, view);
  b.line("tile.atomic " + (x.isFloat() ? "addf" : b.choose(kinds)) + " " + x.name + ", " + name + "[" + places +
         "] relaxed device : " + b.text(x) + ", " + view);
  return true;
}

} // namespace

std::span<const Operation> memoryOperations() {
  static constexpr std::array all{load, loadPart, loadOne, gather, scatter, atomicRmw, atomic};
  return all;
}

} // namespace tilejit::fuzz
