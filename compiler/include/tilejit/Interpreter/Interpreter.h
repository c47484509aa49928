// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The interpreter: runs the kernels of a module on host memory and is what an operation means. Slow and exact, it
// follows the reference text of the dialect one operation after the other and shares nothing with any back end.
// Unknown operations, accesses outside memory, broken assumptions and failed assertions end it with a status that names
// the operation and its place; it never ends the process on a bad program.

#ifndef TILEJIT_INTERPRETER_INTERPRETER_H
#define TILEJIT_INTERPRETER_INTERPRETER_H

#include "tilejit/Base/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilejit {

/// One argument of a launch. Element types are those of the kernel's signature.
struct HostArgument {
  /// Views and pointers: the address of element 0, and the bytes that may be touched from there on.
  void *data = nullptr;
  int64_t bytes = 0;
  /// Views: sizes, and strides in elements (none: dense and row-major).
  llvm::SmallVector<int64_t> shape, strides;
  /// Scalars: an integer or index, or a floating-point number.
  int64_t integer = 0;
  double real = 0;

  static HostArgument view(void *data, int64_t bytes, llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<int64_t> strides = {});
  static HostArgument pointer(void *data, int64_t bytes);
  static HostArgument scalar(int64_t value);
  static HostArgument scalar(double value);
};

struct InterpreterOptions {
  /// Evaluates floating-point operations in double and rounds only what is stored.
  bool doublePrecision = false;
  /// Ends where a load without padding or a part of a view leaves the view, or an access leaves its argument's memory.
  /// Otherwise such loads give zero and such stores do nothing.
  bool checkBounds = true;
  /// Ends where an operation makes a NaN of numbers.
  bool checkNaN = false;
  /// Most operations that all program instances together may run; 0 is no limit.
  uint64_t maxSteps = 0;
  /// Program instances that run at once.
  unsigned threads = 1;
  /// The only kernel to run; empty runs what the launch rules say.
  std::string kernel;
  /// The grid of a kernel without launch rule.
  std::optional<std::array<int64_t, 3>> grid;
  /// Where tile.print goes; null is standard error.
  llvm::raw_ostream *output = nullptr;
};

/// Runs one launch: in each phase the first kernel whose condition holds, or the kernel that the options name.
/// `arguments` are those of the kernels without the workspace, which is allocated here. CheckFailed for what the
/// program does wrong (with its place as pointer), InvalidArgument for arguments that do not fit, BadDescription for
/// programs that can't be run.
Status interpret(mlir::ModuleOp module, llvm::ArrayRef<HostArgument> arguments, const InterpreterOptions &options = {});

} // namespace tilejit

#endif // TILEJIT_INTERPRETER_INTERPRETER_H
