// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec compile: descriptions or tile files into packages, or into one of the forms on the way there.

#include "Commands.h"
#include "Reports.h"
#include "Sources.h"

#include "tilejit/Base/File.h"
#include "tilejit/Reference/Npy.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>

namespace tilejit::tilec {
namespace {

struct Options {
  std::vector<std::string> descriptions;
  std::optional<std::string> target;
  std::string output, emit = "package";
  std::vector<std::string> config;
  bool noCompile = false, withBitcode = false;
};

constexpr std::array emitKinds{abi::EmitKind::Package, abi::EmitKind::Tile, abi::EmitKind::TileGpu, abi::EmitKind::Llvm,
                               abi::EmitKind::Ptx,     abi::EmitKind::Asm,  abi::EmitKind::Object};

Expected<abi::EmitKind> parseEmit(const std::string &text) {
  std::string known;
  for (abi::EmitKind kind : emitKinds) {
    if (text == abi::emitKindName(kind))
      return kind;
    known += (known.empty() ? "" : kind == emitKinds.back() ? " or " : ", ") + std::string(abi::emitKindName(kind));
  }
  return Status(StatusCode::InvalidArgument, "--emit: expected " + known + ", found '" + text + "'");
}

/// One result, and the description and target it belongs to.
struct Compiled {
  std::string description, stem, target;
  CompiledKernel kernel;
};

/// Where a file goes that -o does not name.
std::string defaultOutput(const std::string &stem, abi::EmitKind kind) {
  return stem + (kind == abi::EmitKind::Package ? ".tjk" : ".o");
}

/// Writes one file, or standard output for "-".
Status writeOutput(const std::string &path, std::string_view bytes) {
  if (path == "-") {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
      return Status(StatusCode::IoError, "can't write to standard output");
    return Status::ok();
  }
  return writeFileAtomically(realSystem(), path, bytes, 0644);
}

/// What goes into one file: a package of all kernels, or one kernel's bytes.
std::string fileContent(const std::vector<const Compiled *> &results, abi::EmitKind kind) {
  if (kind == abi::EmitKind::Package) {
    std::vector<CachedKernel> kernels;
    for (const Compiled *result : results)
      kernels.push_back(result->kernel.entry);
    return encodePackage(kernels);
  }
  std::string content;
  for (const Compiled *result : results)
    content += result->kernel.payload();
  return content;
}

/// Files to write with what goes into each. Text without -o goes to standard output.
std::vector<std::pair<std::string, std::vector<const Compiled *>>>
planOutputs(const Options &options, const std::vector<Compiled> &results, abi::EmitKind kind) {
  std::vector<std::pair<std::string, std::vector<const Compiled *>>> files;
  for (const Compiled &result : results) {
    std::string path = !options.output.empty() ? options.output
                       : abi::isText(kind)     ? "-"
                                               : defaultOutput(result.stem, kind);
    auto same = std::find_if(files.begin(), files.end(), [&](const auto &file) { return file.first == path; });
    if (same == files.end())
      files.push_back({path, {&result}});
    else
      same->second.push_back(&result);
  }
  return files;
}

Expected<std::vector<Compiled>> compileAll(Context &context, const Options &options, abi::EmitKind kind) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<TargetSpec> targets, parseTargets(context, options.target));
  CompileOptions compileOptions;
  TILEJIT_ASSIGN_OR_RETURN(compileOptions.config, parseConfig(options.config));
  compileOptions.emit = kind;
  compileOptions.noCompile = options.noCompile;
  compileOptions.withBitcode = options.withBitcode;
  TILEJIT_ASSIGN_OR_RETURN(std::vector<Source> sources, readSources(options.descriptions));
  if (kind == abi::EmitKind::Object && !options.output.empty() && sources.size() * targets.size() > 1)
    return Status(StatusCode::InvalidArgument,
                  "-o: one object file can't hold " + std::to_string(sources.size() * targets.size()) + " results")
        .withHint("give one description and one target, or write a package");
  if (!options.output.empty() && options.output != "-") {
    TILEJIT_RETURN_IF_ERROR(checkWritable(options.output));
  }
  std::vector<Compiled> results;
  for (const Source &source : sources)
    for (const TargetSpec &target : targets) {
      Expected<CompiledKernel> kernel = context.compile(source, target, compileOptions);
      if (!kernel)
        return kernel.status();
      results.push_back({displayName(source), stemOf(source.name), target.name, *std::move(kernel)});
    }
  return results;
}

Json resultJson(const Compiled &result, const std::string &file, abi::EmitKind kind) {
  Json json = {{"description", result.description}, {"op", result.kernel.manifest.op}};
  json["target"] = result.target;
  addReport(json, result.kernel.report, result.kernel.manifest);
  json["payload"] = {{"kind", result.kernel.report.payloadKind}, {"bytes", result.kernel.report.payloadBytes}};
  if (file == "-" && abi::isText(kind))
    json["text"] = result.kernel.payload();
  else if (!file.empty())
    json["file"] = file;
  return json;
}

int run(const Program &program, const Options &options) {
  Expected<abi::EmitKind> kind = parseEmit(options.emit);
  if (!kind)
    return program.fail(kind.status());
  Expected<std::shared_ptr<Context>> context = program.context();
  if (!context)
    return program.fail(context.status());
  Expected<std::vector<Compiled>> results = compileAll(**context, options, *kind);
  if (!results)
    return program.fail(results.status());
  auto files = planOutputs(options, *results, *kind);
  Json list = Json::array();
  for (const auto &[path, members] : files) {
    if (!(program.json && path == "-"))
      if (Status written = writeOutput(path, fileContent(members, *kind)); !written)
        return program.fail(written);
    for (const Compiled *member : members) {
      if (program.json)
        list.push_back(resultJson(*member, path, *kind));
      else if (path != "-")
        std::printf("%s for %s: %s, %s, %s -> %s\n", member->description.c_str(), member->target.c_str(),
                    bytesText(member->kernel.report.payloadBytes).c_str(), compileText(member->kernel.report).c_str(),
                    pathsText(member->kernel.manifest).c_str(), path.c_str());
    }
  }
  if (program.json)
    Program::print(Json{{"results", list}});
  return Done;
}

} // namespace

void addCompile(Registry registry) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      registry.app.add_subcommand("compile", "Compile descriptions or tile files for one or more targets");
  command->add_option("DESC", options->descriptions, "Description (.json) or tile file (.mlir); - is standard input")
      ->required();
  command->add_option("--target", options->target, "Targets, by commas (see tilec targets; default: native)")
      ->type_name("T[,T...]");
  command->add_option("-o,--output", options->output, "File to write; - is standard output (default: STEM.tjk)")
      ->type_name("FILE");
  command
      ->add_option("--emit", options->emit,
                   "package, tile, tilegpu, llvm, ptx, asm or object; text goes to standard output")
      ->type_name("KIND");
  command->add_flag("--with-bitcode", options->withBitcode,
                    "Add the LLVM bitcode of GPU code to the package (sim: targets always have it)");
  command->add_option("--config", options->config, "Schedule options (see tilec ops NAME)")
      ->type_name("K=V[,...]")
      ->allow_extra_args(false);
  command->add_flag("--no-compile", options->noCompile, "Fail with exit code 3 where the cache has no entry");
  registry.program.addCommonOptions(*command);
  command->footer("Example:\n  tilec compile examples/ffn_up.json --target native,sm_80,sm_90a,gfx942 -o ffn.tjk");
  registry.onRun(*command, [&program = registry.program, options] { return run(program, *options); });
}

} // namespace tilejit::tilec
