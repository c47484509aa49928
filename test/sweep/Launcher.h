// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One launch of the sweep: fresh random inputs, operands and workspace between guards, outputs poisoned, the result
// compared with the reference, and all bytes that are no elements of an output compared with what they were.

#ifndef TILEJIT_TEST_SWEEP_LAUNCHER_H
#define TILEJIT_TEST_SWEEP_LAUNCHER_H

#include "GuardedMemory.h"

#include "tilejit/Description/Description.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Reference/HostTensor.h"
#include "tilejit/Runtime/Kernel.h"

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tilejit::sweep {

/// The same everywhere for a seed.
class Choice {
public:
  explicit Choice(uint64_t seed) : engine_(seed) {}
  /// A number from `low` to `high`.
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool oneIn(int64_t count) { return number(1, count) == 1; }
  /// Puts elements into any order.
  template <typename Element> void shuffle(std::vector<Element> &elements) {
    for (size_t i = elements.size(); i > 1; --i)
      std::swap(elements[i - 1], elements[static_cast<size_t>(number(0, static_cast<int64_t>(i) - 1))]);
  }

private:
  std::mt19937_64 engine_;
};

/// How an operand lies in memory, in elements.
struct Layout {
  /// What the description says; what it leaves open is chosen: in any order, with gaps, backwards, inputs also with
  /// elements that are one.
  Layout(const Operand &operand, std::vector<int64_t> shape, bool isOutput, Choice &choose);

  /// Calls visit(linear index, place) for each element.
  template <typename Visit> void forEach(Visit visit) const;

  std::vector<int64_t> shape, strides;
  int64_t first = 0;  ///< Place of the first element of the tensor.
  int64_t places = 0; ///< From the lowest to the highest.
};

/// Keeps memory from one launch to the next; for one thread.
class Launcher {
public:
  /// What is wrong with a launch of a kernel, or nothing. The seed decides over data, layouts, guards, threads, and
  /// whether an operand is packed before.
  std::string launch(Kernel &kernel, const Description &description, const Binding &binding, uint64_t seed);
  /// Whose memory holds an address, for a launch that touched a guard; nothing for one of somebody else.
  std::string describe(const void *address) const;

private:
  struct Block {
    std::string name;
    GuardedMemory memory;
  };
  struct Tensor {
    Layout layout;
    HostTensor dense;
    Block *block;
    std::byte *begin; ///< Of the place 0.
    DLTensor view;
  };

  GuardedMemory &nextBlock(const std::string &name);
  Status addOperands(const Description &description, const Binding &binding, uint64_t seed, Choice &choose);
  void addTensor(const Operand &operand, HostTensor dense, bool isOutput, Choice &choose);
  Status pack(Kernel &kernel, std::vector<const DLTensor *> &views, Choice &choose);
  Status addWorkspace(Kernel &kernel, const std::vector<const DLTensor *> &views, LaunchOptions &options,
                      Choice &choose);
  std::string judge(const Description &description, const Binding &binding, uint64_t seed);

  std::deque<Block> blocks_;
  size_t usedBlocks_ = 0, inputs_ = 0;
  std::deque<Tensor> tensors_;
  DLTensor packed_{};
  int64_t packedBytes_ = 0;
};

} // namespace tilejit::sweep

#endif // TILEJIT_TEST_SWEEP_LAUNCHER_H
