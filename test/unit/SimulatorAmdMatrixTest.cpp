// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Every matrix instruction of the simulated AMD chips against plain loops, with its operands laid out by the reference
// formulas: exactly with integers, within the rounding of one sum with real numbers. Then modifiers and misuse.

#include "SimulatorAmdMatrix.h"

#include <functional>
#include <tuple>

using namespace tilejit::sim;
using namespace tilejit::sim::test;

namespace {

/// Runs one instruction with matrices of a row's layout; gives D as numbers.
class Product {
public:
  Product(const MatrixLayoutRow &layout, MatrixModifiers modifiers = {}) : row(layout), mods(modifiers) {
    a_ = &numberFormat(row.a);
    b_ = &numberFormat(row.b);
    c_ = &numberFormat(row.c);
    formatA = *a_;
    formatB = *b_;
    formatA.isSigned |= mods.signedA;
    formatB.isSigned |= mods.signedB;
    sizeA = static_cast<size_t>(row.m) * row.k * row.blocks;
    sizeC = static_cast<size_t>(row.m) * row.m * row.blocks;
  }

  void fill(bool integers, uint64_t seed) {
    std::mt19937_64 random(seed);
    auto draw = [&](const NumberFormat &format) {
      if (!integers)
        return randomCode(format, random);
      int low = format.exponentBits || format.isSigned ? -2 : 0;
      return encodeSmall(format, low + static_cast<int>(random() % static_cast<uint64_t>(3 - low)));
    };
    for (size_t i = 0; i < sizeA; ++i) {
      matrices.a.push_back(draw(formatA));
      matrices.b.push_back(draw(formatB));
    }
    for (size_t i = 0; i < sizeC; ++i)
      matrices.c.push_back(draw(*c_));
    scales.assign(static_cast<size_t>(row.lanes) * 2, 0x7f7f7f7f);
    std::string form = row.form;
    if (form == "sparse" || form.starts_with("swmmac"))
      thinOut(random);
  }

  /// Two of each four k of A are kept.
  void thinOut(std::mt19937_64 &random) {
    kept.resize(sizeA / 4);
    for (size_t group = 0; group < kept.size(); ++group) {
      int first = static_cast<int>(random() % 3), second = first + 1 + static_cast<int>(random() % (3 - first));
      kept[group] = {first, second};
      for (int k = 0; k < 4; ++k)
        if (k != first && k != second)
          matrices.a[group * 4 + static_cast<size_t>(k)] = 0;
    }
  }

  size_t indexA(int block, int i, int k) const { return (static_cast<size_t>(block) * row.m + i) * row.k + k; }
  size_t indexB(int block, int k, int j) const { return (static_cast<size_t>(block) * row.k + k) * row.m + j; }
  size_t indexC(int block, int i, int j) const { return (static_cast<size_t>(block) * row.m + i) * row.m + j; }

  int formula(const char *text, int l, int e, int bits) const { return Formula(text, l, e, bits).value(); }

  std::vector<uint8_t> packA() {
    std::vector<uint8_t> bytes(static_cast<size_t>(row.lanes) * row.countA * a_->bits / 8);
    index.assign(static_cast<size_t>(row.lanes), 0);
    for (int l = 0; l < row.lanes; ++l)
      for (int e = 0; e < row.countA; ++e) {
        int i = formula(row.rowA, l, e, a_->bits), k = formula(row.depthA, l, e, a_->bits),
            block = formula(row.blockA, l, e, a_->bits);
        if (k >= row.k)
          continue;
        if (!kept.empty()) {
          auto [first, second] = kept[indexA(block, i, k) / 4];
          int place = e % 2 ? second : first;
          index[static_cast<size_t>(l)] |= static_cast<uint32_t>(place) << (2 * e);
          k += place;
        }
        putBits(bytes, (static_cast<size_t>(l) * row.countA + e) * a_->bits, a_->bits, matrices.a[indexA(block, i, k)]);
      }
    return bytes;
  }
  std::vector<uint8_t> packB() const {
    std::vector<uint8_t> bytes(static_cast<size_t>(row.lanes) * row.countB * b_->bits / 8);
    for (int l = 0; l < row.lanes; ++l)
      for (int e = 0; e < row.countB; ++e) {
        int j = formula(row.columnB, l, e, b_->bits), k = formula(row.depthB, l, e, b_->bits),
            block = formula(row.blockB, l, e, b_->bits);
        if (k < row.k)
          putBits(bytes, (static_cast<size_t>(l) * row.countB + e) * b_->bits, b_->bits,
                  matrices.b[indexB(block, k, j)]);
      }
    return bytes;
  }
  /// Whether element e of C and D is one of the half that is meant.
  bool isMeant(int e) const { return std::string(row.chip) != "gfx1100" || c_->bits != 16 || e % 2 == mods.half; }
  template <class F> void forEachC(F f) const {
    for (int l = 0; l < row.lanes; ++l)
      for (int e = 0; e < row.countC; ++e)
        if (isMeant(e))
          f(static_cast<size_t>((l * row.countC + e) * c_->bits),
            indexC(formula(row.blockC, l, e, c_->bits), formula(row.rowC, l, e, c_->bits),
                   formula(row.columnC, l, e, c_->bits)));
  }

  Outcome run() {
    INFO(describe(row));
    Machine machine(row.chip, matrixKernel(row, mods));
    std::vector<uint8_t> c(static_cast<size_t>(row.lanes * row.countC * c_->bits / 8), 0x5a);
    forEachC([&](size_t at, size_t i) { putBits(c, at, c_->bits, matrices.c[i]); });
    std::vector<uint8_t> a = packA(), b = packB();
    if (corrupt)
      corrupt(a, b);
    std::vector<uint32_t> x = kept.empty() ? std::vector<uint32_t>(scales.begin(), scales.begin() + row.lanes) : index,
                          y(scales.begin() + row.lanes, scales.end());
    uint8_t *d = machine.output<uint8_t>(c.size());
    Outcome outcome =
        machine.run("k", {1, 1, 1}, {static_cast<uint32_t>(threads ? threads : row.lanes), 1, 1}, machine.array(a),
                    machine.array(b), machine.array(c), d, machine.array(x), machine.array(y));
    rawC = c;
    rawD.assign(d, d + c.size());
    result.assign(sizeC, 0);
    forEachC([&](size_t at, size_t i) { result[i] = decodeNumber(*c_, getBits(rawD, at, c_->bits)); });
    return outcome;
  }

  double valueA(int block, int i, int k) const { return decodeNumber(formatA, matrices.a[indexA(block, i, k)]); }
  double valueB(int block, int k, int j) const { return decodeNumber(formatB, matrices.b[indexB(block, k, j)]); }
  double valueC(int block, int i, int j) const { return decodeNumber(*c_, matrices.c[indexC(block, i, j)]); }

  const MatrixLayoutRow &row;
  MatrixModifiers mods;
  NumberFormat formatA, formatB;
  size_t sizeA, sizeC;
  Matrices matrices;
  std::vector<std::pair<int, int>> kept;
  std::vector<uint32_t> index, scales; ///< Scales of A of each lane, then of B.
  std::vector<uint8_t> rawC, rawD;
  std::vector<double> result;
  std::function<void(std::vector<uint8_t> &, std::vector<uint8_t> &)> corrupt;
  int threads = 0;

private:
  const NumberFormat *a_, *b_, *c_;
};

/// Sum of products and of their absolute values.
struct Sum {
  double value, magnitude;
};
Sum reference(const Product &p, int block, int i, int j) {
  Sum sum{p.valueC(block, i, j), std::fabs(p.valueC(block, i, j))};
  for (int k = 0; k < p.row.k; ++k) {
    double product = p.valueA(block, i, k) * p.valueB(block, k, j);
    sum.value += product;
    sum.magnitude += std::fabs(product);
  }
  return sum;
}

/// One rounding for each term of a sum in f32 (f64), one more for a narrow result.
double tolerance(const Product &p, const Sum &sum) {
  std::string c = p.row.c;
  double unit = c == "f64" ? 0x1p-53 : c == "i32" ? 0 : 0x1p-24;
  double narrow = c == "f16" ? 0x1p-11 : c == "bf16" ? 0x1p-8 : 0;
  return (p.row.k + 2) * unit * sum.magnitude + narrow * std::fabs(sum.value) * 1.01;
}

void checkProduct(const Product &p, bool exact) {
  for (int block = 0; block < p.row.blocks; ++block)
    for (int i = 0; i < p.row.m; ++i)
      for (int j = 0; j < p.row.m; ++j) {
        Sum sum = reference(p, block, i, j);
        double found = p.result[p.indexC(block, i, j)];
        if (std::fabs(found - sum.value) > (exact ? 0 : tolerance(p, sum)) || std::isnan(found)) {
          FAIL(describe(p.row) << ": block " << block << " row " << i << " column " << j << " is " << found << ", not "
                               << sum.value);
        }
      }
}

const MatrixLayoutRow &layout(const std::string &chip, const std::string &name, int lanes = 64) {
  for (const MatrixLayoutRow &row : matrixLayouts())
    if (row.chip == chip && row.name == name && row.lanes == lanes)
      return row;
  FAIL("no layout " << chip << " " << name);
  return matrixLayouts()[0];
}

} // namespace

TEST_CASE("AMD matrix instructions: integers are exact", "[simulator][amd]") {
  for (const MatrixLayoutRow &row : matrixLayouts()) {
    Product product(row);
    product.fill(true, 7);
    Outcome outcome = product.run();
    CHECK(kinds(outcome) == "");
    CHECK(outcome.counters.matrixInstructions == 1);
    checkProduct(product, true);
  }
}

TEST_CASE("AMD matrix instructions: real numbers are within the rounding of a sum", "[simulator][amd]") {
  for (const MatrixLayoutRow &row : matrixLayouts()) {
    Product product(row);
    product.fill(false, 11);
    CHECK(kinds(product.run()) == "");
    checkProduct(product, false);
  }
}

TEST_CASE("AMD matrix instructions: signs and saturation of integers", "[simulator][amd]") {
  for (auto [chip, name] : {std::pair<const char *, const char *>{"gfx1100", "wmma.i32.16x16x16.iu8"},
                            {"gfx1100", "wmma.i32.16x16x16.iu4"},
                            {"gfx1201", "wmma.i32.16x16x16.iu8"},
                            {"gfx1201", "wmma.i32.16x16x16.iu4"},
                            {"gfx1201", "swmmac.i32.16x16x32.iu8"},
                            {"gfx1201", "swmmac.i32.16x16x64.iu4"}})
    for (int lanes : {32, 64})
      for (int signs = 0; signs < 4; ++signs) {
        MatrixModifiers mods;
        mods.signedA = signs & 1;
        mods.signedB = signs >> 1;
        mods.clamp = 1;
        Product product(layout(chip, name, lanes), mods);
        product.fill(false, 3);
        for (size_t i = 0; i < product.sizeC; ++i)
          product.matrices.c[i] = i % 2 ? 0x7ffffff0 : 0x8000000f;
        CHECK(kinds(product.run()) == "");
        for (int i = 0; i < 16; ++i)
          for (int j = 0; j < 16; ++j) {
            double sum = reference(product, 0, i, j).value;
            CHECK(product.result[product.indexC(0, i, j)] == std::min(std::max(sum, -0x1p31), 0x1p31 - 1));
          }
      }
}

TEST_CASE("AMD matrix instructions: a sparse product takes only what its index chooses", "[simulator][amd]") {
  for (auto [chip, name, lanes] : {std::tuple<const char *, const char *, int>{"gfx942", "smfmac.f32.16x16x32.f16", 64},
                                   {"gfx950", "smfmac.f32.32x32x32.bf16", 64},
                                   {"gfx1201", "swmmac.f32.16x16x32.f16", 32},
                                   {"gfx1201", "swmmac.f32.16x16x32.f16", 64}}) {
    Product product(layout(chip, name, lanes));
    product.fill(true, 41);
    // All rows keep the first and the third of four; the others are infinite.
    for (size_t group = 0; group < product.kept.size(); ++group)
      product.kept[group] = {0, 2};
    const uint64_t infinity = product.formatB.name == "f16" ? 0x7c00 : 0x7f80;
    for (int k = 0; k < product.row.k; ++k)
      for (int j = 0; j < product.row.m && k % 2; ++j)
        product.matrices.b[product.indexB(0, k, j)] = infinity;
    CHECK(kinds(product.run()) == "");
    Product expected = product;
    for (size_t i = 1; i < expected.matrices.a.size(); i += 2)
      expected.matrices.a[i] = 0;
    for (int k = 1; k < product.row.k; k += 2)
      for (int j = 0; j < product.row.m; ++j)
        expected.matrices.b[expected.indexB(0, k, j)] = 0;
    checkProduct(expected, true);
  }
}

TEST_CASE("AMD matrix instructions: an index that names one place twice adds both", "[simulator][amd]") {
  Product product(layout("gfx1201", "swmmac.f32.16x16x32.f16", 32));
  product.fill(true, 43);
  for (size_t group = 0; group < product.kept.size(); ++group) {
    product.kept[group] = {3, 3};
    for (size_t k = 0; k < 4; ++k)
      product.matrices.a[group * 4 + k] = k == 3 ? encodeSmall(product.formatA, 1) : 0;
  }
  CHECK(kinds(product.run()) == "");
  for (uint64_t &a : product.matrices.a)
    if (a)
      a = encodeSmall(product.formatA, 2);
  checkProduct(product, true);
}

TEST_CASE("AMD matrix instructions: half results choose a half of the registers", "[simulator][amd]") {
  for (const char *name : {"wmma.f16.16x16x16.f16", "wmma.bf16.16x16x16.bf16"})
    for (int lanes : {32, 64})
      for (bool tied : {false, true}) {
        MatrixModifiers mods;
        mods.half = 1;
        mods.tied = tied;
        Product product(layout("gfx1100", name, lanes), mods);
        product.fill(true, 5);
        CHECK(kinds(product.run()) == "");
        checkProduct(product, true);
        if (tied)
          for (size_t i = 0; i < product.rawD.size(); i += 4) {
            CHECK(product.rawD[i] == product.rawC[i]);
            CHECK(product.rawD[i + 1] == product.rawC[i + 1]);
          }
      }
}

TEST_CASE("AMD matrix instructions: blocks of A are spread by cbsz and abid", "[simulator][amd]") {
  for (auto [name, blocks] :
       {std::pair<const char *, int>{"mfma.f32.32x32x4f16", 2}, {"mfma.f32.16x16x4f16", 4}, {"mfma.f32.4x4x4f16", 16}})
    for (int cbsz = 0; 1 << cbsz <= blocks && cbsz <= 4; ++cbsz)
      for (int abid : {0, (1 << cbsz) - 1}) {
        MatrixModifiers mods;
        mods.cbsz = cbsz;
        mods.abid = abid;
        Product product(layout("gfx90a", name), mods);
        product.fill(true, 13);
        CHECK(kinds(product.run()) == "");
        Product expected = product;
        for (int block = 0; block < blocks; ++block)
          for (int i = 0; i < product.row.m; ++i)
            for (int k = 0; k < product.row.k; ++k)
              expected.matrices.a[expected.indexA(block, i, k)] =
                  product.matrices.a[product.indexA((block >> cbsz << cbsz) + abid, i, k)];
        checkProduct(expected, true);
      }
}

TEST_CASE("AMD matrix instructions: lanes of B are moved by blgp", "[simulator][amd]") {
  for (int blgp = 1; blgp < 8; ++blgp) {
    MatrixModifiers mods;
    mods.blgp = blgp;
    Product product(layout("gfx908", "mfma.f32.16x16x16f16"), mods);
    product.fill(true, 17);
    CHECK(kinds(product.run()) == "");
    // With lane q's values from lane f(q), k = 4 * (q / 16) + e of column q % 16 is what lane f(q) has.
    Product expected = product;
    for (int q = 0; q < 64; ++q) {
      int from = blgp == 1 ? q % 32 : blgp == 2 ? q % 32 + 32 : blgp == 3 ? (q + 16) % 64 : q % 16 + 16 * (blgp - 4);
      for (int e = 0; e < 4; ++e)
        expected.matrices.b[expected.indexB(0, 4 * (q / 16) + e, q % 16)] =
            product.matrices.b[product.indexB(0, 4 * (from / 16) + e, from % 16)];
    }
    checkProduct(expected, true);
  }
}

TEST_CASE("AMD matrix instructions: CDNA 3 negates doubles", "[simulator][amd]") {
  for (int negated = 0; negated < 8; ++negated) {
    MatrixModifiers mods;
    mods.blgp = negated;
    Product product(layout("gfx942", "mfma.f64.16x16x4f64"), mods);
    product.fill(true, 37);
    CHECK(kinds(product.run()) == "");
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) {
        double c = product.valueC(0, i, j), products = reference(product, 0, i, j).value - c;
        bool flip = (negated & 1) != (negated >> 1 & 1);
        CHECK(product.result[product.indexC(0, i, j)] == (flip ? -products : products) + (negated & 4 ? -c : c));
      }
  }
}

TEST_CASE("AMD matrix instructions: scales belong to rows, columns and blocks of 32", "[simulator][amd]") {
  for (const MatrixLayoutRow &row : matrixLayouts()) {
    if (std::string(row.form) != "scaled")
      continue;
    MatrixModifiers mods;
    mods.scaleByteA = 1;
    mods.scaleByteB = 3;
    Product product(row, mods);
    product.fill(true, 19);
    std::mt19937_64 random(23);
    for (uint32_t &scale : product.scales) {
      auto code = static_cast<uint32_t>(125 + random() % 5);
      // The other bytes would give something else.
      scale = 0x90909090;
      bool isA = &scale < product.scales.data() + 64;
      int shift = 8 * (isA ? mods.scaleByteA : mods.scaleByteB);
      scale = (scale & ~(255u << shift)) | code << shift;
    }
    CHECK(kinds(product.run()) == "");
    auto scaleOf = [&](bool isA, int i, int k) {
      uint32_t dword = product.scales[static_cast<size_t>((isA ? 0 : 64) + i + row.m * (k / 32))];
      return std::ldexp(1.0, static_cast<int>(dword >> (8 * (isA ? 1 : 3)) & 255) - 127);
    };
    for (int i = 0; i < row.m; ++i)
      for (int j = 0; j < row.m; ++j) {
        double sum = product.valueC(0, i, j);
        for (int k = 0; k < row.k; ++k)
          sum += product.valueA(0, i, k) * scaleOf(true, i, k) * product.valueB(0, k, j) * scaleOf(false, j, k);
        if (product.result[product.indexC(0, i, j)] != sum)
          FAIL(describe(row) << ": row " << i << " column " << j << " is " << product.result[product.indexC(0, i, j)]
                             << ", not " << sum);
      }
  }
}

TEST_CASE("AMD matrix instructions: RDNA 3 reports operands that are not duplicated", "[simulator][amd]") {
  for (int operand : {0, 1}) {
    Product product(layout("gfx1100", "wmma.f32.16x16x16.f16", 32));
    product.fill(true, 29);
    product.corrupt = [&](std::vector<uint8_t> &a, std::vector<uint8_t> &b) {
      std::vector<uint8_t> &bytes = operand ? b : a;
      bytes[20 * 32 + 4] ^= 1; // Lane 20, element 2.
    };
    Outcome outcome = product.run();
    REQUIRE(kinds(outcome) == "fragment");
    CHECK(outcome.reports[0].message.find(operand ? "operand B" : "operand A") != std::string::npos);
    CHECK(outcome.reports[0].message.find("lane 20") != std::string::npos);
  }
}

TEST_CASE("AMD matrix instructions: missing lanes are reported", "[simulator][amd]") {
  Product product(layout("gfx942", "mfma.f32.16x16x16f16"));
  product.fill(true, 31);
  product.threads = 48;
  CHECK(kinds(product.run()).find("divergence") != std::string::npos);
}

TEST_CASE("AMD matrix instructions: a chip without the instruction is named", "[simulator][amd]") {
  auto messageOn = [](const char *chip, MatrixLayoutRow row) {
    row.chip = chip;
    Machine machine(chip, matrixKernel(row, {}));
    return machine.tryRun("k", {1, 1, 1}, {64, 1, 1}).status().message();
  };
  std::string message = messageOn("gfx906", layout("gfx908", "mfma.f32.32x32x8f16"));
  CHECK(message.find("gfx906") != std::string::npos);
  CHECK(message.find("llvm.amdgcn.mfma.f32.32x32x8f16") != std::string::npos);
  CHECK(messageOn("gfx950", layout("gfx942", "mfma.f32.16x16x8.xf32")).find("gfx950") != std::string::npos);
  CHECK(messageOn("gfx942", layout("gfx950", "mfma.f32.16x16x32.f16")).find("gfx942") != std::string::npos);
  CHECK(messageOn("gfx1100", layout("gfx1201", "swmmac.f32.16x16x32.f16", 32)).find("gfx1100") != std::string::npos);
  // RDNA 4 takes half as many elements a lane.
  CHECK(messageOn("gfx1201", layout("gfx1100", "wmma.f32.16x16x16.f16", 64)).find("bits") != std::string::npos);
}
