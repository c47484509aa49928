// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec inspect: what is in a package or cache entry, and its payloads as files.

#include "Commands.h"
#include "Reports.h"

#include "tilejit/Base/File.h"
#include "tilejit/Cache/Entry.h"
#include "tilejit/Target/TargetSpec.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace tilejit::tilec {
namespace {

struct Options {
  std::string file, extract;
};

std::string suffixOf(const std::string &kind) {
  return kind == "elf" ? "so" : kind == "text" ? "txt" : kind == "bitcode" ? "bc" : kind;
}

/// Writes one payload; gives its path. Names are made here: nothing in a file becomes one.
Expected<std::string> extractPayload(const std::string &folder, size_t number, const Payload &payload) {
  std::string path = joinPath(folder, "payload-" + std::to_string(number) + "." + suffixOf(payload.kind));
  TILEJIT_RETURN_IF_ERROR(writeFileAtomically(realSystem(), path, payload.bytes, 0644));
  return path;
}

Json kernelJson(const CachedKernel &kernel) {
  Json json = {{"key", kernel.key()}};
  json["tilejit"] = kernel.material.tilejitVersion;
  json["llvm"] = kernel.material.llvmVersion;
  json["target"] = targetNameOf(kernel.material.target);
  json["emit"] = kernel.material.emit;
  json["config"] = Json::object();
  json["resources"] = Json::object();
  if (Expected<abi::Manifest> manifest = abi::parseManifest(kernel.manifest)) {
    json["op"] = manifest->op;
    json["config"] = manifest->config;
    json["resources"] = manifest->resources;
  }
  json["manifest"] = Json::parse(kernel.manifest, nullptr, /*allow_exceptions=*/false);
  json["toolchain"] = Json::object();
  for (const auto &[part, identity] : kernel.material.toolchain)
    json["toolchain"][part] = identity;
  if (kernel.material.kind == DescriptionKind::Json)
    json["description"] = Json::parse(kernel.material.description, nullptr, /*allow_exceptions=*/false);
  else
    json["description_hash"] = kernel.material.description;
  if (kernel.isAlias())
    json["alias_of"] = cacheKey(kernel.aliased());
  return json;
}

void printText(const CachedKernel &kernel, const Json &payloads) {
  Expected<abi::Manifest> manifest = abi::parseManifest(kernel.manifest);
  std::printf("%s  %s for %s\n", kernel.key().substr(0, 16).c_str(), manifest ? manifest->op.c_str() : "?",
              targetNameOf(kernel.material.target).c_str());
  if (kernel.isAlias())
    std::printf("  alias of %s\n", cacheKey(kernel.aliased()).c_str());
  std::printf("  made by tilejit %s, LLVM %s\n", kernel.material.tilejitVersion.c_str(),
              kernel.material.llvmVersion.c_str());
  for (const auto &[part, identity] : kernel.material.toolchain)
    std::printf("  toolchain %s %s\n", part.c_str(), shortened(identity, 40).c_str());
  if (manifest) {
    for (const auto &[name, value] : manifest->config)
      std::printf("  config %s = %lld\n", name.c_str(), static_cast<long long>(value));
    for (const auto &[name, value] : manifest->resources)
      std::printf("  resource %s = %lld\n", name.c_str(), static_cast<long long>(value));
    for (const std::string &path : manifest->paths)
      std::printf("  path %s\n", path.c_str());
    if (!manifest->reductionOrder.empty())
      std::printf("  sums: %s\n", manifest->reductionOrder.c_str());
  }
  for (const Json &payload : payloads)
    std::printf("  payload %s, %s%s\n", payload["kind"].get<std::string>().c_str(),
                bytesText(payload["bytes"].get<int64_t>()).c_str(),
                payload.contains("file") ? (" -> " + payload["file"].get<std::string>()).c_str() : "");
}

int run(const Program &program, const Options &options) {
  Expected<std::string> bytes = readFile(realSystem(), options.file, maxPackageBytes);
  if (!bytes)
    return program.fail(bytes.status());
  Expected<std::vector<CachedKernel>> kernels = decodePackage(*bytes);
  if (!kernels)
    return program.fail(kernels.status().inContext(options.file));
  if (!options.extract.empty())
    if (int error = makeDirectories(realSystem(), options.extract, 0755); error < 0)
      return program.fail(fileError("make the folder", options.extract, -error));
  Json all = Json::array(), list = Json::array();
  size_t number = 0;
  for (const CachedKernel &kernel : *kernels) {
    Json own = Json::array();
    for (const Payload &payload : kernel.payloads) {
      Json item = {{"kind", payload.kind},
                   {"target", targetNameOf(payload.target)},
                   {"bytes", static_cast<int64_t>(payload.bytes.size())}};
      if (!options.extract.empty()) {
        Expected<std::string> path = extractPayload(options.extract, number, payload);
        if (!path)
          return program.fail(path.status());
        item["file"] = *path;
      }
      ++number;
      own.push_back(item);
      all.push_back(std::move(item));
    }
    if (program.json)
      list.push_back(kernelJson(kernel));
    else
      printText(kernel, own);
  }
  if (program.json)
    Program::print(Json{{"file", options.file}, {"payloads", all}, {"kernels", list}});
  return Done;
}

} // namespace

void addInspect(Registry registry) {
  auto options = std::make_shared<Options>();
  CLI::App *command = registry.app.add_subcommand("inspect", "Show what is in a package or cache entry");
  command->add_option("FILE", options->file, "Package or cache entry (.tjk)")->required();
  command->add_option("--extract", options->extract, "Write each payload to a file in this folder")->type_name("DIR");
  registry.program.addCommonOptions(*command);
  command->footer("Example:\n  tilec inspect ffn.tjk --extract parts");
  registry.onRun(*command, [&program = registry.program, options] { return run(program, *options); });
}

} // namespace tilejit::tilec
