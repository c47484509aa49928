// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Executes matrix instructions: unpacks A, B and C into plain arrays, multiplies, and puts D back. Products are exact
// and sums of floats are rounded once for each k, in order of k; what the chips round inside is their secret.

#include "amd/Elements.h"
#include "amd/Matrix.h"
#include "core/Block.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

namespace tilejit::sim {

namespace {

constexpr unsigned mostOperand = 32 * 64; ///< Elements of A: 16x128, 32x64.
constexpr unsigned mostProduct = 32 * 32 * 2;

/// One instruction while it runs.
template <unsigned W> struct MatrixRun {
  Warp &warp;
  const Op &op;
  const OpOperands &x;
  const MatrixPlan &plan;
  const MatrixRow &row;

  MatrixRun(Warp &w, const Op &o)
      : warp(w), op(o), x(*o.x), plan(*static_cast<const MatrixPlan *>(o.x->table)), row(*plan.row) {}

  int64_t number(MatrixNumber n) const { return x.numbers[n]; }
  const Reg *regs(unsigned operand) const { return x.in.data() + first(operand); }
  const Kind *kinds(unsigned operand) const { return x.inKinds.data() + first(operand); }
  /// Operands: 0 A, 1 B, 2 C, 3 what follows.
  unsigned first(unsigned operand) const {
    unsigned at = 0;
    for (unsigned i = 0; i < operand; ++i)
      at += static_cast<unsigned>(x.numbers[MatrixRegsA + i]);
    return at;
  }
};

/// Bits of element e, zero-extended: element e begins at bit e * bits of the registers in a row.
template <unsigned W>
void rawElement(Warp &warp, const Reg *regs, Kind kind, unsigned e, unsigned bits, uint32_t *raw) {
  unsigned size = 8 * sizeOf(kind), at = e * bits, shift = at % size;
  Reg reg = regs[at / size];
  uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  if (size == 8) {
    const uint8_t *from = warp.reg<uint8_t>(reg);
    for (unsigned l = 0; l < W; ++l)
      raw[l] = from[l] >> shift & mask;
  } else if (size == 16) {
    const uint16_t *from = warp.reg<uint16_t>(reg);
    for (unsigned l = 0; l < W; ++l)
      raw[l] = from[l] >> shift & mask;
  } else if (size == 64) {
    const uint64_t *from = warp.reg<uint64_t>(reg);
    for (unsigned l = 0; l < W; ++l)
      raw[l] = static_cast<uint32_t>(from[l] >> shift) & mask;
  } else if (shift + bits <= 32) {
    const uint32_t *from = warp.reg<uint32_t>(reg);
    for (unsigned l = 0; l < W; ++l)
      raw[l] = from[l] >> shift & mask;
  } else {
    const uint32_t *low = warp.reg<uint32_t>(reg), *high = warp.reg<uint32_t>(regs[at / size + 1]);
    for (unsigned l = 0; l < W; ++l)
      raw[l] = (low[l] >> shift | high[l] << (32 - shift)) & mask;
  }
}

/// Element e of an operand in all lanes.
template <unsigned W> void elementValues(Warp &warp, const Reg *regs, Kind kind, Element type, unsigned e, float *to) {
  if (type == Element::F16 && sizeOf(kind) == 2)
    return valuesOfF16<W>(warp.reg<uint16_t>(regs[e]), to);
  if (type == Element::F32) {
    std::memcpy(to, warp.reg<float>(regs[e]), W * sizeof(float));
    return;
  }
  if (type == Element::XF32) {
    const float *from = warp.reg<float>(regs[e]);
    for (unsigned l = 0; l < W; ++l)
      to[l] = roundToXf32(from[l]);
    return;
  }
  alignas(64) uint32_t raw[W];
  rawElement<W>(warp, regs, kind, e, bitsOf(type), raw);
  if (type == Element::BF16) {
    for (unsigned l = 0; l < W; ++l)
      to[l] = bf16ToFloat(static_cast<uint16_t>(raw[l]));
  } else if (type == Element::F16) {
    for (unsigned l = 0; l < W; ++l)
      to[l] = f16ToFloat(static_cast<uint16_t>(raw[l]));
  } else {
    const float *table = decodeTable(formatOf(type));
    for (unsigned l = 0; l < W; ++l)
      to[l] = table[raw[l]];
  }
}
template <unsigned W>
void elementValues(Warp &warp, const Reg *regs, Kind kind, Element type, unsigned e, int32_t *to) {
  alignas(64) uint32_t raw[W];
  unsigned bits = bitsOf(type);
  rawElement<W>(warp, regs, kind, e, bits, raw);
  if (type == Element::U8 || type == Element::U4) {
    std::memcpy(to, raw, sizeof raw);
    return;
  }
  for (unsigned l = 0; l < W; ++l)
    to[l] = static_cast<int32_t>(raw[l] << (32 - bits)) >> (32 - bits);
}
template <unsigned W> void elementValues(Warp &warp, const Reg *regs, Kind, Element, unsigned e, double *to) {
  std::memcpy(to, warp.reg<double>(regs[e]), W * sizeof(double));
}

/// Lane from which lane l takes its elements of B.
unsigned patternLane(unsigned pattern, unsigned l) {
  switch (pattern) {
  case 0:
    return l;
  case 1:
    return l % 32;
  case 2:
    return l % 32 + 32;
  case 3:
    return (l + 16) % 64;
  default:
    return l % 16 + 16 * (pattern - 4);
  }
}

/// Unpacks A or B to [block][k][lane of the group].
template <unsigned W, unsigned M, class T> void unpack(const MatrixRun<W> &run, unsigned operand, T *to) {
  const MatrixPlan &plan = run.plan;
  const MatrixRow &row = run.row;
  auto type = static_cast<Element>(run.number(operand ? MatrixB : MatrixA));
  auto pattern = operand ? static_cast<unsigned>(run.number(MatrixBlgp)) : 0;
  alignas(64) T values[W], permuted[W];
  // Formats of f8f6f4 that are not 8 bits wide keep 32 neighbouring k in each lane.
  bool narrow = row.layout == MatrixLayout::Mfma8Bit && bitsOf(type) < 8;
  for (unsigned e = 0; e < plan.perLane; ++e) {
    elementValues<W>(run.warp, run.regs(operand), *run.kinds(operand), type, e, values);
    const T *from = values;
    if (pattern) {
      for (unsigned l = 0; l < W; ++l)
        permuted[l] = values[patternLane(pattern, l)];
      from = permuted;
    }
    for (unsigned g = 0; g < plan.groups; ++g) {
      MatrixPiece piece = plan.operand[e * plan.groups + g];
      if (narrow)
        piece.index = static_cast<uint8_t>(plan.perLane * g + e);
      if (piece.used)
        std::memcpy(to + (piece.block * row.k + piece.index) * M, from + g * M, M * sizeof(T));
    }
  }
}

/// A sparse A: two elements of each four k, [k / 2][lane of the group], and the k of each.
template <class T> struct SparseOperand {
  alignas(64) T value[mostOperand / 2];
  uint8_t depth[mostOperand / 2];
};

template <unsigned W, unsigned M, class T> void unpackSparse(const MatrixRun<W> &run, SparseOperand<T> &to) {
  const MatrixPlan &plan = run.plan;
  auto type = static_cast<Element>(run.number(MatrixA));
  // Two bits for each stored element; with `cbsz` 0, `abid` says which set of them in the register.
  unsigned bits = 2 * plan.perLaneA, sets = 32 / bits;
  unsigned set = run.number(MatrixCbsz) ? 0 : static_cast<unsigned>(run.number(MatrixAbid)) % sets;
  alignas(64) T values[W];
  alignas(64) uint32_t place[W];
  for (unsigned s = 0; s < plan.perLaneA; ++s) {
    elementValues<W>(run.warp, run.regs(0), *run.kinds(0), type, s, values);
    rawElement<W>(run.warp, run.regs(3), *run.kinds(3), set * plan.perLaneA + s, 2, place);
    for (unsigned g = 0; g < plan.groups; ++g) {
      MatrixPiece pair = plan.pairs[s / 2 * plan.groups + g];
      unsigned slot = (pair.index / 2u + s % 2) * M;
      for (unsigned i = 0; pair.used && i < M; ++i) {
        to.value[slot + i] = values[g * M + i];
        to.depth[slot + i] = static_cast<uint8_t>(pair.index + place[g * M + i]);
      }
    }
  }
}

/// c += a * b. What the index does not choose of B is not multiplied, be it infinite or not a number.
template <unsigned M, class T> void multiplySparse(const SparseOperand<T> &a, const T *b, T *c, unsigned depth) {
  for (unsigned i = 0; i < M; ++i)
    for (unsigned s = 0; s < depth / 2; ++s) {
      T value = a.value[s * M + i];
      const T *row = b + a.depth[s * M + i] * M;
      for (unsigned j = 0; j < M; ++j)
        c[i * M + j] += value * row[j];
    }
}

/// c += a * b for a vector.
template <class V, class T> inline void multiplyAdd(V &c, T a, const V &b) {
#ifdef __AVX512F__
  if constexpr (std::is_same_v<T, float> && sizeof(V) == 64) {
    c = reinterpret_cast<V>(
        _mm512_fmadd_ps(_mm512_set1_ps(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
    return;
  }
#endif
  c += a * b;
}

/// A tile of 4 rows and one vector of columns: to = from + a * b for k in [0, depth). `from` and `to` may be the same.
template <class V, class T>
inline void multiplyTile(const T *a, unsigned strideA, const T *b, unsigned strideB, const T *const from[4],
                         T *const to[4], unsigned column, unsigned depth) {
  V c0, c1, c2, c3;
  std::memcpy(&c0, from[0] + column, sizeof(V));
  std::memcpy(&c1, from[1] + column, sizeof(V));
  std::memcpy(&c2, from[2] + column, sizeof(V));
  std::memcpy(&c3, from[3] + column, sizeof(V));
  for (unsigned k = 0; k < depth; ++k, a += strideA, b += strideB) {
    V row;
    std::memcpy(&row, b, sizeof(V));
    multiplyAdd(c0, a[0], row);
    multiplyAdd(c1, a[1], row);
    multiplyAdd(c2, a[2], row);
    multiplyAdd(c3, a[3], row);
  }
  std::memcpy(to[0] + column, &c0, sizeof(V));
  std::memcpy(to[1] + column, &c1, sizeof(V));
  std::memcpy(to[2] + column, &c2, sizeof(V));
  std::memcpy(to[3] + column, &c3, sizeof(V));
}

template <class T, unsigned N> struct VectorOf {
  typedef T Type __attribute__((vector_size(N * sizeof(T))));
};

/// Rows of a block: to[i][j] = from[i][j] + sum of a[k][i] * b[k][j]. `row(i)` gives the two pointers of a row.
template <unsigned M, class T, class F> inline void multiplyRows(const T *a, const T *b, unsigned depth, F row) {
  constexpr unsigned wide = M == 4 ? 4 : 64 / sizeof(T);
  for (unsigned i = 0; i < M; i += 4) {
    const T *from[4];
    T *to[4];
    for (unsigned q = 0; q < 4; ++q)
      std::tie(from[q], to[q]) = row(i + q);
    for (unsigned j = 0; j < M; j += wide)
      multiplyTile<typename VectorOf<T, wide>::Type>(a + i, M, b + j, M, from, to, j, depth);
  }
}
template <unsigned M, class T> void multiply(const T *a, const T *b, T *c, unsigned depth) {
  multiplyRows<M>(a, b, depth, [c](unsigned i) { return std::pair<const T *, T *>(c + i * M, c + i * M); });
}

/// The block of A that a block of the product takes.
template <unsigned W> unsigned blockOfA(const MatrixRun<W> &run, unsigned block) {
  auto spread = static_cast<unsigned>(run.number(MatrixCbsz));
  return spread ? (block >> spread << spread) + static_cast<unsigned>(run.number(MatrixAbid)) : block;
}

template <unsigned M, unsigned W, class T> void multiplyBlocks(const MatrixRun<W> &run, const T *a, const T *b, T *c) {
  unsigned size = M * run.row.k;
  for (unsigned block = 0; block < run.row.blocks; ++block)
    multiply<M>(a + blockOfA(run, block) * size, b + block * size, c + block * M * M, run.row.k);
}

/// From C's registers straight to D's, which are others: all lanes are written.
template <unsigned W, unsigned M, class T> void multiplyInPlace(const MatrixRun<W> &run, const T *a, const T *b) {
  const MatrixPlan &plan = run.plan;
  const Reg *c = run.regs(2), *d = run.x.out.data();
  unsigned size = M * run.row.k, shift = static_cast<unsigned>(std::countr_zero(plan.groups));
  for (unsigned block = 0; block < run.row.blocks; ++block) {
    const uint16_t *places = plan.rowPlace.data() + block * M;
    multiplyRows<M>(a + blockOfA(run, block) * size, b + block * size, run.row.k, [&](unsigned i) {
      unsigned r = places[i] >> shift, at = (places[i] & (plan.groups - 1)) * M;
      return std::pair<const T *, T *>(run.warp.template reg<T>(c[r]) + at, run.warp.template reg<T>(d[r]) + at);
    });
  }
}

/// Scales of A or B as powers of two, [block of 32 k][lane of the group].
template <unsigned W> bool scales(const MatrixRun<W> &run, unsigned operand, double *to) {
  const uint32_t *from = run.warp.template reg<uint32_t>(run.regs(3)[operand]);
  unsigned shift = 8 * static_cast<unsigned>(run.number(operand ? MatrixSelectB : MatrixSelectA));
  bool plain = true;
  for (unsigned l = 0; l < W; ++l) {
    uint32_t code = from[l] >> shift & 255;
    plain &= code == 127;
    to[l] = code == 255 ? std::nan("") : std::ldexp(1.0, static_cast<int>(code) - 127);
  }
  return plain;
}

template <unsigned M, unsigned W>
void multiplyScaled(const MatrixRun<W> &run, const float *a, const float *b, float *c) {
  const MatrixRow &row = run.row;
  double scaleA[W], scaleB[W];
  bool plain = scales<W>(run, 0, scaleA);
  plain &= scales<W>(run, 1, scaleB);
  if (plain)
    return multiply<M>(a, b, c, row.k);
  alignas(64) float part[mostProduct];
  for (unsigned kb = 0; kb < row.k / 32u; ++kb) {
    std::memset(part, 0, M * M * sizeof(float));
    multiply<M>(a + kb * 32 * M, b + kb * 32 * M, part, 32u);
    for (unsigned i = 0; i < M; ++i)
      for (unsigned j = 0; j < M; ++j)
        c[i * M + j] = static_cast<float>(c[i * M + j] + part[i * M + j] * scaleA[kb * M + i] * scaleB[kb * M + j]);
  }
}

/// Reads C to [block][row][column].
template <unsigned W, unsigned M, class T> void unpackAccumulator(const MatrixRun<W> &run, T *to) {
  const MatrixPlan &plan = run.plan;
  auto half = static_cast<unsigned>(run.number(MatrixHalf));
  alignas(64) float values[W];
  for (unsigned r = 0; r < plan.perLaneC; ++r) {
    Reg reg = run.regs(2)[r * plan.strideC + half];
    const T *from = run.warp.template reg<T>(reg);
    if constexpr (std::is_same_v<T, float>)
      if (run.row.c != Element::F32) {
        const uint16_t *bits = run.warp.template reg<uint16_t>(reg);
        for (unsigned l = 0; l < W; ++l)
          values[l] = run.row.c == Element::F16 ? f16ToFloat(bits[l]) : bf16ToFloat(bits[l]);
        from = values;
      }
    for (unsigned g = 0; g < plan.groups; ++g) {
      const MatrixPiece &piece = plan.accumulator[r * plan.groups + g];
      std::memcpy(to + (piece.block * M + piece.index) * M, from + g * M, M * sizeof(T));
    }
  }
}

/// Writes D.
template <unsigned W, unsigned M, class T> void packResult(const MatrixRun<W> &run, const T *from) {
  const MatrixPlan &plan = run.plan;
  Warp &warp = run.warp;
  auto half = static_cast<unsigned>(run.number(MatrixHalf));
  alignas(64) T values[W];
  alignas(64) uint16_t bits[W];
  if (plan.strideC == 2) {
    // The half of the registers that is not addressed.
    for (unsigned r = 0; r < plan.perLaneC; ++r) {
      if (run.row.form == MatrixForm::Tied)
        std::memcpy(bits, warp.reg<uint16_t>(run.regs(2)[2 * r + 1 - half]), sizeof bits);
      else
        std::memset(bits, 0xbd, sizeof bits);
      blend<W>(warp.reg<uint16_t>(run.x.out[2 * r + 1 - half]), bits, warp.mask);
    }
  }
  for (unsigned r = 0; r < plan.perLaneC; ++r) {
    for (unsigned g = 0; g < plan.groups; ++g) {
      const MatrixPiece &piece = plan.accumulator[r * plan.groups + g];
      std::memcpy(values + g * M, from + (piece.block * M + piece.index) * M, M * sizeof(T));
    }
    Reg reg = run.x.out[r * plan.strideC + half];
    if constexpr (std::is_same_v<T, float>)
      if (run.row.c != Element::F32) {
        for (unsigned l = 0; l < W; ++l)
          bits[l] = run.row.c == Element::F16 ? floatToF16(values[l]) : floatToBf16(values[l]);
        blend<W>(warp.reg<uint16_t>(reg), bits, warp.mask);
        continue;
      }
    blend<W>(warp.reg<T>(reg), values, warp.mask);
  }
}

/// RDNA 3 wants A and B in each group of 16 lanes.
template <unsigned W> void checkDuplicates(const MatrixRun<W> &run) {
  Warp &warp = run.warp;
  if (!warp.block->checks(Check::Fragment))
    return;
  for (unsigned operand = 0; operand < 2; ++operand)
    for (int64_t r = 0; r < run.number(operand ? MatrixRegsB : MatrixRegsA); ++r) {
      unsigned size = sizeOf(run.kinds(operand)[r]);
      const uint8_t *bytes = warp.reg<uint8_t>(run.regs(operand)[r]);
      for (unsigned l = 16; l < W; ++l)
        if (warp.mask >> l & 1 && std::memcmp(bytes + l * size, bytes + l % 16 * size, size) != 0)
          return warp.block->report(ReportKind::Fragment, run.op.site, warp, l,
                                    std::string("operand ") + (operand ? "B" : "A") + " differs from lane " +
                                        std::to_string(l % 16) + "'s",
                                    "load the same row into each group of 16 lanes: the row of lane l is l % 16");
    }
}

/// The unit takes the registers of all lanes, active or not.
template <unsigned W> void checkLanes(const MatrixRun<W> &run) {
  Warp &warp = run.warp;
  if (warp.mask == allLanes<W> || !warp.block->checks(Check::Divergence))
    return;
  warp.block->report(
      ReportKind::Divergence, run.op.site, warp, firstLane(~warp.mask),
      "a matrix instruction with only " + std::to_string(countLanes(warp.mask)) + " of " + std::to_string(W) +
          " lanes active, which reads and writes registers of all; missing",
      "execute matrix instructions with whole waves: make the branch uniform and the block a multiple of "
      "the wave");
}

template <unsigned W, unsigned M> void runFloat(const MatrixRun<W> &run) {
  alignas(64) float a[mostOperand], b[mostOperand], c[mostProduct];
  SparseOperand<float> sparse;
  bool isThin = isSparse(run.row.form);
  if (isThin)
    unpackSparse<W, M>(run, sparse);
  else
    unpack<W, M>(run, 0, a);
  unpack<W, M>(run, 1, b);
  bool dense = run.row.form == MatrixForm::Mfma || run.row.form == MatrixForm::Wmma;
  if (dense && run.warp.mask == allLanes<W>)
    return multiplyInPlace<W, M>(run, a, b);
  unpackAccumulator<W, M>(run, c);
  if (run.row.form == MatrixForm::Scaled)
    multiplyScaled<M>(run, a, b, c);
  else if (isThin)
    multiplySparse<M>(sparse, b, c, run.row.k);
  else
    multiplyBlocks<M>(run, a, b, c);
  packResult<W, M>(run, c);
}

template <unsigned W, unsigned M> void runDouble(const MatrixRun<W> &run) {
  alignas(64) double a[256], b[256], c[256];
  unpack<W, M>(run, 0, a);
  unpack<W, M>(run, 1, b);
  unpackAccumulator<W, M>(run, c);
  // CDNA 3 negates operands by what was the lane pattern.
  auto negate = static_cast<unsigned>(run.number(MatrixSelectA));
  unsigned operands = M * run.row.k * run.row.blocks, products = M * M * run.row.blocks;
  for (unsigned i = 0; i < operands && negate & 1; ++i)
    a[i] = -a[i];
  for (unsigned i = 0; i < operands && negate & 2; ++i)
    b[i] = -b[i];
  for (unsigned i = 0; i < products && negate & 4; ++i)
    c[i] = -c[i];
  multiplyBlocks<M>(run, a, b, c);
  packResult<W, M>(run, c);
}

template <unsigned W, unsigned M> void runInteger(const MatrixRun<W> &run) {
  // Sums wrap, so they are formed without signs.
  alignas(64) int32_t a[mostOperand], b[mostOperand], c[mostProduct], product[mostProduct];
  SparseOperand<int32_t> sparse;
  bool isThin = isSparse(run.row.form);
  if (isThin)
    unpackSparse<W, M>(run, sparse);
  else
    unpack<W, M>(run, 0, a);
  unpack<W, M>(run, 1, b);
  if (!isThin && !run.number(MatrixClamp) && run.warp.mask == allLanes<W>)
    return multiplyInPlace<W, M>(run, reinterpret_cast<uint32_t *>(a), reinterpret_cast<uint32_t *>(b));
  unpackAccumulator<W, M>(run, c);
  unsigned products = M * M * run.row.blocks;
  std::memset(product, 0, products * sizeof(int32_t));
  if (isThin)
    multiplySparse<M>(sparse, b, product, run.row.k);
  else
    multiplyBlocks<M>(run, a, b, product);
  if (run.number(MatrixClamp))
    for (unsigned i = 0; i < products; ++i) {
      int64_t sum = int64_t(c[i]) + product[i];
      c[i] = static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX));
    }
  else
    for (unsigned i = 0; i < products; ++i)
      c[i] = static_cast<int32_t>(static_cast<uint32_t>(c[i]) + static_cast<uint32_t>(product[i]));
  packResult<W, M>(run, c);
}

template <unsigned W, unsigned M> void runSized(const MatrixRun<W> &run) {
  if (run.row.c == Element::I32)
    return runInteger<W, M>(run);
  if (run.row.c != Element::F64)
    return runFloat<W, M>(run);
  if constexpr (M != 32)
    runDouble<W, M>(run);
}

template <unsigned W> void runMatrix(Warp &warp, const Op &op) {
  MatrixRun<W> run(warp, op);
  ++warp.block->counters[op.site].matrixInstructions;
  checkLanes(run);
  if (run.row.layout == MatrixLayout::Rdna3)
    checkDuplicates(run);
  if (run.row.m == 32)
    runSized<W, 32>(run);
  else if (run.row.m == 16)
    runSized<W, 16>(run);
  else
    runSized<W, 4>(run);
}

} // namespace

void runMatrix32(Warp &warp, const Op &op) { runMatrix<32>(warp, op); }
void runMatrix64(Warp &warp, const Op &op) { runMatrix<64>(warp, op); }

} // namespace tilejit::sim
