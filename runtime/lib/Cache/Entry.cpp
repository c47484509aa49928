// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Writing and reading of the file format that FORMAT.md describes.

#include "tilejit/Cache/Entry.h"

#include "tilejit/Base/Bytes.h"
#include "tilejit/Base/Hash.h"

namespace tilejit {
namespace {

// Not text, and broken by every conversion of line ends.
constexpr std::string_view magic("\x89TJK\r\n\x1a\n", 8);
constexpr uint32_t kernelTag = 0x4C4E524B; // "KRNL"
constexpr size_t headerBytes = 24, checksumBytes = 16;
constexpr size_t payloadBytes = 24; // What an empty payload takes.

Status damaged(std::string message) { return Status(StatusCode::InvalidArgument, std::move(message)); }

/// A kernel as views into a file.
struct RawKernel {
  std::string_view material, manifest;
  struct RawPayload {
    std::string_view kind, target, bytes;
  };
  std::vector<RawPayload> payloads;
};

/// Checks everything about a file but the meaning of key material and manifest.
Expected<std::vector<RawKernel>> readKernels(std::string_view file) {
  if (file.size() < headerBytes + checksumBytes)
    return damaged("the file is too short to be a package: " + std::to_string(file.size()) + " bytes");
  if (!file.starts_with(magic))
    return damaged("the file does not begin like a package");
  std::string_view content = file.substr(0, file.size() - checksumBytes);
  ByteReader header(content.substr(magic.size()));
  uint32_t format = header.u32(), kernels = header.u32();
  uint64_t length = header.u64();
  if (format != cacheFormat)
    return damaged("the package has format " + std::to_string(format) + ", this build reads " +
                   std::to_string(cacheFormat));
  if (length != file.size())
    return damaged("the file has " + std::to_string(file.size()) + " bytes, its header says " + std::to_string(length));
  ByteReader tail(file.substr(content.size()));
  Checksum stored{tail.u64(), tail.u64()};
  if (stored != checksum(content))
    return damaged("the checksum is wrong");

  ByteReader in(content.substr(headerBytes));
  std::vector<RawKernel> result;
  for (uint32_t i = 0; i < kernels && !in.failed(); ++i) {
    if (in.u32() != kernelTag)
      in.fail();
    RawKernel &kernel = result.emplace_back();
    kernel.material = in.text();
    kernel.manifest = in.text();
    for (uint32_t j = 0, count = in.count(payloadBytes); j < count; ++j)
      kernel.payloads.push_back({in.text(), in.text(), in.text()});
  }
  if (!in.finished() || result.empty())
    return damaged("the package is malformed");
  return result;
}

CachedKernel copyKernel(const RawKernel &raw, KeyMaterial material) {
  CachedKernel kernel{std::move(material), std::string(raw.manifest), {}};
  for (const RawKernel::RawPayload &payload : raw.payloads)
    kernel.payloads.push_back({std::string(payload.kind), std::string(payload.target), std::string(payload.bytes)});
  return kernel;
}

} // namespace

KeyMaterial CachedKernel::aliased() const {
  KeyMaterial target = material;
  target.kind = DescriptionKind::TileIR;
  target.description = payloads.at(0).bytes;
  return target;
}

CachedKernel makeAlias(KeyMaterial file, const CachedKernel &kernel) {
  CachedKernel alias{std::move(file), kernel.manifest, {}};
  alias.payloads.push_back({"alias", alias.material.target, kernel.material.description});
  return alias;
}

bool isPackage(std::string_view bytes) { return bytes.starts_with(magic); }

std::string encodePackage(const std::vector<CachedKernel> &kernels) {
  std::string body;
  for (const CachedKernel &kernel : kernels) {
    ByteWriter out;
    out.u32(kernelTag).text(encodeKeyMaterial(kernel.material)).text(kernel.manifest);
    out.u32(static_cast<uint32_t>(kernel.payloads.size()));
    for (const Payload &payload : kernel.payloads)
      out.text(payload.kind).text(payload.target).text(payload.bytes);
    body += out.result();
  }
  ByteWriter file;
  file.bytes(magic).u32(cacheFormat).u32(static_cast<uint32_t>(kernels.size()));
  file.u64(headerBytes + body.size() + checksumBytes).bytes(body);
  Checksum sum = checksum(file.result());
  file.u64(sum.low).u64(sum.high);
  return std::move(file).result();
}

Expected<std::vector<CachedKernel>> decodePackage(std::string_view bytes) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<RawKernel> raw, readKernels(bytes));
  std::vector<CachedKernel> kernels;
  for (const RawKernel &item : raw) {
    TILEJIT_ASSIGN_OR_RETURN(KeyMaterial material, decodeKeyMaterial(item.material));
    kernels.push_back(copyKernel(item, std::move(material)));
  }
  return kernels;
}

Expected<CachedKernel> decodeEntry(std::string_view bytes, const KeyMaterial &wanted) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<RawKernel> raw, readKernels(bytes));
  if (raw.size() != 1)
    return damaged("the file has " + std::to_string(raw.size()) + " kernels, an entry has one");
  if (raw[0].material != encodeKeyMaterial(wanted))
    return damaged("the entry is another kernel's");
  if (raw[0].payloads.empty())
    return damaged("the entry has no payload");
  for (const RawKernel::RawPayload &payload : raw[0].payloads)
    if (payload.target != wanted.target)
      return damaged("the entry has a payload for another target");
  return copyKernel(raw[0], wanted);
}

} // namespace tilejit
