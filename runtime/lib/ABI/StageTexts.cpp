// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Stage texts as bytes: a tag that is also the version, then everything in order.

#include "tilejit/ABI/StageTexts.h"

#include "tilejit/Base/Bytes.h"

#include <utility>

namespace tilejit::abi {

namespace {
constexpr uint32_t stagesTag = 0x31534A54; // "TJS1"
} // namespace

std::string encode(const StageTexts &texts) {
  ByteWriter out;
  out.u32(stagesTag).text(texts.tile).text(texts.tilegpu);
  out.u32(static_cast<uint32_t>(texts.tileLines.size()));
  for (int64_t line : texts.tileLines)
    out.i64(line);
  out.u32(static_cast<uint32_t>(texts.layouts.size()));
  for (const StageTexts::Layout &layout : texts.layouts)
    out.text(layout.title).text(layout.svg);
  out.text(texts.llvm);
  return std::move(out).result();
}

Expected<StageTexts> decodeStageTexts(std::string_view bytes) {
  ByteReader in(bytes);
  StageTexts texts;
  if (in.u32() != stagesTag)
    in.fail();
  texts.tile = in.text();
  texts.tilegpu = in.text();
  for (uint32_t i = 0, count = in.count(8); i < count; ++i)
    texts.tileLines.push_back(in.i64());
  for (uint32_t i = 0, count = in.count(16); i < count; ++i) {
    std::string title(in.text());
    texts.layouts.push_back({std::move(title), std::string(in.text())});
  }
  texts.llvm = in.text();
  if (!in.finished())
    return Status(StatusCode::InvalidArgument, "the texts of the stages are cut, malformed or of another version");
  return texts;
}

} // namespace tilejit::abi
