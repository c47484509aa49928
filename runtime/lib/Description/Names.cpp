// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Spellings of the description's enumerations, and look-up by name.

#include "Names.h"

#include <array>
#include <cstddef>

namespace tilejit {
namespace {

constexpr std::array<std::string_view, 11> families{"matmul",      "elementwise", "reduce",          "softmax",
                                                    "log_softmax", "layernorm",   "rmsnorm",         "transpose",
                                                    "cast",        "attention",   "attention_decode"};

constexpr std::array<std::string_view, 50> exprOps{
    "input", "constant", "cast",    "+",    "-",     "*",     "/",         "%",     "**",       "-",
    "<",     "<=",       ">",       ">=",   "==",    "!=",    "and",       "or",    "not",      "abs",
    "exp",   "exp2",     "log",     "log2", "log1p", "expm1", "sqrt",      "rsqrt", "sin",      "cos",
    "tan",   "tanh",     "sigmoid", "erf",  "relu",  "gelu",  "gelu_tanh", "silu",  "softplus", "floor",
    "ceil",  "round",    "trunc",   "sign", "isnan", "isinf", "min",       "max",   "fma",      "where"};

template <typename List> int indexOf(const List &list, std::string_view name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return static_cast<int>(i);
  return -1;
}

} // namespace

std::string_view familyName(Family family) { return families[static_cast<size_t>(family)]; }

std::span<const std::string_view> familyNames() { return families; }

std::string_view exprOpName(ExprOp op) { return exprOps[static_cast<size_t>(op)]; }

int Description::inputIndex(std::string_view wanted) const { return indexOf(inputs, wanted); }
int Description::outputIndex(std::string_view wanted) const { return indexOf(outputs, wanted); }
int Description::dimIndex(std::string_view wanted) const { return indexOf(dims, wanted); }

const Operand *Description::findInput(std::string_view wanted) const {
  int index = inputIndex(wanted);
  return index < 0 ? nullptr : &inputs[index];
}

const Operand *Description::findOutput(std::string_view wanted) const {
  int index = outputIndex(wanted);
  return index < 0 ? nullptr : &outputs[index];
}

} // namespace tilejit
