// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What is done with the rows: see the header. The rows are in FragmentTable.cpp.

#include "tilejit/Dialect/TileGPU/IR/Fragments.h"

#include "FragmentTable.h"

#include <algorithm>
#include <cassert>
#include <charconv>

namespace tilejit::tilegpu {

namespace {

/// Takes the text up to the next `separator` off the front of `text`, without spaces around it.
std::string_view next(std::string_view &text, char separator) {
  const auto trimmed = [](std::string_view part) {
    size_t first = part.find_first_not_of(" \n");
    return first == part.npos ? std::string_view() : part.substr(first, part.find_last_not_of(" \n") - first + 1);
  };
  text = trimmed(text);
  size_t end = std::min(text.find(separator), text.size());
  std::string_view part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// `m1+k8` as coordinates.
std::vector<uint64_t> readStep(std::string_view text, std::string_view letters) {
  std::vector<uint64_t> coordinates(letters.size());
  while (!text.empty() && text != "0") {
    std::string_view term = next(text, '+');
    size_t axis = letters.find(term.front());
    assert(axis != letters.npos && "a step along an unknown dimension");
    [[maybe_unused]] auto read = std::from_chars(term.data() + 1, term.data() + term.size(), coordinates[axis]);
    assert(read.ec == std::errc() && read.ptr == term.data() + term.size() && "a step is a letter and a number");
  }
  return coordinates;
}

} // namespace

LinearLayout fragmentFromText(std::string_view text, std::string_view letters, const std::vector<int64_t> &shape) {
  assert(letters.size() == shape.size());
  const LinearLayout tile({}, tileDims(shape), {});
  Dims ins;
  gf2::Vectors columns;
  while (!text.empty()) {
    std::string_view group = next(text, ';');
    ins.push_back({std::string(next(group, ' ')), 0});
    for (std::string_view step = next(group, ' '); !step.empty(); step = next(group, ' ')) {
      columns.push_back(tile.joinOut(readStep(step, letters)));
      ++ins.back().bits;
    }
  }
  return {std::move(ins), tile.outs(), std::move(columns)};
}

bool MatrixInstruction::isInRegisters(MatrixOperand operand) const {
  return !(operand == MatrixOperand::A ? a : operand == MatrixOperand::B ? b : result).empty();
}

LinearLayout MatrixInstruction::layout(MatrixOperand operand) const {
  assert(isInRegisters(operand) && "this operand is in memory");
  const std::string_view text = operand == MatrixOperand::A ? a : operand == MatrixOperand::B ? b : result;
  std::string letters = operand == MatrixOperand::A ? "mk" : operand == MatrixOperand::B ? "kn" : "mn";
  std::vector<int64_t> shape = operand == MatrixOperand::A   ? std::vector<int64_t>{m, k}
                               : operand == MatrixOperand::B ? std::vector<int64_t>{k, n}
                                                             : std::vector<int64_t>{m, n};
  if (blocks > 1) {
    letters.insert(letters.begin(), 'b');
    shape.insert(shape.begin(), blocks);
  }
  LinearLayout read = fragmentFromText(text, letters, shape);
  return read.inBits(kWarp) ? read : read.withIns({kRegister, kLane});
}

std::span<const MatrixInstruction> matrixInstructions() { return fragmentTable(); }

const MatrixInstruction *findMatrixInstruction(MatrixFamily family, const MatrixShape &shape, int operandBits,
                                               int resultBits, int lanes) {
  for (const MatrixInstruction &row : fragmentTable())
    if (row.family == family && row.lanes == lanes && row.m == shape.m && row.n == shape.n && row.k == shape.k &&
        row.blocks == shape.blocks && row.operandBits == operandBits &&
        (row.resultBits == 0 || row.resultBits == resultBits))
      return &row;
  return nullptr;
}

LinearLayout matrixLoad(int matrices, bool transposed) {
  assert(matrices == 1 || matrices == 2 || matrices == 4);
  std::string text = transposed ? "register r1" : "register c1";
  for (int q = 1; q < matrices; q *= 2)
    text += " q" + std::to_string(q);
  text += transposed ? "; lane r2 r4 c1 c2 c4" : "; lane c2 c4 r1 r2 r4";
  return fragmentFromText(text, "qrc", {matrices, 8, 8});
}

LinearLayout matrixLoadAddress(int matrices) {
  assert(matrices == 1 || matrices == 2 || matrices == 4);
  return fragmentFromText(matrices == 4   ? "lane r1 r2 r4 q1 q2"
                          : matrices == 2 ? "lane r1 r2 r4 q1 0"
                                          : "lane r1 r2 r4 0 0",
                          "qr", {matrices, 8});
}

} // namespace tilejit::tilegpu
