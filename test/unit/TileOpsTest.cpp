// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Small tile programs on this machine's CPU and on simulated GPUs against the interpreter, byte for byte: the
// operations that the operator library does not use.

#include "SimulatedRun.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/Device/Cpu.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"
#include "tilejit/Driver/Driver.h"
#include "tilejit/Interpreter/Interpreter.h"
#include "tilejit/OpLib/OpLib.h"
#include "tilejit/Reference/HostTensor.h"
#include "tilejit/Target/TargetSpec.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

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

void runOnCpu(const std::string &text, std::vector<Argument> &arguments) {
  const Backend *const backends[] = {&cpuBackend()};
  abi::CompileRequest request;
  request.sourceKind = abi::SourceKind::TileIR;
  request.source = text;
  request.sourceName = "test.mlir";
  request.target = encodeTarget(hostTarget());
  abi::CompileResponse response = compile(request, backends);
  INFO(response.status.pointer() << ": " << response.status.message());
  REQUIRE(response.status.isOk());
  std::vector<int64_t> slots;
  for (Argument &argument : arguments) {
    slots.push_back(reinterpret_cast<int64_t>(argument.bytes.data()));
    slots.insert(slots.end(), argument.slots.begin(), argument.slots.end());
  }
  std::unique_ptr<Device> device = makeCpuDevice({});
  PayloadView payload{abi::PayloadKind::Elf, response.payloads.at(0).bytes};
  Expected<std::shared_ptr<LoadedModule>> module = device->load(response.manifest, {&payload, 1});
  REQUIRE(module.isOk());
  LaunchArguments launch;
  launch.slots = slots;
  LaunchOutcome outcome;
  REQUIRE(device->launch(**module, launch, outcome).isOk());
  CHECK(outcome.failedAssertion == -1);
}

void runSimulated(const std::string &text, std::vector<Argument> &arguments, std::string_view target) {
  abi::CompileRequest request;
  request.sourceKind = abi::SourceKind::TileIR;
  request.source = text;
  request.sourceName = "test.mlir";
  test::SimulatedKernel kernel(request, target);
  std::vector<test::SimulatedOperand> operands;
  for (Argument &argument : arguments)
    operands.push_back({argument.slots, static_cast<char *>(argument.bytes.data()), argument.bytes.elements()});
  test::SimulatedOutcome outcome = kernel.run(operands);
  for (const sim::Report &report : outcome.reports)
    FAIL_CHECK(report.message << " at " << report.site);
  CHECK(outcome.failedAssertion == -1);
}

void compareAll(const std::vector<Argument> &wanted, const std::vector<Argument> &got) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    INFO("argument " << i);
    CHECK(std::memcmp(wanted[i].bytes.data(), got[i].bytes.data(), size_t(wanted[i].bytes.elements())) == 0);
  }
}

/// `arguments` and `body` of a kernel that runs `programs` times.
void check(std::string_view arguments, std::string_view body, int programs = 1) {
  std::string text = "tile.kernel @test(" + std::string(arguments) + ") launch <grid = affine_map<() -> (" +
                     std::to_string(programs) + ")>> {\n  %c0 = arith.constant 0 : index\n" + std::string(body) +
                     "\n  tile.return\n}\n";
  uint64_t seed = std::random_device()();
  INFO("seed " << seed << "\n" << text);
  mlir::DialectRegistry registry;
  registerOpLibDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  REQUIRE(module);
  auto kernel = *module->getOps<tile::KernelOp>().begin();
  std::vector<Argument> wanted = makeArguments(kernel, seed), got = makeArguments(kernel, seed);
  llvm::SmallVector<HostArgument> hostArguments;
  for (Argument &argument : wanted)
    hostArguments.push_back(argument.isView
                                ? HostArgument::view(argument.bytes.data(), argument.bytes.elements(), argument.shape)
                                : HostArgument::pointer(argument.bytes.data(), argument.bytes.elements()));
  Status ran = interpret(*module, hostArguments);
  INFO(ran.pointer() << ": " << ran.message());
  REQUIRE(ran.isOk());
  runOnCpu(text, got);
  compareAll(wanted, got);
  for (const char *target : {"sm_80", "gfx942", "gfx1100"}) {
    INFO("on " << target);
    got = makeArguments(kernel, seed);
    runSimulated(text, got, target);
    compareAll(wanted, got);
  }
}

std::string scan(std::string_view type, std::string_view element, std::string_view axis, std::string_view op) {
  return "  %t = tile.load %x[%c0, %c0] : !tile.view<" + std::string(type) + "> -> tensor<" + std::string(type) +
         ">\n  %s = tile.scan %t axis " + std::string(axis) + " : tensor<" + std::string(type) + "> -> tensor<" +
         std::string(type) + "> {\n  ^bb0(%l: " + std::string(element) + ", %r: " + std::string(element) +
         "):\n    %a = " + std::string(op) + " %l, %r : " + std::string(element) +
         "\n    tile.yield %a : " + std::string(element) + "\n  }\n  tile.store %s, %y[%c0, %c0] : tensor<" +
         std::string(type) + ">, !tile.view<" + std::string(type) + ">";
}

std::string two(std::string_view x, std::string_view y) {
  return "%x: !tile.view<" + std::string(x) + ">, %y: !tile.view<" + std::string(y) + ">";
}

} // namespace

TEST_CASE("scans run in order along every axis", "[cpu][gpu]") {
  for (std::string_view type : {"3x40xf32", "40x3xf32", "5x1xf32", "1x7xf32"})
    for (std::string_view axis : {"0", "1", "0 reverse", "1 reverse"})
      check(two(type, type), scan(type, "f32", axis, "arith.addf"));
  check(two("6x37xi8", "6x37xi8"), scan("6x37xi8", "i8", "1", "arith.addi"));
  check(two("6x37xi64", "6x37xi64"), scan("6x37xi64", "i64", "0", "arith.maxsi"));
}

TEST_CASE("what pads a tile counts for nothing", "[cpu]") {
  check(two("6x16xi32", "6x16xi32"), scan("6x16xi32", "i32", "0 reverse", "arith.andi"));
  check(two("5x33xi32", "5x33xi32"), scan("5x33xi32", "i32", "1 reverse", "arith.muli"));
  // A multiplier from outside the region; a loop that nobody needs.
  check(two("3x2xi32", "1x2xi32"), R"(
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %t = tile.load %x[%c0, %c0] : !tile.view<3x2xi32> -> tensor<3x2xi32>
  %unused = scf.for %i = %c0 to %c3 step %c1 iter_args(%u = %t) -> (tensor<3x2xi32>) {
    %v = arith.addi %u, %t : tensor<3x2xi32>
    scf.yield %v : tensor<3x2xi32>
  }
  %r = tile.reduce %t axis 0 : tensor<3x2xi32> -> tensor<2xi32> {
  ^bb0(%a: i32, %b: i32):
    %p = arith.muli %a, %b : i32
    tile.yield %p : i32
  }
  %s = tile.reduce %t axis 0 : tensor<3x2xi32> -> tensor<2xi32> {
  ^bb0(%a: i32, %b: i32):
    %p = arith.muli %a, %b : i32
    %q = arith.muli %p, %one : i32
    tile.yield %q : i32
  }
  %d = arith.addi %r, %s : tensor<2xi32>
  %e = tile.expand %d axis 0 : tensor<2xi32> -> tensor<1x2xi32>
  tile.store %e, %y[%c0, %c0] : tensor<1x2xi32>, !tile.view<1x2xi32>)");
}

TEST_CASE("a scan of several operands combines them together", "[cpu][gpu]") {
  check(two("50xf32", "50xi32"), R"(
  %t = tile.load %x[%c0] : !tile.view<50xf32> -> tensor<50xf32>
  %i = tile.iota : tensor<50xi32>
  %v, %p = tile.scan %t, %i axis 0 : tensor<50xf32>, tensor<50xi32> -> tensor<50xf32>, tensor<50xi32> {
  ^bb0(%a: f32, %m: i32, %b: f32, %n: i32):
    %gt = arith.cmpf ogt, %b, %a : f32
    %w = arith.select %gt, %b, %a : f32
    %q = arith.select %gt, %n, %m : i32
    tile.yield %w, %q : f32, i32
  }
  tile.store %v, %x[%c0] : tensor<50xf32>, !tile.view<50xf32>
  tile.store %p, %y[%c0] : tensor<50xi32>, !tile.view<50xi32>)");
}

TEST_CASE("tiles are put side by side along every axis", "[cpu][gpu]") {
  check("%x: !tile.view<3x5xf32>, %z: !tile.view<3x20xf32>, %y: !tile.view<3x30xf32>", R"(
  %a = tile.load %x[%c0, %c0] : !tile.view<3x5xf32> -> tensor<3x5xf32>
  %b = tile.load %z[%c0, %c0] : !tile.view<3x20xf32> -> tensor<3x20xf32>
  %t = tile.cat %a, %b, %a axis 1 : tensor<3x5xf32>, tensor<3x20xf32>, tensor<3x5xf32> -> tensor<3x30xf32>
  tile.store %t, %y[%c0, %c0] : tensor<3x30xf32>, !tile.view<3x30xf32>)");
  check("%x: !tile.view<2x19xi8>, %y: !tile.view<4x19xi8>", R"(
  %a = tile.load %x[%c0, %c0] : !tile.view<2x19xi8> -> tensor<2x19xi8>
  %b = arith.addi %a, %a : tensor<2x19xi8>
  %t = tile.cat %a, %b axis 0 : tensor<2x19xi8>, tensor<2x19xi8> -> tensor<4x19xi8>
  tile.store %t, %y[%c0, %c0] : tensor<4x19xi8>, !tile.view<4x19xi8>)");
  check("%x: !tile.view<20x1xf32>, %y: !tile.view<20x2xf32>", R"(
  %a = tile.load %x[%c0, %c0] : !tile.view<20x1xf32> -> tensor<20x1xf32>
  %b = arith.addf %a, %a : tensor<20x1xf32>
  %t = tile.cat %a, %b axis 1 : tensor<20x1xf32>, tensor<20x1xf32> -> tensor<20x2xf32>
  tile.store %t, %y[%c0, %c0] : tensor<20x2xf32>, !tile.view<20x2xf32>)");
}

TEST_CASE("join pairs elements and split takes them apart", "[cpu][gpu]") {
  check("%x: !tile.view<3x21xf32>, %y: !tile.view<3x21x2xf32>, %z: !tile.view<3x21xf32>", R"(
  %a = tile.load %x[%c0, %c0] : !tile.view<3x21xf32> -> tensor<3x21xf32>
  %b = arith.addf %a, %a : tensor<3x21xf32>
  %t = tile.join %a, %b : tensor<3x21xf32> -> tensor<3x21x2xf32>
  tile.store %t, %y[%c0, %c0, %c0] : tensor<3x21x2xf32>, !tile.view<3x21x2xf32>
  %p, %q = tile.split %t : tensor<3x21x2xf32> -> tensor<3x21xf32>
  %d = arith.subf %q, %p : tensor<3x21xf32>
  tile.store %d, %z[%c0, %c0] : tensor<3x21xf32>, !tile.view<3x21xf32>)");
}

TEST_CASE("elements are picked by index", "[cpu][gpu]") {
  for (auto [shape, indices, axis, size] :
       {std::tuple("9x20", "5x20", "0", "9"), {"9x20", "9x33", "1", "20"}, {"7x1", "3x1", "0", "7"}}) {
    std::string s(shape), i(indices);
    check("%x: !tile.view<" + s + "xf32>, %p: !tile.view<" + i + "xi32>, %y: !tile.view<" + i + "xf32>",
          "  %t = tile.load %x[%c0, %c0] : !tile.view<" + s + "xf32> -> tensor<" + s +
              "xf32>\n  %r = tile.load %p[%c0, " + "%c0] : !tile.view<" + i + "xi32> -> tensor<" + i +
              "xi32>\n  %n = arith.constant dense<" + size + "> : tensor<" + i +
              "xi32>\n  %k = arith.remui %r, %n : tensor<" + i + "xi32>\n  %g = tile.gather_in_tile %t[%k] axis " +
              axis + " : tensor<" + s + "xf32>, tensor<" + i + "xi32> -> tensor<" + i +
              "xf32>\n  tile.store %g, %y[%c0, %c0] : tensor<" + i + "xf32>, !tile.view<" + i + "xf32>");
  }
}

TEST_CASE("4-bit values are packed and unpacked", "[cpu][gpu]") {
  check("%x: !tile.view<3x42xi8>, %y: !tile.view<3x84xi8>, %z: !tile.view<3x42xi8>", R"(
  %a = tile.load %x[%c0, %c0] : !tile.view<3x42xi8> -> tensor<3x42xi8>
  %u = tile.unpack %a : tensor<3x42xi8> -> tensor<3x84xi4>
  %e = arith.extsi %u : tensor<3x84xi4> to tensor<3x84xi8>
  tile.store %e, %y[%c0, %c0] : tensor<3x84xi8>, !tile.view<3x84xi8>
  %s = arith.addi %u, %u : tensor<3x84xi4>
  %p = tile.pack %s : tensor<3x84xi4> -> tensor<3x42xi8>
  tile.store %p, %z[%c0, %c0] : tensor<3x42xi8>, !tile.view<3x42xi8>)");
}

TEST_CASE("gathers and scatters follow pointers under masks", "[cpu][gpu]") {
  check("%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %o: !tile.view<70xi32>", R"(
  %r = tile.load %o[%c0] : !tile.view<70xi32> -> tensor<70xi32>
  %n = arith.constant dense<4096> : tensor<70xi32>
  %k = arith.remui %r, %n : tensor<70xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<70x!tile.ptr<f32>>
  %a = tile.addptr %s, %k : tensor<70x!tile.ptr<f32>>, tensor<70xi32>
  %zero = arith.constant dense<0> : tensor<70xi32>
  %m = arith.cmpi sgt, %r, %zero : tensor<70xi32>
  %other = arith.constant dense<7.0> : tensor<70xf32>
  %x = tile.gather %a mask %m other %other : tensor<70x!tile.ptr<f32>> -> tensor<70xf32>
  %i = tile.iota : tensor<70xi64>
  %three = arith.constant dense<3> : tensor<70xi64>
  %j = arith.muli %i, %three : tensor<70xi64>
  %t = tile.splat %q : !tile.ptr<f32> -> tensor<70x!tile.ptr<f32>>
  %b = tile.addptr %t, %j : tensor<70x!tile.ptr<f32>>, tensor<70xi64>
  tile.scatter %x, %b mask %m : tensor<70xf32>, tensor<70x!tile.ptr<f32>>)");
  check("%p: !tile.ptr<i8>, %y: !tile.view<4x5xi8>", R"(
  %i = tile.iota : tensor<20xi32>
  %s = tile.splat %p : !tile.ptr<i8> -> tensor<20x!tile.ptr<i8>>
  %a = tile.addptr %s, %i : tensor<20x!tile.ptr<i8>>, tensor<20xi32>
  %x = tile.gather %a : tensor<20x!tile.ptr<i8>> -> tensor<20xi8>
  %r = tile.reshape %x : tensor<20xi8> -> tensor<4x5xi8>
  tile.store %r, %y[%c0, %c0] : tensor<4x5xi8>, !tile.view<4x5xi8>)");
}

namespace {
/// Each element of a tile updates memory, 64 elements to `cells` cells one after the other.
std::string update(const std::string &kind, const std::string &t, const std::string &cells, bool keepsOld) {
  return "  %v = tile.load %x[%c0] : !tile.view<40x" + t + "> -> tensor<40x" + t + ">\n" +
         "  %i = tile.iota : tensor<40xi32>\n  %n = arith.constant dense<" + cells + "> : tensor<40xi32>\n" +
         "  %k = arith.remui %i, %n : tensor<40xi32>\n" + "  %s = tile.splat %p : !tile.ptr<" + t +
         "> -> tensor<40x!tile.ptr<" + t + ">>\n" + "  %a = tile.addptr %s, %k : tensor<40x!tile.ptr<" + t +
         ">>, tensor<40xi32>\n" + "  %old = tile.atomic_rmw " + kind + " %v, %a relaxed device : tensor<40x" + t +
         ">, tensor<40x!tile.ptr<" + t + ">>\n" +
         (keepsOld ? "  tile.store %old, %y[%c0] : tensor<40x" + t + ">, !tile.view<40x" + t + ">" : "");
}
} // namespace

TEST_CASE("atomic updates give what was there", "[cpu][gpu]") {
  for (auto [kind, type] : {std::pair("addi", "i32"),
                            {"maxs", "i64"},
                            {"minu", "i8"},
                            {"xori", "i16"},
                            {"xchg", "f32"},
                            {"addf", "f32"},
                            {"addf", "f64"},
                            {"addf", "bf16"},
                            {"addf", "f16"}}) {
    std::string t(type),
        arguments = "%p: !tile.ptr<" + t + ">, %x: !tile.view<40x" + t + ">, %y: !tile.view<40x" + t + ">";
    check(arguments, update(kind, t, "64", true));
    // Several updates of one cell have no order: what comes out must not depend on it.
    if (std::string_view(kind) != "xchg")
      check(arguments, update(kind, t, "7", false));
  }
}

TEST_CASE("compare and exchange, and updates of views by many instances", "[cpu][gpu]") {
  check("%p: !tile.ptr<i32>, %x: !tile.view<20xi32>, %y: !tile.view<20xi32>", R"(
  %e = tile.load %x[%c0] : !tile.view<20xi32> -> tensor<20xi32>
  %i = tile.iota : tensor<20xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<20x!tile.ptr<i32>>
  %a = tile.addptr %s, %i : tensor<20x!tile.ptr<i32>>, tensor<20xi32>
  %now = tile.gather %a : tensor<20x!tile.ptr<i32>> -> tensor<20xi32>
  %two = arith.constant dense<2> : tensor<20xi32>
  %half = arith.remui %i, %two : tensor<20xi32>
  %zero = arith.constant dense<0> : tensor<20xi32>
  %even = arith.cmpi eq, %half, %zero : tensor<20xi32>
  %guess = arith.select %even, %now, %e : tensor<20xi1>, tensor<20xi32>
  %old = tile.atomic_cas %guess, %i, %a acq_rel device : tensor<20xi32>, tensor<20x!tile.ptr<i32>>
  tile.store %old, %y[%c0] : tensor<20xi32>, !tile.view<20xi32>)");
  check("%x: !tile.view<30xf32>, %y: !tile.view<3x10xf32>", R"(
  %one = arith.constant dense<1.0> : tensor<4x16xf32>
  tile.atomic addf %one, %y[%c0, %c0] relaxed device : tensor<4x16xf32>, !tile.view<3x10xf32>)",
        64);
}
