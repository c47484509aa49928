// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The rows of the matrix instructions and the formulas of their layouts.

#include "amd/Matrix.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace tilejit::sim {

namespace {

using enum Element;
using enum MatrixForm;

constexpr uint32_t cdna1 = generationBit(Generation::Cdna1), cdna2 = generationBit(Generation::Cdna2),
                   cdna3 = generationBit(Generation::Cdna3), cdna4 = generationBit(Generation::Cdna4),
                   rdna3 = generationBit(Generation::Rdna3), rdna4 = generationBit(Generation::Rdna4);
constexpr uint32_t since1 = cdna1 | cdna2 | cdna3 | cdna4, since2 = cdna2 | cdna3 | cdna4, since3 = cdna3 | cdna4,
                   until2 = cdna1 | cdna2;
constexpr auto M = MatrixForm::Mfma;
constexpr auto L = MatrixLayout::Mfma;
constexpr auto L8 = MatrixLayout::Mfma8Bit;
constexpr auto LS = MatrixLayout::Sparse, LW = MatrixLayout::SparseWide;
constexpr auto R3 = MatrixLayout::Rdna3, R4 = MatrixLayout::Rdna4;

constexpr MatrixRow rows[] = {
    // CDNA 1 and later.
    {"mfma.f32.32x32x1f32", since1, M, L, F32, F32, F32, 32, 1, 2},
    {"mfma.f32.16x16x1f32", since1, M, L, F32, F32, F32, 16, 1, 4},
    {"mfma.f32.4x4x1f32", since1, M, L, F32, F32, F32, 4, 1, 16},
    {"mfma.f32.32x32x2f32", since1, M, L, F32, F32, F32, 32, 2, 1},
    {"mfma.f32.16x16x4f32", since1, M, L, F32, F32, F32, 16, 4, 1},
    {"mfma.f32.32x32x4f16", since1, M, L, F16, F16, F32, 32, 4, 2},
    {"mfma.f32.16x16x4f16", since1, M, L, F16, F16, F32, 16, 4, 4},
    {"mfma.f32.4x4x4f16", since1, M, L, F16, F16, F32, 4, 4, 16},
    {"mfma.f32.32x32x8f16", since1, M, L, F16, F16, F32, 32, 8, 1},
    {"mfma.f32.16x16x16f16", since1, M, L, F16, F16, F32, 16, 16, 1},
    {"mfma.i32.32x32x4i8", since1, M, L, I8, I8, I32, 32, 4, 2},
    {"mfma.i32.16x16x4i8", since1, M, L, I8, I8, I32, 16, 4, 4},
    {"mfma.i32.4x4x4i8", since1, M, L, I8, I8, I32, 4, 4, 16},
    {"mfma.i32.32x32x8i8", until2, M, L, I8, I8, I32, 32, 8, 1},
    {"mfma.i32.16x16x16i8", until2, M, L, I8, I8, I32, 16, 16, 1},
    {"mfma.f32.32x32x2bf16", until2, M, L, BF16, BF16, F32, 32, 2, 2},
    {"mfma.f32.16x16x2bf16", until2, M, L, BF16, BF16, F32, 16, 2, 4},
    {"mfma.f32.4x4x2bf16", until2, M, L, BF16, BF16, F32, 4, 2, 16},
    {"mfma.f32.32x32x4bf16", until2, M, L, BF16, BF16, F32, 32, 4, 1},
    {"mfma.f32.16x16x8bf16", until2, M, L, BF16, BF16, F32, 16, 8, 1},
    // CDNA 2 and later.
    {"mfma.f32.32x32x4bf16.1k", since2, M, L, BF16, BF16, F32, 32, 4, 2},
    {"mfma.f32.16x16x4bf16.1k", since2, M, L, BF16, BF16, F32, 16, 4, 4},
    {"mfma.f32.4x4x4bf16.1k", since2, M, L, BF16, BF16, F32, 4, 4, 16},
    {"mfma.f32.32x32x8bf16.1k", since2, M, L, BF16, BF16, F32, 32, 8, 1},
    {"mfma.f32.16x16x16bf16.1k", since2, M, L, BF16, BF16, F32, 16, 16, 1},
    {"mfma.f64.16x16x4f64", since2, M, MatrixLayout::MfmaF64, F64, F64, F64, 16, 4, 1},
    {"mfma.f64.4x4x4f64", since2, M, MatrixLayout::MfmaF64x4, F64, F64, F64, 4, 4, 4},
    // CDNA 3 and later.
    {"mfma.i32.16x16x32.i8", since3, M, L, I8, I8, I32, 16, 32, 1},
    {"mfma.i32.32x32x16.i8", since3, M, L, I8, I8, I32, 32, 16, 1},
    {"mfma.f32.16x16x8.xf32", cdna3, M, L, XF32, XF32, F32, 16, 8, 1},
    {"mfma.f32.32x32x4.xf32", cdna3, M, L, XF32, XF32, F32, 32, 4, 1},
    {"mfma.f32.16x16x32.bf8.bf8", since3, M, L, Bf8, Bf8, F32, 16, 32, 1},
    {"mfma.f32.16x16x32.bf8.fp8", since3, M, L, Bf8, Fp8, F32, 16, 32, 1},
    {"mfma.f32.16x16x32.fp8.bf8", since3, M, L, Fp8, Bf8, F32, 16, 32, 1},
    {"mfma.f32.16x16x32.fp8.fp8", since3, M, L, Fp8, Fp8, F32, 16, 32, 1},
    {"mfma.f32.32x32x16.bf8.bf8", since3, M, L, Bf8, Bf8, F32, 32, 16, 1},
    {"mfma.f32.32x32x16.bf8.fp8", since3, M, L, Bf8, Fp8, F32, 32, 16, 1},
    {"mfma.f32.32x32x16.fp8.bf8", since3, M, L, Fp8, Bf8, F32, 32, 16, 1},
    {"mfma.f32.32x32x16.fp8.fp8", since3, M, L, Fp8, Fp8, F32, 32, 16, 1},
    {"smfmac.f32.16x16x32.f16", since3, Sparse, LS, F16, F16, F32, 16, 32, 1},
    {"smfmac.f32.32x32x16.f16", since3, Sparse, LS, F16, F16, F32, 32, 16, 1},
    {"smfmac.f32.16x16x32.bf16", since3, Sparse, LS, BF16, BF16, F32, 16, 32, 1},
    {"smfmac.f32.32x32x16.bf16", since3, Sparse, LS, BF16, BF16, F32, 32, 16, 1},
    {"smfmac.i32.16x16x64.i8", since3, Sparse, LS, I8, I8, I32, 16, 64, 1},
    {"smfmac.i32.32x32x32.i8", since3, Sparse, LS, I8, I8, I32, 32, 32, 1},
    {"smfmac.f32.16x16x64.bf8.bf8", since3, Sparse, LS, Bf8, Bf8, F32, 16, 64, 1},
    {"smfmac.f32.16x16x64.bf8.fp8", since3, Sparse, LS, Bf8, Fp8, F32, 16, 64, 1},
    {"smfmac.f32.16x16x64.fp8.bf8", since3, Sparse, LS, Fp8, Bf8, F32, 16, 64, 1},
    {"smfmac.f32.16x16x64.fp8.fp8", since3, Sparse, LS, Fp8, Fp8, F32, 16, 64, 1},
    {"smfmac.f32.32x32x32.bf8.bf8", since3, Sparse, LS, Bf8, Bf8, F32, 32, 32, 1},
    {"smfmac.f32.32x32x32.bf8.fp8", since3, Sparse, LS, Bf8, Fp8, F32, 32, 32, 1},
    {"smfmac.f32.32x32x32.fp8.bf8", since3, Sparse, LS, Fp8, Bf8, F32, 32, 32, 1},
    {"smfmac.f32.32x32x32.fp8.fp8", since3, Sparse, LS, Fp8, Fp8, F32, 32, 32, 1},
    // CDNA 4.
    {"mfma.f32.16x16x32.f16", cdna4, M, L, F16, F16, F32, 16, 32, 1},
    {"mfma.f32.32x32x16.f16", cdna4, M, L, F16, F16, F32, 32, 16, 1},
    {"mfma.f32.16x16x32.bf16", cdna4, M, L, BF16, BF16, F32, 16, 32, 1},
    {"mfma.f32.32x32x16.bf16", cdna4, M, L, BF16, BF16, F32, 32, 16, 1},
    {"mfma.i32.16x16x64.i8", cdna4, M, L, I8, I8, I32, 16, 64, 1},
    {"mfma.i32.32x32x32.i8", cdna4, M, L, I8, I8, I32, 32, 32, 1},
    {"mfma.scale.f32.16x16x128.f8f6f4", cdna4, Scaled, L8, Fp8, Fp8, F32, 16, 128, 1},
    {"mfma.scale.f32.32x32x64.f8f6f4", cdna4, Scaled, L8, Fp8, Fp8, F32, 32, 64, 1},
    {"smfmac.f32.16x16x64.f16", cdna4, Sparse, LW, F16, F16, F32, 16, 64, 1},
    {"smfmac.f32.32x32x32.f16", cdna4, Sparse, LW, F16, F16, F32, 32, 32, 1},
    {"smfmac.f32.16x16x64.bf16", cdna4, Sparse, LW, BF16, BF16, F32, 16, 64, 1},
    {"smfmac.f32.32x32x32.bf16", cdna4, Sparse, LW, BF16, BF16, F32, 32, 32, 1},
    {"smfmac.i32.16x16x128.i8", cdna4, Sparse, LW, I8, I8, I32, 16, 128, 1},
    {"smfmac.i32.32x32x64.i8", cdna4, Sparse, LW, I8, I8, I32, 32, 64, 1},
    {"smfmac.f32.16x16x128.bf8.bf8", cdna4, Sparse, LW, Bf8, Bf8, F32, 16, 128, 1},
    {"smfmac.f32.16x16x128.bf8.fp8", cdna4, Sparse, LW, Bf8, Fp8, F32, 16, 128, 1},
    {"smfmac.f32.16x16x128.fp8.bf8", cdna4, Sparse, LW, Fp8, Bf8, F32, 16, 128, 1},
    {"smfmac.f32.16x16x128.fp8.fp8", cdna4, Sparse, LW, Fp8, Fp8, F32, 16, 128, 1},
    {"smfmac.f32.32x32x64.bf8.bf8", cdna4, Sparse, LW, Bf8, Bf8, F32, 32, 64, 1},
    {"smfmac.f32.32x32x64.bf8.fp8", cdna4, Sparse, LW, Bf8, Fp8, F32, 32, 64, 1},
    {"smfmac.f32.32x32x64.fp8.bf8", cdna4, Sparse, LW, Fp8, Bf8, F32, 32, 64, 1},
    {"smfmac.f32.32x32x64.fp8.fp8", cdna4, Sparse, LW, Fp8, Fp8, F32, 32, 64, 1},
    // RDNA 3.
    {"wmma.f32.16x16x16.f16", rdna3, Wmma, R3, F16, F16, F32, 16, 16, 1},
    {"wmma.f32.16x16x16.bf16", rdna3, Wmma, R3, BF16, BF16, F32, 16, 16, 1},
    {"wmma.f16.16x16x16.f16", rdna3, Half, R3, F16, F16, F16, 16, 16, 1},
    {"wmma.bf16.16x16x16.bf16", rdna3, Half, R3, BF16, BF16, BF16, 16, 16, 1},
    {"wmma.f16.16x16x16.f16.tied", rdna3, Tied, R3, F16, F16, F16, 16, 16, 1},
    {"wmma.bf16.16x16x16.bf16.tied", rdna3, Tied, R3, BF16, BF16, BF16, 16, 16, 1},
    {"wmma.i32.16x16x16.iu8", rdna3, Integer, R3, U8, U8, I32, 16, 16, 1},
    {"wmma.i32.16x16x16.iu4", rdna3, Integer, R3, U4, U4, I32, 16, 16, 1},
    // RDNA 4.
    {"wmma.f32.16x16x16.f16", rdna4, Wmma, R4, F16, F16, F32, 16, 16, 1},
    {"wmma.f32.16x16x16.bf16", rdna4, Wmma, R4, BF16, BF16, F32, 16, 16, 1},
    {"wmma.f16.16x16x16.f16", rdna4, Half, R4, F16, F16, F16, 16, 16, 1},
    {"wmma.bf16.16x16x16.bf16", rdna4, Half, R4, BF16, BF16, BF16, 16, 16, 1},
    {"wmma.i32.16x16x16.iu8", rdna4, Integer, R4, U8, U8, I32, 16, 16, 1},
    {"wmma.i32.16x16x16.iu4", rdna4, Integer, R4, U4, U4, I32, 16, 16, 1},
    {"wmma.i32.16x16x32.iu4", rdna4, Integer, R4, U4, U4, I32, 16, 32, 1},
    {"wmma.f32.16x16x16.fp8.fp8", rdna4, Wmma, R4, Fp8, Fp8, F32, 16, 16, 1},
    {"wmma.f32.16x16x16.fp8.bf8", rdna4, Wmma, R4, Fp8, Bf8, F32, 16, 16, 1},
    {"wmma.f32.16x16x16.bf8.fp8", rdna4, Wmma, R4, Bf8, Fp8, F32, 16, 16, 1},
    {"wmma.f32.16x16x16.bf8.bf8", rdna4, Wmma, R4, Bf8, Bf8, F32, 16, 16, 1},
    {"swmmac.f32.16x16x32.f16", rdna4, SparseWmma, R4, F16, F16, F32, 16, 32, 1},
    {"swmmac.f32.16x16x32.bf16", rdna4, SparseWmma, R4, BF16, BF16, F32, 16, 32, 1},
    {"swmmac.f16.16x16x32.f16", rdna4, SparseWmma, R4, F16, F16, F16, 16, 32, 1},
    {"swmmac.bf16.16x16x32.bf16", rdna4, SparseWmma, R4, BF16, BF16, BF16, 16, 32, 1},
    {"swmmac.i32.16x16x32.iu8", rdna4, SparseInteger, R4, U8, U8, I32, 16, 32, 1},
    {"swmmac.i32.16x16x32.iu4", rdna4, SparseInteger, R4, U4, U4, I32, 16, 32, 1},
    {"swmmac.i32.16x16x64.iu4", rdna4, SparseInteger, R4, U4, U4, I32, 16, 64, 1},
    {"swmmac.f32.16x16x32.fp8.fp8", rdna4, SparseWmma, R4, Fp8, Fp8, F32, 16, 32, 1},
    {"swmmac.f32.16x16x32.fp8.bf8", rdna4, SparseWmma, R4, Fp8, Bf8, F32, 16, 32, 1},
    {"swmmac.f32.16x16x32.bf8.fp8", rdna4, SparseWmma, R4, Bf8, Fp8, F32, 16, 32, 1},
    {"swmmac.f32.16x16x32.bf8.bf8", rdna4, SparseWmma, R4, Bf8, Bf8, F32, 16, 32, 1},
};

MatrixPiece piece(unsigned block, unsigned index, bool used = true) {
  return {static_cast<uint8_t>(block), static_cast<uint8_t>(index), used};
}

/// Where element e of lane group g of A or B belongs.
MatrixPiece operandPiece(const MatrixRow &row, unsigned width, unsigned perLane, unsigned e, unsigned g) {
  unsigned groups = width / row.m;
  switch (row.layout) {
  case MatrixLayout::Mfma:
  case MatrixLayout::MfmaF64:
  case MatrixLayout::Sparse:
    return row.blocks > 1 ? piece(g, e) : piece(0, perLane * g + e);
  case MatrixLayout::MfmaF64x4:
    return piece(g % 4, g / 4);
  case MatrixLayout::Mfma8Bit:
    return piece(0, row.k / 2 * (e / 16) + 16 * g + e % 16);
  case MatrixLayout::SparseWide: {
    unsigned half = perLane / 2;
    return piece(0, row.k / 2 * (e / half) + half * g + e % half);
  }
  case MatrixLayout::Rdna3:
    return piece(0, e, g == 0);
  case MatrixLayout::Rdna4:
    if (g >= 2 && perLane * groups > row.k)
      return piece(0, e, false);
    if (bitsOf(row.a) == 16)
      return isSparse(row.form) ? piece(0, 16 * (e / 8) + 8 * g + e % 8) : piece(0, 8 * (e / 4) + 4 * g + e % 4);
    return piece(0, row.k / 2 * (g & 1) + perLane * (g >> 1) + e);
  }
  return {};
}

/// The first of the four k of which pair p of lane group g of a sparse A has two.
MatrixPiece sparsePiece(const MatrixRow &row, const MatrixPlan &plan, unsigned p, unsigned g) {
  bool upperUnused = plan.perLaneA * plan.groups * 2 > row.k;
  if (row.layout == MatrixLayout::Rdna4 && upperUnused)
    return piece(0, row.k / 2 * (g & 1) + 4 * p, g < 2);
  if (row.layout == MatrixLayout::Rdna4)
    return plan.operand[4 * p * plan.groups + g];
  return piece(0, 2 * plan.perLaneA * g + 4 * p);
}

/// Where element r of lane group g of C or D belongs.
MatrixPiece accumulatorPiece(const MatrixRow &row, unsigned width, unsigned r, unsigned g) {
  switch (row.layout) {
  case MatrixLayout::MfmaF64:
    return piece(0, 4 * r + g);
  case MatrixLayout::MfmaF64x4:
    return piece(g % 4, g / 4);
  case MatrixLayout::Rdna3:
    return piece(0, width / 16 * r + g);
  case MatrixLayout::Rdna4:
    return piece(0, width == 32 ? 8 * g + r : 8 * (g & 1) + 4 * (g >> 1) + r);
  default:
    if (row.m == 32)
      return piece(r / 16, 8 * (r % 16 / 4) + 4 * g + r % 4);
    if (row.m == 16)
      return piece(r / 4, 4 * g + r % 4);
    return piece(g, r);
  }
}

MatrixPlan makePlan(const MatrixRow &row, unsigned width) {
  MatrixPlan plan;
  plan.row = &row;
  plan.groups = width / row.m;
  plan.perLane = row.m * row.k * row.blocks / width;
  if (row.layout == MatrixLayout::Rdna3)
    plan.perLane = row.k;
  else if (bitsOf(row.a) == 4 && row.form == MatrixForm::Integer && row.k == 16)
    plan.perLane = 8; // One register, whatever the width.
  plan.perLaneA = plan.perLane;
  if (isSparse(row.form)) // Never less than a register.
    plan.perLaneA = std::max(plan.perLane / 2, 32 / bitsOf(row.a));
  plan.perLaneC = row.m * row.m * row.blocks / width;
  plan.strideC = row.layout == MatrixLayout::Rdna3 && bitsOf(row.c) == 16 ? 2 : 1;
  for (unsigned e = 0; e < plan.perLane; ++e)
    for (unsigned g = 0; g < plan.groups; ++g)
      plan.operand.push_back(operandPiece(row, width, plan.perLane, e, g));
  for (unsigned p = 0; isSparse(row.form) && p < plan.perLaneA / 2; ++p)
    for (unsigned g = 0; g < plan.groups; ++g)
      plan.pairs.push_back(sparsePiece(row, plan, p, g));
  for (unsigned r = 0; r < plan.perLaneC; ++r)
    for (unsigned g = 0; g < plan.groups; ++g)
      plan.accumulator.push_back(accumulatorPiece(row, width, r, g));
  plan.rowPlace.resize(size_t(row.m) * row.blocks);
  for (size_t place = 0; place < plan.accumulator.size(); ++place)
    plan.rowPlace[plan.accumulator[place].block * row.m + plan.accumulator[place].index] = static_cast<uint16_t>(place);
  return plan;
}

} // namespace

std::span<const MatrixRow> matrixRows() { return rows; }

const MatrixPlan &matrixPlan(const MatrixRow &row, unsigned width) {
  static std::mutex mutex;
  static auto *plans = new std::map<std::pair<const MatrixRow *, unsigned>, std::unique_ptr<MatrixPlan>>;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<MatrixPlan> &plan = (*plans)[{&row, width}];
  if (!plan)
    plan = std::make_unique<MatrixPlan>(makePlan(row, width));
  return *plan;
}

} // namespace tilejit::sim
