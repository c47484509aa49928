// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Descriptions of subjects, and the list of all.

#include "Subject.h"

#include <algorithm>

namespace tilejit::sweep {

static void replaceAll(std::string &text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

bool Subject::hasConstants() const {
  return std::any_of(axes.begin(), axes.end(), [](const Axis &axis) { return axis.isConstant; });
}

std::string Subject::description(const std::vector<int64_t> &sizes) const {
  std::string whole = text, dims;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis &axis = axes[i];
    replaceAll(whole, "#" + axis.name, axis.isConstant ? std::to_string(sizes[i]) : "'" + axis.name + "'");
    if (!axis.isConstant)
      dims += (dims.empty() ? "'" : ", '") + axis.name + "': {'min': " + std::to_string(axis.low) +
              ", 'max': " + std::to_string(axis.high) + "}";
  }
  whole = "{'tilejit': '1.0', 'dims': {" + dims + "}, " + whole + "}";
  replaceAll(whole, "'", "\"");
  return whole;
}

std::string operandText(std::string_view name, std::string_view dtype, std::string_view shape, std::string_view more) {
  return "'" + std::string(name) + "': {'dtype': '" + std::string(dtype) + "', 'shape': " + std::string(shape) +
         std::string(more) + "}";
}

std::string stridesText(std::string_view shape, bool isStrided) {
  if (!isStrided || shape == "[]")
    return "";
  std::string text = "'any'";
  for (char letter : shape)
    text += letter == ',' ? ", 'any'" : "";
  return ", 'strides': [" + text + "]";
}

void addOnTargets(std::vector<Subject> &subjects, const Subject &subject, bool isProduct, bool hasPairs) {
  for (std::string_view target : {"native", "x86-64-v3", "x86-64", "small", "small-v3", "x86-64-v4", "twin"}) {
    if ((target == "x86-64-v4" && !isProduct) || (target == "twin" && !hasPairs))
      continue;
    subjects.push_back(subject);
    subjects.back().name.append("@").append(target);
    subjects.back().target = target;
  }
}

Expected<TargetSpec> targetOf(std::string_view name) {
  bool isSmall = name.starts_with("small"), isTwin = name == "twin";
  TILEJIT_ASSIGN_OR_RETURN(TargetSpec target, parseTarget(name == "small-v3"  ? "x86-64-v3"
                                                          : isSmall || isTwin ? "native"
                                                                              : name));
  CpuFacts &facts = target.cpuFacts;
  if (isSmall)
    facts.l1Bytes = 1 << 10, facts.l2Bytes = 2 << 10, facts.l3Bytes = 16 << 10;
  if (isTwin)
    facts.ports.fma = facts.prefersBf16Dot() ? 2 * facts.ports.bf16Dots : 1;
  TILEJIT_RETURN_IF_ERROR(runsOnHost(target));
  return target;
}

std::vector<Subject> allSubjects() {
  std::vector<Subject> all;
  for (auto make : {matmulSubjects, attentionSubjects, rowSubjects, elementSubjects})
    for (Subject &subject : make())
      all.push_back(std::move(subject));
  return all;
}

} // namespace tilejit::sweep
