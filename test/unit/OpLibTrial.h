// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A trial of a case: inputs laid out in memory as the description says, outputs to be filled by whoever runs it, and
// the judgement against the reference.

#ifndef TILEJIT_TEST_UNIT_OPLIBTRIAL_H
#define TILEJIT_TEST_UNIT_OPLIBTRIAL_H

#include "OpLibCases.h"

#include "tilejit/Reference/HostTensor.h"

#include <cstdint>
#include <vector>

namespace tilejit::test {

/// Memory of an operand as the description lays it out; what the description leaves open lies column by column.
class OperandMemory {
public:
  OperandMemory(const Operand &operand, const std::vector<int64_t> &shape);

  /// Copies between this memory and a dense tensor.
  void copyFrom(HostTensor &tensor) { copy(tensor, false); }
  void copyTo(HostTensor &tensor) { copy(tensor, true); }

  std::vector<int64_t> shape, strides;
  bool isDense = true;
  HostTensor bytes; ///< Aligned to 64 bytes.

private:
  void copy(HostTensor &tensor, bool toTensor);
  int64_t elementBytes_;
};

struct Trial {
  Trial(const OpLibCase &example, uint64_t seed);
  /// Compares what now lies in the outputs' memory with the reference.
  void judge();

  uint64_t seed;
  Description description;
  Binding binding;
  std::vector<HostTensor> inputs;
  std::vector<OperandMemory> memory; ///< Inputs, then outputs.
};

/// A fresh seed for each run.
/// Fills what no sequence of a decoding operator has in the caches with NaN.
void poisonCaches(Trial &trial);
/// Makes its table and lengths any numbers, none of them in its range.
void spoilTables(Trial &trial);

uint64_t freshSeed();

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_OPLIBTRIAL_H
