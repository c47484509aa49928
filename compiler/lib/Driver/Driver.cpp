// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The stages of a compile in their order.

#include "tilejit/Driver/Driver.h"

#include "Contexts.h"
#include "Diagnostics.h"
#include "Fence.h"
#include "TileFile.h"

#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Base/Text.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/OpLib/OpLib.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/LocationSnapshot.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace tilejit {

namespace {

/// A tile program on its way, with what its messages call it.
struct Program {
  OwningOpRef<ModuleOp> module;
  std::string subject;
};

class Compile {
public:
  /// `backend` is null where the tile program is all that is wanted.
  Compile(const abi::CompileRequest &request, const Backend *backend, const TargetSpec &target,
          abi::CompileResponse &response)
      : request_(request), backend_(backend), target_(target), response_(response) {}

  Status run() {
    stages_.begin("context");
    std::unique_ptr<MLIRContext> context = takeContext(backend_);
    Status status = compile(*context);
    keepContext(backend_, std::move(context));
    stages_.end();
    response_.stagesMs = stages_.times();
    return status;
  }

private:
  Status compile(MLIRContext &context) {
    DiagnosticCollector diagnostics(context);
    Program program;
    bool isDescription = request_.sourceKind == abi::SourceKind::Description;
    TILEJIT_RETURN_IF_ERROR(isDescription ? build(context, program) : parse(context, diagnostics, program));
    abi::Manifest &manifest = response_.manifest;
    manifest.target = target_.keyText();
    manifest.abiVersion = abi::kernelAbiVersion;
    manifest.paths = kernelNames(*program.module);
    manifest.assertions = assertionTexts(*program.module);
    if (!target_.isGpu()) // Whose launches run all phases.
      manifest.packs = packedOperand(*program.module);
    if (request_.emit == abi::EmitKind::Tile) {
      llvm::raw_string_ostream stream(response_.text);
      program.module->print(stream);
      return Status::ok();
    }
    bool isExplained = request_.emit == abi::EmitKind::Explained;
    abi::StageTexts texts;
    if (isExplained)
      explainTiles(*program.module, texts);
    bool withBitcode = request_.withBitcode || target_.simulated || isExplained;
    FailureOr<BackendResult> result = backend_->compile({*program.module, target_, request_.emit, manifest.config,
                                                         withBitcode, stages_, isExplained ? &texts : nullptr});
    if (failed(result))
      return diagnostics.status(StatusCode::CompileFailed, program.subject);
    response_.text = std::move(result->text);
    response_.payloads = std::move(result->payloads);
    if (isExplained)
      response_.payloads.push_back({abi::PayloadKind::Stages, abi::encode(texts)});
    manifest.resources = std::move(result->resources);
    manifest.gpu = std::move(result->gpu);
    return Status::ok();
  }

  /// Keeps the tile program's text and makes its lines the places of all that it becomes.
  static void explainTiles(ModuleOp module, abi::StageTexts &texts) {
    llvm::raw_string_ostream stream(texts.tile);
    generateLocationsFromIR(stream, abi::tileFile, module, OpPrintingFlags());
  }

  /// A description to its tile program.
  Status build(MLIRContext &context, Program &program) {
    stages_.begin("parse");
    TILEJIT_ASSIGN_OR_RETURN(Description description, parseDescription(request_.source, request_.sourceName));
    stages_.begin("build");
    TILEJIT_ASSIGN_OR_RETURN(abi::Config config, chooseConfig(description, target_, request_.config));
    program.subject = familyName(description.family);
    program.module = buildModule(context, description, target_, config);
    abi::Manifest &manifest = response_.manifest;
    manifest.op = program.subject;
    manifest.reductionOrder = reductionOrder(description, target_, config);
    manifest.config = std::move(config);
    for (bool outputs : {false, true})
      for (const Operand &operand : outputs ? description.outputs : description.inputs)
        manifest.operands.push_back(
            {operand.name, std::string(dtypeName(operand.dtype)), operand.rank(), outputs, {}, {}});
    return Status::ok();
  }

  /// A file of tile IR: parsed and verified, its version checked by the dialect.
  Status parse(MLIRContext &context, DiagnosticCollector &diagnostics, Program &program) {
    stages_.begin("parse");
    program.subject = request_.sourceName.empty() ? "tile file" : shorten(request_.sourceName, 60);
    if (!request_.config.empty())
      return Status(StatusCode::InvalidArgument, "config key '" + request_.config.begin()->first +
                                                     "' has no meaning for a tile file: its tile sizes are in its text")
          .withHint("change the file, or compile a description");
    llvm::SourceMgr source;
    source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(request_.source, request_.sourceName), llvm::SMLoc());
    program.module = parseSourceFile<ModuleOp>(source, &context);
    if (!program.module || failed(checkTileModule(*program.module)))
      return diagnostics.status(StatusCode::BadDescription, program.subject);
    describeKernels(*program.module, response_.manifest);
    return Status::ok();
  }

  const abi::CompileRequest &request_;
  const Backend *backend_;
  const TargetSpec &target_;
  abi::CompileResponse &response_;
  Stages stages_;
};

} // namespace

abi::CompileResponse compile(const abi::CompileRequest &request, std::span<const Backend *const> backends) {
  abi::CompileResponse response;
  Expected<TargetSpec> target = decodeTarget(request.target);
  if (!target) {
    response.status = target.status();
    return response;
  }
  response.status = abi::checkEmit(request.emit, *target);
  if (!response.status.isOk())
    return response;
  auto found = llvm::find_if(backends, [&](const Backend *candidate) { return candidate->accepts(*target); });
  const Backend *backend = found == backends.end() ? nullptr : *found;
  if (backend || request.emit == abi::EmitKind::Tile)
    response.status = Compile(request, backend, *target, response).run();
  else
    response.status = Status(StatusCode::InvalidArgument, "no back end of this build compiles for " + target->name);
  return response;
}

std::string compileEncoded(std::string_view bytes, std::span<const Backend *const> backends) {
  Expected<abi::CompileRequest> request = abi::decodeRequest(bytes);
  abi::CompileResponse response;
  if (!request) {
    response.status = request.status();
    return abi::encode(response);
  }
  std::optional<std::string> crash = runBehindFence([&] { response = compile(*request, backends); });
  if (crash) {
    response = abi::CompileResponse();
    std::string subject = request->sourceName.empty() ? "the source" : shorten(request->sourceName, 60);
    response.status = Status(StatusCode::CompileFailed, subject + ": " + shorten(*crash, 200));
  }
  return abi::encode(response);
}

} // namespace tilejit
