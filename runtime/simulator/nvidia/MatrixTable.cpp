// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows of NVIDIA's matrix instructions, and how their layouts are read.

#include "nvidia/Matrix.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace tilejit::sim {

namespace {

using enum MmaFamily;
using C = MmaClass;

constexpr unsigned width = 32;

// Lanes of A and C run along k or n within a quad and along m over the quads; B's along n.
constexpr std::string_view lanesA1 = "k1 k2 m1 m2 m4", lanesA2 = "k2 k4 m1 m2 m4", lanesA4 = "k4 k8 m1 m2 m4",
                           lanesA8 = "k8 k16 m1 m2 m4";
constexpr std::string_view lanesB1 = "k1 k2 n1 n2 n4", lanesB2 = "k2 k4 n1 n2 n4", lanesB4 = "k4 k8 n1 n2 n4",
                           lanesB8 = "k8 k16 n1 n2 n4";
constexpr std::string_view lanesC = "n2 n4 m1 m2 m4";
constexpr MmaFragment c8x8 = {lanesC, "n1"}, c16x8 = {lanesC, "n1 m8"};
// Volta: four products, each of two quads 16 lanes apart.
constexpr MmaFragment voltaA = {"m1 m2 b1 b2 m4", "k1 k2"}, voltaAColumn = {"k1 k2 b1 b2 m4", "m1 m2"};
constexpr MmaFragment voltaB = {"n1 n2 b1 b2 n4", "k1 k2"}, voltaBRow = {"k1 k2 b1 b2 n4", "n1 n2"};
constexpr MmaFragment voltaC = {"m1 n2 b1 b2 m4", "n1 m2 n4"}, voltaC16 = {"m1 m2 b1 b2 m4", "n1 n2 n4"};

constexpr MmaRow rows[] = {
    {Mma, "m8n8k4", C::F16, "row.col", 70, voltaA, voltaB, voltaC, voltaC16},
    {Mma, "m8n8k4", C::F16, "row.row", 70, voltaA, voltaBRow, voltaC, voltaC16},
    {Mma, "m8n8k4", C::F16, "col.col", 70, voltaAColumn, voltaB, voltaC, voltaC16},
    {Mma, "m8n8k4", C::F16, "col.row", 70, voltaAColumn, voltaBRow, voltaC, voltaC16},
    {Mma, "m16n8k8", C::F16, "row.col", 75, {lanesA2, "k1 m8"}, {lanesB2, "k1"}, c16x8},
    {Mma, "m16n8k16", C::F16, "row.col", 80, {lanesA2, "k1 m8 k8"}, {lanesB2, "k1 k8"}, c16x8},
    {Mma, "m16n8k8", C::BF16, "row.col", 80, {lanesA2, "k1 m8"}, {lanesB2, "k1"}, c16x8},
    {Mma, "m16n8k16", C::BF16, "row.col", 80, {lanesA2, "k1 m8 k8"}, {lanesB2, "k1 k8"}, c16x8},
    {Mma, "m16n8k4", C::TF32, "row.col", 80, {lanesA1, "m8"}, {lanesB1, ""}, c16x8},
    {Mma, "m16n8k8", C::TF32, "row.col", 80, {lanesA1, "m8 k4"}, {lanesB1, "k4"}, c16x8},
    {Mma, "m8n8k4", C::F64, "row.col", 80, {lanesA1, ""}, {lanesB1, ""}, c8x8},
    {Mma, "m16n8k4", C::F64, "row.col", 90, {lanesA1, "m8"}, {lanesB1, ""}, c16x8},
    {Mma, "m16n8k8", C::F64, "row.col", 90, {lanesA1, "m8 k4"}, {lanesB1, "k4"}, c16x8},
    {Mma, "m16n8k16", C::F64, "row.col", 90, {lanesA1, "m8 k4 k8"}, {lanesB1, "k4 k8"}, c16x8},
    {Mma, "m16n8k16", C::Fp8, "row.col", 89, {lanesA4, "k1 k2 m8"}, {lanesB4, "k1 k2"}, c16x8},
    {Mma, "m16n8k32", C::Fp8, "row.col", 89, {lanesA4, "k1 k2 m8 k16"}, {lanesB4, "k1 k2 k16"}, c16x8},
    {Mma, "m8n8k16", C::Int8, "row.col", 75, {lanesA4, "k1 k2"}, {lanesB4, "k1 k2"}, c8x8},
    {Mma, "m16n8k16", C::Int8, "row.col", 80, {lanesA4, "k1 k2 m8"}, {lanesB4, "k1 k2"}, c16x8},
    {Mma, "m16n8k32", C::Int8, "row.col", 80, {lanesA4, "k1 k2 m8 k16"}, {lanesB4, "k1 k2 k16"}, c16x8},
    {Mma, "m8n8k32", C::Int4, "row.col", 75, {lanesA8, "k1 k2 k4"}, {lanesB8, "k1 k2 k4"}, c8x8},
    {Mma, "m16n8k32", C::Int4, "row.col", 80, {lanesA8, "k1 k2 k4 m8"}, {lanesB8, "k1 k2 k4"}, c16x8},
    {Mma, "m16n8k64", C::Int4, "row.col", 80, {lanesA8, "k1 k2 k4 m8 k32"}, {lanesB8, "k1 k2 k4 k32"}, c16x8},
    // In words of 32 bits.
    {Mma, "m8n8k128", C::Bit, "row.col", 75, {lanesA1, ""}, {lanesB1, ""}, c8x8},
    {Mma, "m16n8k128", C::Bit, "row.col", 80, {lanesA1, "m8"}, {lanesB1, ""}, c16x8},
    {Mma, "m16n8k256", C::Bit, "row.col", 80, {lanesA1, "m8 k4"}, {lanesB1, "k4"}, c16x8},

    // A holds half of k: what is not zero.
    {Sparse, "m16n8k16", C::F16, "row.col", 80, {lanesA2, "k1 m8"}, {lanesB2, "k1 k8"}, c16x8, {}, MmaMetadata::Halves},
    {Sparse,
     "m16n8k32",
     C::F16,
     "row.col",
     80,
     {lanesA2, "k1 m8 k8"},
     {lanesB2, "k1 k8 k16"},
     c16x8,
     {},
     MmaMetadata::Halves},
    {Sparse,
     "m16n8k16",
     C::BF16,
     "row.col",
     80,
     {lanesA2, "k1 m8"},
     {lanesB2, "k1 k8"},
     c16x8,
     {},
     MmaMetadata::Halves},
    {Sparse,
     "m16n8k32",
     C::BF16,
     "row.col",
     80,
     {lanesA2, "k1 m8 k8"},
     {lanesB2, "k1 k8 k16"},
     c16x8,
     {},
     MmaMetadata::Halves},
    {Sparse, "m16n8k8", C::TF32, "row.col", 80, {lanesA1, "m8"}, {lanesB1, "k4"}, c16x8, {}, MmaMetadata::Halves},
    {Sparse,
     "m16n8k16",
     C::TF32,
     "row.col",
     80,
     {lanesA1, "m8 k4"},
     {lanesB1, "k4 k8"},
     c16x8,
     {},
     MmaMetadata::Halves},
    {Sparse,
     "m16n8k64",
     C::Fp8,
     "row.col",
     89,
     {lanesA4, "k1 k2 m8 k16"},
     {lanesB4, "k1 k2 k16 k32"},
     c16x8,
     {},
     MmaMetadata::Rows},
    {Sparse,
     "m16n8k32",
     C::Int8,
     "row.col",
     80,
     {lanesA4, "k1 k2 m8"},
     {lanesB4, "k1 k2 k16"},
     c16x8,
     {},
     MmaMetadata::Rows},
    {Sparse,
     "m16n8k64",
     C::Int8,
     "row.col",
     80,
     {lanesA4, "k1 k2 m8 k16"},
     {lanesB4, "k1 k2 k16 k32"},
     c16x8,
     {},
     MmaMetadata::Rows},
    {Sparse,
     "m16n8k64",
     C::Int4,
     "row.col",
     80,
     {lanesA8, "k1 k2 k4 m8"},
     {lanesB8, "k1 k2 k4 k32"},
     c16x8,
     {},
     MmaMetadata::Rows},
    {Sparse,
     "m16n8k128",
     C::Int4,
     "row.col",
     80,
     {lanesA8, "k1 k2 k4 m8 k32"},
     {lanesB8, "k1 k2 k4 k32 k64"},
     c16x8,
     {},
     MmaMetadata::Rows},

    {Wmma, "m16n16k16", C::F16, "", 70, {lanesA2, "k1 m8 k8 -"}, {lanesB2, "k1 k8 n8 -"}, {lanesC, "n1 m8 n8"}},
    {Wmma, "m32n8k16", C::F16, "", 70, {lanesA2, "k1 m8 k8 m16"}, {lanesB2, "k1 k8 - -"}, {lanesC, "n1 m8 m16"}},
    {Wmma, "m8n32k16", C::F16, "", 70, {lanesA2, "k1 k8 - -"}, {lanesB2, "k1 k8 n8 n16"}, {lanesC, "n1 n8 n16"}},
    {Wmma, "m16n16k16", C::BF16, "", 80, {lanesA2, "k1 m8 k8"}, {lanesB2, "k1 k8 n8"}, {lanesC, "n1 m8 n8"}},
    {Wmma, "m32n8k16", C::BF16, "", 80, {lanesA2, "k1 m8 k8 m16"}, {lanesB2, "k1 k8"}, {lanesC, "n1 m8 m16"}},
    {Wmma, "m8n32k16", C::BF16, "", 80, {lanesA2, "k1 k8"}, {lanesB2, "k1 k8 n8 n16"}, {lanesC, "n1 n8 n16"}},
    {Wmma, "m16n16k16", C::Int8, "", 72, {lanesA4, "k1 k2 m8"}, {lanesB4, "k1 k2 n8"}, {lanesC, "n1 m8 n8"}},
    {Wmma, "m32n8k16", C::Int8, "", 72, {lanesA4, "k1 k2 m8 m16"}, {lanesB4, "k1 k2"}, {lanesC, "n1 m8 m16"}},
    {Wmma, "m8n32k16", C::Int8, "", 72, {lanesA4, "k1 k2"}, {lanesB4, "k1 k2 n8 n16"}, {lanesC, "n1 n8 n16"}},
    {Wmma, "m16n16k8", C::TF32, "", 80, {lanesA1, "m8 k4"}, {lanesB1, "k4 n8"}, {lanesC, "n1 m8 n8"}},
    {Wmma, "m8n8k4", C::F64, "", 80, {lanesA1, ""}, {lanesB1, ""}, c8x8},
    {Wmma, "m8n8k32", C::Int4, "row.col", 75, {lanesA8, "k1 k2 k4"}, {lanesB8, "k1 k2 k4"}, c8x8},
    {Wmma, "m8n8k128", C::Bit, "row.col", 75, {lanesA1, ""}, {lanesB1, ""}, c8x8},
};

struct TypeRow {
  std::string_view name;
  unsigned bits;
  MmaClass types;
};
// In the order of MmaType; accumulators' classes are not asked for.
constexpr TypeRow types[] = {{"f16", 16, C::F16}, {"bf16", 16, C::BF16}, {"tf32", 32, C::TF32}, {"f32", 32, C::TF32},
                             {"f64", 64, C::F64}, {"e4m3", 8, C::Fp8},   {"e5m2", 8, C::Fp8},   {"s8", 8, C::Int8},
                             {"u8", 8, C::Int8},  {"s4", 4, C::Int4},    {"u4", 4, C::Int4},    {"b1", 32, C::Bit},
                             {"s32", 32, C::Int8}};

/// What one bit adds.
struct Basis {
  char axis = '-';
  unsigned amount = 0;
};

std::vector<Basis> parseBases(std::string_view text) {
  std::vector<Basis> bases;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ')
      continue;
    Basis basis;
    basis.axis = text[i];
    while (i + 1 < text.size() && text[i + 1] != ' ')
      basis.amount = basis.amount * 10 + static_cast<unsigned>(text[++i] - '0');
    bases.push_back(basis);
  }
  return bases;
}

struct Coordinates {
  unsigned m = 0, n = 0, k = 0, block = 0;
};

void addBases(Coordinates &at, const std::vector<Basis> &bases, unsigned number) {
  for (size_t bit = 0; bit < bases.size(); ++bit) {
    if (!(number >> bit & 1))
      continue;
    unsigned amount = bases[bit].amount;
    switch (bases[bit].axis) {
    case 'm':
      at.m += amount;
      break;
    case 'n':
      at.n += amount;
      break;
    case 'k':
      at.k += amount;
      break;
    case 'b':
      at.block += amount;
      break;
    default:
      break;
    }
  }
}

/// The tiles of a plan; none where lanes hold something else than tiles want, or numbers are not f32.
MmaTiles makeTiles(const MmaPlan &plan) {
  const MmaRow &row = *plan.row;
  constexpr std::string_view rows = " m1 m2 m4", columns = " n1 n2 n4";
  MmaTiles tiles;
  if (row.types == C::F64 || row.types == C::Bit || row.metadata != MmaMetadata::None || row.c.lane != lanesC ||
      !row.a.lane.ends_with(rows) || !row.b.lane.ends_with(columns))
    return tiles;
  tiles.rows = plan.m / 8;
  tiles.columns = plan.n / 8;
  auto stepAt = [&](unsigned k) -> MmaTiles::Step & {
    for (MmaTiles::Step &step : tiles.steps)
      if (step.k == k)
        return step;
    tiles.steps.emplace_back().k = k;
    return tiles.steps.back();
  };
  for (unsigned e = 0; e < plan.a.elements; ++e) {
    unsigned place = plan.a.place[e * width];
    stepAt(place % plan.k).a[place / plan.k / 8] = static_cast<uint8_t>(e);
  }
  for (unsigned e = 0; e < plan.b.elements; ++e) {
    unsigned place = plan.b.place[e * width];
    stepAt(place / plan.n).b[place % plan.n / 8] = static_cast<uint8_t>(e);
  }
  for (unsigned e = 0; e < plan.c.elements; ++e) {
    unsigned place = plan.c.place[e * width];
    tiles.c[place / plan.n / 8][place % plan.n / 8][place % 8] = static_cast<uint8_t>(e);
  }
  return tiles;
}

MmaPlan makePlan(const MmaSpec &spec, const MmaRow &row) {
  MmaPlan plan;
  plan.row = &row;
  MmaSizes sizes = mmaSizes(row.shape, row.types);
  plan.m = sizes.m;
  plan.n = sizes.n;
  plan.k = sizes.k;
  plan.blocks = row.a.lane.find('b') == std::string_view::npos ? 1 : 4;
  plan.a = mmaOperand(row, 'a', spec.a, spec.registerBytes[0]);
  plan.b = mmaOperand(row, 'b', spec.b, spec.registerBytes[1]);
  plan.c = mmaOperand(row, 'c', spec.c, spec.registerBytes[2]);
  plan.d = mmaOperand(row, 'd', spec.d, spec.registerBytes[3]);
  plan.tiles = makeTiles(plan);
  plan.a.inOrder = plan.b.inOrder = plan.c.inOrder = plan.d.inOrder = !plan.tiles.steps.empty();
  plan.saturate = spec.saturate;
  plan.isXor = spec.isXor;
  plan.fast = row.family == Mma && sizes.m == 16 && (row.types == C::F16 || row.types == C::BF16) &&
              spec.c == MmaType::F32 && spec.d == MmaType::F32 && plan.a.perRegister == plan.b.perRegister;
  return plan;
}

} // namespace

std::span<const MmaRow> mmaRows() { return rows; }
std::string_view mmaTypeName(MmaType type) { return types[static_cast<unsigned>(type)].name; }
unsigned mmaBits(MmaType type) { return types[static_cast<unsigned>(type)].bits; }
MmaClass mmaClassOf(MmaType type) { return types[static_cast<unsigned>(type)].types; }

MmaSizes mmaSizes(std::string_view shape, MmaClass types) {
  unsigned values[3] = {};
  unsigned which = 0;
  for (char c : shape) {
    if (c == 'm' || c == 'n' || c == 'k')
      which = c == 'm' ? 0 : c == 'n' ? 1 : 2;
    else
      values[which] = values[which] * 10 + static_cast<unsigned>(c - '0');
  }
  return {values[0], values[1], types == C::Bit ? values[2] / 32 : values[2]};
}

MmaOperand mmaOperand(const MmaRow &row, char which, MmaType type, unsigned registerBytes) {
  MmaSizes sizes = mmaSizes(row.shape, row.types);
  if (which == 'a' && row.metadata != MmaMetadata::None)
    sizes.k /= 2;
  const MmaFragment &fragment = which == 'a'                                    ? row.a
                                : which == 'b'                                  ? row.b
                                : type == MmaType::F16 && !row.c16.lane.empty() ? row.c16
                                                                                : row.c;
  std::vector<Basis> lanes = parseBases(fragment.lane), elements = parseBases(fragment.element);
  assert(lanes.size() == 5 && "a warp has 32 lanes");
  MmaOperand operand;
  operand.type = type;
  operand.elements = 1u << elements.size();
  operand.perRegister = std::max(1u, registerBytes * 8 / mmaBits(type));
  operand.registers = std::max(1u, operand.elements / operand.perRegister);
  operand.columns = which == 'a' ? sizes.k : sizes.n;
  operand.matrix = operand.columns * (which == 'b' ? sizes.k : sizes.m);
  operand.place.resize(size_t(operand.elements) * width);
  for (unsigned e = 0; e < operand.elements; ++e)
    for (unsigned l = 0; l < width; ++l) {
      Coordinates at;
      addBases(at, lanes, l);
      addBases(at, elements, e);
      unsigned line = which == 'b' ? at.k : at.m, column = which == 'a' ? at.k : at.n;
      operand.place[e * width + l] = static_cast<uint16_t>(at.block * operand.matrix + line * operand.columns + column);
    }
  return operand;
}

const MmaRow *findMmaRow(const MmaSpec &spec) {
  for (const MmaRow &row : rows)
    if (row.family == spec.family && row.shape == spec.shape && row.types == mmaClassOf(spec.a) &&
        (row.layouts.empty() || row.layouts == spec.layouts))
      return &row;
  return nullptr;
}

const MmaPlan &mmaPlan(const MmaSpec &spec, const MmaRow &row) {
  using Key = std::tuple<const MmaRow *, MmaType, MmaType, MmaType, MmaType, bool, bool, std::array<uint8_t, 4>>;
  static std::mutex mutex;
  static std::map<Key, std::unique_ptr<MmaPlan>> plans;
  std::lock_guard lock(mutex);
  std::unique_ptr<MmaPlan> &plan =
      plans[Key(&row, spec.a, spec.b, spec.c, spec.d, spec.saturate, spec.isXor, spec.registerBytes)];
  if (!plan)
    plan = std::make_unique<MmaPlan>(makePlan(spec, row));
  return *plan;
}

} // namespace tilejit::sim
