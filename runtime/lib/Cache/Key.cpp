// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The encoding of key material. Field after field in one fixed order, each with type, name and length; reading accepts
// exactly what writing makes. A new field means a new cacheFormat.

#include "tilejit/Cache/Key.h"

#include "tilejit/Base/Bytes.h"
#include "tilejit/Base/Hash.h"

#include <algorithm>

namespace tilejit {
namespace {

enum class FieldType : uint8_t { Text = 't', Integer = 'i', List = 'l' };

class FieldWriter {
public:
  FieldWriter &text(std::string_view name, std::string_view value) {
    head(FieldType::Text, name).text(value);
    return *this;
  }
  FieldWriter &integer(std::string_view name, int64_t value) {
    head(FieldType::Integer, name).i64(value);
    return *this;
  }
  /// Begins a list of so many fields.
  FieldWriter &list(std::string_view name, size_t count) {
    head(FieldType::List, name).u32(static_cast<uint32_t>(count));
    return *this;
  }
  std::string take() { return std::move(out_).result(); }

private:
  ByteWriter &head(FieldType type, std::string_view name) { return out_.u8(static_cast<uint8_t>(type)).text(name); }
  ByteWriter out_;
};

class FieldReader {
public:
  explicit FieldReader(std::string_view bytes) : in_(bytes) {}

  std::string text(std::string_view name) {
    head(FieldType::Text, name);
    return std::string(in_.text());
  }
  int64_t integer(std::string_view name) {
    head(FieldType::Integer, name);
    return in_.i64();
  }
  uint32_t list(std::string_view name) {
    head(FieldType::List, name);
    return in_.count(17); // The least a field takes: type, length of the name, length or value.
  }
  /// The next field, whatever its name is.
  std::pair<std::string, std::string> anyText() {
    std::string name = anyHead(FieldType::Text);
    return {std::move(name), std::string(in_.text())};
  }
  std::pair<std::string, int64_t> anyInteger() {
    std::string name = anyHead(FieldType::Integer);
    return {std::move(name), in_.i64()};
  }
  void fail() { in_.fail(); }
  bool finished() const { return in_.finished(); }

private:
  std::string anyHead(FieldType type) {
    if (in_.u8() != static_cast<uint8_t>(type))
      in_.fail();
    return std::string(in_.text());
  }
  void head(FieldType type, std::string_view name) {
    if (anyHead(type) != name)
      in_.fail();
  }
  ByteReader in_;
};

} // namespace

std::string encodeKeyMaterial(const KeyMaterial &material) {
  FieldWriter out;
  out.integer("format", material.format)
      .integer("abi", material.abiVersion)
      .text("tilejit", material.tilejitVersion)
      .text("llvm", material.llvmVersion)
      .integer("kind", static_cast<int64_t>(material.kind))
      .text("description", material.description)
      .text("emit", material.emit)
      .integer("bitcode", material.withBitcode)
      .text("target", material.target)
      .text("folder", material.targetFolder);
  out.list("config", material.config.size());
  for (const auto &[name, value] : material.config)
    out.integer(name, value);
  out.list("toolchain", material.toolchain.size());
  for (const auto &[name, identity] : material.toolchain)
    out.text(name, identity);
  return out.take();
}

Expected<KeyMaterial> decodeKeyMaterial(std::string_view bytes) {
  FieldReader in(bytes);
  KeyMaterial material;
  int64_t format = in.integer("format"), abi = in.integer("abi");
  material.format = static_cast<int32_t>(format);
  material.abiVersion = static_cast<int32_t>(abi);
  material.tilejitVersion = in.text("tilejit");
  material.llvmVersion = in.text("llvm");
  int64_t kind = in.integer("kind");
  material.kind = kind == 0 ? DescriptionKind::Json : kind == 1 ? DescriptionKind::FileHash : DescriptionKind::TileIR;
  material.description = in.text("description");
  material.emit = in.text("emit");
  material.withBitcode = in.integer("bitcode") != 0;
  material.target = in.text("target");
  material.targetFolder = in.text("folder");
  for (uint32_t i = 0, count = in.list("config"); i < count; ++i)
    material.config.insert(in.anyInteger());
  for (uint32_t i = 0, count = in.list("toolchain"); i < count; ++i)
    material.toolchain.push_back(in.anyText());
  if (!in.finished())
    return Status(StatusCode::InvalidArgument, "key material is cut or malformed");
  if (!isFolderName(material.tilejitVersion) || !isFolderName(material.targetFolder))
    return Status(StatusCode::InvalidArgument, "key material has a version or target that can't name a folder");
  // Whatever reading let through (numbers out of range, a key twice) shows here.
  if (encodeKeyMaterial(material) != bytes)
    return Status(StatusCode::InvalidArgument, "key material is not in its one encoding");
  return material;
}

std::string cacheKey(const KeyMaterial &material) { return digest(encodeKeyMaterial(material)).hex(); }

std::string hashTileFile(std::string_view bytes) { return KeyHasher().add("tile file", bytes).finish().hex(); }

bool isFolderName(std::string_view text) {
  constexpr size_t longest = 128;
  return !text.empty() && text.size() <= longest && text[0] != '.' && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

} // namespace tilejit
