// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Parsing and encoding of tensor maps that are given as arguments.

#include "SimulateMaps.h"
#include "Sources.h"

#include "tilejit/Simulator/TensorMap.h"

#include <algorithm>
#include <optional>

namespace tilejit::tilec {
namespace {

constexpr std::string_view prefix = "map[";

Status refuse(std::string message) { return Status(StatusCode::InvalidArgument, std::move(message)); }

/// Element type of a map by the spelling in .npy files; types without a spelling of their own there are raw bytes.
std::optional<sim::TensorMapType> mapType(std::string_view descr) {
  using sim::TensorMapType;
  struct Row {
    std::string_view descr;
    TensorMapType type;
  };
  static constexpr Row rows[] = {
      {"i1", TensorMapType::U8},  {"u1", TensorMapType::U8},   {"b1", TensorMapType::U8},  {"V1", TensorMapType::U8},
      {"i2", TensorMapType::U16}, {"u2", TensorMapType::U16},  {"i4", TensorMapType::S32}, {"u4", TensorMapType::U32},
      {"i8", TensorMapType::S64}, {"u8", TensorMapType::U64},  {"f2", TensorMapType::F16}, {"f4", TensorMapType::F32},
      {"f8", TensorMapType::F64}, {"V2", TensorMapType::BF16},
  };
  for (const Row &row : rows)
    if (descr.size() == 3 && descr.substr(1) == row.descr)
      return row.type;
  return std::nullopt;
}

/// The numbers of `lower=-1x-1`: one for each dimension of an image.
Status parseCorner(std::string_view text, const std::string &option, int64_t least, int64_t most,
                   std::vector<int64_t> &numbers) {
  numbers.clear();
  for (bool more = true; more;) {
    size_t end = text.find('x');
    more = end != std::string_view::npos;
    TILEJIT_ASSIGN_OR_RETURN(int64_t number, parseInteger(std::string(text.substr(0, end)), option, least, most));
    numbers.push_back(number);
    text.remove_prefix(more ? end + 1 : text.size());
  }
  return Status::ok();
}

Status parseWord(const std::string &word, const std::string &option, MapSpec &spec) {
  if (word.starts_with("swizzle=")) {
    for (unsigned bytes : {0u, 32u, 64u, 128u})
      if (word.substr(8) == std::to_string(bytes)) {
        spec.swizzle = bytes;
        return Status::ok();
      }
    return refuse(option + ": expected swizzle=0, 32, 64 or 128, found '" + word + "'");
  }
  if (word == "fill=nan" || word == "fill=zero") {
    spec.nanFill = word == "fill=nan";
    return Status::ok();
  }
  constexpr int64_t mostCorner = 1 << 15;
  if (word.starts_with("lower=") || word.starts_with("upper="))
    return parseCorner(std::string_view(word).substr(6), option, -mostCorner, mostCorner - 1,
                       word[0] == 'l' ? spec.lower : spec.upper);
  if (word.starts_with("step="))
    return parseCorner(std::string_view(word).substr(5), option, 1, sim::mostTensorStep, spec.step);
  if (word.find('=') != std::string::npos)
    return refuse(option + ": a tensor map has no '" + word +
                  "'; expected swizzle=0, 32, 64, 128, fill=zero or nan, or for im2col mode lower, upper and step");
  TILEJIT_ASSIGN_OR_RETURN(int64_t size, parseInteger(word, option, 1, sim::mostTensorPixels));
  spec.box.push_back(size);
  return Status::ok();
}

} // namespace

bool isMapText(std::string_view text) { return text.starts_with(prefix); }

Expected<MapSpec> takeMapSpec(std::string &text, const std::string &option) {
  size_t close = text.find("]:");
  if (!isMapText(text) || close == std::string::npos)
    return refuse(option + ": expected map[SIZES,swizzle=128]:ARRAY such as map[64,32]:in:a.npy, found '" + text + "'");
  MapSpec spec;
  TILEJIT_ASSIGN_OR_RETURN(std::vector<std::string> words,
                           splitWords(text.substr(prefix.size(), close - prefix.size()), option));
  for (const std::string &word : words) {
    TILEJIT_RETURN_IF_ERROR(parseWord(word, option, spec));
  }
  if (spec.box.empty() || spec.box.size() > sim::mostTensorRank)
    return refuse(option + ": expected 1 to 5 sizes of a box, found " + std::to_string(spec.box.size()));
  if (spec.isIm2col() && spec.box.size() != 2)
    return refuse(option + ": expected pixels and channels of a map in im2col mode, found " +
                  std::to_string(spec.box.size()) + " sizes");
  uint32_t mostFirst = spec.isIm2col() ? sim::mostTensorPixels : sim::mostTensorBox;
  for (size_t i = 0; i < spec.box.size(); ++i)
    if (uint32_t most = i == 0 ? mostFirst : sim::mostTensorBox; spec.box[i] > most)
      return refuse(option + ": expected a size from 1 to " + std::to_string(most) + ", found " +
                    std::to_string(spec.box[i]));
  text.erase(0, close + 2);
  return spec;
}

/// Where copies in im2col mode go.
static Status fillPixels(const MapSpec &spec, sim::TensorMapInfo &info) {
  size_t places = info.rank < 2 ? 0 : info.rank - 2;
  for (const std::vector<int64_t> *each : {&spec.lower, &spec.upper, &spec.step})
    if (each->size() != places && !(each == &spec.step && each->empty()))
      return refuse("a map in im2col mode of an array of " + std::to_string(info.rank) + " dimensions has " +
                    std::to_string(places) + " numbers for each of lower, upper and step, found " +
                    std::to_string(each->size()));
  info.pixels.count = static_cast<uint32_t>(spec.box[0]);
  info.pixels.channels = static_cast<uint32_t>(spec.box[1]);
  for (size_t i = 0; i < places; ++i) {
    size_t at = places - 1 - i;
    info.pixels.lower[i] = static_cast<int32_t>(spec.lower[at]);
    info.pixels.upper[i] = static_cast<int32_t>(spec.upper[at]);
    if (!spec.step.empty())
      info.step[i + 1] = static_cast<uint32_t>(spec.step[at]);
  }
  return Status::ok();
}

Expected<std::vector<uint8_t>> encodeMap(const MapSpec &spec, const void *memory, std::string_view descr,
                                         const std::vector<int64_t> &shape) {
  std::optional<sim::TensorMapType> type = mapType(descr);
  if (!type)
    return refuse("a tensor map has no elements of type '" + std::string(descr) + "'");
  if (!spec.isIm2col() && shape.size() != spec.box.size())
    return refuse("the box has " + std::to_string(spec.box.size()) + " dimensions, the array " +
                  std::to_string(shape.size()));
  if (shape.size() > sim::mostTensorRank)
    return refuse("a tensor map has 1 to 5 dimensions, the array " + std::to_string(shape.size()));
  sim::TensorMapInfo info;
  info.type = *type;
  info.rank = static_cast<unsigned>(shape.size());
  info.address = reinterpret_cast<uint64_t>(memory);
  uint64_t stride = sizeOf(*type);
  // A map counts its dimensions from the contiguous one on.
  for (unsigned i = 0; i < info.rank; ++i) {
    size_t at = info.rank - 1 - i;
    info.size[i] = static_cast<uint64_t>(shape[at]);
    if (!spec.isIm2col())
      info.box[i] = static_cast<uint32_t>(spec.box[at]);
    stride *= info.size[i];
    if (i + 1 < info.rank)
      info.stride[i] = stride;
  }
  for (unsigned code = 0; code < 4; ++code)
    if (spec.swizzle == (code ? 16u << code : 0))
      info.swizzle = static_cast<sim::TensorMapSwizzle>(code);
  info.nanFill = spec.nanFill;
  if (spec.isIm2col())
    TILEJIT_RETURN_IF_ERROR(fillPixels(spec, info));
  std::vector<uint8_t> bytes(sim::tensorMapBytes);
  if (Status status = encodeTensorMap(info, std::span<uint8_t, sim::tensorMapBytes>(bytes)); !status)
    return std::move(status).withHint("dimension 0 of a tensor map is the last one of the array");
  return bytes;
}

} // namespace tilejit::tilec
