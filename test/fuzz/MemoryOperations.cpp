// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Loads of views in all forms, gathers, scatters and atomics; and operations that only say something. Program
// instances write to places of their own, or by updates that give the same in any order.

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

/// What a load puts outside a view, and the largest number that this may be.
std::pair<std::string, double> randomPad(ProgramBuilder &b, const Element &type) {
  static const std::vector<std::string> both{"zero", "one", "lowest", "highest"};
  std::string pad = b.choose(both);
  return {" pad " + pad, pad == "zero" || pad == "one" || !type.isFloat() ? 4 : unknown};
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
  auto [pad, bound] = isRagged ? randomPad(b, type) : std::pair<std::string, double>("", 4);
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
  loadTile(b, b.shape(), b.storable());
  return true;
}

/// Through a pointer, rows apart; a part of that view.
bool loadPart(ProgramBuilder &b) {
  const Element &type = b.storable();
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
        {4, 8}, type, 4);
  return true;
}

/// Pointers into memory behind a pointer argument, at the places that a tile of i32 holds.
std::string pointers(ProgramBuilder &b, const std::string &base, const Tile &places, const Element &type) {
  std::string pointer = "!tile.ptr<" + std::string(type.name) + ">", tile = b.text(places.shape, pointer);
  std::string spread = b.fresh(), moved = b.fresh();
  b.line(spread + " = tile.splat " + base + " : " + pointer + " -> " + tile);
  b.line(moved + " = tile.addptr " + spread + ", " + places.name + " : " + tile + ", " + b.text(places));
  return moved;
}

bool gather(ProgramBuilder &b) {
  constexpr int64_t size = 256;
  const Tile *found = b.find([](const Tile &tile) { return tile.type->name == "i32"; });
  const Element &type = b.storable();
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
  b.add("tile.gather " + moved + masking + " : " + b.text(where.shape, pointer) + " -> " +
            b.text(where.shape, type.name),
        where.shape, type, mask ? std::max<double>(4, other.bound) : 4, mask ? other.quantum : 0);
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
  const Tile *found = b.find([](const Tile &tile) { return tile.type->bits >= 8; });
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
    return tile.type->name == "i32" || tile.type->name == "i64" || (tile.type->name == "f32" && tile.bound <= 4096);
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
    std::string kind = x.isFloat() ? (b.oneIn(2) ? "addf" : "xchg") : b.choose(kinds);
    b.add("tile.atomic_rmw " + kind + " " + x.name + ", " + moved + suffix, x.shape, *x.type, 4);
  }
  return true;
}

/// Updates of one view by all instances.
bool atomic(ProgramBuilder &b) {
  static const std::vector<std::string> kinds{"addi", "maxs", "minu", "xori"};
  const Tile *found = b.find([](const Tile &tile) { return tile.type->name == "i32" || tile.type->name == "i64"; });
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
  b.line("tile.atomic " + b.choose(kinds) + " " + x.name + ", " + name + "[" + places +
         "] relaxed device : " + b.text(x) + ", " + view);
  return true;
}

/// Sizes, facts, hints and assertions that hold.
bool statements(ProgramBuilder &b) {
  std::string count = b.fresh(), known = b.fresh(), holds = b.fresh();
  b.line(count + " = tile.num_programs 0");
  b.line(known + " = tile.assume " + count + " min 1 max 64 : index");
  b.line(holds + " = arith.cmpi ult, %p, " + known + " : index");
  b.line("tile.assert " + holds + ", \"an instance beyond the grid\" : i1");
  b.line("tile.hint {cpu = {unroll = 2 : i64}}");
  return true;
}
} // namespace

std::span<const Operation> memoryOperations() {
  static constexpr std::array all{load, loadPart, gather, scatter, atomicRmw, atomic, statements};
  return all;
}

} // namespace tilejit::fuzz
