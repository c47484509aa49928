// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Build ids from ELF notes, of files and of this process, and the memory of what a worker answered.

#include "tilejit/Cache/Toolchain.h"

#include "tilejit/Base/Bytes.h"
#include "tilejit/Base/File.h"
#include "tilejit/Base/Hash.h"
#include "tilejit/Base/Json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fcntl.h>
#include <optional>

#include <elf.h>
#include <link.h>

namespace tilejit {
namespace {

std::string hexText(std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// The build id among the notes of a segment; empty: none.
std::string buildIdOf(std::string_view notes) {
  ByteReader in(notes);
  auto padded = [](uint32_t size) { return (uint64_t{size} + 3) & ~uint64_t{3}; };
  while (!in.failed() && !in.atEnd()) {
    uint32_t nameBytes = in.u32(), contentBytes = in.u32(), type = in.u32();
    std::string_view name = in.bytes(padded(nameBytes));
    std::string_view content = in.rest().substr(0, contentBytes);
    if (!in.failed() && type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4) &&
        content.size() == contentBytes)
      return hexText(content);
    in.bytes(padded(contentBytes));
  }
  return {};
}

/// Reads exactly so many bytes at a place of a file; empty where there are fewer.
std::string readAt(System &system, int fd, uint64_t offset, uint64_t bytes) {
  constexpr uint64_t most = 1 << 20; // Headers and notes are far smaller.
  if (bytes > most || offset > uint64_t{1} << 62)
    return {};
  std::string out(bytes, '\0');
  size_t used = 0;
  while (used < bytes) {
    int64_t got = system.readAt(fd, out.data() + used, bytes - used, static_cast<int64_t>(offset + used));
    if (got <= 0)
      return {};
    used += static_cast<size_t>(got);
  }
  return out;
}

/// Build id of an open 64-bit ELF file of this machine's byte order; empty where it has none or is something else.
std::string buildIdOfFile(System &system, int fd) {
  std::string header = readAt(system, fd, 0, sizeof(Elf64_Ehdr));
  if (header.size() != sizeof(Elf64_Ehdr) || !header.starts_with(ELFMAG) || header[EI_CLASS] != ELFCLASS64 ||
      header[EI_DATA] != (std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB))
    return {};
  Elf64_Ehdr elf;
  std::copy_n(header.data(), sizeof(elf), reinterpret_cast<char *>(&elf));
  if (elf.e_phentsize != sizeof(Elf64_Phdr))
    return {};
  std::string table = readAt(system, fd, elf.e_phoff, uint64_t{elf.e_phnum} * sizeof(Elf64_Phdr));
  for (size_t at = 0; at + sizeof(Elf64_Phdr) <= table.size(); at += sizeof(Elf64_Phdr)) {
    Elf64_Phdr segment;
    std::copy_n(table.data() + at, sizeof(segment), reinterpret_cast<char *>(&segment));
    if (segment.p_type != PT_NOTE)
      continue;
    if (std::string id = buildIdOf(readAt(system, fd, segment.p_offset, segment.p_filesz)); !id.empty())
      return id;
  }
  return {};
}

/// A file as the memory of a toolchain knows it.
struct Stamp {
  std::string path;
  FileInfo info;
};

json::Value stampJson(const Stamp &stamp) {
  json::Value value = json::makeObject();
  value.add("path", json::makeText(stamp.path));
  value.add("device", json::makeText(std::to_string(stamp.info.device)));
  value.add("inode", json::makeText(std::to_string(stamp.info.inode)));
  value.add("size", json::makeInteger(stamp.info.size));
  value.add("mtime", json::makeInteger(stamp.info.mtimeNs));
  value.add("ctime", json::makeInteger(stamp.info.ctimeNs));
  return value;
}

/// The files whose change makes an answer void: the parts, the program as it was named, and the linker's cache, which
/// decides which libraries a worker would load. One that is missing counts as missing.
std::vector<std::string> stampedPaths(const Toolchain &toolchain, const std::string &workerPath) {
  std::vector<std::string> paths = {workerPath, "/etc/ld.so.cache"};
  for (const ToolchainPart &part : toolchain.parts)
    paths.push_back(part.path);
  return paths;
}

json::Value stampAll(System &system, const std::vector<std::string> &paths) {
  std::vector<json::Value> stamps;
  for (const std::string &path : paths) {
    Stamp stamp{path, {}};
    if (system.stat(path, true, stamp.info) != 0)
      stamp.info = {};
    stamps.push_back(stampJson(stamp));
  }
  return json::makeArray(std::move(stamps));
}

std::string memoryPath(System &system, const std::string &folder, const std::string &workerPath) {
  KeyHasher name;
  name.add("worker", workerPath);
  for (const char *variable : {"LD_LIBRARY_PATH", "LD_PRELOAD"})
    name.add(variable, system.environment(variable).value_or(""));
  return joinPath(folder, "toolchain-" + name.finish().hex().substr(0, 16));
}

/// First line: digest of the second; second: {"stamps": [...], "toolchain": {...}}.
std::optional<Toolchain> recall(System &system, const std::string &path, const std::string &workerPath) {
  Expected<std::string> text = readFile(system, path, 1 << 20);
  if (!text)
    return std::nullopt;
  size_t end = text->find('\n');
  if (end == std::string::npos || text->substr(0, end) != digest(std::string_view(*text).substr(end + 1)).hex())
    return std::nullopt;
  Expected<json::Value> value = json::parse(std::string_view(*text).substr(end + 1), path);
  const json::Value *stamps = value ? value->find("stamps") : nullptr;
  const json::Value *inner = value ? value->find("toolchain") : nullptr;
  if (!stamps || !inner)
    return std::nullopt;
  Expected<Toolchain> toolchain = parseToolchain(json::write(*inner));
  if (!toolchain || json::write(*stamps) != json::write(stampAll(system, stampedPaths(*toolchain, workerPath))))
    return std::nullopt;
  return *std::move(toolchain);
}

/// Whether the files on disk are those that the worker has loaded: not so while an upgrade is under way.
bool isOnDisk(System &system, const Toolchain &toolchain) {
  return std::all_of(toolchain.parts.begin(), toolchain.parts.end(), [&](const ToolchainPart &part) {
    Expected<std::string> identity = fileIdentity(system, part.path);
    return identity && *identity == part.identity;
  });
}

void remember(System &system, const std::string &path, const std::string &workerPath, const Toolchain &toolchain) {
  json::Value stamps = stampAll(system, stampedPaths(toolchain, workerPath));
  if (!isOnDisk(system, toolchain))
    return;
  Expected<json::Value> inner = json::parse(toolchainJson(toolchain), "toolchain");
  if (!inner)
    return;
  json::Value value = json::makeObject();
  value.add("stamps", std::move(stamps));
  value.add("toolchain", *std::move(inner));
  std::string text = json::write(value);
  if (makeDirectories(system, parentPath(path), 0700) == 0)
    replaceFile(system, path, digest(text).hex() + "\n" + text, 0600, false);
}

} // namespace

std::vector<std::pair<std::string, std::string>> Toolchain::identities() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const ToolchainPart &part : parts)
    result.emplace_back(part.name, part.identity);
  return result;
}

std::string toolchainJson(const Toolchain &toolchain) {
  std::vector<json::Value> parts;
  for (const ToolchainPart &part : toolchain.parts) {
    json::Value value = json::makeObject();
    value.add("name", json::makeText(part.name));
    value.add("identity", json::makeText(part.identity));
    value.add("path", json::makeText(part.path));
    parts.push_back(std::move(value));
  }
  json::Value value = json::makeObject();
  value.add("llvm_version", json::makeText(toolchain.llvmVersion));
  value.add("parts", json::makeArray(std::move(parts)));
  return json::write(value);
}

Expected<Toolchain> parseToolchain(std::string_view text) {
  TILEJIT_ASSIGN_OR_RETURN(json::Value value, json::parse(text, "toolchain", {}, StatusCode::InvalidArgument));
  const json::Value *version = value.find("llvm_version"), *parts = value.find("parts");
  Status malformed(StatusCode::InvalidArgument, "the toolchain's identity is malformed");
  if (!version || !version->isText() || !parts || !parts->isArray() || parts->items.empty())
    return malformed;
  Toolchain toolchain{{}, version->text};
  for (const json::Value &item : parts->items) {
    const json::Value *name = item.find("name"), *identity = item.find("identity"), *path = item.find("path");
    if (!name || !identity || !path || !name->isText() || !identity->isText() || !path->isText() ||
        name->text.empty() || identity->text.empty())
      return malformed;
    toolchain.parts.push_back({name->text, identity->text, path->text});
  }
  std::sort(toolchain.parts.begin(), toolchain.parts.end(),
            [](const auto &a, const auto &b) { return a.name < b.name; });
  return toolchain;
}

Expected<std::string> fileIdentity(System &system, const std::string &path) {
  FileHandle file(system, system.open(path, O_RDONLY, 0));
  if (!file.isOpen())
    return fileError("open", path, file.get());
  if (std::string id = buildIdOfFile(system, file.get()); !id.empty())
    return id;
  TILEJIT_ASSIGN_OR_RETURN(std::string content, readFile(system, path));
  return "digest-" + digest(content).hex();
}

Expected<Toolchain> loadedToolchain(System &system, std::string llvmVersion) {
  struct Loaded {
    std::string path, buildId;
  };
  std::vector<Loaded> objects;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *out) {
        Loaded object{info->dlpi_name ? info->dlpi_name : "", {}};
        for (int i = 0; i < info->dlpi_phnum && object.buildId.empty(); ++i)
          if (const auto &segment = info->dlpi_phdr[i]; segment.p_type == PT_NOTE)
            object.buildId =
                buildIdOf({reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr), size_t{segment.p_memsz}});
        static_cast<std::vector<Loaded> *>(out)->push_back(std::move(object));
        return 0;
      },
      &objects);
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> libraries = {
      {{"libtilejit-compiler.so", "compiler"}, {"libMLIR.so", "libMLIR"}, {"libLLVM", "libLLVM"}}};
  Toolchain toolchain{{}, std::move(llvmVersion)};
  for (size_t i = 0; i < objects.size(); ++i) {
    Loaded &object = objects[i];
    std::string_view name;
    if (i == 0) { // The program itself, which has no name here.
      name = "worker";
      if (system.readLink("/proc/self/exe", object.path) != 0)
        return Status(StatusCode::Internal, "can't find out which program this is");
    }
    for (const auto &[prefix, part] : libraries)
      if (i > 0 && fileName(object.path).starts_with(prefix))
        name = part;
    if (name.empty())
      continue;
    if (object.buildId.empty()) {
      TILEJIT_ASSIGN_OR_RETURN(object.buildId, fileIdentity(system, object.path));
    }
    toolchain.parts.push_back({std::string(name), object.buildId, object.path});
  }
  std::sort(toolchain.parts.begin(), toolchain.parts.end(),
            [](const auto &a, const auto &b) { return a.name < b.name; });
  return toolchain;
}

Expected<Toolchain> findToolchain(System &system, const std::string &folder, const std::string &workerPath,
                                  const AskToolchain &ask, const AwaitTurn &await) {
  std::string path = folder.empty() ? "" : memoryPath(system, folder, workerPath);
  if (!path.empty())
    if (std::optional<Toolchain> known = recall(system, path, workerPath))
      return *std::move(known);
  std::optional<CacheFlight> turn;
  if (!path.empty() && await) {
    turn.emplace(await());
    if (std::optional<Toolchain> known = recall(system, path, workerPath))
      return *std::move(known);
  }
  TILEJIT_ASSIGN_OR_RETURN(Toolchain toolchain, ask());
  if (!path.empty())
    remember(system, path, workerPath, toolchain);
  return toolchain;
}

} // namespace tilejit
