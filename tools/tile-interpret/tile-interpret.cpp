// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tile-interpret: runs the kernels of a file in the interpreter and prints each array that they change. For tests, and
// for finding out what a program means. Exit code 1 where the program fails, 2 for a bad file or argument.

#include "Arguments.h"

#include "tilejit/Dialect/Tile/IR/Tile.h"
#include "tilejit/Reference/Npy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilejit;
namespace cl = llvm::cl;

static cl::OptionCategory category("tile-interpret options");
static cl::opt<std::string> file(cl::Positional, cl::desc("FILE.mlir"), cl::init("-"), cl::cat(category));
static cl::list<std::string> argumentTexts("arg", cl::desc("An argument of the kernels, in order"), cl::cat(category));
static cl::list<int64_t> grid("grid", cl::desc("Grid of a kernel without launch rule"), cl::CommaSeparated,
                              cl::cat(category));
static cl::opt<std::string> kernel("kernel", cl::desc("The only kernel to run"), cl::cat(category));
static cl::opt<bool> doublePrecision("double", cl::desc("Compute in double precision"), cl::cat(category));
static cl::opt<bool> checkNaN("check-nan", cl::desc("End where a NaN is made"), cl::cat(category));
static cl::opt<bool> noBounds("no-bounds", cl::desc("Let accesses outside pass"), cl::cat(category));
static cl::opt<uint64_t> maxSteps("max-steps", cl::desc("Most operations to run"), cl::cat(category));
static cl::opt<unsigned> threads("parallel", cl::desc("Program instances at once"), cl::init(1), cl::cat(category));

/// Prints an error and gives the exit code for it.
static int report(const Status &status) {
  llvm::errs() << "tile-interpret: error: ";
  if (!status.pointer().empty())
    llvm::errs() << status.pointer() << ": ";
  llvm::errs() << status.message() << "\n";
  return status.code() == StatusCode::CheckFailed ? 1 : 2;
}

static InterpreterOptions readOptions() {
  InterpreterOptions options;
  options.doublePrecision = doublePrecision;
  options.checkNaN = checkNaN;
  options.checkBounds = !noBounds;
  options.maxSteps = maxSteps;
  options.threads = threads;
  options.kernel = kernel;
  if (!grid.empty()) {
    options.grid = {1, 1, 1};
    for (size_t i = 0; i < grid.size() && i < 3; ++i)
      (*options.grid)[i] = grid[i];
  }
  return options;
}

/// Writes files and prints what changed.
static Status showResults(const std::vector<Argument> &arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument &argument = arguments[i];
    if (!argument.writeTo.empty())
      TILEJIT_RETURN_IF_ERROR(writeNpy(argument.writeTo, *argument.tensor));
    else if (hasChanged(argument))
      llvm::outs() << i << ": " << describe(*argument.tensor) << "\n";
  }
  return Status::ok();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "runs tile programs in the interpreter\n");

  mlir::DialectRegistry registry;
  registry.insert<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!module)
    return 2;

  std::vector<Argument> arguments;
  llvm::SmallVector<HostArgument> hostArguments;
  for (const std::string &text : argumentTexts) {
    Expected<Argument> argument = parseArgument(text);
    if (!argument)
      return report(argument.status());
    arguments.push_back(*std::move(argument));
    hostArguments.push_back(arguments.back().host);
  }
  if (Status status = interpret(*module, hostArguments, readOptions()); !status)
    return report(status);
  if (Status status = showResults(arguments); !status)
    return report(status);
  return 0;
}
