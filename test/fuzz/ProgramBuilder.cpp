// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Dice, text and pool; and the program as a whole.

#include "ProgramBuilder.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilejit::fuzz {

std::span<const Element> elements() {
  static constexpr std::array all = std::to_array<Element>({{"i32", 32, 0, 0},
                                                            {"f32", 32, 24, 3e38},
                                                            {"i8", 8, 0, 0},
                                                            {"f16", 16, 11, 65504},
                                                            {"i64", 64, 0, 0},
                                                            {"bf16", 16, 8, 3e38},
                                                            {"i16", 16, 0, 0},
                                                            {"f64", 64, 53, 1e300},
                                                            {"f8E4M3FN", 8, 4, 448},
                                                            {"f8E5M2", 8, 3, 57344},
                                                            {"f8E4M3FNUZ", 8, 4, 240},
                                                            {"f8E5M2FNUZ", 8, 3, 57344},
                                                            {"f8E8M0FNU", 8, 1, 1.7e38},
                                                            {"f4E2M1FN", 4, 2, 6},
                                                            {"f6E2M3FN", 6, 4, 7.5},
                                                            {"f6E3M2FN", 6, 3, 28},
                                                            {"i1", 1, 0, 0},
                                                            {"i4", 4, 0, 0}});
  return all;
}

const Element &element(std::string_view name) {
  auto found = std::find_if(elements().begin(), elements().end(), [&](const Element &e) { return e.name == name; });
  return *found;
}

int64_t Tile::count() const {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

bool Tile::fits(const Element &type, double bound, int quantum) {
  return bound <= type.highest && quantum < 12 && std::ldexp(bound, quantum) < std::ldexp(1.0, type.digits);
}

const Element &ProgramBuilder::anyElement() { return elements()[size_t(below(int64_t(elements().size())))]; }

/// One to three dimensions, most of them powers of two.
Shape ProgramBuilder::shape(int rank) {
  static const std::vector<int64_t> even{1, 2, 4, 8, 16, 32, 64}, odd{3, 5, 6, 7, 12, 20, 33};
  if (rank == 0)
    rank = 1 + int(below(3));
  Shape shape;
  int64_t left = 2048;
  for (int d = 0; d < rank; ++d) {
    int64_t size = oneIn(4) ? choose(odd) : choose(even);
    shape.push_back(size <= left ? size : 1);
    left /= shape.back();
  }
  return shape;
}

std::string ProgramBuilder::text(const Shape &shape, std::string_view element) {
  std::string words = "tensor<";
  for (int64_t size : shape)
    words += std::to_string(size) + "x";
  return words + std::string(element) + ">";
}

void ProgramBuilder::line(const std::string &words) { body_ += "  " + words + "\n"; }

const Tile &ProgramBuilder::add(const std::string &words, Shape shape, const Element &type, double bound, int quantum) {
  std::string name = fresh();
  line(name + " = " + words);
  pool_.push_back({name, std::move(shape), &type, bound, quantum});
  return pool_.back();
}

std::string ProgramBuilder::index(int64_t value) {
  if (std::find(indices_.begin(), indices_.end(), value) == indices_.end()) {
    indices_.push_back(value);
    constants_ += "  %c" + std::to_string(value) + " = arith.constant " + std::to_string(value) + " : index\n";
  }
  return "%c" + std::to_string(value);
}

Tile ProgramBuilder::constant(const Shape &shape, const Element &type, int64_t value) {
  if (type.isScale())
    value = int64_t{1} << (value & 3);
  std::string number = type.bits == 1 ? (value & 1 ? "true" : "false") : std::to_string(value);
  if (type.isFloat())
    number += ".0";
  Tile tile{fresh(), shape, &type, std::abs(double(value)), 0};
  constants_ += "  " + tile.name + " = arith.constant dense<" + number + "> : " + text(tile) + "\n";
  return tile;
}

void ProgramBuilder::addParameter(const std::string &name, const std::string &type) {
  signature_ += (signature_.empty() ? "" : ", ") + name + ": " + type;
}

std::string ProgramBuilder::argument(ProgramArgument argument) {
  std::string name = "%a" + std::to_string(arguments_.size());
  arguments_.push_back(std::move(argument));
  return name;
}

std::string ProgramBuilder::place(int rank) {
  std::string words = "[%p";
  for (int d = 1; d < rank; ++d)
    words += ", " + index(0);
  return words + "]";
}

Tile ProgramBuilder::like(const Tile &tile) {
  Tile wanted = tile;
  if (const Tile *found = find([&](const Tile &t) { return t.type == wanted.type && t.shape == wanted.shape; }))
    if (found->name != wanted.name || oneIn(3))
      return *found;
  return constant(wanted.shape, *wanted.type, below(5) - 2);
}

void ProgramBuilder::store(const Tile &stored, double tolerance) {
  const Tile tile = stored;
  std::string sizes;
  ProgramArgument output{std::string(tile.type->name), tile.shape, false, ProgramArgument::Fill::Numbers, tolerance};
  output.shape[0] *= programs;
  if (tile.shape[0] > 1 && oneIn(3)) // The last tile reaches beyond the view.
    output.shape[0] -= 1 + below(tile.shape[0] - 1);
  for (int64_t size : output.shape)
    sizes += (oneIn(3) ? "?" : std::to_string(size)) + "x";
  std::string view = "!tile.view<" + sizes + std::string(tile.type->name) + ">";
  std::string name = argument(std::move(output));
  addParameter(name, view);
  line("tile.store " + tile.name + ", " + name + place(int(tile.shape.size())) + " : " + text(tile) + ", " + view);
}

namespace {
/// Random operations; some of them inside a loop or a branch.
class Program {
public:
  explicit Program(uint64_t seed) : b_(seed) {}

  TileProgram make() {
    b_.programs = 1 + b_.below(4);
    b_.columns = b_.programs % 2 == 0 && b_.oneIn(2) ? 2 : 1;
    for (int64_t i = 2 + b_.below(3); i > 0; --i)
      loadTile(b_, b_.shape(), b_.anyElement());
    for (int64_t i = 4 + b_.below(24); i > 0; --i)
      b_.oneIn(10) ? region() : operation();
    std::vector<Tile> all = b_.pool_;
    for (size_t i = 0; i < all.size(); ++i)
      if (all.size() - i <= 4 || b_.oneIn(8))
        b_.store(all[i]);
    return finish();
  }

private:
  void operation() {
    using List = std::span<const Operation>;
    const std::array<List, 7> lists{numberOperations(),    numberOperations(),    numberOperations(), shapeOperations(),
                                    combiningOperations(), statementOperations(), memoryOperations()};
    for (int attempt = 0; attempt < 20; ++attempt) {
      List list = lists[size_t(b_.below(b_.isNested() ? 6 : 7))];
      if (list[size_t(b_.below(int64_t(list.size())))](b_))
        return;
    }
  }

  /// Operations whose tiles are not seen outside; gives a tile of the type of `wanted`.
  Tile nested(const Tile &wanted) {
    size_t known = b_.pool_.size();
    ++b_.depth;
    for (int64_t i = 1 + b_.below(4); i > 0; --i)
      b_.depth < 2 && b_.oneIn(8) ? region() : operation();
    --b_.depth;
    Tile result = b_.like(wanted);
    b_.pool_.resize(known);
    return result;
  }

  /// Where a loop ends: the same for all instances, or not.
  std::string bound() { return b_.oneIn(3) ? "%p" : b_.index(b_.below(4)); }

  /// A tile that a region takes as `carried`, and what is to become of it.
  Tile body(const Tile &start, const std::string &carried) {
    b_.pool_.push_back({carried, start.shape, start.type, unknown, 0});
    Tile last = nested(start);
    b_.pool_.pop_back();
    return last;
  }

  void forLoop(const std::string &name, const Tile &start, const std::string &type) {
    std::string carried = b_.fresh(), number = b_.fresh();
    b_.line(name + " = scf.for " + number + " = " + b_.index(0) + " to " + bound() + " step " + b_.index(1) +
            " iter_args(" + carried + " = " + start.name + ") -> (" + type + ") {");
    Tile last = body(start, carried);
    b_.line("scf.yield " + last.name + " : " + type + "\n  }");
  }

  void whileLoop(const std::string &name, const Tile &start, const std::string &type) {
    std::string tile = b_.fresh(), count = b_.fresh(), goesOn = b_.fresh(), carried = b_.fresh(), number = b_.fresh();
    std::string next = b_.fresh(), both = "(" + type + ", index)", pair = name + "p";
    b_.line(pair + ":2 = scf.while (" + tile + " = " + start.name + ", " + count + " = " + b_.index(0) + ") : " + both +
            " -> " + both + " {");
    b_.line(goesOn + " = arith.cmpi ult, " + count + ", " + bound() + " : index");
    b_.line("scf.condition(" + goesOn + ") " + tile + ", " + count + " : " + type + ", index\n  } do {");
    b_.line("^bb0(" + carried + ": " + type + ", " + number + ": index):");
    Tile last = body(start, carried);
    b_.line(next + " = arith.addi " + number + ", " + b_.index(1) + " : index");
    b_.line("scf.yield " + last.name + ", " + next + " : " + type + ", index\n  }");
    b_.line(name + " = tile.reshape " + pair + "#0 : " + type + " -> " + type);
  }

  void branch(const std::string &name, const Tile &start, const std::string &type) {
    std::string condition = b_.fresh();
    b_.line(condition + " = arith.cmpi ult, %p, " + b_.index(b_.below(3)) + " : index");
    b_.line(name + " = scf.if " + condition + " -> (" + type + ") {");
    Tile first = nested(start);
    b_.line("scf.yield " + first.name + " : " + type + "\n  } else {");
    Tile second = nested(start);
    b_.line("scf.yield " + second.name + " : " + type + "\n  }");
  }

  void choice(const std::string &name, const Tile &start, const std::string &type) {
    b_.line(name + " = scf.index_switch %p -> " + type);
    int64_t number = b_.below(2);
    for (int64_t cases = b_.below(3); cases >= 0; --cases, number += 1 + b_.below(2)) {
      b_.line((cases > 0 ? "case " + std::to_string(number) : std::string("default")) + " {");
      Tile last = nested(start);
      b_.line("scf.yield " + last.name + " : " + type + "\n  }");
    }
  }

  /// A loop that carries a tile, or a branch that gives one. What floating-point numbers become is not known.
  void region() {
    const Tile *found = b_.find([](const Tile &tile) { return tile.type->computes(); });
    if (!found)
      return;
    Tile start = *found;
    std::string name = b_.fresh(), type = ProgramBuilder::text(start);
    if (b_.oneIn(3))
      forLoop(name, start, type);
    else if (b_.oneIn(2))
      whileLoop(name, start, type);
    else if (b_.oneIn(3))
      choice(name, start, type);
    else
      branch(name, start, type);
    b_.pool_.push_back({name, start.shape, start.type, unknown, 0});
  }

  /// The instance's number, from its place in the grid.
  static std::string place() {
    return "  %row = tile.program_id 0\n  %column = tile.program_id 1\n  %columns = tile.num_programs 1\n"
           "  %before = arith.muli %row, %columns : index\n  %p = arith.addi %before, %column : index\n";
  }

  TileProgram finish() {
    std::string text = "tile.kernel @random(" + b_.signature_ + ") launch <grid = affine_map<() -> (" +
                       std::to_string(b_.programs / b_.columns) + ", " + std::to_string(b_.columns) + ")>> {\n" +
                       place() + b_.constants_ + b_.body_ + "  tile.return\n}\n";
    return {std::move(text), b_.arguments_};
  }

  ProgramBuilder b_;
};
} // namespace

TileProgram randomProgram(uint64_t seed) { return Program(seed).make(); }

} // namespace tilejit::fuzz
