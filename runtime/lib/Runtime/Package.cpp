// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reading of packages, and the choice among what they hold.

#include "tilejit/Runtime/Package.h"

#include "tilejit/ABI/KernelABI.h"
#include "tilejit/Base/Text.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Target/CodeFit.h"

#include <algorithm>
#include <utility>

namespace tilejit {
namespace {

/// The place of the payload that a device with this fit would take; nothing where there is none.
std::optional<size_t> findPayload(const CachedKernel &kernel, const TargetSpec &device, int fit) {
  using abi::PayloadKind;
  bool isPtxNeeded = device.kind == TargetKind::Nvidia && fit != exactFit;
  for (size_t i = 0; i < kernel.payloads.size(); ++i)
    if (auto kind = abi::parsePayloadKind(kernel.payloads[i].kind))
      if (device.simulated ? *kind == PayloadKind::Bitcode
          : isPtxNeeded    ? *kind == PayloadKind::Ptx
                           : *kind != PayloadKind::Bitcode)
        return i;
  return std::nullopt;
}

Status nothingFits(std::span<const CachedKernel> kernels, const TargetSpec &device) {
  std::vector<std::string> names;
  for (const CachedKernel &kernel : kernels)
    if (std::string name = targetNameOf(kernel.material.target); std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  std::string plain = targetNameOf(device.keyText());
  bool lacksBitcode = device.simulated && std::ranges::find(names, plain) != names.end();
  std::string message =
      lacksBitcode ? "the package's code for " + plain + " has no LLVM bitcode, which is what " + device.name + " runs"
                   : "the package has code for " + shorten(list, 200) + ", and none of it runs on " + device.name;
  return Status(StatusCode::DoesNotFit, std::move(message))
      .withHint("compile it with --target " + device.name + (lacksBitcode ? " or --with-bitcode" : ""));
}

bool isOneOperator(const std::vector<CachedKernel> &kernels) {
  const KeyMaterial &first = kernels.front().material;
  return std::ranges::all_of(kernels, [&](const CachedKernel &kernel) {
    return kernel.material.kind == first.kind && kernel.material.description == first.description;
  });
}

} // namespace

Status readPackage(std::string_view bytes, Source &source) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<CachedKernel> kernels, decodePackage(bytes));
  if (!isOneOperator(kernels))
    return Status(StatusCode::InvalidArgument, "the package holds several operators; expected one, for any targets")
        .withHint("`tilec inspect` lists them; compile each description into a package of its own");
  if (std::ranges::any_of(kernels, [](const CachedKernel &kernel) { return kernel.isAlias(); }))
    return Status(StatusCode::InvalidArgument, "the file is a cache entry that only stands for another one");
  const KeyMaterial &material = kernels.front().material;
  if (material.kind == DescriptionKind::Json) {
    TILEJIT_ASSIGN_OR_RETURN(Description description, parseDescription(material.description, source.name));
    source.description = std::make_shared<const Description>(std::move(description));
  }
  source.package = std::make_shared<const std::vector<CachedKernel>>(std::move(kernels));
  return Status::ok();
}

Expected<PackageChoice> choosePayload(std::span<const CachedKernel> kernels, const TargetSpec &device) {
  std::optional<PackageChoice> best;
  int bestFit = device.simulated ? exactFit - 1 : 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    Expected<TargetSpec> code = targetOfKey(kernels[i].material.target);
    int fit = code ? codeFit(*code, device) : 0;
    if (fit <= bestFit)
      continue;
    if (std::optional<size_t> payload = findPayload(kernels[i], device, fit)) {
      best = PackageChoice{i, *payload};
      bestFit = fit;
    }
  }
  if (!best)
    return nothingFits(kernels, device);
  return *best;
}

Expected<CompiledKernel> takeFromPackage(std::span<const CachedKernel> kernels, const TargetSpec &device) {
  TILEJIT_ASSIGN_OR_RETURN(PackageChoice choice, choosePayload(kernels, device));
  CompiledKernel taken;
  taken.entry = kernels[choice.kernel];
  std::swap(taken.entry.payloads[0], taken.entry.payloads[choice.payload]);
  TILEJIT_ASSIGN_OR_RETURN(taken.manifest, abi::parseManifest(taken.entry.manifest));
  if (taken.manifest.abiVersion != abi::kernelAbiVersion)
    return Status(StatusCode::DoesNotFit, "the package is for launch convention " +
                                              std::to_string(taken.manifest.abiVersion) + ", this build has " +
                                              std::to_string(abi::kernelAbiVersion))
        .withHint("compile it again with this version of tilejit");
  taken.report.key = taken.entry.key();
  taken.report.payloadKind = taken.payload().empty() ? "" : taken.entry.payloads.front().kind;
  taken.report.payloadBytes = static_cast<int64_t>(taken.payload().size());
  return taken;
}

} // namespace tilejit
