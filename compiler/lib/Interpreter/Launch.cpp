// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Launching: which kernels run over which grid, and their arguments.

#include "Instance.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/ThreadPool.h"

#include <cstring>
#include <map>

using namespace mlir;

namespace tilejit {

HostArgument HostArgument::view(void *data, int64_t bytes, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  HostArgument argument;
  argument.data = data;
  argument.bytes = bytes;
  argument.shape.assign(shape.begin(), shape.end());
  argument.strides.assign(strides.begin(), strides.end());
  return argument;
}

HostArgument HostArgument::pointer(void *data, int64_t bytes) {
  HostArgument argument;
  argument.data = data;
  argument.bytes = bytes;
  return argument;
}

HostArgument HostArgument::scalar(int64_t value) {
  HostArgument argument;
  argument.integer = value;
  argument.real = double(value);
  return argument;
}

HostArgument HostArgument::scalar(double value) {
  HostArgument argument;
  argument.integer = int64_t(value);
  argument.real = value;
  return argument;
}

namespace interpreter {

/// The name of an argument for messages.
static std::string nameOf(tile::KernelOp kernel, unsigned index) {
  auto name = kernel.getArgAttrOfType<StringAttr>(index, tile::TileDialect::argNameAttrName);
  return name ? name.getValue().str() : "argument " + std::to_string(index);
}

static Status misfit(tile::KernelOp kernel, unsigned index, const Twine &message) {
  return failAt(kernel, "expected " + message + " of '" + nameOf(kernel, index) + "'", StatusCode::InvalidArgument);
}

/// A view of an argument's memory, checked against its type.
static Expected<View> makeView(tile::KernelOp kernel, unsigned index, tile::ViewType type,
                               const HostArgument &argument) {
  if (int64_t(argument.shape.size()) != type.getRank())
    return misfit(kernel, index, "rank " + Twine(type.getRank()) + ", got " + Twine(argument.shape.size()));
  if (!argument.strides.empty() && argument.strides.size() != argument.shape.size())
    return misfit(kernel, index, Twine(type.getRank()) + " strides, got " + Twine(argument.strides.size()));
  View view{type.getElementType(), makePointer(index, 0),
            llvm::SmallVector<int64_t, 4>(ArrayRef<int64_t>(argument.shape)),
            llvm::SmallVector<int64_t, 4>(argument.shape.size(), 1)};
  for (size_t dim = view.shape.size(); dim-- > 0;) {
    if (!argument.strides.empty())
      view.strides[dim] = argument.strides[dim];
    else if (dim + 1 < view.shape.size())
      view.strides[dim] = view.strides[dim + 1] * view.shape[dim + 1];
    int64_t size = type.getShape()[dim], stride = type.getStaticStride(dim);
    if (view.shape[dim] < 0 || (!ShapedType::isDynamic(size) && size != view.shape[dim]))
      return misfit(kernel, index,
                    "size " + Twine(size) + " in dimension " + Twine(dim) + ", got " + Twine(view.shape[dim]));
    if (!ShapedType::isDynamic(stride) && stride != view.strides[dim] && view.shape[dim] > 1)
      return misfit(kernel, index,
                    "stride " + Twine(stride) + " in dimension " + Twine(dim) + ", got " + Twine(view.strides[dim]));
  }
  if (type.getAlign() > 1 && reinterpret_cast<uintptr_t>(argument.data) % type.getAlign() != 0)
    return misfit(kernel, index, "an alignment of " + Twine(type.getAlign()) + " bytes");
  return view;
}

/// Sets the arguments of a kernel in a program instance.
static Status setArguments(Instance &in, tile::KernelOp kernel, ArrayRef<HostArgument> arguments) {
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    Value value = kernel.getArgument(index);
    if (auto type = dyn_cast<tile::ViewType>(value.getType())) {
      TILEJIT_ASSIGN_OR_RETURN(View view, makeView(kernel, index, type, argument));
      in.setView(value, std::move(view));
    } else if (isa<tile::PtrType>(value.getType())) {
      in.setScalar(value, makePointer(index, 0));
    } else {
      Format format(value.getType());
      in.setScalar(value, format.isFloat() ? toCell(format.round(argument.real)) : format.wrap(argument.integer));
    }
  }
  return Status::ok();
}

/// The sizes that a launch rule names.
static Expected<SmallVector<int64_t>> ruleSizes(tile::KernelOp kernel, ArrayRef<HostArgument> arguments) {
  SmallVector<int64_t> sizes;
  ArrayRef<int64_t> pairs = kernel.getLaunchAttr().getSizes();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (pairs[i] >= int64_t(arguments.size()) || pairs[i + 1] >= int64_t(arguments[pairs[i]].shape.size()))
      return misfit(kernel, pairs[i], "a dimension " + Twine(pairs[i + 1]));
    sizes.push_back(arguments[pairs[i]].shape[pairs[i + 1]]);
  }
  return sizes;
}

/// The values of a map's results; nothing where one divides by zero.
static std::optional<SmallVector<int64_t>> evaluate(AffineMap map, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> results;
  SmallVector<AffineExpr> dims;
  for (int64_t size : sizes)
    dims.push_back(getAffineConstantExpr(size, map.getContext()));
  for (AffineExpr expr : map.getResults()) {
    auto constant = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(expr.replaceDimsAndSymbols(dims, {}), 0, 0));
    if (!constant)
      return std::nullopt;
    results.push_back(constant.getValue());
  }
  return results;
}

/// Whether a condition holds.
static std::optional<bool> holds(IntegerSetAttr condition, ArrayRef<int64_t> sizes) {
  if (!condition)
    return true;
  IntegerSet set = condition.getValue();
  auto map = AffineMap::get(set.getNumDims(), 0, set.getConstraints(), set.getContext());
  std::optional<SmallVector<int64_t>> values = evaluate(map, sizes);
  if (!values)
    return std::nullopt;
  for (auto [index, value] : llvm::enumerate(*values))
    if (set.isEq(index) ? value != 0 : value < 0)
      return false;
  return true;
}

namespace {
/// One kernel that runs, over its grid.
struct Step {
  tile::KernelOp kernel;
  std::array<int64_t, 3> grid = {1, 1, 1};
  int64_t workspace = 0;
};
} // namespace

/// A kernel with the grid of its launch rule, or nothing where its condition does not hold.
static Expected<std::optional<Step>> applyRule(tile::KernelOp kernel, ArrayRef<HostArgument> arguments) {
  tile::LaunchAttr rule = kernel.getLaunchAttr();
  TILEJIT_ASSIGN_OR_RETURN(SmallVector<int64_t> sizes, ruleSizes(kernel, arguments));
  Step step{kernel};
  std::optional<bool> condition = holds(rule.getWhen(), sizes);
  if (condition && !*condition)
    return std::optional<Step>();
  auto grid = evaluate(rule.getGrid().getValue(), sizes);
  auto workspace = rule.getWorkspace() ? evaluate(rule.getWorkspace().getValue(), sizes) : SmallVector<int64_t>{0};
  if (!condition || !grid || !workspace)
    return failAt(kernel, "expected a launch rule that can be evaluated", StatusCode::BadDescription);
  llvm::copy(*grid, step.grid.begin());
  step.workspace = workspace->front();
  return std::optional<Step>(step);
}

/// The kernels that run, in order.
static Expected<SmallVector<Step>> chooseSteps(ModuleOp module, ArrayRef<HostArgument> arguments,
                                               const InterpreterOptions &options) {
  SmallVector<Step> steps;
  std::map<int64_t, Step> phases;
  bool found = false;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    if (!options.kernel.empty() && kernel.getSymName() != options.kernel)
      continue;
    bool single = !options.kernel.empty() || options.grid;
    if (found && single)
      return Status(StatusCode::InvalidArgument, "expected one kernel for a grid, got several; name one");
    found = true;
    if (options.grid) {
      steps.push_back({kernel, *options.grid});
      continue;
    }
    if (!kernel.getLaunchAttr())
      return failAt(kernel, "expected a grid, as the kernel has no launch rule", StatusCode::InvalidArgument);
    TILEJIT_ASSIGN_OR_RETURN(std::optional<Step> step, applyRule(kernel, arguments));
    if (step)
      phases.try_emplace(kernel.getLaunchAttr().getPhase(), *step);
  }
  if (!found)
    return Status(StatusCode::InvalidArgument, options.kernel.empty() ? "expected a module with a kernel"
                                                                      : "expected a kernel '" + options.kernel + "'");
  for (auto &[phase, step] : phases)
    steps.push_back(step);
  return steps;
}

/// Checks the number of arguments; a kernel with a workspace takes one more.
static Status checkCount(tile::KernelOp kernel, size_t given) {
  tile::LaunchAttr rule = kernel.getLaunchAttr();
  size_t expected = kernel.getNumArguments() - (rule && rule.getWorkspace() ? 1 : 0);
  if (expected != given)
    return failAt(kernel, "expected " + Twine(expected) + " arguments, got " + Twine(given),
                  StatusCode::InvalidArgument);
  return Status::ok();
}

/// Runs the program instances from `next` on until there are none left or one failed.
static void runInstances(Launch &launch, const Step &step, ArrayRef<HostArgument> arguments, std::atomic<int64_t> &next,
                         std::mutex &mutex, Status &status) {
  int64_t count = step.grid[0] * step.grid[1] * step.grid[2];
  for (int64_t i = next++; i < count; i = next++) {
    Instance instance(launch, {i % step.grid[0], i / step.grid[0] % step.grid[1], i / step.grid[0] / step.grid[1]});
    tile::KernelOp kernel = step.kernel;
    Status result = setArguments(instance, kernel, arguments);
    SmallVector<Datum> nothing;
    if (result)
      result = instance.runBlock(kernel.getBody().front(), nothing);
    if (result)
      continue;
    std::lock_guard<std::mutex> lock(mutex);
    if (status)
      status = result;
    next = count;
  }
}

/// Runs one kernel over its grid.
static Status runStep(Launch &launch, const Step &step, ArrayRef<HostArgument> arguments) {
  for (int64_t count : step.grid)
    if (count < 0)
      return failAt(step.kernel, "expected a grid of at least 0 program instances, got " + Twine(count));
  launch.grid = step.grid;
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  Status status;
  unsigned threads = launch.options.threads;
  if (threads <= 1 || llvm::is_contained(step.grid, 0)) {
    if (!llvm::is_contained(step.grid, 0))
      runInstances(launch, step, arguments, next, mutex, status);
    return status;
  }
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
  for (unsigned i = 0; i < threads; ++i)
    pool.async([&] { runInstances(launch, step, arguments, next, mutex, status); });
  pool.wait();
  return status;
}

} // namespace interpreter

Status interpret(ModuleOp module, ArrayRef<HostArgument> arguments, const InterpreterOptions &options) {
  using namespace interpreter;
  static const HandlerTable handlers;
  TILEJIT_ASSIGN_OR_RETURN(SmallVector<Step> steps, chooseSteps(module, arguments, options));
  int64_t workspace = 0;
  for (const Step &step : steps)
    workspace = std::max(workspace, step.workspace);
  // Uninitialised memory holds all ones, which is NaN in most formats.
  std::vector<std::byte> scratch(workspace + 64, std::byte(0xff));
  std::byte *aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;

  Launch launch(options, handlers);
  for (Step &step : steps) {
    TILEJIT_RETURN_IF_ERROR(checkCount(step.kernel, arguments.size()));
    SmallVector<HostArgument> all(arguments);
    if (step.kernel.getNumArguments() > arguments.size())
      all.push_back(HostArgument::pointer(aligned, workspace));
    launch.buffers.clear();
    for (auto [index, argument] : llvm::enumerate(all))
      launch.buffers.push_back({static_cast<std::byte *>(argument.data), argument.data ? argument.bytes : 0,
                                index < arguments.size() ? nameOf(step.kernel, index) : "workspace"});
    TILEJIT_RETURN_IF_ERROR(runStep(launch, step, all));
  }
  return Status::ok();
}

} // namespace tilejit
