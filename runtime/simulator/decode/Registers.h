// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What register allocation knows of registers: which ones an operation reads and writes, and where they are live.

#ifndef TILEJIT_SIMULATOR_DECODE_REGISTERS_H
#define TILEJIT_SIMULATOR_DECODE_REGISTERS_H

#include "core/Program.h"

#include "llvm/ADT/BitVector.h"

#include <vector>

namespace tilejit::sim {

/// Calls use(reg&) for what an operation reads and define(reg&) for what it writes.
template <class Use, class Define> void forEachRegister(Op &op, Use use, Define define) {
  if (op.registers & Op::HasA)
    use(op.a);
  if (op.registers & Op::HasB)
    use(op.b);
  if (op.registers & Op::HasC)
    use(op.c);
  if (op.registers & Op::HasPredicate)
    use(op.predicate);
  OpOperands *x = const_cast<OpOperands *>(op.x);
  if (x)
    for (Reg &reg : x->in)
      use(reg);
  bool keeps = op.registers & Op::ReadsD;
  if (op.registers & Op::HasD) {
    if (keeps)
      use(op.d);
    define(op.d);
  }
  if (x)
    for (Reg &reg : x->out) {
      if (keeps)
        use(reg);
      define(reg);
    }
}

/// Registers that are live where a basic block begins and ends; phis where it begins, what they receive where the
/// blocks before it end.
struct Liveness {
  std::vector<llvm::BitVector> in, out;
};

/// Registers that may share a place because one is copied to the other and they are never live at once.
class SharedPlaces {
public:
  /// `fixed`: registers that must have a place of their own.
  SharedPlaces(Program &program, const std::vector<Kind> &kinds, const Liveness &live, const std::vector<bool> &fixed);
  /// Who stands for all that share a place with this one.
  Reg operator[](Reg reg) const;

private:
  /// From the first to the last moment. An operation has two: where it may work in place, sources end in the first one
  /// and results begin in the second.
  struct Range {
    uint32_t first, last;
  };

  void findRanges(Program &program, const Liveness &live);
  void join(Reg a, Reg b);

  std::vector<Reg> standIn_;
  std::vector<std::vector<Range>> ranges_; ///< Of stand-ins, in ascending order. Empty: shares with nobody.
};

/// Whether an operation does nothing but copy a to d, in all lanes.
bool isPlainCopy(const Op &op, unsigned width);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_REGISTERS_H
