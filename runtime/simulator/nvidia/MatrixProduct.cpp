// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The engine of all matrix instructions: operands are gathered from the lanes into plain matrices, multiplied, and
// scattered again. Integers are exact (modulo 2^32, or clamped when the instruction saturates). Products of reals are
// exact and added in f32 one after another, in ascending k, starting from C; the machine's order and its rounding
// inside the unit are not known, so results of reals agree to a few units of the last place only. f64: fused
// multiply-adds.

#include "core/Block.h"
#include "core/NarrowFloat.h"
#include "nvidia/Matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tilejit::sim {

namespace {

constexpr unsigned width = 32;
constexpr unsigned maxElements = 2048; // A of m16n8k128.

// --- From lanes to matrices -----------------------------------------------------------------------------------------

/// to[place] = convert(bits) for the elements of an operand; bits are those of the element alone.
template <class T, class F> void gatherBits(Warp &warp, const MmaOperand &operand, const Reg *regs, T *to, F convert) {
  unsigned bits = mmaBits(operand.type);
  uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  for (unsigned e = 0; e < operand.elements; ++e) {
    const uint16_t *place = operand.place.data() + e * width;
    Reg reg = regs[e / operand.perRegister];
    alignas(64) T values[width];
    if (bits == 16 && operand.perRegister == 1) {
      const uint16_t *from = warp.reg<uint16_t>(reg);
      for (unsigned l = 0; l < width; ++l)
        values[l] = convert(uint32_t(from[l]));
    } else {
      const uint32_t *from = warp.reg<uint32_t>(reg);
      unsigned shift = e % operand.perRegister * bits;
      for (unsigned l = 0; l < width; ++l)
        values[l] = convert(from[l] >> shift & mask);
    }
    if (operand.inOrder)
      std::memcpy(to + e * width, values, sizeof values);
    else
      for (unsigned l = 0; l < width; ++l)
        to[place[l]] = values[l];
  }
}

void gather(Warp &warp, const MmaOperand &operand, const Reg *regs, float *to) {
  switch (operand.type) {
  case MmaType::F16:
    return gatherBits(warp, operand, regs, to, [](uint32_t v) { return f16ToFloat(static_cast<uint16_t>(v)); });
  case MmaType::BF16:
    return gatherBits(warp, operand, regs, to, [](uint32_t v) { return bf16ToFloat(static_cast<uint16_t>(v)); });
  case MmaType::TF32: // The unit does not see the low bits.
    return gatherBits(warp, operand, regs, to, [](uint32_t v) { return std::bit_cast<float>(v & 0xffffe000u); });
  case MmaType::E4M3:
  case MmaType::E5M2: {
    const float *table = decodeTable(operand.type == MmaType::E4M3 ? formatE4m3 : formatE5m2);
    return gatherBits(warp, operand, regs, to, [table](uint32_t v) { return table[v]; });
  }
  case MmaType::S8:
    return gatherBits(warp, operand, regs, to, [](uint32_t v) { return float(static_cast<int8_t>(v)); });
  case MmaType::S4:
    return gatherBits(warp, operand, regs, to, [](uint32_t v) { return float(static_cast<int32_t>(v << 28) >> 28); });
  case MmaType::U8:
  case MmaType::U4:
    return gatherBits(warp, operand, regs, to, [](uint32_t v) { return float(static_cast<int32_t>(v)); });
  default:
    return gatherBits(warp, operand, regs, to, [](uint32_t v) { return std::bit_cast<float>(v); });
  }
}

void gather(Warp &warp, const MmaOperand &operand, const Reg *regs, double *to) {
  for (unsigned e = 0; e < operand.elements; ++e)
    for (unsigned l = 0; l < width; ++l)
      to[operand.place[e * width + l]] = warp.reg<double>(regs[e])[l];
}

void gather(Warp &warp, const MmaOperand &operand, const Reg *regs, int32_t *to) {
  gatherBits(warp, operand, regs, to, [](uint32_t v) { return static_cast<int32_t>(v); });
}

/// Register r of D = pack(first element, second element if two share it).
template <class T, class Stored, class F>
void scatterBits(Warp &warp, const MmaOperand &operand, const Reg *regs, const T *from, F pack) {
  for (unsigned r = 0; r < operand.registers; ++r) {
    unsigned element = r * operand.perRegister, next = operand.perRegister > 1 ? element + 1 : element;
    if (operand.inOrder) {
      map<width>(warp.mask, warp.reg<Stored>(regs[r]),
                 [&](unsigned l) { return pack(from[element * width + l], from[next * width + l]); });
      continue;
    }
    const uint16_t *first = operand.place.data() + element * width, *second = operand.place.data() + next * width;
    map<width>(warp.mask, warp.reg<Stored>(regs[r]), [&](unsigned l) { return pack(from[first[l]], from[second[l]]); });
  }
}

void scatter(Warp &warp, const MmaOperand &operand, const Reg *regs, const float *from, bool saturate) {
  if (operand.type == MmaType::F32)
    return scatterBits<float, float>(warp, operand, regs, from, [](float v, float) { return v; });
  auto half = [saturate](float v) -> uint32_t {
    if (!saturate)
      return floatToF16(v);
    constexpr float most = 65504;
    return std::isnan(v) ? 0 : floatToF16(std::clamp(v, -most, most));
  };
  if (operand.perRegister == 1)
    return scatterBits<float, uint16_t>(warp, operand, regs, from,
                                        [&](float v, float) { return static_cast<uint16_t>(half(v)); });
  scatterBits<float, uint32_t>(warp, operand, regs, from, [&](float a, float b) { return half(a) | half(b) << 16; });
}
void scatter(Warp &warp, const MmaOperand &operand, const Reg *regs, const double *from, bool) {
  scatterBits<double, double>(warp, operand, regs, from, [](double v, double) { return v; });
}
void scatter(Warp &warp, const MmaOperand &operand, const Reg *regs, const int32_t *from, bool) {
  scatterBits<int32_t, int32_t>(warp, operand, regs, from, [](int32_t v, int32_t) { return v; });
}

// --- Sparse A -------------------------------------------------------------------------------------------------------

/// The four bits of metadata of a chunk: two indices, smaller first. `chunk` counts along a row.
uint32_t metadataOf(Warp &warp, const MmaPlan &plan, Reg metadata, unsigned selector, unsigned row, unsigned chunk,
                    unsigned chunksOfRow) {
  const uint32_t *words = warp.reg<uint32_t>(metadata);
  unsigned quad = row % 8 * 4, high = row / 8;
  if (plan.row->metadata == MmaMetadata::Halves) {
    unsigned lanes = chunksOfRow / 4, lane = quad + selector * lanes + chunk / 4;
    return words[lane & 31] >> (high * 16 + chunk % 4 * 4) & 15;
  }
  unsigned lanes = chunksOfRow / 4, lane = quad + selector * lanes + chunk / 8 * 2 + high;
  return words[lane & 31] >> (chunk % 8 * 4) & 15;
}

/// Half of k, as it lies in the registers, to all of k with zeros.
template <class T> void expand(Warp &warp, const Op &op, const MmaPlan &plan, Reg metadata, const T *from, T *to) {
  // What the indices count: halves of an element of 32 bits, elements, or pairs of 4 bits.
  unsigned bits = mmaBits(plan.a.type);
  unsigned perChunk = bits == 32 ? 2 : bits == 4 ? 8 : 4, kept = perChunk / 2, chunks = plan.k / perChunk;
  std::fill(to, to + size_t(plan.m) * plan.k, T(0));
  for (unsigned row = 0; row < plan.m; ++row)
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      uint32_t meta = metadataOf(warp, plan, metadata, static_cast<unsigned>(op.imm), row, chunk, chunks);
      uint32_t first = meta & 3, second = meta >> 2;
      if (first >= second && warp.block->checks(Check::Fragment))
        warp.block->report(ReportKind::Fragment, op.site, warp, row % 8 * 4,
                           "sparse metadata whose indices do not ascend, given",
                           "four bits for each chunk, the smaller index in the lower two");
      for (unsigned i = 0; i < kept; ++i) {
        unsigned at = bits == 32 ? first / 2 : bits == 4 ? (i < 2 ? first : second) * 2 + i % 2 : (i ? second : first);
        to[row * plan.k + chunk * perChunk + at] = from[row * plan.k / 2 + chunk * kept + i];
      }
    }
}

// --- Products -------------------------------------------------------------------------------------------------------

inline float multiplyAdd(float a, float b, float c) {
#ifdef __FMA__
  return std::fma(a, b, c);
#else
  return a * b + c; // The product is exact but for denormal results.
#endif
}
inline double multiplyAdd(double a, double b, double c) { return std::fma(a, b, c); }

struct Multiply {
  template <class T> T operator()(T a, T b, T c) const { return multiplyAdd(a, b, c); }
};
struct CountXor {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return c + __builtin_popcount(static_cast<uint32_t>(a ^ b));
  }
};
struct CountAnd {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return c + __builtin_popcount(static_cast<uint32_t>(a & b));
  }
};

/// c += a * b for each block; m and n are multiples of 4 and 8.
template <class T, class F> void product(const MmaPlan &plan, const T *a, const T *b, T *c, F step) {
  constexpr unsigned rows = 4, columns = 8; // Independent sums, to hide what one addition takes.
  for (unsigned block = 0; block < plan.blocks; ++block) {
    for (unsigned i = 0; i < plan.m; i += rows)
      for (unsigned j = 0; j < plan.n; j += columns) {
        alignas(64) T sums[rows][columns];
        for (unsigned y = 0; y < rows; ++y)
          for (unsigned x = 0; x < columns; ++x)
            sums[y][x] = c[(i + y) * plan.n + j + x];
        for (unsigned k = 0; k < plan.k; ++k) {
          const T *line = b + k * plan.n + j;
          for (unsigned y = 0; y < rows; ++y)
            for (unsigned x = 0; x < columns; ++x)
              sums[y][x] = step(a[(i + y) * plan.k + k], line[x], sums[y][x]);
        }
        for (unsigned y = 0; y < rows; ++y)
          for (unsigned x = 0; x < columns; ++x)
            c[(i + y) * plan.n + j + x] = sums[y][x];
      }
    a += plan.m * plan.k;
    b += plan.k * plan.n;
    c += plan.m * plan.n;
  }
}

template <class T> void gatherFactors(Warp &warp, const Op &op, const MmaPlan &plan, T *a, T *b) {
  const Reg *regs = op.x->in.data(), *regsB = regs + plan.a.registers;
  if (plan.row->metadata == MmaMetadata::None) {
    gather(warp, plan.a, regs, a);
  } else {
    T half[maxElements];
    gather(warp, plan.a, regs, half);
    expand(warp, op, plan, regsB[plan.b.registers + plan.c.registers], half, a);
  }
  gather(warp, plan.b, regsB, b);
}
const Reg *registersOfC(const Op &op, const MmaPlan &plan) {
  return op.x->in.data() + plan.a.registers + plan.b.registers;
}

template <class T> void runReal(Warp &warp, const Op &op, const MmaPlan &plan) {
  alignas(64) T a[maxElements], b[maxElements], c[maxElements];
  gatherFactors(warp, op, plan, a, b);
  gather(warp, plan.c, registersOfC(op, plan), c);
  if constexpr (std::is_same_v<T, float>) {
    if (!plan.tiles.steps.empty()) {
      multiplyTiles(plan, a, b, c);
      return scatter(warp, plan.d, op.x->out.data(), c, plan.saturate);
    }
  }
  product(plan, a, b, c, Multiply());
  scatter(warp, plan.d, op.x->out.data(), c, plan.saturate);
}

/// D = C + sums, which fit in 32 bits: only C can push them over.
template <class T> void addToC(Warp &warp, const Op &op, const MmaPlan &plan, const T *sums) {
  int32_t c[maxElements];
  gather(warp, plan.c, registersOfC(op, plan), c);
  for (unsigned i = 0; i < plan.m * plan.n; ++i) { // Elements of all lanes, as many.
    int64_t sum = int64_t(c[i]) + static_cast<int32_t>(sums[i]);
    c[i] = plan.saturate ? static_cast<int32_t>(std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                                                                    std::numeric_limits<int32_t>::max()))
                         : static_cast<int32_t>(static_cast<uint32_t>(sum));
  }
  scatter(warp, plan.d, op.x->out.data(), c, false);
}

/// Sums of products of 8 bits and less stay below 2^24: f32 holds them exactly, and is quicker.
void runInteger(Warp &warp, const Op &op, const MmaPlan &plan) {
  alignas(64) float a[maxElements], b[maxElements], sums[maxElements];
  std::fill(sums, sums + plan.m * plan.n, 0.0f);
  gatherFactors(warp, op, plan, a, b);
  if (plan.tiles.steps.empty())
    product(plan, a, b, sums, Multiply());
  else
    multiplyTiles(plan, a, b, sums);
  addToC(warp, op, plan, sums);
}

void runBits(Warp &warp, const Op &op, const MmaPlan &plan) {
  int32_t a[maxElements], b[maxElements], sums[maxElements];
  std::fill(sums, sums + plan.m * plan.n, 0);
  gatherFactors(warp, op, plan, a, b);
  if (plan.isXor)
    product(plan, a, b, sums, CountXor());
  else
    product(plan, a, b, sums, CountAnd());
  addToC(warp, op, plan, sums);
}

} // namespace

bool meetWarp(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  if (!block.meet(warp, allLanes<width>))
    return false;
  if (warp.mask != allLanes<width> && block.checks(Check::Divergence))
    block.report(ReportKind::Divergence, op.site, warp, firstLane(~warp.mask),
                 "an instruction of the whole warp is not executed",
                 "all 32 lanes must execute it together; launch whole warps and keep it out of branches");
  return true;
}

void runMma(Warp &warp, const Op &op) {
  if (!meetWarp(warp, op))
    return;
  const auto &plan = *static_cast<const MmaPlan *>(op.x->table);
  ++warp.block->counters[op.site].matrixInstructions;
  if (plan.fast && runFastMma(warp, *op.x, plan))
    return;
  switch (plan.row->types) {
  case MmaClass::F64:
    return runReal<double>(warp, op, plan);
  case MmaClass::Int8:
  case MmaClass::Int4:
    return runInteger(warp, op, plan);
  case MmaClass::Bit:
    return runBits(warp, op, plan);
  default:
    return runReal<float>(warp, op, plan);
  }
}

} // namespace tilejit::sim
