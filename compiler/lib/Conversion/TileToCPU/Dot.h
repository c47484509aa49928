// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the forms of a product share: how operands are converted, the multiply-add, how far a product has to go.
//
// A step of the depth is one term in each lane, or a group of them: CPUs with products of 8-bit quadruples add a[k]
// b[k] for four neighbours k to an i32, such with products of bf16 pairs for two of them to an f32. Such a step's
// operands are lanes of 32 bits, of four or two elements each. The instruction for bytes takes one operand as unsigned
// and the other as signed; where both are signed, a is raised by 128 and what that adds is taken off. The one for bf16
// takes subnormal elements for zero, so what holds any is made wide instead (DotPairs.cpp). CPUs with AMX have products
// of whole matrices of such groups, of bytes with any signs (DotAmx.cpp).

#ifndef TILEJIT_CONVERSION_TILETOCPU_DOT_H
#define TILEJIT_CONVERSION_TILETOCPU_DOT_H

#include "KernelLowering.h"

#include "../Common/OperandParts.h"

namespace tilejit::cpu {

/// Products with up to so many rows have a form of their own.
inline constexpr int64_t skinnyRows = 4;

/// What shares a lane: bf16 pairs, or quadruples of bytes, by the operand that the instruction takes as unsigned
/// (QuadsRaised: a, after adding 128 to it; QuadsOfAnySigns: AMX takes both as they are). Words: pairs of bytes made
/// wide to 16 bits, where a CPU has no quadruples, or none of two unsigned operands.
enum class Grouping { None, Pairs, QuadsUnsignedA, QuadsUnsignedB, QuadsRaised, QuadsOfAnySigns, Words };

/// B as a constant operand is packed once, so that register tiles take it from where it lies: panels of `columns`
/// columns, in these step after step the groups of `terms` neighbours of each column. Written as a load of
/// [panel][step][column][term] that is transposed and reshaped to rows and columns.
struct PackedPanels {
  tile::LoadOp load;
  int64_t columns = 0, terms = 1;
};
/// Nothing where B is another value, or in a form that is not the one for its type and this CPU.
std::optional<PackedPanels> packedPanels(KernelLowering &l, tile::DotOp op);

/// A product that is being lowered: result[m x n] += a[m x k] * b[k x n] in scratch memory.
struct Product {
  KernelLowering &l;
  tile::DotOp op;
  int64_t m, n, k;
  mlir::Type compute;                 ///< f32, f64 or i32.
  Index rows, columns, depth;         ///< How much of m, n and k can make a difference.
  std::optional<PackedPanels> packed; ///< What B is, if it is packed already.
  mlir::Value result;                 ///< The accumulator's memory.
  int64_t resultStride;               ///< Elements from row to row.
  bool startsAtZero = false;          ///< The accumulator is zero and its memory not yet written.
  Grouping grouping = Grouping::None;
  bool byAmx = false;           ///< Groups are multiplied in matrix registers.
  bool keepsSubnormals = false; ///< Pairs are multiplied after they were made wide.

  Product(KernelLowering &l, tile::DotOp op);
  /// Whether it is done without packing B.
  bool isSkinny() const { return m <= skinnyRows && !isGrouped() && !packed; }
  bool isGrouped() const { return grouping != Grouping::None; }
  /// Whether every element of the result is computed, whatever the sizes.
  bool coversAll() const { return !isSkinny() && rows.is(m) && columns.is(n); }
  /// Lanes of `compute` of an operand's lanes.
  mlir::Value convert(mlir::Value value, bool isUnsigned);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum);
  mlir::Value zero(mlir::Type type);
  /// One step of a register tile: every element of A, by the address that `elementOfA` gives for its row, times each of
  /// the `across` vectors of a row of B, added to `sums`, row by row.
  void step(mlir::Value rowOfB, llvm::function_ref<mlir::Value(int64_t)> elementOfA,
            llvm::MutableArrayRef<mlir::Value> sums, int64_t across);
  /// Terms of a step, and what an operand holds in each of its lanes.
  int64_t stepTerms() const {
    bool arePairs = grouping == Grouping::Pairs || grouping == Grouping::Words;
    return !isGrouped() ? 1 : arePairs ? 2 : 4;
  }
  mlir::VectorType vectorType() { return l.e.vector(compute, l.lanes); }
  int64_t elementBytes() { return byteSize(compute); }
};

/// MR x NR elements of the result that a microkernel keeps in registers.
struct RegisterTile {
  int64_t rows, columns;
};
/// Cycles that the ports and the latency of multiply-adds leave for one step of the depth.
double cyclesOfStep(const CpuModel &model, int64_t tall, int64_t wide);
/// Of up to `mostVectors` vectors of columns. What is left of n is done by tiles of one vector.
/// Where n allows, vectors are a multiple of `together`.
RegisterTile chooseRegisterTile(const CpuModel &model, int64_t lanes, int64_t m, int64_t mostVectors, int64_t n,
                                int64_t together = 1);

/// sum + a[0] b[0] + a[1] b[1] + ... in each lane of 32 bits, by x86's `instruction` for groups of such elements.
mlir::Value addGroups(KernelLowering &l, llvm::StringRef instruction, mlir::Type element, mlir::Value a, mlir::Value b,
                      mlir::Value sum);
/// The same of quadruples of bytes.
mlir::Value addQuads(KernelLowering &l, mlir::Value isUnsigned, mlir::Value isSigned, mlir::Value sum);
/// The same of pairs of words, in two instructions.
mlir::Value addWords(KernelLowering &l, mlir::Value a, mlir::Value b, mlir::Value sum);
/// Bytes as words of 16 bits.
mlir::Value toWords(KernelLowering &l, mlir::Value bytes, bool isUnsigned);
/// As many registers of integers as there are rows (2 or 4, a register each), with the same column of all rows in each.
llvm::SmallVector<mlir::Value> interleaveRows(KernelLowering &l, llvm::ArrayRef<mlir::Value> rows);
/// sum + a[0] b[0] + a[1] b[1] in each lane, of pairs of bf16. Subnormal elements count as zero, and so do sums that
/// would be subnormal, unless they are kept.
mlir::Value addPairs(KernelLowering &l, mlir::Value a, mlir::Value b, mlir::Value sum, bool keepsSubnormals);
/// Whether pairs [0, steps) of rows [0, rows) hold a subnormal element; rows lie `stride` lanes apart.
mlir::FailureOr<mlir::Value> holdsSubnormals(KernelLowering &l, mlir::Value pairs, Index rows, Index steps,
                                             int64_t stride);
/// The same of the first `count` pairs, whose smallest magnitudes are known by lane: they are looked at again only
/// where one of these might be subnormal. (It is 0, mostly.)
mlir::FailureOr<mlir::Value> holdsSubnormals(KernelLowering &l, mlir::Value smallest, mlir::Value pairs, Index count);
/// Smallest magnitudes by lane of so many rows of pairs without gaps; `columns`: a multiple of the lanes.
mlir::FailureOr<mlir::Value> smallestMagnitudes(KernelLowering &l, mlir::Value pairs, Index rows, int64_t columns);

/// Whether any of the 16-bit numbers of a matrix in memory, whose rows lie `stride` of them apart, is subnormal.
mlir::FailureOr<mlir::Value> rowsHoldSubnormals(KernelLowering &l, mlir::Value matrix, Index rows, int64_t columns,
                                                Index stride);
/// Stores pairs of rows of a matrix, `columns` to a row of them. Whether any element is subnormal.
mlir::FailureOr<mlir::Value> packPairs(KernelLowering &l, mlir::Value tile, Index pairs, int64_t columns,
                                       mlir::Value destination, mlir::Operation *op);
/// What a right operand of bf16 is rounded from, without subnormal numbers; null: it is none of that.
mlir::Value roundedSource(KernelLowering &l, mlir::Value tile);
/// The same as packPairs(), of what is rounded on the way.
mlir::LogicalResult roundPairs(KernelLowering &l, mlir::Value source, Index pairs, int64_t columns,
                               mlir::Value destination);
/// Whether all that a transposition is for are products of pairs, and storing it as such.
bool isMultipliedByPairs(KernelLowering &l, mlir::Value tile);
mlir::LogicalResult storePairs(KernelLowering &l, mlir::Value tile);

/// Whether the CPU has an instruction for products of such bytes: it takes one operand as signed.
bool multipliesByQuads(KernelLowering &l, tile::DotOp op);
/// Whether a tile is known to hold nothing but zeros, positive ones.
bool isZero(mlir::Value tile);
/// A matrix that is zero from a row or column on, written as a selection: what it is before that along `dim`.
struct Clipped {
  mlir::Value tile;
  unsigned dim;
  mlir::Value kept;  ///< How many rows or columns that is.
  mlir::Value below; ///< Which.
};
std::optional<Clipped> clipped(KernelLowering &l, mlir::Value tile);
/// The load that a matrix in memory is computed from elementwise, if its rows lie without gaps.
tile::LoadOp matrixLoad(KernelLowering &l, mlir::Value tile);
/// Whether rows [0, rows) and columns [column, column + columns), up to whole vectors of `width` lanes (squares where
/// it is written as a transposition), lie inside a matrix and the views that it is loaded from; null: known to.
mlir::Value isInside(KernelLowering &l, mlir::Value tile, Index rows, Index column, Index columns, int64_t width);
/// The load that a value reads without conversion, its transposition aside; null: another value.
tile::LoadOp plainLoad(KernelLowering &l, mlir::Value tile);

/// Columns of B in groups, and A, for products by AMX. Strides are of lanes of 32 bits.
struct AmxPanel {
  mlir::Value configurations; ///< From prepareAmx().
  mlir::Value a;
  int64_t rowStride;
  mlir::Value b; ///< Of the first column.
  Index stride;  ///< From step to step.
  Index column;  ///< Of the result.
  int64_t columns;
  Index steps;
};
/// What matrix registers look like for products of so many steps of the depth: once for all panels.
mlir::FailureOr<mlir::Value> prepareAmx(Product &product, Index steps);
/// Adds the products of all rows with a panel to the result.
mlir::LogicalResult multiplyByAmx(Product &product, const AmxPanel &panel);
/// Rows that are looked at.
Index rowsOfAmx(Product &product);
/// Gives the matrix registers back, so that they need not be saved.
void finishAmx(Product &product);

/// A and B packed, register tiles: for more than a few rows.
mlir::LogicalResult lowerBlockedProduct(Product &product);
/// B read once where it lies: for up to `skinnyRows` rows.
mlir::LogicalResult lowerSkinnyProduct(Product &product);
/// Whether those of bytes go by quadruples that are put together in registers.
bool takesSkinnyQuads(KernelLowering &l, tile::DotOp op);
/// Adds the products of as much of the depth as whole quadruples cover, which is returned.
mlir::FailureOr<Index> addSkinnyQuads(Product &product);
/// B in scratch memory, read there.
bool readsInPlace(KernelLowering &l, tile::DotOp op);
mlir::LogicalResult lowerProductInPlace(KernelLowering &l, tile::DotOp op);

} // namespace tilejit::cpu

#endif // TILEJIT_CONVERSION_TILETOCPU_DOT_H
