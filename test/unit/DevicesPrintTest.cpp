// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Records of tile.print to text: order, lines that are not whole, buffers that are full, and records that can't be.

#include "devices/common/PrintBuffer.h"
#include "devices/common/Printer.h"

#include <catch2/catch.hpp>

#include <bit>

using namespace tilejit;
using namespace tilejit::gpu;

namespace {

const std::vector<abi::GpuPrint> prints = {{"x", "i64 f32[2]"}, {"done", ""}};

int64_t bitsOf(float value) { return std::bit_cast<int32_t>(value); }

struct Record {
  int64_t instance, print, cell, bits;
};

std::vector<int64_t> buffer(const std::vector<Record> &records, int64_t lines, int64_t asked = -1) {
  std::vector<int64_t> words{asked < 0 ? static_cast<int64_t>(records.size()) : asked, lines, 0, 0};
  words[abi::PrintRoom] = static_cast<int64_t>(records.size());
  for (const Record &record : records)
    words.insert(words.end(), {record.instance, ((record.print + 1) << 32) + record.cell, record.bits});
  return words;
}

} // namespace

TEST_CASE("lines come instance by instance, each in the order of execution", "[devices]") {
  CHECK(printedText(prints, buffer({}, 0)).empty());
  // Instance 3 goes round a loop twice; its second thread lags behind.
  std::vector<int64_t> words = buffer({{3, 0, 0, 10},
                                       {3, 0, 1, bitsOf(0.5f)},
                                       {3, 1, 0, 0},
                                       {1, 1, 0, 0},
                                       {3, 0, 0, -20},
                                       {3, 0, 1, bitsOf(1.5f)},
                                       {3, 0, 2, bitsOf(-1)},
                                       {3, 1, 0, 0},
                                       {3, 0, 2, bitsOf(-2)}},
                                      5);
  CHECK(printedText(prints, words) == "done\nx 10 [0.5, -1]\ndone\nx -20 [1.5, -2]\ndone\n");
}

TEST_CASE("lines that are not whole are left out, and counted where the buffer is full", "[devices]") {
  std::vector<Record> cut = {{0, 0, 0, 1}, {0, 0, 1, 0}, {0, 1, 0, 0}};
  CHECK(printedText(prints, buffer(cut, 2)) == "done\n");
  CHECK(printedText(prints, buffer(cut, 2, 4)) ==
        "done\ntile.print: no room for 1 more line in the 104 bytes of a launch\n");
  CHECK(printedText(prints, buffer(cut, 12, 40)) ==
        "done\ntile.print: no room for 11 more lines in the 104 bytes of a launch\n");
}

TEST_CASE("records that can't be are passed over", "[devices]") {
  std::vector<int64_t> words = buffer({{0, 7, 0, 1}, {0, -1, 0, 1}, {0, 1, 5, 1}, {0, -5, 0, 0}, {0, 1, 0, 0}}, 1);
  CHECK(printedText(prints, words) == "done\n");
}

TEST_CASE("as much is read as was written and as there is", "[devices]") {
  PrintHeader header = printHeader(1000);
  CHECK(header[abi::PrintRoom] == 40);
  CHECK(printedWords(header, 1000) == 4);
  header[abi::PrintAsked] = 7;
  CHECK(printedWords(header, 1000) == 25);
  header[abi::PrintAsked] = 41;
  header[abi::PrintRoom] = 1 << 30; // Whatever a kernel made of it.
  CHECK(printedWords(header, 1000) == 124);
  header[abi::PrintAsked] = -1;
  CHECK(printedWords(header, 1000) == 4);
}

TEST_CASE("a line shows numbers by their types", "[devices]") {
  const int64_t cells[] = {-1, 1, 3, 4, 5, 6, 7, 8, 255};
  std::string_view types = "i32 bool i64[9] odd";
  CHECK(printedCells(types) == 9);
  CHECK(printedLine("t", types, cells) == "t -1 1 [3, 4, 5, ..., 6, 7, 8] 0xff\n");
  const int64_t six[] = {0, 1, 31, 32, 9, 63, 12, 62};
  CHECK(printedLine("six", "f6e2m3fn[4] f6e3m2fn[4]", six) == "six [0, 0.125, 7.5, -0] [0.625, -28, 1, -24]\n");
  CHECK(printedCells("") == 0);
  CHECK(printedCells("f32[-3] f32[99999999999999999999]") == 0);
}
