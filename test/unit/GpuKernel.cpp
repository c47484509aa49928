// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Text to code by way of the GPU back ends.

#include "GpuKernel.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>

using namespace mlir;

namespace tilejit::test {

namespace {

const Backend &backendFor(const TargetSpec &target) {
  return target.kind == TargetKind::Nvidia ? nvvmBackend() : rocdlBackend();
}

} // namespace

void replaceAll(std::string &text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string vendorText(std::string text, const TargetSpec &target) {
  bool nvidia = target.kind == TargetKind::Nvidia;
  constexpr std::string_view mark = "$kernel(";
  for (size_t at; (at = text.find(mark)) != std::string::npos;) {
    size_t end = text.find(')', at);
    std::string threads = text.substr(at + mark.size(), end - at - mark.size());
    text.replace(at, end + 1 - at,
                 nvidia ? "attributes {nvvm.kernel, nvvm.reqntid = array<i32: " + threads + ", 1, 1>}"
                        : "attributes {rocdl.kernel, rocdl.flat_work_group_size = \"" + threads + "," + threads +
                              "\", rocdl.reqd_work_group_size = array<i32: " + threads + ", 1, 1>}");
  }
  replaceAll(text, "$thread", nvidia ? "nvvm.read.ptx.sreg.tid.x : i32" : "rocdl.workitem.id.x : i32");
  replaceAll(text, "$block", nvidia ? "nvvm.read.ptx.sreg.ctaid.x : i32" : "rocdl.workgroup.id.x : i32");
  replaceAll(text, "$barrier",
             nvidia ? "nvvm.barrier0"
                    : "llvm.fence syncscope(\"workgroup\") release\nrocdl.s.barrier\n"
                      "llvm.fence syncscope(\"workgroup\") acquire");
  return text;
}

GpuCompiled compileGpu(std::string_view text, const TargetSpec &target, abi::EmitKind emit, bool withBitcode) {
  GpuCompiled compiled;
  const Backend &backend = backendFor(target);
  DialectRegistry registry;
  backend.registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    std::string &into = diagnostic.getSeverity() == DiagnosticSeverity::Error ? compiled.errors : compiled.warnings;
    into += diagnostic.str() + "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      into += "note: " + note.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(vendorText(std::string(text), target), &context);
  if (!module)
    return compiled;
  Stages stages;
  const abi::Config config;
  FailureOr<BackendResult> result = backend.compile({*module, target, emit, config, withBitcode, stages});
  compiled.ok = succeeded(result);
  if (compiled.ok)
    compiled.result = *std::move(result);
  return compiled;
}

} // namespace tilejit::test
