// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The look-up, and the functions of LLVM that no GPU of ours has an exact instruction for.

#include "Capabilities.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tilejit::backends {

namespace {

/// Functions that become calls of a library, or instructions less exact than what is promised. The math dialect's are
/// expanded before.
constexpr llvm::StringRef libraryFunctions[] = {
    "acos", "asin",   "atan",    "atan2", "cos",    "cosh", "exp", "exp10", "exp2", "frexp",  "ldexp", "log", "log10",
    "log2", "llrint", "llround", "lrint", "lround", "modf", "pow", "powi",  "sin",  "sincos", "sinh",  "tan", "tanh"};

bool matches(llvm::StringRef row, llvm::StringRef name) {
  return row.ends_with('.') ? name.starts_with(row) : name == row;
}

/// The rows of the longest name that fits.
SmallVector<Capability> rowsFor(llvm::ArrayRef<Capability> rows, llvm::StringRef name) {
  SmallVector<Capability> found;
  for (const Capability &row : rows) {
    if (!matches(row.name, name))
      continue;
    if (!found.empty() && found.front().name.size() < row.name.size())
      found.clear();
    if (found.empty() || found.front().name == row.name)
      found.push_back(row);
  }
  return found;
}

std::string generationName(TargetKind kind, int generation) {
  return kind == TargetKind::Nvidia ? llvm::formatv("sm_{0}", generation).str()
                                    : llvm::formatv("gfx{0:x-}", generation).str();
}

/// "sm_80 and newer", "gfx908 to gfx950, gfx1100 and newer".
std::string holders(TargetKind kind, llvm::ArrayRef<Capability> rows) {
  return llvm::join(llvm::map_range(rows,
                                    [&](const Capability &row) {
                                      bool open = row.last == std::numeric_limits<int>::max();
                                      return generationName(kind, row.first) +
                                             (open ? " and newer" : " to " + generationName(kind, row.last));
                                    }),
                    ", ");
}

/// The name that an operation goes by, or nothing where it needs no look-up.
llvm::StringRef capabilityName(Operation *op, llvm::StringRef dialect) {
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return call.getIntrin();
  return op->getDialect() && op->getDialect()->getNamespace() == dialect ? op->getName().getStringRef() : "";
}

LogicalResult checkFunction(Operation *op, const TargetSpec &target) {
  llvm::StringRef name = op->getName().getStringRef();
  if (name.consume_front("llvm.intr.") && llvm::is_contained(libraryFunctions, name))
    return op->emitOpError("needs a library that kernels for ") << target.name << " don't have";
  return success();
}

} // namespace

LogicalResult checkCapabilities(ModuleOp module, const TargetSpec &target, llvm::StringRef dialect,
                                llvm::ArrayRef<Capability> rows) {
  int generation = target.gpuFacts.generation;
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    llvm::StringRef name = capabilityName(op, dialect);
    if (name.empty())
      return checkFunction(op, target);
    SmallVector<Capability> found = rowsFor(rows, name);
    if (found.empty())
      return op->emitError("'") << name << "' is not among the operations that kernels may use on " << target.name;
    if (llvm::any_of(found, [&](const Capability &row) { return row.first <= generation && generation <= row.last; }))
      return WalkResult::advance();
    return op->emitError("'") << name << "' does not exist on " << target.name << "; " << holders(target.kind, found)
                              << " have it";
  });
  return failure(result.wasInterrupted());
}

} // namespace tilejit::backends
