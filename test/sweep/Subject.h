// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the sweep compiles: a description over axes, whose sizes it goes through. The list of all of them is fixed; a
// name finds one again.

#ifndef TILEJIT_TEST_SWEEP_SUBJECT_H
#define TILEJIT_TEST_SWEEP_SUBJECT_H

#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Target/TargetSpec.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::sweep {

/// A size that varies from one launch to the next, or from one compile to the next where it is a constant.
struct Axis {
  std::string name;
  int64_t low = 1, high = 70;
  bool isConstant = false;
};

struct Subject {
  std::string name;   ///< "matmul/f32/nt/strided@x86-64-v3".
  std::string target; ///< For targetOf().
  /// JSON with ' in the place of " and "#name" in that of an axis, without `tilejit` and `dims`.
  std::string text;
  std::vector<Axis> axes;
  abi::Config config;
  int64_t launches = 70; ///< What a sample has of it: fewer where they take long.

  /// The whole description for sizes of the constant axes (the others are skipped).
  std::string description(const std::vector<int64_t> &sizes) const;
  bool hasConstants() const;
};

/// All, families in turn.
std::vector<Subject> allSubjects();
/// The families that make them up.
std::vector<Subject> matmulSubjects();
std::vector<Subject> attentionSubjects();
std::vector<Subject> rowSubjects();
std::vector<Subject> elementSubjects();

/// "'name': {'dtype': ..., 'shape': ...}" with more members.
std::string operandText(std::string_view name, std::string_view dtype, std::string_view shape,
                        std::string_view more = "");
/// How much of a description is known when it is compiled.
struct Way {
  std::string_view name;
  bool isFixed = false;   ///< Sizes are constants.
  bool isStrided = false; ///< Strides are any.
};
inline constexpr Way ways[] = {{"any"}, {"fixed", true}, {"strided", false, true}};
/// The member that leaves strides of an operand open; nothing where there are none.
std::string stridesText(std::string_view shape, bool isStrided);
/// The subject on this machine's CPU and on the ones that lack some of what it has; products also on one that lacks
/// little, and with pairs of bf16 on one that chooses otherwise between two forms.
void addOnTargets(std::vector<Subject> &subjects, const Subject &subject, bool isProduct = false,
                  bool hasPairs = false);
/// A name that parseTarget() knows; "small", "small-v3": native and x86-64-v3 with caches so small that what is in the
/// sizes of a sweep is larger than they; "twin": native, but for how fast it multiplies pairs of bf16. An error where
/// it does not run here.
Expected<TargetSpec> targetOf(std::string_view name);

} // namespace tilejit::sweep

#endif // TILEJIT_TEST_SWEEP_SUBJECT_H
