// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Math of GPU kernels, executed on the simulator and compared with libm in a wider type: the statements about accuracy
// are those of the CPU.

#include "GpuKernel.h"
#include "MathCases.h"
#include "SimulatorKernel.h"

#include <cstdio>

using namespace tilejit;
using namespace tilejit::test;

namespace {

std::string kernelOf(const MathFunction &function, std::string_view type) {
  std::string text = R"(
llvm.func @NAME(%px: !llvm.ptr<1>, %py: !llvm.ptr<1>, %pr: !llvm.ptr<1>) $kernel(128) {
  %thread = $thread
  %block = $block
  %size = arith.constant 128 : i32
  %first = arith.muli %block, %size : i32
  %i = arith.addi %first, %thread : i32
  %ax = llvm.getelementptr %px[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, $in
  %ay = llvm.getelementptr %py[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, $in
  %ar = llvm.getelementptr %pr[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, $in
  %x = llvm.load %ax : !llvm.ptr<1> -> $in
  %y = llvm.load %ay : !llvm.ptr<1> -> $in
  OPERATION
  llvm.store %r, %ar : $in, !llvm.ptr<1>
  llvm.return
})";
  replaceAll(text, "NAME", std::string("k_") + function.name);
  replaceAll(text, "OPERATION", function.operation);
  replaceAll(text, "$in", type);
  return text;
}

/// Every function in a module of one kernel each.
template <typename T> void checkAll(const char *chip) {
  std::string text;
  for (const MathFunction &function : mathFunctions())
    text += kernelOf(function, Bits<T>::name);
  GpuCompiled compiled = compileGpu(text, gpuTarget(chip), abi::EmitKind::Llvm);
  INFO(chip << ": " << compiled.errors);
  REQUIRE(compiled.ok);
  sim::test::Machine machine(chip, compiled.result.text);
  constexpr uint32_t count = 8192;
  uint64_t seed = std::random_device()();
  for (const MathFunction &function : mathFunctions()) {
    INFO(function.name << " " << Bits<T>::name << " on " << chip << ", seed " << seed);
    Arguments<T> arguments(function, seed, count);
    T *results = machine.output<T>(count);
    sim::Outcome outcome = machine.run(std::string("k_") + function.name, {count / 128, 1, 1}, {128, 1, 1},
                                       machine.array(arguments.x), machine.array(arguments.y), results);
    CHECK(sim::test::kinds(outcome).empty());
    Worst worst = worstError<T>(function, arguments, {results, count});
    std::printf("  %-10s %s  %-8s largest error %7.3f ulp at %.9Lg\n", function.name, Bits<T>::name, chip, worst.error,
                static_cast<Wide>(arguments.x[worst.at]));
    INFO("x = " << arguments.x[worst.at] << ", y = " << arguments.y[worst.at] << ", got " << results[worst.at]);
    CHECK(worst.error <= (sizeof(T) == 4 ? function.limit32 : function.limit64));
  }
}

} // namespace

TEST_CASE("functions of f32 on a simulated sm_80") { checkAll<float>("sm_80"); }
TEST_CASE("functions of f64 on a simulated sm_80") { checkAll<double>("sm_80"); }
TEST_CASE("functions of f32 on a simulated gfx942") { checkAll<float>("gfx942"); }
TEST_CASE("functions of f64 on a simulated gfx942") { checkAll<double>("gfx942"); }
