// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Arguments with random numbers, and the three ways to run a kernel on them.

#include "TileOpsCheck.h"

#include "CompiledRun.h"
#include "EmulatedRun.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/Conversion/Passes.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"
#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"
#include "tilejit/Driver/Driver.h"
#include "tilejit/Interpreter/Interpreter.h"
#include "tilejit/OpLib/OpLib.h"
#include "tilejit/Reference/HostTensor.h"
#include "tilejit/Target/TargetSpec.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <random>

using namespace tilejit;

namespace {

/// Memory of one argument: dense, filled with numbers that no operation turns into NaN.
struct Argument {
  std::vector<int64_t> slots; ///< Without the address.
  llvm::SmallVector<int64_t> shape;
  HostTensor bytes;
  bool isView = true;
};

int64_t bytesOf(mlir::Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

void fillRandom(HostTensor &bytes, mlir::Type element, std::mt19937_64 &random) {
  int64_t size = bytesOf(element);
  for (int64_t i = 0; i < bytes.elements() / size; ++i) {
    uint64_t value = random();
    if (auto type = mlir::dyn_cast<mlir::FloatType>(element)) {
      llvm::APFloat number(double(int64_t(value % 41)) - 20);
      if (!llvm::APFloat::semanticsHasSignedRepr(type.getFloatSemantics())) // f8E8M0: nor has it zero.
        number = llvm::APFloat(double(1 << value % 12));
      bool loses = false;
      number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
      value = number.bitcastToAPInt().getZExtValue();
    } else if (element.isInteger(1)) {
      value &= 1;
    } else if (element.isInteger(4)) {
      value = uint64_t(int64_t(value << 60) >> 60);
    }
    std::memcpy(bytes.element(i * size), &value, size_t(size));
  }
}

/// Views are dense; a pointer leads to 4096 elements.
Argument makeArgument(mlir::Type type, std::mt19937_64 &random) {
  Argument argument;
  int64_t count = 4096;
  mlir::Type element;
  if (auto view = mlir::dyn_cast<tile::ViewType>(type)) {
    element = view.getElementType();
    argument.shape.assign(view.getShape().begin(), view.getShape().end());
    count = elementCount(std::vector<int64_t>(argument.shape.begin(), argument.shape.end()));
    std::vector<int64_t> strides = denseStrides(std::vector<int64_t>(argument.shape.begin(), argument.shape.end()));
    argument.slots.assign(argument.shape.begin(), argument.shape.end());
    argument.slots.insert(argument.slots.end(), strides.begin(), strides.end());
  } else {
    element = mlir::cast<tile::PtrType>(type).getPointee();
    argument.isView = false;
  }
  Expected<HostTensor> bytes = HostTensor::allocate(DType::U8, {count * bytesOf(element)});
  REQUIRE(bytes.isOk());
  argument.bytes = *std::move(bytes);
  fillRandom(argument.bytes, element, random);
  return argument;
}

std::vector<Argument> makeArguments(tile::KernelOp kernel, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Argument> arguments;
  for (mlir::Type type : kernel.getArgumentTypes())
    arguments.push_back(makeArgument(type, random));
  return arguments;
}

test::CompiledRun compileFor(const std::string &text, std::string_view target) {
  abi::CompileRequest request;
  request.sourceKind = abi::SourceKind::TileIR;
  request.source = text;
  request.sourceName = "test.mlir";
  return test::CompiledRun(request, test::runTarget(target));
}

std::vector<test::RunOperand> operandsOf(std::vector<Argument> &arguments) {
  std::vector<test::RunOperand> operands;
  for (Argument &argument : arguments)
    operands.push_back({argument.slots, static_cast<char *>(argument.bytes.data()), argument.bytes.elements()});
  return operands;
}

void runCompiled(const std::string &text, std::vector<Argument> &arguments, std::string_view target) {
  std::vector<test::RunOperand> operands = operandsOf(arguments);
  compileFor(text, target).runClean(operands);
}

/// On a CPU of another kind, of two in turns, where there is an emulator of it that takes the code.
bool runEmulatedInTurn(const std::string &text, std::vector<Argument> &arguments) {
  static size_t turn = std::random_device()();
  TargetSpec target = test::runTarget(++turn % 2 ? "armv8-a" : "rv64gcv");
  if (!test::whyNotEmulated(target).empty())
    return false;
  test::CompiledRun run = compileFor(text, target.name);
  if (test::stopsEmulator(run.response.payloads.at(0).bytes, target))
    return false;
  INFO("on " << target.name);
  std::vector<test::RunOperand> operands = operandsOf(arguments);
  run.runClean(operands);
  return true;
}

int64_t countWrong(const Argument &wanted, const Argument &got, int64_t &first) {
  int64_t wrong = 0;
  for (int64_t at = 0; at < wanted.bytes.elements(); ++at)
    if (std::memcmp(wanted.bytes.element(at), got.bytes.element(at), 1) != 0 && wrong++ == 0)
      first = at;
  return wrong;
}

void compareAll(const std::vector<Argument> &wanted, const std::vector<Argument> &got) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t first = -1, wrong = countWrong(wanted[i], got[i], first);
    INFO("argument " << i << ": the first of " << wrong << " wrong bytes is at " << first);
    CHECK(wrong == 0);
  }
}

/// A context that knows what GPU kernels go through, and a kernel's text in it.
struct Parsed {
  explicit Parsed(const std::string &text) {
    mlir::DialectRegistry registry;
    registerOpLibDialects(registry);
    registry.insert<tilegpu::TileGPUDialect>();
    for (const Backend *backend : {&nvvmBackend(), &rocdlBackend()})
      backend->registerDialects(registry);
    context.appendDialectRegistry(registry);
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
  }
  tile::KernelOp kernel() { return *module->getOps<tile::KernelOp>().begin(); }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

std::vector<Argument> argumentsOf(const std::string &text, uint64_t seed) {
  return makeArguments(Parsed(text).kernel(), seed);
}

/// What the interpreter leaves in the arguments, and what it found there.
void interpretText(const std::string &text, uint64_t seed, std::vector<Argument> &wanted,
                   std::vector<Argument> &before) {
  Parsed parsed(text);
  wanted = makeArguments(parsed.kernel(), seed);
  before = makeArguments(parsed.kernel(), seed);
  llvm::SmallVector<HostArgument> arguments;
  for (Argument &argument : wanted)
    arguments.push_back(argument.isView
                            ? HostArgument::view(argument.bytes.data(), argument.bytes.elements(), argument.shape)
                            : HostArgument::pointer(argument.bytes.data(), argument.bytes.elements()));
  Status ran = interpret(*parsed.module, arguments);
  INFO(ran.pointer() << ": " << ran.message());
  REQUIRE(ran.isOk());
}

/// The optimised IR of a kernel with a fault; empty where the fault does not apply.
std::string faultyText(const std::string &text, const std::string &target, const test::TileOpsFault &fault) {
  Parsed parsed(text);
  Expected<TargetSpec> spec = parseTarget(target);
  REQUIRE(spec.isOk());
  auto run = [&](llvm::function_ref<void(mlir::PassManager &)> build) {
    mlir::PassManager manager(&parsed.context, mlir::ModuleOp::getOperationName());
    build(manager);
    REQUIRE(mlir::succeeded(manager.run(*parsed.module)));
  };
  run([&](mlir::PassManager &manager) { buildTileToTileGPUPipeline(manager, *spec, 0); });
  if (fault.planned && !fault.planned(*parsed.module))
    return "";
  run([&](mlir::PassManager &manager) { buildTileGPUToLLVMPipeline(manager, *spec); });
  if (fault.lowered && !fault.lowered(*parsed.module))
    return "";
  Stages stages;
  abi::Config config;
  const Backend &backend = spec->kind == TargetKind::Nvidia ? nvvmBackend() : rocdlBackend();
  auto result = backend.compile({*parsed.module, *spec, abi::EmitKind::Llvm, config, false, stages});
  REQUIRE(mlir::succeeded(result));
  return result->text;
}

/// The text of the kernel; `warps` of its block, 0: no hint.
std::string kernelText(std::string_view arguments, std::string_view body, int programs, int warps) {
  std::string number = std::to_string(warps);
  std::string hint =
      warps == 0 ? "" : "  tile.hint {nvvm = {warps = " + number + " : i64}, rocdl = {warps = " + number + " : i64}}\n";
  return "tile.kernel @test(" + std::string(arguments) + ") launch <grid = affine_map<() -> (" +
         std::to_string(programs) + ")>> {\n" + hint + "  %c0 = arith.constant 0 : index\n" + std::string(body) +
         "\n  tile.return\n}\n";
}

std::string coordinates(std::string_view type) {
  std::string text;
  for (size_t i = 0; i < size_t(std::count(type.begin(), type.end(), 'x')); ++i)
    text += i ? ", %c0" : "%c0";
  return text;
}

} // namespace

void test::checkTileOps(std::string_view arguments, std::string_view body, const TileOpsRun &run) {
  std::string text = kernelText(arguments, body, run.programs, 0);
  uint64_t seed = std::random_device()();
  INFO("seed " << seed << "\n" << text);
  std::vector<Argument> wanted, got;
  interpretText(text, seed, wanted, got);
  runCompiled(text, got, "cpu");
  compareAll(wanted, got);
  if (hostTarget().cpuFacts.hasBf16Dot && text.find("bf16") != std::string::npos) {
    INFO("on this CPU's twin");
    got = argumentsOf(text, seed);
    runCompiled(text, got, "cpu-twin");
    compareAll(wanted, got);
  }
  got = argumentsOf(text, seed);
  if (runEmulatedInTurn(text, got))
    compareAll(wanted, got);
  for (const std::string &target : run.targets)
    for (int warps : run.warps) {
      INFO("on " << target << " with " << warps << " warps");
      got = argumentsOf(text, seed);
      runCompiled(kernelText(arguments, body, run.programs, warps), got, target);
      compareAll(wanted, got);
    }
}

test::TileOpsOutcome test::runWithFault(std::string_view arguments, std::string_view body, const TileOpsRun &run,
                                        const std::string &target, const TileOpsFault &fault) {
  std::string text = kernelText(arguments, body, run.programs, run.warps.front());
  constexpr uint64_t seed = 1;
  std::vector<Argument> wanted, got;
  interpretText(text, seed, wanted, got);
  CompiledRun kernel = compileFor(text, target);
  TileOpsOutcome result;
  kernel.response.text = faultyText(text, target, fault);
  result.isApplied = !kernel.response.text.empty();
  if (!result.isApplied)
    return result;
  std::vector<RunOperand> operands = operandsOf(got);
  RunOutcome outcome = kernel.run(operands);
  for (const sim::Report &report : outcome.simulated.reports)
    result.reports.push_back(report.message);
  int64_t first = 0;
  for (size_t i = 0; i < wanted.size(); ++i)
    result.wrongBytes += countWrong(wanted[i], got[i], first);
  return result;
}

std::string test::twoViews(std::string_view x, std::string_view y) {
  return "%x: !tile.view<" + std::string(x) + ">, %y: !tile.view<" + std::string(y) + ">";
}

std::string test::loadWhole(std::string_view name, std::string_view view, std::string_view type) {
  std::string t(type);
  return "  " + std::string(name) + " = tile.load " + std::string(view) + "[" + coordinates(type) + "] : !tile.view<" +
         t + "> -> tensor<" + t + ">\n";
}

std::string test::storeWhole(std::string_view name, std::string_view view, std::string_view type) {
  std::string t(type);
  return "  tile.store " + std::string(name) + ", " + std::string(view) + "[" + coordinates(type) + "] : tensor<" + t +
         ">, !tile.view<" + t + ">\n";
}

std::string test::typeText(const std::vector<int> &shape, std::string_view element) {
  std::string text;
  for (int size : shape)
    text += std::to_string(size) + "x";
  return text + std::string(element);
}
