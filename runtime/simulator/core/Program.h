// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A decoded kernel: straight-line operations on lane registers, grouped in basic blocks. Plain data; the decoder
// (decode/) makes it from LLVM IR, the engine (core/, nvidia/, amd/) runs it and knows nothing of LLVM.
//
// Every scalar value is one register: an array of one element for each lane of a warp. Vectors, structs and arrays are
// flattened to their scalars. A register is known by its number while decoding and by its byte offset in the warp's
// register file afterwards.

#ifndef TILEJIT_SIMULATOR_CORE_PROGRAM_H
#define TILEJIT_SIMULATOR_CORE_PROGRAM_H

#include "tilejit/Simulator/Simulator.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilejit::sim {

/// What the lanes of a register hold. Integers of other widths sit zero-extended in the next larger container.
enum class Kind : uint8_t { I1, I8, I16, I32, I64, F16, BF16, F32, F64, Pointer };

/// Bytes of one lane. I1 is a byte that holds 0 or 1.
constexpr unsigned sizeOf(Kind kind) {
  switch (kind) {
  case Kind::I1:
  case Kind::I8:
    return 1;
  case Kind::I16:
  case Kind::F16:
  case Kind::BF16:
    return 2;
  case Kind::I32:
  case Kind::F32:
    return 4;
  default:
    return 8;
  }
}

using Reg = uint32_t; ///< Number of a register; its byte offset once the program is finished.

class Warp;
struct Op;
using Handler = void (*)(Warp &warp, const Op &op);

/// Operands of operations that have more than four, in the order that the handler documents.
struct OpOperands {
  std::vector<Reg> in, out;
  std::vector<Kind> inKinds, outKinds;
  std::vector<uint32_t> offsets; ///< Memory operations: byte offset of each element.
  std::vector<int64_t> numbers;
  std::string text;
  const void *table = nullptr; ///< A row of static data that the handler knows.
};

/// One operation. `registers` says which of d, a, b, c are registers (UsesD ...), so that allocation can rewrite them;
/// the others are numbers.
struct Op {
  enum : uint8_t { HasD = 1, HasA = 2, HasB = 4, HasC = 8, HasPredicate = 16, ReadsD = 32, Negated = 64 };

  Handler run = nullptr;
  Handler inner = nullptr; ///< Of a predicated operation: what runs where the predicate holds.
  uint32_t d = 0, a = 0, b = 0, c = 0;
  uint32_t predicate = 0; ///< An I1 register; Negated: lanes where it is 0.
  uint32_t site = 0;
  int64_t imm = 0;
  const OpOperands *x = nullptr;
  uint8_t registers = 0;
};

/// One phi: a copy from `from` to `to` on an edge. All copies of an edge happen at once.
struct EdgeCopy {
  Reg to, from;
  uint8_t bytes;
};
struct Edge {
  uint32_t target = 0; ///< Index of a basic block.
  std::vector<EdgeCopy> copies;
  bool overlapping = false; ///< A copy writes what a later one reads.
  std::vector<std::pair<uint32_t, uint32_t>>
      marks; ///< The same copies of marks of undefined values: to, from (~0: none).
};

/// Blocks stand in an order in which lanes that left together meet again at the lowest index (reverse post-order with
/// loops kept together).
struct BasicBlock {
  std::string name;
  std::vector<Op> ops; ///< The last one is the terminator.
  std::vector<Edge> edges;
  std::vector<std::pair<uint64_t, uint32_t>> cases; ///< Switch: value and edge; edge 0 is the default.
  uint32_t instructions = 0;                        ///< LLVM instructions, for the counters.
  uint32_t firstSite = 0;                           ///< Sites of a block are consecutive.
};

/// Where a value of the register image comes from at the start of a warp.
struct Constant {
  enum class Base : uint8_t { None, Global, Shared } base = Base::None; ///< Shared: of the warp's own block.
  Reg reg;
  Kind kind;
  uint64_t bits; ///< Value, or the offset from the base.
  uint32_t global = 0;
};

/// A module variable in global or constant memory, or static shared memory.
struct GlobalVariable {
  std::string name;
  std::vector<uint8_t> bytes; ///< Initial value.
  uint32_t alignment = 1;
  bool constant = false, undefined = false; ///< No initial value.
  struct Pointer {
    uint32_t offset; ///< Where in `bytes` a pointer stands,
    uint32_t global; ///< to which variable,
    uint64_t addend; ///< plus how many bytes.
  };
  std::vector<Pointer> pointers;
};

struct Parameter {
  ParameterInfo info;
  std::vector<Reg> regs; ///< One for each scalar; for by-value structs one pointer.
  std::vector<Kind> kinds;
  std::vector<uint32_t> offsets;
};

struct Program {
  std::string kernel;
  unsigned width = 32;   ///< Lanes of a warp: 32 or 64.
  bool lockStep = false; ///< AMD: the lanes of a wave are in step; NVIDIA: a warp barrier is needed.
  std::vector<BasicBlock> blocks;
  std::vector<Constant> constants;
  std::vector<Parameter> parameters;
  std::vector<GlobalVariable> globals;
  uint32_t registerBytes = 0;             ///< Register file of one warp.
  uint32_t staticShared = 0;              ///< Bytes of static shared memory,
  uint32_t dynamicShared = 0;             ///< and where the dynamic part begins.
  uint32_t localBytes = 0;                ///< Stack of one lane.
  uint32_t sharedGranule = 16;            ///< Every access to shared memory is a multiple of this, aligned to it.
  uint32_t trackedRegisters = 0;          ///< Registers that products in flight may write or read (NVIDIA).
  uint32_t undefinedSlots = 0;            ///< Registers that undefined values can reach have a slot of marks;
  std::vector<uint32_t> undefinedAtStart; ///< those of these are undefined from the start.
  uint32_t numSites = 0;
  /// Text and source place of an instruction; slow.
  std::function<std::string(uint32_t site)> siteText, siteLocation;
  std::vector<std::unique_ptr<OpOperands>> operands; ///< Owner of what Op::x points to.
};

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_PROGRAM_H
