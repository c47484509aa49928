// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the tensors of a launch have to be, taken once from a description or a manifest, and the check itself, which
// also writes the kernel's argument slots. Messages are made on the way of a failure only.

#ifndef TILEJIT_LIB_RUNTIME_LAUNCHRULES_H
#define TILEJIT_LIB_RUNTIME_LAUNCHRULES_H

#include "tilejit-c/dlpack.h"
#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Runtime/Context.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilejit {

enum class OperandKind : uint8_t { View, Pointer, Scalar };

/// One stride: a constant, the size of a symbolic dimension, or whatever the tensor has.
struct StrideRule {
  enum class Kind : uint8_t { Any, Constant, Symbol } kind = Kind::Any;
  int64_t value = 0;
};

struct OperandRule {
  std::string name;
  OperandKind kind = OperandKind::View;
  std::optional<DType> dtype;      ///< Absent: any.
  std::vector<Dim> shape;          ///< Size -1: any.
  bool dense = false;              ///< Row-major without gaps.
  std::vector<StrideRule> strides; ///< Where not dense; empty: any.
  int64_t align = 0;               ///< Bytes; 0: the element's size.
  bool isOutput = false;

  size_t slots() const { return kind == OperandKind::View ? 1 + 2 * shape.size() : 1; }
};

struct LaunchRules {
  std::vector<OperandRule> operands;
  std::vector<SymbolicDim> dims;
  size_t slotCount = 0;
  std::optional<abi::PackedOperand> packs;
};

/// What stands for the operand that is packed; null: it is there as it is.
using PackedMemory = void *;

/// InvalidArgument where manifest and description are about different operands.
Expected<LaunchRules> makeLaunchRules(const Source &source, const abi::Manifest &manifest);

/// Checks the tensors and fills `slots` (slotCount of them). `sizes` is room for one number for each of rules.dims.
Status bindTensors(const LaunchRules &rules, DLDevice device, std::span<const DLTensor *const> tensors, int64_t *slots,
                   int64_t *sizes, PackedMemory &packed);
/// The same for a launch that packs one operand and has no others.
Status bindForPacking(const LaunchRules &rules, DLDevice device, const DLTensor &tensor, const DLTensor &packed,
                      int64_t *slots, int64_t *sizes, PackedMemory &memory);

} // namespace tilejit

#endif // TILEJIT_LIB_RUNTIME_LAUNCHRULES_H
