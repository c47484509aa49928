// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Matrix instructions of NVIDIA as the PTX ISA describes them ("Matrix Fragments for mma.m16n8k16 ..."): for each lane
// and element the row and column, in the form in which the ISA gives them. Written down apart from the simulator's own
// table, to which it is compared by running every instruction on matrices of its types. Also exact conversions of the
// small floating-point formats, as slow and plain as can be.

#ifndef TILEJIT_TEST_UNIT_SIMULATORMATRIXCASES_H
#define TILEJIT_TEST_UNIT_SIMULATORMATRIXCASES_H

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace tilejit::sim::test {

struct Place {
  int row, column;
};
using Fragment = Place (*)(int lane, int i);

/// An element type: how its numbers look in a register.
struct ElementType {
  std::string name;
  int bits;
  int exponentBits = 0, mantissaBits = 0, bias = 0; ///< Of floating-point types.
  bool isSigned = false;

  bool isReal() const { return exponentBits != 0; }
  /// The bits of a number that the type has.
  uint64_t encode(double value) const;
  double decode(uint64_t code) const;
  /// A number of the type: small integers, or any of moderate size.
  double random(std::mt19937 &random, bool integers) const;
};
const ElementType &elementType(const std::string &name);

/// A shape for a group of types.
struct ShapeCase {
  std::string shape;
  int m, n, k;
  std::string chip, before; ///< The first chip that has it, and one that lacks it (empty: none is simulated).
  Fragment a, b, c;
  int elementsA, elementsB, elementsC;
};
/// Dense products by types: "f16", "bf16", "tf32", "f64", "fp8", "int8", "int4", "b1".
const std::vector<ShapeCase> &denseShapes(const std::string &types);
/// Sparse products; A is half as wide as k says.
const std::vector<ShapeCase> &sparseShapes(const std::string &types);

/// The registers of 32 lanes that hold a matrix: [lane][register], each `registerBits` wide.
std::vector<uint8_t> toRegisters(const std::vector<double> &matrix, int columns, Fragment fragment, int elements,
                                 const ElementType &type);
std::vector<double> fromRegisters(const uint8_t *registers, int rows, int columns, Fragment fragment, int elements,
                                  const ElementType &type);

} // namespace tilejit::sim::test

#endif // TILEJIT_TEST_UNIT_SIMULATORMATRIXCASES_H
