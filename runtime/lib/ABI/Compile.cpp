// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Requests and responses as bytes. Both begin with a tag that is also the version: two sides that differ refuse each
// other instead of guessing.

#include "tilejit/ABI/Compile.h"

#include "tilejit/Base/Bytes.h"

#include <array>

namespace tilejit::abi {
namespace {

constexpr uint32_t requestTag = 0x32514A54;  // "TJQ2"
constexpr uint32_t responseTag = 0x32524A54; // "TJR2"

Status malformed(std::string_view what) {
  return Status(StatusCode::InvalidArgument, "the " + std::string(what) + " is cut, malformed or of another version");
}

void writeStatus(const Status &status, ByteWriter &out) {
  out.u32(static_cast<uint32_t>(status.code()));
  out.text(status.message()).text(status.pointer()).text(status.hint());
  out.u32(static_cast<uint32_t>(status.details().size()));
  for (const std::string &line : status.details())
    out.text(line);
}

Status readStatus(ByteReader &in) {
  uint32_t code = in.u32();
  std::string message(in.text()), pointer(in.text()), hint(in.text());
  std::vector<std::string> details;
  for (uint32_t i = 0, count = in.count(8); i < count; ++i)
    details.emplace_back(in.text());
  if (code > static_cast<uint32_t>(StatusCode::Internal))
    in.fail();
  if (in.failed() || code == 0)
    return {};
  Status status(static_cast<StatusCode>(code), std::move(message));
  if (!pointer.empty())
    status = std::move(status).at(std::move(pointer));
  if (!hint.empty())
    status = std::move(status).withHint(std::move(hint));
  for (std::string &line : details)
    status = std::move(status).withDetail(std::move(line));
  return status;
}

} // namespace

std::string encode(const CompileRequest &request) {
  ByteWriter out;
  out.u32(requestTag).u8(static_cast<uint8_t>(request.sourceKind)).u8(static_cast<uint8_t>(request.emit));
  out.text(request.source).text(request.sourceName).text(request.target);
  out.u32(static_cast<uint32_t>(request.config.size()));
  for (const auto &[key, value] : request.config)
    out.text(key).i64(value);
  out.u8(request.withBitcode);
  return std::move(out).result();
}

Expected<CompileRequest> decodeRequest(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u32() != requestTag)
    return malformed("compile request");
  CompileRequest request;
  uint8_t kind = in.u8(), emit = in.u8();
  if (kind > static_cast<uint8_t>(SourceKind::TileIR) || emit > static_cast<uint8_t>(EmitKind::Explained))
    return malformed("compile request");
  request.sourceKind = static_cast<SourceKind>(kind);
  request.emit = static_cast<EmitKind>(emit);
  request.source = in.text();
  request.sourceName = in.text();
  request.target = in.text();
  for (uint32_t i = 0, count = in.count(16); i < count; ++i) {
    std::string key(in.text());
    request.config[std::move(key)] = in.i64();
  }
  uint8_t withBitcode = in.u8();
  request.withBitcode = withBitcode == 1;
  if (!in.finished() || withBitcode > 1)
    return malformed("compile request");
  return request;
}

std::string encode(const CompileResponse &response) {
  ByteWriter out;
  out.u32(responseTag);
  writeStatus(response.status, out);
  out.text(response.text).u32(static_cast<uint32_t>(response.payloads.size()));
  for (const Payload &payload : response.payloads)
    out.u8(static_cast<uint8_t>(payload.kind)).text(payload.bytes);
  out.text(manifestJson(response.manifest));
  out.u32(static_cast<uint32_t>(response.stagesMs.size()));
  for (const auto &[stage, milliseconds] : response.stagesMs)
    out.text(stage).f64(milliseconds);
  return std::move(out).result();
}

Expected<CompileResponse> decodeResponse(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u32() != responseTag)
    return malformed("compile response");
  CompileResponse response;
  response.status = readStatus(in);
  response.text = in.text();
  for (uint32_t i = 0, count = in.count(9); i < count; ++i) {
    uint8_t kind = in.u8();
    if (kind > static_cast<uint8_t>(PayloadKind::Stages))
      return malformed("compile response");
    response.payloads.push_back({static_cast<PayloadKind>(kind), std::string(in.text())});
  }
  std::string_view manifest = in.text();
  for (uint32_t i = 0, count = in.count(16); i < count; ++i) {
    std::string stage(in.text());
    double milliseconds = in.f64();
    response.stagesMs.emplace_back(std::move(stage), milliseconds);
  }
  if (!in.finished())
    return malformed("compile response");
  TILEJIT_ASSIGN_OR_RETURN(response.manifest, parseManifest(manifest));
  return response;
}

constexpr std::array<std::string_view, 6> payloadKindNames = {"elf", "ptx", "cubin", "hsaco", "bitcode", "stages"};

std::string_view payloadKindName(PayloadKind kind) { return payloadKindNames[static_cast<size_t>(kind)]; }

std::optional<PayloadKind> parsePayloadKind(std::string_view name) {
  for (size_t i = 0; i < payloadKindNames.size(); ++i)
    if (payloadKindNames[i] == name)
      return static_cast<PayloadKind>(i);
  return std::nullopt;
}

std::string_view emitKindName(EmitKind kind) {
  constexpr std::array<std::string_view, 8> names = {"package", "tile",    "llvm", "asm",
                                                     "object",  "tilegpu", "ptx",  "explained"};
  return names[static_cast<size_t>(kind)];
}

Status checkEmit(EmitKind kind, const TargetSpec &target) {
  bool fits = kind == EmitKind::Ptx ? target.kind == TargetKind::Nvidia : kind != EmitKind::TileGpu || target.isGpu();
  if (fits)
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "code for " + target.name + " has no form '" + std::string(emitKindName(kind)) + "'")
      .withHint(kind == EmitKind::Ptx ? "ptx is for NVIDIA targets, for example sm_80; asm is for every target"
                                      : "tilegpu is for GPU targets, for example sm_80 or gfx942");
}

} // namespace tilejit::abi
