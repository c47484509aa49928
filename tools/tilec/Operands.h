// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tensors of one execution: inputs from files or the random generator, outputs allocated and poisoned, and their
// DLPack forms. Files are checked before anything is compiled.

#ifndef TILEJIT_TOOLS_TILEC_OPERANDS_H
#define TILEJIT_TOOLS_TILEC_OPERANDS_H

#include "tilejit-c/dlpack.h"
#include "tilejit/ABI/Compile.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Description/Description.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Reference/HostTensor.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace tilejit::tilec {

/// What the command line says about operands.
struct OperandOptions {
  std::vector<std::string> set;     ///< --set m=128
  std::vector<std::string> inputs;  ///< --input NAME=FILE
  std::vector<std::string> outputs; ///< --output NAME=FILE
  std::string seed = "0";           ///< --random-seed
};

/// NAME=VALUE options by name; refuses a missing name or value and a name given twice.
Expected<std::map<std::string, std::string>> namedValues(const std::vector<std::string> &texts,
                                                         const std::string &option);

/// A tensor as a launch sees it: the host tensor's own bytes, or a strided copy where the description asks for strides.
class LaunchTensor {
public:
  /// `strides` in elements, one for each dimension; empty: dense.
  static Expected<LaunchTensor> make(HostTensor &dense, std::vector<int64_t> strides, bool copyIn);
  LaunchTensor(LaunchTensor &&) = default;

  DLTensor view();
  /// Copies strided elements back into the dense tensor.
  void copyBack();

private:
  explicit LaunchTensor(HostTensor &dense) : dense_(&dense) {}
  template <typename Visit> void forEachElement(Visit visit) const;
  HostTensor *dense_;
  std::vector<int64_t> shape_, strides_;
  HostTensor storage_; ///< Rank 1; used where strides are given.
  bool isStrided_ = false;
};

/// All operands of one execution in canonical order, inputs before outputs.
class Operands {
public:
  /// Binds dimensions (--set, then shapes of files, then what is left at most `defaultSize`), reads input files, fills
  /// the other inputs at random, and checks that output files can be written.
  static Expected<Operands> forDescription(const Description &description, const OperandOptions &options,
                                           int64_t defaultSize);
  /// For a tile kernel: every operand must be an --input (FILE, or TYPE:VALUE for a scalar) or an --output
  /// (FILE:TYPE[SIZES]).
  static Expected<Operands> forTileKernel(const abi::Manifest &manifest, const OperandOptions &options);

  Operands(Operands &&) = default;

  const Binding &binding() const { return binding_; }
  uint64_t seed() const { return seed_; }
  const std::vector<HostTensor> &inputs() const { return inputs_; }
  const std::vector<HostTensor> &outputs() const { return outputs_; }
  /// Tensors for Kernel::launch(), in order. Valid as long as this object.
  std::vector<const DLTensor *> tensors();
  /// After a launch: brings strided outputs into their dense form.
  void collect();
  /// Fills outputs with a pattern (NaN for floats), so that what a kernel leaves out shows.
  void poisonOutputs();
  /// Writes the outputs that have a file.
  Status writeOutputs() const;

private:
  Operands() = default;
  Status addStrided(const Description &description);
  Binding binding_;
  uint64_t seed_ = 0;
  std::vector<HostTensor> inputs_, outputs_;
  std::vector<std::string> outputNames_;
  std::map<std::string, std::string> outputFiles_;
  std::deque<LaunchTensor> launchTensors_;
  std::deque<DLTensor> views_;
  std::vector<std::pair<bool, size_t>> order_; ///< (is output, index), in the order of the kernel's operands.
};

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_OPERANDS_H
