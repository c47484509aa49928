// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Versions and ranges: reading the table, comparing, and finding what is installed.

#include "Alignment.h"
#include "Version.h"

#include "tilejit-c/dlpack.h"
#include "tilejit/Base/File.h"
#include "tilejit/Description/Parse.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/utsname.h>

namespace tilejit::tilec {
namespace {

/// The leading numbers of a version.
std::vector<int64_t> numbersOf(std::string_view version) {
  std::vector<int64_t> numbers;
  size_t place = 0;
  while (place < version.size() && std::isdigit(static_cast<unsigned char>(version[place]))) {
    int64_t number = 0;
    for (; place < version.size() && std::isdigit(static_cast<unsigned char>(version[place])); ++place)
      number = std::min<int64_t>(number * 10 + (version[place] - '0'), int64_t{1} << 40);
    numbers.push_back(number);
    if (place < version.size() && version[place] == '.')
      ++place;
    else
      break;
  }
  return numbers;
}

int compareVersions(std::string_view a, std::string_view b) {
  std::vector<int64_t> left = numbersOf(a), right = numbersOf(b);
  left.resize(std::max(left.size(), right.size()));
  right.resize(left.size());
  return left < right ? -1 : left > right;
}

/// A range apart: (operator, version).
std::vector<std::pair<std::string, std::string>> boundsOf(std::string_view range) {
  std::vector<std::pair<std::string, std::string>> bounds;
  std::istringstream words{std::string(range)};
  for (std::string word; words >> word;) {
    size_t digits = word.find_first_of("0123456789");
    bounds.push_back({word.substr(0, digits), digits == std::string::npos ? "" : word.substr(digits)});
  }
  return bounds;
}

/// First line that a program prints; empty where it can't be run.
std::string firstLineOf(const char *command) {
  std::array<char, 256> line{};
  FILE *pipe = popen(command, "re");
  if (!pipe)
    return "";
  std::string text = std::fgets(line.data(), line.size(), pipe) ? line.data() : "";
  pclose(pipe);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.pop_back();
  return text;
}

/// What Python and its packages say, in one start of the interpreter.
void findPython(std::map<std::string, std::string> &versions) {
  std::string line = firstLineOf("python3 -c \"import sys, importlib.metadata as m\n"
                                 "def v(n):\n"
                                 "  try: return m.version(n)\n"
                                 "  except Exception: return '-'\n"
                                 "print(sys.version.split()[0], v('torch'), v('onnx'))\" 2>/dev/null");
  std::istringstream words(line);
  for (const char *name : {"Python", "PyTorch", "ONNX"})
    if (std::string word; words >> word && word != "-")
      versions[name] = word;
}

/// First number with a dot in a file: "NVRM version: ... 550.54.15 ...".
std::string versionInFile(const std::string &path) {
  Expected<std::string> text = readFile(realSystem(), path, 1 << 16);
  if (!text)
    return "";
  for (size_t i = 0; i < text->size(); ++i)
    if (std::isdigit(static_cast<unsigned char>((*text)[i])) &&
        (i == 0 || std::isspace(static_cast<unsigned char>((*text)[i - 1]))) &&
        numbersOf(std::string_view(*text).substr(i)).size() > 1) {
      size_t end = text->find_first_not_of("0123456789.", i);
      return text->substr(i, end == std::string::npos ? end : end - i);
    }
  return "";
}

} // namespace

bool isVersionRange(std::string_view range) {
  auto bounds = boundsOf(range);
  for (const auto &[sign, version] : bounds)
    if ((sign != ">=" && sign != "<") || numbersOf(version).empty())
      return false;
  return !bounds.empty();
}

bool versionFits(std::string_view version, std::string_view range) {
  for (const auto &[sign, bound] : boundsOf(range)) {
    int order = compareVersions(version, bound);
    if (sign == ">=" ? order < 0 : order >= 0)
      return false;
  }
  return true;
}

Expected<std::vector<AlignmentPair>> parseAlignment(std::string_view text) {
  nlohmann::json table = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!table.is_object() || !table.contains("pairs") || !table["pairs"].is_array())
    return Status(StatusCode::InvalidArgument, "alignment: expected an object with a list of pairs").at("/pairs");
  std::vector<AlignmentPair> pairs;
  for (const nlohmann::json &row : table["pairs"]) {
    std::string place = "/pairs/" + std::to_string(pairs.size());
    bool whole = row.is_object();
    for (const char *key : {"of", "with", "needs", "hint"})
      whole = whole && row.contains(key) && row[key].is_string();
    if (!whole || !row.contains("required") || !row["required"].is_boolean() ||
        !isVersionRange(row["needs"].get<std::string>()))
      return Status(StatusCode::InvalidArgument, "alignment: expected of, with, needs (a range), hint and required")
          .at(place);
    pairs.push_back({row["of"], row["with"], row["needs"], row["hint"], row["required"]});
  }
  return pairs;
}

std::map<std::string, std::string> findVersions(const std::string &llvmVersion) {
  std::map<std::string, std::string> versions;
  versions["tilejit"] = TILEJIT_VERSION;
  versions["description format"] =
      std::to_string(descriptionFormatMajor) + "." + std::to_string(descriptionFormatMinor);
  versions["operator library"] = TILEJIT_OPERATOR_LIBRARY_VERSION;
  versions["DLPack"] = std::to_string(DLPACK_MAJOR_VERSION) + "." + std::to_string(DLPACK_MINOR_VERSION);
  versions["C++ compiler"] = TILEJIT_COMPILER_VERSION;
  versions["CMake"] = TILEJIT_CMAKE_VERSION;
  if (!llvmVersion.empty())
    versions["MLIR/LLVM"] = llvmVersion;
  if (std::string_view(TILEJIT_LLD_VERSION) != "none")
    versions["lld"] = TILEJIT_LLD_VERSION;
  if (std::string cuda = cudaToolkitVersion(); !cuda.empty())
    versions["CUDA toolkit"] = cuda;
  if (std::string driver = versionInFile("/proc/driver/nvidia/version"); !driver.empty())
    versions["NVIDIA driver"] = driver;
  if (std::string rocm = versionInFile("/opt/rocm/.info/version"); !rocm.empty())
    versions["ROCm"] = rocm;
  utsname system{};
  if (uname(&system) == 0)
    versions["kernel"] = system.release;
  findPython(versions);
  return versions;
}

} // namespace tilejit::tilec
