// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// parseDescription: the top level of a description and the order in which its parts are read.

#include "tilejit/Description/Parse.h"

#include "Draft.h"
#include "Names.h"
#include "Shapes.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace tilejit {
namespace {

std::string buildVersion() {
  return std::to_string(descriptionFormatMajor) + '.' + std::to_string(descriptionFormatMinor);
}

/// "major.minor" with at most six digits each.
std::optional<std::pair<int, int>> parseVersion(std::string_view text) {
  std::vector<std::string_view> parts = splitText(text, '.');
  std::array<int, 2> numbers{};
  if (parts.size() != numbers.size())
    return std::nullopt;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty() || parts[i].size() > 6)
      return std::nullopt;
    for (char c : parts[i]) {
      if (c < '0' || c > '9')
        return std::nullopt;
      numbers[i] = numbers[i] * 10 + (c - '0');
    }
  }
  return std::pair(numbers[0], numbers[1]);
}

Status readVersion(const Cursor &root, const Entries &top, Document &document, Description &description) {
  const Cursor *cursor = findEntry(top, "tilejit");
  std::string what = "a description of version " + std::to_string(descriptionFormatMajor) + ".x (this build reads " +
                     buildVersion() + ')';
  if (!cursor)
    return root.missing("tilejit", "the format version, such as \"" + buildVersion() + '"');
  TILEJIT_ASSIGN_OR_RETURN(std::string text, cursor->text("the format version as text, such as \"1.0\""));
  std::optional<std::pair<int, int>> version = parseVersion(text);
  if (!version)
    return cursor->expected("the format version as \"major.minor\"");
  if (version->first != descriptionFormatMajor)
    return cursor->expected(what);
  description.version = *version;
  if (version->second > descriptionFormatMinor)
    document.newerVersion = " (version " + text + " may know it, this build reads " + buildVersion() + ')';
  return Status::ok();
}

Status readFamily(const Cursor &root, const Entries &top, Description &description) {
  const Cursor *cursor = findEntry(top, "op");
  if (!cursor)
    return root.missing("op", "an operator family");
  TILEJIT_ASSIGN_OR_RETURN(std::string name, cursor->text("the name of an operator family"));
  std::span<const std::string_view> names = familyNames();
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    return cursor->unknown("an operator family", name, names);
  description.family = static_cast<Family>(found - names.begin());
  return Status::ok();
}

/// Whether a valid UTF-8 text holds a control character: C0, DEL or C1.
bool hasControl(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f)
      return true;
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0)
      return true;
  }
  return false;
}

Status readName(const Entries &top, Description &description) {
  const Cursor *cursor = findEntry(top, "name");
  if (!cursor)
    return Status::ok();
  constexpr std::string_view what = "a name of at most 128 characters without / and control characters";
  TILEJIT_ASSIGN_OR_RETURN(std::string name, cursor->text(what));
  size_t characters = std::count_if(name.begin(), name.end(), [](char c) { return (c & 0xc0) != 0x80; });
  if (characters > maxNameLength || name.find('/') != std::string::npos || hasControl(name))
    return cursor->expected(what);
  if (name == "." || name == "..")
    return cursor->expected("a name other than . and ..");
  description.name = std::move(name);
  return Status::ok();
}

Status finish(Draft &draft) {
  switch (draft.description.family) {
  case Family::Matmul:
    return finishMatmul(draft);
  case Family::Elementwise:
    return finishElementwise(draft);
  case Family::Reduce:
    return finishReduce(draft);
  case Family::Softmax:
  case Family::LogSoftmax:
    return finishSoftmax(draft);
  case Family::LayerNorm:
  case Family::RmsNorm:
    return finishNorm(draft);
  case Family::Transpose:
    return finishTranspose(draft);
  case Family::Cast:
    return finishCast(draft);
  case Family::Attention:
    return finishAttention(draft);
  case Family::AttentionDecode:
    return finishAttentionDecode(draft);
  }
  return Status(StatusCode::Internal, "a family without a reader");
}

Expected<Description> readDescription(const Cursor &root, Document &document) {
  static constexpr std::array<std::string_view, 8> keys{"tilejit", "op",      "name",       "dims",
                                                        "inputs",  "outputs", "attributes", "epilogue"};
  Description description;
  TILEJIT_ASSIGN_OR_RETURN(Entries top, root.object("a JSON object that describes an operator"));
  TILEJIT_RETURN_IF_ERROR(readVersion(root, top, document, description));
  TILEJIT_RETURN_IF_ERROR(root.object("a JSON object", keys).status());
  TILEJIT_RETURN_IF_ERROR(readFamily(root, top, description));
  TILEJIT_RETURN_IF_ERROR(readName(top, description));
  Draft draft{root, &operatorSchema(description.family), std::move(description), {}, {}, {}, {}, {}};
  if (const Cursor *epilogue = findEntry(top, "epilogue")) {
    if (!draft.schema->hasEpilogue)
      return epilogue->error("expected no epilogue for " + std::string(familyName(draft.description.family)) +
                             ", found one");
    draft.epilogue = *epilogue;
  }
  TILEJIT_RETURN_IF_ERROR(readOperands(draft, top));
  TILEJIT_RETURN_IF_ERROR(readAttributes(draft, top));
  TILEJIT_RETURN_IF_ERROR(finish(draft));
  orderDims(draft.description);
  return std::move(draft.description);
}

} // namespace

Expected<Description> parseDescription(std::string_view text, std::string_view source) {
  TILEJIT_ASSIGN_OR_RETURN(json::Value value, json::parse(text, source));
  Document document{text, source, {}};
  return readDescription(Cursor(document, value), document);
}

} // namespace tilejit
