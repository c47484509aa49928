// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The steps after a matrix product or attention, applied to one row of results at a time.

#ifndef TILEJIT_REFERENCE_EPILOGUE_H
#define TILEJIT_REFERENCE_EPILOGUE_H

#include "Arithmetic.h"
#include "Families.h"

#include <vector>

namespace tilejit::reference {

/// A row of results on its way through the epilogue: integers while everything was exact, then bounded values.
struct EpilogueRow {
  bool isInteger = false;
  std::vector<int64_t> integers;
  std::vector<Bounded> values;
};

class Epilogue {
public:
  /// `format`: of the arithmetic, f32 or f64.
  Epilogue(const Call &call, DType format);

  /// Applies all steps to a row of the output.
  void apply(int64_t row, EpilogueRow &data) const;

private:
  struct Step {
    EpilogueStep step;
    const HostTensor *operand = nullptr;
    Shape strides;
  };
  void applyInteger(const Step &step, int64_t offset, EpilogueRow &data) const;
  void applyFloat(const Step &step, int64_t offset, EpilogueRow &data) const;
  Bounded operandAt(const Step &step, int64_t offset, size_t column) const;

  Shape shape_;
  Arithmetic arithmetic_;
  std::vector<Step> steps_;
};

} // namespace tilejit::reference

#endif // TILEJIT_REFERENCE_EPILOGUE_H
