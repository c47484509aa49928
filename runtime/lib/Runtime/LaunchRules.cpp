// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rules from descriptions and manifests.

#include "LaunchRules.h"

#include "tilejit/Base/DType.h"

namespace tilejit {

namespace {

OperandRule ruleOf(const Operand &operand, bool isOutput) {
  OperandRule rule;
  rule.name = operand.name;
  rule.dtype = operand.dtype;
  rule.shape = operand.shape;
  rule.align = operand.align;
  rule.isOutput = isOutput;
  rule.dense = !operand.strides;
  if (operand.strides)
    for (const Stride &stride : *operand.strides)
      rule.strides.push_back({stride.kind == Stride::Kind::Constant ? StrideRule::Kind::Constant
                              : stride.kind == Stride::Kind::Symbol ? StrideRule::Kind::Symbol
                                                                    : StrideRule::Kind::Any,
                              stride.value});
  return rule;
}

Status contradiction(const std::string &what) {
  return Status(StatusCode::InvalidArgument, "the kernel does not belong to this description: " + what);
}

Expected<OperandRule> ruleOf(const abi::OperandInfo &operand) {
  OperandRule rule;
  rule.name = operand.name;
  rule.kind = operand.rank == -2 ? OperandKind::Scalar : operand.rank == -1 ? OperandKind::Pointer : OperandKind::View;
  rule.dtype = parseDType(operand.dtype);
  rule.align = operand.align;
  rule.isOutput = operand.isOutput;
  if (rule.kind != OperandKind::View)
    return rule;
  size_t rank = static_cast<size_t>(operand.rank);
  if (operand.rank < 0 || operand.rank > 64 || (!operand.shape.empty() && operand.shape.size() != rank) ||
      (!operand.strides.empty() && operand.strides.size() != rank) || !rule.dtype)
    return contradiction("its operand \"" + operand.name + "\" can't be read");
  for (size_t i = 0; i < rank; ++i)
    rule.shape.push_back({operand.shape.empty() ? -1 : operand.shape[i], -1});
  for (int64_t stride : operand.strides)
    rule.strides.push_back({stride < 0 ? StrideRule::Kind::Any : StrideRule::Kind::Constant, stride});
  return rule;
}

} // namespace

Expected<LaunchRules> makeLaunchRules(const Source &source, const abi::Manifest &manifest) {
  LaunchRules rules;
  if (source.isTile()) {
    for (const abi::OperandInfo &operand : manifest.operands) {
      TILEJIT_ASSIGN_OR_RETURN(OperandRule rule, ruleOf(operand));
      rules.operands.push_back(std::move(rule));
    }
  } else {
    const Description &description = *source.description;
    rules.dims = description.dims;
    for (const Operand &operand : description.inputs)
      rules.operands.push_back(ruleOf(operand, false));
    for (const Operand &operand : description.outputs)
      rules.operands.push_back(ruleOf(operand, true));
    if (manifest.operands.size() != rules.operands.size())
      return contradiction("it has " + std::to_string(manifest.operands.size()) + " operands, expected " +
                           std::to_string(rules.operands.size()));
    for (size_t i = 0; i < rules.operands.size(); ++i)
      if (manifest.operands[i].rank != static_cast<int32_t>(rules.operands[i].shape.size()))
        return contradiction("its operand " + std::to_string(i) + " has rank " +
                             std::to_string(manifest.operands[i].rank));
  }
  for (const OperandRule &rule : rules.operands)
    rules.slotCount += rule.slots();
  rules.packs = manifest.packs;
  auto count = static_cast<int32_t>(rules.operands.size());
  if (rules.packs && (rules.packs->bytes <= 0 || rules.packs->operand < 0 || rules.packs->operand >= count ||
                      rules.operands[static_cast<size_t>(rules.packs->operand)].kind != OperandKind::View))
    return contradiction("it packs operand " + std::to_string(rules.packs->operand));
  return rules;
}

} // namespace tilejit
