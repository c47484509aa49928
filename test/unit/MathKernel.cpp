// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Text to code by way of the CPU back end's loop compiler, and code to a function by way of dlopen.

#include "MathKernel.h"

#include "backends/common/LowerToLLVM.h"
#include "backends/cpu/CompileLoops.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace tilejit::test {

namespace {

void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string moduleText(const MathKernelText &kernel) {
  std::string text = R"(
llvm.func @tilejit_run(%px: !llvm.ptr, %py: !llvm.ptr, %pr: !llvm.ptr, %n: i64) {
  %zero = arith.constant 0 : i64
  %step = arith.constant $step : i64
  scf.for %i = %zero to %n step %step : i64 {
    %ax = llvm.getelementptr %px[%i] : (!llvm.ptr, i64) -> !llvm.ptr, $memin
    %ay = llvm.getelementptr %py[%i] : (!llvm.ptr, i64) -> !llvm.ptr, $memin
    %ar = llvm.getelementptr %pr[%i] : (!llvm.ptr, i64) -> !llvm.ptr, $memout
    %lx = llvm.load %ax {alignment = 1 : i64} : !llvm.ptr -> $tmemin
    %ly = llvm.load %ay {alignment = 1 : i64} : !llvm.ptr -> $tmemin
    %x = $castin %lx : $tmemin $toin
    %y = $castin %ly : $tmemin $toin
    $operation
    %s = $castout %r : $out $toout
    llvm.store %s, %ar {alignment = 1 : i64} : $tmemout, !llvm.ptr
  }
  llvm.return
})";
  // Elements travel as integers of their width; those below a byte take one.
  auto bitsOf = [](const std::string &type) {
    return type[0] == 'b'                        ? 16
           : type.find("E") != std::string::npos ? (type[1] == '4' ? 4 : 8)
                                                 : std::stoi(type.substr(1));
  };
  auto typeText = [&](const std::string &element) {
    return kernel.lanes ? "vector<" + std::to_string(kernel.lanes) + "x" + element + ">" : element;
  };
  auto memory = [&](const std::string &type) { return "i" + std::to_string(std::max(8, bitsOf(type))); };
  bool narrowIn = bitsOf(kernel.in) < 8, narrowOut = bitsOf(kernel.out) < 8;
  if (narrowIn)
    replaceAll(text, "%x = $castin %lx : $tmemin $toin",
               "%tx = arith.trunci %lx : $tmemin to " + typeText("i4") +
                   "\n%x = arith.bitcast %tx : " + typeText("i4") + " to $in");
  if (narrowIn)
    replaceAll(text, "%y = $castin %ly : $tmemin $toin", "");
  if (narrowOut)
    replaceAll(text, "%s = $castout %r : $out $toout",
               "%tr = arith.bitcast %r : $out to " + typeText("i4") + "\n%s = arith.extui %tr : " + typeText("i4") +
                   " to $tmemout");
  bool sameIn = memory(kernel.in) == kernel.in, sameOut = memory(kernel.out) == kernel.out;
  replaceAll(text, "$operation", kernel.operation);
  replaceAll(text, "$castin %lx : $tmemin $toin",
             sameIn ? "arith.addi %lx, %zeros : $tmemin" : "arith.bitcast %lx : $tmemin to $in");
  replaceAll(text, "$castin %ly : $tmemin $toin",
             sameIn ? "arith.addi %ly, %zeros : $tmemin" : "arith.bitcast %ly : $tmemin to $in");
  replaceAll(text, "$castout %r : $out $toout",
             sameOut ? "arith.addi %r, %rzeros : $tmemout" : "arith.bitcast %r : $out to $tmemout");
  std::string zeros;
  if (sameIn)
    zeros += "%zeros = arith.constant " + std::string(kernel.lanes ? "dense<0>" : "0") + " : $tmemin\n";
  if (sameOut)
    zeros += "%rzeros = arith.constant " + std::string(kernel.lanes ? "dense<0>" : "0") + " : $tmemout\n";
  replaceAll(text, "%zero = arith", zeros + "%zero = arith");
  replaceAll(text, "$tmemin", typeText(memory(kernel.in)));
  replaceAll(text, "$tmemout", typeText(memory(kernel.out)));
  replaceAll(text, "$memin", memory(kernel.in));
  replaceAll(text, "$memout", memory(kernel.out));
  replaceAll(text, "$in", typeText(kernel.in));
  replaceAll(text, "$out", typeText(kernel.out));
  replaceAll(text, "$step", std::to_string(kernel.lanes ? kernel.lanes : 1));
  return text;
}

void *load(const std::string &payload) {
  int fd = memfd_create("kernel", MFD_CLOEXEC);
  if (fd < 0 || write(fd, payload.data(), payload.size()) != static_cast<ssize_t>(payload.size()))
    return nullptr;
  void *library = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  return library; // The descriptor stays open: dlopen takes equal paths for the same library.
}

} // namespace

MathKernel::MathKernel(const MathKernelText &text, const TargetSpec &target) {
  DialectRegistry registry;
  backends::registerLoopDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error_ += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(moduleText(text), &context);
  if (!module) {
    error_ += moduleText(text);
    return;
  }
  Stages stages;
  const abi::Config config;
  FailureOr<BackendResult> result =
      cpu::compileLoops({*module, target, abi::EmitKind::Object, config, /*withBitcode=*/false, stages});
  if (failed(result))
    return;
  payload_ = std::move(result->payloads.front().bytes);
  void *library = load(payload_);
  if (!library)
    error_ += std::string("dlopen: ") + dlerror();
  else
    function_ = reinterpret_cast<Function>(dlsym(library, "tilejit_run"));
}

} // namespace tilejit::test
