// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Every row of the fragment table, element by element, against the formulas of the instruction references: those of the
// PTX ISA as SimulatorMatrixCases has them, those of AMD's calculator as SimulatorAmdLayouts.inc has them.

#include "AmdMatrixLayouts.h"
#include "SimulatorMatrixCases.h"
#include "tilejit/Dialect/TileGPU/IR/Fragments.h"

#include <functional>
#include <map>
#include <set>
#include <string>

namespace tilejit::tilegpu::test {

namespace {

/// Coordinates; none for an element that the instruction does not read.
using Formulas = std::function<std::vector<int>(int lane, int warp, int element)>;

void compare(const LinearLayout &layout, int elements, const Formulas &formulas) {
  REQUIRE(1 << layout.inBits(kRegister) == elements);
  const int lanes = 1 << layout.inBits(kLane), warps = 1 << layout.inBits(kWarp);
  for (int warp = 0; warp < warps; ++warp)
    for (int lane = 0; lane < lanes; ++lane)
      for (int element = 0; element < elements; ++element) {
        uint64_t place = static_cast<uint64_t>((warp * lanes + lane) * elements + element);
        std::vector<int> expected = formulas(lane, warp, element), found;
        if (expected.empty())
          continue;
        for (uint64_t value : layout.splitOut(layout.apply(place)))
          found.push_back(static_cast<int>(value));
        if (found != expected) {
          CAPTURE(warp, lane, element);
          REQUIRE(found == expected);
        }
      }
  CHECK(layout.isSurjective());
}

void comparePlaces(const MatrixInstruction &row, MatrixOperand operand, sim::test::Fragment fragment, int elements) {
  compare(row.layout(operand), elements, [&](int lane, int warp, int element) {
    sim::test::Place place = fragment(lane, element);
    return std::vector<int>{place.row + 16 * warp, place.column};
  });
}

int bitsOf(const std::string &type) {
  static const std::map<std::string, int> bits{{"f64", 64},  {"f32", 32}, {"xf32", 32}, {"tf32", 32},   {"f16", 16},
                                               {"bf16", 16}, {"fp8", 8},  {"bf8", 8},   {"fp8fnuz", 8}, {"bf8fnuz", 8},
                                               {"fp6", 6},   {"bf6", 6},  {"fp4", 4},   {"int8", 8},    {"int4", 4},
                                               {"b1", 1},    {"i8", 8},   {"iu8", 8},   {"iu4", 4},     {"i32", 32}};
  return bits.at(type);
}

/// Rows that a test has compared.
std::set<const MatrixInstruction *> compareMma() {
  std::set<const MatrixInstruction *> rows;
  for (const char *types : {"f16", "bf16", "tf32", "f64", "fp8", "int8", "int4", "b1"})
    for (const sim::test::ShapeCase &shape : sim::test::denseShapes(types)) {
      CAPTURE(types, shape.shape);
      const MatrixInstruction *row =
          findMatrixInstruction(MatrixFamily::Mma, {shape.m, shape.n, shape.k}, bitsOf(types));
      REQUIRE(row);
      rows.insert(row);
      comparePlaces(*row, MatrixOperand::A, shape.a, shape.elementsA);
      comparePlaces(*row, MatrixOperand::B, shape.b, shape.elementsB);
      comparePlaces(*row, MatrixOperand::Result, shape.c, shape.elementsC);
    }
  return rows;
}

std::set<const MatrixInstruction *> compareWgmma() {
  std::set<const MatrixInstruction *> rows;
  for (const char *types : {"f16", "tf32", "int8"}) {
    // A of one warp is that of the largest mma.sync with 16 rows.
    const sim::test::ShapeCase &shape = sim::test::denseShapes(types).back();
    CAPTURE(types);
    const MatrixInstruction *row = findMatrixInstruction(MatrixFamily::Wgmma, {64, 8, shape.k}, bitsOf(types));
    REQUIRE(row);
    rows.insert(row);
    comparePlaces(*row, MatrixOperand::A, shape.a, shape.elementsA);
    CHECK_FALSE(row->isInRegisters(MatrixOperand::B));
    compare(row->layout(MatrixOperand::Result), 4, [](int lane, int warp, int i) {
      return std::vector<int>{16 * warp + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2};
    });
  }
  return rows;
}

std::set<const MatrixInstruction *> compareAmd() {
  static const std::map<std::string, MatrixFamily> families{{"mfma", MatrixFamily::Mfma},
                                                            {"scaled", MatrixFamily::MfmaScaled},
                                                            {"gfx1100", MatrixFamily::WmmaGfx11},
                                                            {"gfx1201", MatrixFamily::WmmaGfx12}};
  std::set<const MatrixInstruction *> rows;
  for (const sim::test::MatrixLayoutRow &listed : sim::test::matrixLayouts()) {
    const std::string form = listed.form;
    if (form == "sparse" || form.starts_with("swmmac"))
      continue;
    CAPTURE(listed.chip, listed.name, listed.lanes);
    const int bitsA = bitsOf(listed.a), bitsC = bitsOf(listed.c);
    const MatrixInstruction *row =
        findMatrixInstruction(families.at(families.contains(form) ? form : listed.chip),
                              {listed.m, listed.m, listed.k, listed.blocks}, bitsA, bitsC, listed.lanes);
    REQUIRE(row);
    rows.insert(row);
    const auto check = [&](MatrixOperand operand, int elements, int bits, std::vector<const char *> formulas) {
      if (listed.blocks == 1)
        formulas.erase(formulas.begin());
      const std::vector<int64_t> shape = row->layout(operand).shape();
      compare(row->layout(operand), elements, [&](int lane, int, int element) {
        std::vector<int> values;
        for (const char *formula : formulas)
          values.push_back(sim::test::Formula(formula, lane, element, bits).value());
        for (size_t i = 0; i < values.size(); ++i)
          if (values[i] >= shape[i])
            return std::vector<int>();
        return values;
      });
    };
    check(MatrixOperand::A, listed.countA, bitsA, {listed.blockA, listed.rowA, listed.depthA});
    check(MatrixOperand::B, listed.countB, bitsOf(listed.b), {listed.blockB, listed.depthB, listed.columnB});
    check(MatrixOperand::Result, listed.countC, bitsC, {listed.blockC, listed.rowC, listed.columnC});
  }
  return rows;
}

} // namespace

TEST_CASE("Fragments are where the instruction references say", "[tilegpu]") {
  std::set<const MatrixInstruction *> rows = compareMma();
  rows.merge(compareWgmma());
  rows.merge(compareAmd());
  // No row goes unchecked.
  for (const MatrixInstruction &row : matrixInstructions()) {
    CAPTURE(row.m, row.n, row.k, row.blocks, row.operandBits, row.resultBits, row.lanes);
    CHECK(rows.contains(&row));
  }
}

TEST_CASE("Instructions that do not exist are not found", "[tilegpu]") {
  CHECK(findMatrixInstruction(MatrixFamily::Mma, {16, 8, 24}, 16) == nullptr);
  CHECK(findMatrixInstruction(MatrixFamily::Mma, {16, 8, 16}, 16, 32, 64) == nullptr);
  CHECK(findMatrixInstruction(MatrixFamily::Mma, {16, 8, 16}, 16, 16) != nullptr);
  CHECK(findMatrixInstruction(MatrixFamily::WmmaGfx12, {16, 16, 16}, 16, 8) == nullptr);
}

TEST_CASE("ldmatrix and stmatrix give each lane what the PTX ISA says", "[tilegpu]") {
  for (int matrices : {1, 2, 4})
    for (bool transposed : {false, true}) {
      CAPTURE(matrices, transposed);
      compare(matrixLoad(matrices, transposed), 2 * matrices, [&](int lane, int, int element) {
        int g = lane / 4, pair = 2 * (lane % 4) + element % 2;
        return std::vector<int>{element / 2, transposed ? pair : g, transposed ? g : pair};
      });
    }
  compare(matrixLoadAddress(4), 1, [](int lane, int, int) { return std::vector<int>{lane / 8, lane % 8}; });
  compare(matrixLoadAddress(2), 1, [](int lane, int, int) { return std::vector<int>{lane / 8 % 2, lane % 8}; });
  compare(matrixLoadAddress(1), 1, [](int lane, int, int) { return std::vector<int>{0, lane % 8}; });
}

} // namespace tilejit::tilegpu::test
