// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the families of random operations share: the pool of tiles that were made so far, what is known of their
// numbers, dice, and the text.

#ifndef TILEJIT_TEST_FUZZ_PROGRAMBUILDER_H
#define TILEJIT_TEST_FUZZ_PROGRAMBUILDER_H

#include "TileProgram.h"

#include <limits>
#include <random>
#include <span>
#include <string_view>

namespace tilejit::fuzz {

/// The bound of numbers of which none is known.
inline constexpr double unknown = std::numeric_limits<double>::infinity();

struct Element {
  std::string_view name;
  int bits;
  int digits; ///< Binary digits of a floating-point number; 0: an integer.
  double highest;

  bool isFloat() const { return digits > 0; }
  /// Whether every number of it is one of all other floating-point types.
  bool isScale() const { return digits == 1; }
  /// Whether there is arithmetic on it.
  bool computes() const { return digits >= 8 || (!isFloat() && bits >= 8); }
};

/// All element types that programs use.
std::span<const Element> elements();
const Element &element(std::string_view name);

/// A tile. Floating-point numbers are at most `bound` and multiples of 2^-quantum; infinite where that is not known.
struct Tile {
  std::string name;
  std::vector<int64_t> shape;
  const Element *type = nullptr;
  double bound = 0;
  int quantum = 0;

  int64_t count() const;
  bool isFloat() const { return type->isFloat(); }
  /// Whether numbers up to a bound with a quantum are exact in a type.
  static bool fits(const Element &type, double bound, int quantum);
};

using Shape = std::vector<int64_t>;

class ProgramBuilder {
public:
  explicit ProgramBuilder(uint64_t seed) : dice_(seed) {}

  // Dice.
  int64_t below(int64_t count) { return static_cast<int64_t>(dice_() % static_cast<uint64_t>(count)); }
  bool oneIn(int64_t count) { return below(count) == 0; }
  template <typename T> const T &choose(const std::vector<T> &list) {
    return list[size_t(below(int64_t(list.size())))];
  }
  Shape shape(int rank = 0);
  const Element &anyElement();

  // Text.
  static std::string text(const Shape &shape, std::string_view element);
  static std::string text(const Tile &tile) { return text(tile.shape, tile.type->name); }
  void line(const std::string &words);
  std::string fresh() { return "%v" + std::to_string(next_++); }
  /// Writes "%v = words" and puts the tile into the pool.
  const Tile &add(const std::string &words, Shape shape, const Element &type, double bound = 0, int quantum = 0);
  std::string index(int64_t value);
  Tile constant(const Shape &shape, const Element &type, int64_t value);
  std::string argument(ProgramArgument argument);
  void addParameter(const std::string &name, const std::string &type);
  /// "[%p, %c0, ...]": the place of this instance along the first dimension, the first tile along the others.
  std::string place(int rank);

  // The pool.
  /// A tile that `accept` takes, the latest ones more often; nothing where there is none.
  template <typename Accept> const Tile *find(Accept accept) {
    for (int attempt = 0; attempt < 24 && !pool_.empty(); ++attempt) {
      size_t range = oneIn(2) ? std::min<size_t>(pool_.size(), 6) : pool_.size();
      const Tile &tile = pool_[pool_.size() - 1 - size_t(below(int64_t(range)))];
      if (accept(tile))
        return &tile;
    }
    return nullptr;
  }
  /// A tile of the same type, made where there is none.
  Tile like(const Tile &tile);

  void store(const Tile &tile, double tolerance = 0);

  int64_t programs = 1, columns = 1; ///< Instances, and how many of them along axis 1 of the grid.
  int depth = 0;                     ///< Of regions; inside of them nothing is written to memory.
  bool isNested() const { return depth > 0; }

  std::vector<Tile> pool_;
  std::vector<ProgramArgument> arguments_;
  std::string signature_, constants_, body_;

private:
  std::mt19937_64 dice_;
  int next_ = 0;
  std::vector<int64_t> indices_;
};

/// A random operation on what is in the pool; false where nothing there suits it.
using Operation = bool (*)(ProgramBuilder &);

std::span<const Operation> numberOperations();
std::span<const Operation> shapeOperations();
std::span<const Operation> memoryOperations();
std::span<const Operation> combiningOperations();
std::span<const Operation> statementOperations();
/// Loads a fresh tile; of any type, or of the type named.
Tile loadTile(ProgramBuilder &b, const Shape &shape, const Element &type);

} // namespace tilejit::fuzz

#endif // TILEJIT_TEST_FUZZ_PROGRAMBUILDER_H
