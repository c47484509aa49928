// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Numbers of every element type as cells of 64 bits: an integer is its bits with zeros above, a floating-point number
// is a double (which holds every format exactly), a pointer is a buffer and an offset. Nothing here knows of
// operations.

#ifndef TILEJIT_INTERPRETER_NUMBERS_H
#define TILEJIT_INTERPRETER_NUMBERS_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"

#include <bit>
#include <cstdint>

namespace tilejit::interpreter {

using Cell = uint64_t;

inline double toReal(Cell cell) { return std::bit_cast<double>(cell); }
inline Cell toCell(double value) { return std::bit_cast<Cell>(value); }

/// Pointers: the index of a buffer and a signed offset in bytes.
Cell makePointer(unsigned buffer, int64_t offset);
unsigned pointerBuffer(Cell pointer);
int64_t pointerOffset(Cell pointer);
/// The pointer moved by a number of bytes; it stays in its buffer's name, however far it goes.
Cell movePointer(Cell pointer, int64_t bytes);

/// What an element type is: its width and, for floating-point types, its format.
class Format {
public:
  explicit Format(mlir::Type element);

  bool isFloat() const { return semantics != nullptr; }
  unsigned getWidth() const { return width; }
  /// Bytes of an element in memory.
  int64_t getBytes() const { return (width + 7) / 8; }

  // Integers.
  /// The low bits.
  Cell wrap(uint64_t bits) const { return width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1); }
  int64_t toSigned(Cell cell) const {
    return width >= 64 ? int64_t(cell) : int64_t(cell << (64 - width)) >> (64 - width);
  }
  Cell getSignedMin() const { return wrap(uint64_t(1) << (width - 1)); }
  Cell getSignedMax() const { return wrap((uint64_t(1) << (width - 1)) - 1); }

  // Floating-point numbers.
  /// The nearest number of the format. Beyond the largest one: an infinity, NaN, or that number, as the format has
  /// them.
  double round(double value) const {
    if (semantics == &llvm::APFloat::IEEEsingle())
      return static_cast<float>(value);
    return semantics == &llvm::APFloat::IEEEdouble() ? value
                                                     : roundSlowly(value, llvm::RoundingMode::NearestTiesToEven);
  }
  /// The same in another direction. Toward zero no finite number becomes an infinity.
  double round(double value, llvm::RoundingMode mode) const { return roundSlowly(value, mode); }
  double getLargest() const;
  /// Minus infinity, or the least number.
  double getLowest() const;
  /// Of a type without zero the least number, which is its nearest.
  double getZero() const;
  bool hasInfinity() const;
  bool hasNaN() const;

  /// Bits in memory of a cell, and back.
  uint64_t encode(Cell cell) const;
  Cell decode(uint64_t bits) const;

private:
  double roundSlowly(double value, llvm::RoundingMode mode) const;
  llvm::APFloat convert(double value, llvm::RoundingMode mode) const;

  unsigned width = 0;
  const llvm::fltSemantics *semantics = nullptr;
};

} // namespace tilejit::interpreter

#endif // TILEJIT_INTERPRETER_NUMBERS_H
