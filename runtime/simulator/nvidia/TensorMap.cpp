// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reads tensor maps and cuts boxes into pieces; and the instructions by which kernels change maps: the map is built in
// shared memory, copied to global memory with a fence, and may be used after a fence of the tensormap proxy.

#include "nvidia/TensorMap.h"

#include "core/Block.h"
#include "nvidia/Capability.h"
#include "nvidia/Mbarrier.h"

#include <algorithm>
#include <cstring>

namespace tilejit::sim {

namespace {

using Image = TensorMapImage;

/// Name of the first field that a map of this rank lacks, or an empty text.
std::string missingField(const Image &image) {
  struct Need {
    uint32_t field;
    const char *name;
    bool each; ///< In each dimension.
    unsigned fewer;
  };
  static constexpr Need needs[] = {
      {Image::Address, "global_address", false, 0}, {Image::Rank, "rank", false, 0},
      {Image::Type, "elemtype", false, 0},          {Image::Size, "global_dim", true, 0},
      {Image::Stride, "global_stride", true, 1},    {Image::Box, "box_dim", true, 0},
      {Image::Step, "element_stride", true, 0},
  };
  unsigned rank = std::min<unsigned>(image.rank, mostTensorRank);
  for (const Need &need : needs)
    for (unsigned i = 0; i < (need.each ? rank - std::min(rank, need.fewer) : 1); ++i)
      if (!(image.fields & need.field << i))
        return std::string(need.name) + (need.each ? " " + std::to_string(i) : "");
  return {};
}

TensorMapInfo decode(const Image &image) {
  TensorMapInfo info;
  info.type = static_cast<TensorMapType>(image.type);
  info.rank = image.rank;
  info.address = image.address;
  for (unsigned i = 0; i < mostTensorRank; ++i) {
    info.size[i] = image.size[i] ? image.size[i] : 1ull << 32;
    info.box[i] = image.box[i];
    info.step[i] = image.step[i];
    if (i)
      info.stride[i - 1] = image.stride[i - 1];
  }
  info.swizzle = static_cast<TensorMapSwizzle>(image.swizzle);
  info.nanFill = image.nanFill;
  if (!image.im2col)
    return info;
  info.pixels.count = image.box[0];
  info.pixels.channels = image.box[1];
  for (unsigned i = 0; i < mostTensorRank - 2; ++i) {
    info.pixels.lower[i] = static_cast<int16_t>(image.box[2 + i]);
    info.pixels.upper[i] = static_cast<int16_t>(image.box[2 + i] >> 16);
  }
  return info;
}

/// What keeps a map from being used, or an empty text.
std::string faultOf(const Image &image) {
  if (image.magic != Image::magicNumber)
    return "what is no tensor map";
  if (std::string field = missingField(image); !field.empty())
    return "a tensor map whose field " + field + " was never set";
  if (image.type >= numTensorMapTypes)
    return "a tensor map of packed 4-bit or 6-bit elements, which aren't simulated";
  if (image.interleave || image.swizzle > 3 || image.atomicity)
    return "a tensor map with an interleaved layout or a swizzle that isn't simulated";
  std::string fault = tensorMapFault(decode(image));
  return fault.empty() ? fault : "a tensor map that can't be: " + fault;
}

bool isMisaligned(const Image &image) {
  uint64_t all = image.address;
  for (unsigned i = 1; i < image.rank && i < mostTensorRank; ++i)
    all |= image.stride[i - 1];
  return all % 16;
}

} // namespace

std::optional<TensorMapInfo> readTensorMap(Warp &warp, unsigned lane, uint32_t site, uint64_t pointer, unsigned rank,
                                           bool im2col) {
  Block &block = *warp.block;
  uint64_t place[64];
  place[lane] = pointer;
  Access access;
  access.size = tensorMapBytes;
  access.alignment = tensorMapAlignment;
  access.site = site;
  if (!block.access(warp, Space::Global, place, LaneMask(1) << lane, access))
    return std::nullopt;
  Image image;
  std::memcpy(&image, block.at(warp, Space::Global, lane, pointer), sizeof image);
  std::string fault = faultOf(image);
  if (fault.empty() && image.rank != rank)
    fault = "a tensor map of " + std::to_string(image.rank) + " dimensions";
  if (fault.empty() && (image.im2col != 0) != im2col)
    fault = im2col ? "a tensor map for tile mode, in im2col mode" : "a tensor map for im2col mode, in tile mode";
  if (!fault.empty()) {
    bool misaligned = image.magic == Image::magicNumber && isMisaligned(image);
    block.reportAt(misaligned ? ReportKind::Misaligned : ReportKind::Bounds, site, warp, lane, Space::Global, pointer,
                   "a copy of " + std::to_string(rank) + " dimensions through " + fault,
                   "make the map with encodeTensorMap or with tensormap.replace, field by field");
    return std::nullopt;
  }
  auto changed = block.nvidia->changedMaps.find(pointer);
  if (changed != block.nvidia->changedMaps.end() && !changed->second && block.checks(Check::Proxy))
    block.reportAt(ReportKind::Proxy, site, warp, lane, Space::Global, pointer,
                   "use of a tensor map that the kernel changed, without a fence of the tensormap proxy",
                   "put fence.proxy.tensormap::generic.acquire on the map before its first use");
  return decode(image);
}

uint32_t boxElements(const TensorMapInfo &map, unsigned dimension) {
  return (map.box[dimension] + map.step[dimension] - 1) / map.step[dimension];
}

uint32_t boxBytes(const TensorMapInfo &map) {
  uint64_t bytes = sizeOf(map.type);
  if (map.isIm2col())
    return static_cast<uint32_t>(bytes * map.pixels.count * map.pixels.channels);
  for (unsigned i = 0; i < map.rank; ++i)
    bytes *= boxElements(map, i);
  return static_cast<uint32_t>(std::min<uint64_t>(bytes, 1u << 30)); // More than any shared memory is refused there.
}

uint64_t fillPattern(const TensorMapInfo &map) {
  if (!map.nanFill)
    return 0;
  switch (sizeOf(map.type)) {
  case 2:
    return 0x7fff;
  case 4:
    return 0x7fffffff;
  default:
    return 0x7fffffffffffffff;
  }
}

/// One row of a box: `count` elements along dimension 0.
static void addRow(const TensorMapInfo &map, int64_t first, uint32_t count, uint64_t row, bool inside, uint32_t offset,
                   std::vector<CopyRun> &runs) {
  unsigned bytes = sizeOf(map.type);
  auto size = static_cast<int64_t>(map.size[0]);
  for (uint32_t i = 0; i < count;) {
    int64_t at = first + int64_t(i) * map.step[0];
    bool here = inside && at >= 0 && at < size;
    uint32_t length = 1;
    if (map.step[0] == 1) {
      int64_t until = here ? size : at < 0 && inside ? 0 : at + count;
      length = static_cast<uint32_t>(std::clamp<int64_t>(until - at, 1, count - i));
    }
    runs.push_back({offset + i * bytes, length * bytes, here ? row + static_cast<uint64_t>(at) * bytes : 0});
    i += length;
  }
}

void addBoxRuns(const TensorMapInfo &map, const int32_t *coordinate, std::vector<CopyRun> &runs) {
  uint32_t rowBytes = boxElements(map, 0) * sizeOf(map.type), offset = 0;
  uint32_t index[mostTensorRank] = {};
  for (;;) {
    uint64_t row = map.address;
    bool inside = true;
    for (unsigned i = 1; i < map.rank; ++i) {
      int64_t at = int64_t(coordinate[i]) + int64_t(index[i]) * map.step[i];
      inside &= at >= 0 && static_cast<uint64_t>(at) < map.size[i];
      row += static_cast<uint64_t>(at) * map.stride[i - 1];
    }
    addRow(map, coordinate[0], boxElements(map, 0), row, inside, offset, runs);
    offset += rowBytes;
    unsigned i = 1;
    while (i < map.rank && ++index[i] == boxElements(map, i))
      index[i++] = 0;
    if (i >= map.rank)
      return;
  }
}

void addPixelRuns(const TensorMapInfo &map, const int32_t *coordinate, const uint16_t *away,
                  std::vector<CopyRun> &runs) {
  const TensorMapPixels &pixels = map.pixels;
  const unsigned last = map.rank - 1;
  int64_t at[mostTensorRank];
  std::copy_n(coordinate, map.rank, at);
  for (uint32_t n = 0; n < pixels.count; ++n) {
    uint64_t row = map.address;
    bool inside = true;
    for (unsigned i = 1; i <= last; ++i) {
      int64_t place = at[i] + (i < last ? away[i - 1] : 0);
      inside &= place >= 0 && static_cast<uint64_t>(place) < map.size[i];
      row += static_cast<uint64_t>(place) * map.stride[i - 1];
    }
    addRow(map, coordinate[0], pixels.channels, row, inside, n * pixels.channels * sizeOf(map.type), runs);
    unsigned i = 1;
    for (; i < last; ++i) {
      at[i] += map.step[i];
      if (at[i] <= static_cast<int64_t>(map.size[i]) - 1 + pixels.upper[i - 1])
        break;
      at[i] = pixels.lower[i - 1];
    }
    if (i == last)
      ++at[last];
  }
}

// --- Changing maps --------------------------------------------------------------------------------------------------

namespace {

/// A field that tensormap.replace sets.
struct FieldRow {
  llvm::StringLiteral name, intrinsic;
  uint32_t bit;
  uint16_t offset;
  uint8_t bytes, count; ///< Of one value; values.
};
const FieldRow fields[] = {
    {"global_address", "global.address", Image::Address, offsetof(Image, address), 8, 1},
    {"rank", "rank", Image::Rank, offsetof(Image, rank), 1, 1},
    {"box_dim", "box.dim", Image::Box, offsetof(Image, box), 4, 5},
    {"global_dim", "global.dim", Image::Size, offsetof(Image, size), 4, 5},
    {"global_stride", "global.stride", Image::Stride, offsetof(Image, stride), 8, 4},
    {"element_stride", "element.stride", Image::Step, offsetof(Image, step), 4, 5},
    {"elemtype", "elemtype", Image::Type, offsetof(Image, type), 1, 1},
    {"interleave_layout", "interleave.layout", Image::Interleave, offsetof(Image, interleave), 1, 1},
    {"swizzle_mode", "swizzle.mode", Image::Swizzle, offsetof(Image, swizzle), 1, 1},
    {"swizzle_atomicity", "swizzle.atomicity", 0, offsetof(Image, atomicity), 1, 1},
    {"fill_mode", "fill.mode", Image::Fill, offsetof(Image, nanFill), 1, 1},
};

/// in: the map, the value (64 bits). imm: 1 where the map is in global memory, not shared, plus twice the dimension.
void replace(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  const auto &field = *static_cast<const FieldRow *>(op.x->table);
  bool global = op.imm & 1;
  auto dimension = static_cast<unsigned>(op.imm >> 1);
  const uint64_t *pointer = warp.reg<uint64_t>(op.x->in[0]), *value = warp.reg<uint64_t>(op.x->in[1]);
  forEachLane(warp.mask, [&](unsigned lane) {
    uint64_t place[64];
    place[lane] = global ? pointer[lane] : sharedOffset(pointer[lane]);
    Access access;
    access.size = tensorMapBytes;
    access.alignment = tensorMapAlignment;
    access.site = op.site;
    access.write = true;
    Space space = global ? Space::Global : Space::Shared;
    if (!block.access(warp, space, place, LaneMask(1) << lane, access))
      return;
    uint8_t *at = block.at(warp, space, lane, place[lane]);
    Image image;
    std::memcpy(&image, at, sizeof image);
    if (image.magic != Image::magicNumber)
      image = Image{};
    image.magic = Image::magicNumber;
    image.fields |= field.bit << dimension;
    std::memcpy(at, &image, sizeof image);
    // Ranks are given less one.
    uint64_t stored = value[lane] + (field.bit == Image::Rank ? 1 : 0);
    std::memcpy(at + field.offset + dimension * field.bytes, &stored, field.bytes);
    if (global)
      block.nvidia->changedMaps[place[lane]] = false;
  });
}

/// a: destination in global memory; b: source in shared memory. The warp copies together.
void publish(Warp &warp, const Op &op) {
  Block &block = *warp.block;
  unsigned lane = firstLane(warp.mask);
  if (warp.mask != warp.live && block.checks(Check::Divergence))
    block.report(ReportKind::Divergence, op.site, warp, firstLane(warp.live & ~warp.mask),
                 "tensormap.cp_fenceproxy is executed without a lane of the warp",
                 "let all lanes of the warp execute it together");
  uint64_t from[64], to[64];
  from[lane] = sharedOffset(warp.reg<uint64_t>(op.b)[lane]);
  to[lane] = warp.reg<uint64_t>(op.a)[lane];
  Access access;
  access.size = tensorMapBytes;
  access.alignment = tensorMapAlignment;
  access.site = op.site;
  LaneMask mask = LaneMask(1) << lane;
  if (!block.access(warp, Space::Shared, from, mask, access))
    return;
  access.write = true;
  if (!block.access(warp, Space::Global, to, mask, access))
    return;
  std::memcpy(block.at(warp, Space::Global, lane, to[lane]), block.at(warp, Space::Shared, lane, from[lane]),
              tensorMapBytes);
  block.nvidia->changedMaps[to[lane]] = false;
}

void emitReplace(Decoder &decoder, const FieldRow &field, bool global, int64_t dimension, Reg pointer, Reg value) {
  if (dimension < 0 || dimension >= field.count)
    return decoder.fail("tensormap.replace of " + field.name + " " + llvm::Twine(dimension) + ", which does not exist");
  decoder.noteSharedAccess(16, 16);
  Op &op = decoder.emitWide(replace, {}, {pointer, decoder.widen(value)}, dimension * 2 + global);
  decoder.operandsOf(op).table = &field;
}

/// tensormap.replace.tile.<field>.<space>.b1024.<type> [map], [dimension,] value;
void replaceStatement(AsmStatement &s) {
  if (!needsChip(s.decoder, 90, s.mnemonic, true))
    return;
  for (const FieldRow &field : fields)
    if (s.has(field.name)) {
      auto last = static_cast<unsigned>(s.operands.size() - 1);
      Kind kind = s.has("b64") ? Kind::I64 : Kind::I32;
      return emitReplace(s.decoder, field, !s.has("shared::cta"), field.count > 1 ? s.number(1) : 0, s.address(0),
                         s.reg(last, kind));
    }
  s.decoder.fail("unsupported field in '" + s.mnemonic + "'");
}

/// llvm.nvvm.tensormap.replace.<field>.p<space>(map, [dimension,] value)
void replaceCall(Call &call) {
  Decoder &decoder = call.decoder;
  if (!needsChip(decoder, 90, call.name, true))
    return;
  llvm::StringRef name = call.name;
  name.consume_front("llvm.nvvm.tensormap.replace.");
  bool global = call.call.getArgOperand(0)->getType()->getPointerAddressSpace() != 3;
  for (const FieldRow &field : fields)
    if (name.rsplit(".p").first == field.intrinsic)
      return emitReplace(decoder, field, global, field.count > 1 ? call.constant(1) : 0, call.reg(0),
                         call.reg(call.size() - 1));
  decoder.fail("unsupported intrinsic '" + call.name + "'");
}

void publishStatement(AsmStatement &s) {
  if (!needsChip(s.decoder, 90, s.mnemonic))
    return;
  s.decoder.noteSharedAccess(16, 16);
  Reg to = s.address(0), from = s.address(1);
  Op &op = s.decoder.emit(publish);
  op.a = to;
  op.b = from;
  op.registers |= Op::HasA | Op::HasB;
}

} // namespace

void addTensorMapRules(Rules &rules) {
  rules.callPrefix("llvm.nvvm.tensormap.replace.", replaceCall);
  rules.assembly("tensormap.replace", replaceStatement);
  rules.assembly("tensormap.cp_fenceproxy", publishStatement);
}

} // namespace tilejit::sim
