// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A description after validation: what an operator computes, in types that leave nothing to check. Made by
// parseDescription() (Parse.h) only; generators and the reference read it and need no error paths. Says nothing about
// tile sizes, targets or devices.

#ifndef TILEJIT_DESCRIPTION_DESCRIPTION_H
#define TILEJIT_DESCRIPTION_DESCRIPTION_H

#include "tilejit/Base/DType.h"
#include "tilejit/Description/Expression.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tilejit {

enum class Family : uint8_t {
  Matmul,
  Elementwise,
  Reduce,
  Softmax,
  LogSoftmax,
  LayerNorm,
  RmsNorm,
  Transpose,
  Cast,
  Attention,
  AttentionDecode,
};

/// Attention, over keys in a row or in pages.
constexpr bool isAttention(Family family) { return family == Family::Attention || family == Family::AttentionDecode; }

/// "matmul", "log_softmax", ...
std::string_view familyName(Family family);

/// One size of a shape: a constant, or the index of a symbolic dimension in Description::dims.
struct Dim {
  int64_t size = 0;
  int32_t symbol = -1;

  bool isSymbolic() const { return symbol >= 0; }
  bool operator==(const Dim &) const = default;
};

/// A dimension that is bound at run time.
struct SymbolicDim {
  std::string name;
  int64_t min = 0;
  int64_t max = int64_t{1} << 40;
  int64_t multipleOf = 1;
};

/// One stride in elements. Any: read from the actual tensor.
struct Stride {
  enum class Kind : uint8_t { Constant, Symbol, Any } kind = Kind::Constant;
  int64_t value = 0; ///< Elements, or the index of a symbolic dimension.

  bool operator==(const Stride &) const = default;
};

/// An input or output.
struct Operand {
  std::string name;
  DType dtype = DType::F32;
  std::vector<Dim> shape;
  std::optional<std::vector<Stride>> strides; ///< Absent: dense, row-major.
  int64_t align = 0;                          ///< Bytes promised; 0: the element's size.
  bool constant = false;                      ///< Values do not change between calls.

  int rank() const { return static_cast<int>(shape.size()); }
};

/// One step of an epilogue, applied in order to the accumulator.
struct EpilogueStep {
  enum class Kind : uint8_t { Add, Sub, Mul, Scale, Clamp, Relu, Silu, Sigmoid, Tanh, Gelu, GeluTanh } kind;
  int input = -1;   ///< Add, Sub, Mul: index in Description::inputs.
  double value = 0; ///< Scale.
  double min = 0;   ///< Clamp.
  double max = 0;   ///< Clamp.
};

enum class Precision : uint8_t { Ieee, Tf32, Bf16x3 };
/// How exact functions are: as f32 allows, or to 2^-15 of the result where that is quicker.
enum class Accuracy : uint8_t { Full, Fast };
enum class ReduceKind : uint8_t { Sum, Mean, Max, Min, Prod, ArgMax, ArgMin };

struct MatmulAttributes {
  bool transposeA = false, transposeB = false;
  DType accumulate = DType::F32; ///< F32, F64 or I32.
  Precision precision = Precision::Ieee;
};
struct ElementwiseAttributes {
  std::vector<Expression> expressions; ///< One for each output, in the order of Description::outputs.
  Accuracy accuracy = Accuracy::Full;
};
struct ReduceAttributes {
  ReduceKind kind = ReduceKind::Sum;
  std::vector<int> axes; ///< Ascending, non-negative, distinct; may be empty for a rank-0 input.
  bool keepdims = false;
};
struct SoftmaxAttributes {
  int axis = 0; ///< Non-negative.
  Accuracy accuracy = Accuracy::Full;
};
struct NormAttributes {
  int axis = 0; ///< Non-negative; this dimension and all that follow are normalised together.
  double epsilon = 0;
};
struct TransposeAttributes {
  std::vector<int> permutation; ///< Output dimension i is input dimension permutation[i].
};
struct CastAttributes {
  bool saturate = false; ///< Rounding is to nearest even.
};
/// Of attention, over keys in a row or in pages.
struct AttentionAttributes {
  double scale = 1;
  bool causal = false;
  std::optional<int64_t> window; ///< With `causal` only; at least 1.
  std::optional<double> softcap; ///< Above 0.
};
using Attributes = std::variant<MatmulAttributes, ElementwiseAttributes, ReduceAttributes, SoftmaxAttributes,
                                NormAttributes, TransposeAttributes, CastAttributes, AttentionAttributes>;

/// A validated operator.
///
/// Operands are in canonical order, which is also the order of launch arguments: inputs, then outputs. The operands of
/// a family come in the order of its table in docs (a, b; x, weight, bias; y, mean, rstd), then epilogue operands in
/// the order in which steps first use them; for `elementwise`, outputs by name and inputs by first use in their
/// expressions (inputs no expression uses are kept last, by name). Dimensions are in the order in which operands first
/// use them.
struct Description {
  std::pair<int, int> version{1, 0};
  Family family = Family::Matmul;
  std::string name;
  std::vector<SymbolicDim> dims;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  Attributes attributes;
  std::vector<EpilogueStep> epilogue;

  int inputIndex(std::string_view name) const;  ///< -1: none of that name.
  int outputIndex(std::string_view name) const; ///< -1: none of that name.
  int dimIndex(std::string_view name) const;    ///< -1: none of that name.
  const Operand *findInput(std::string_view name) const;
  const Operand *findOutput(std::string_view name) const;
  template <typename T> const T &as() const { return std::get<T>(attributes); }
};

} // namespace tilejit

#endif // TILEJIT_DESCRIPTION_DESCRIPTION_H
