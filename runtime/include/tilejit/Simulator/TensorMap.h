// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tensor maps (CUtensorMap) of the simulator: what bulk tensor copies of sm_90 are told about a tensor in global
// memory. CUDA keeps the 128 bytes opaque, so the simulator has an encoding of its own. The host makes one here, as
// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col do for hardware; kernels change fields with tensormap.replace.

#ifndef TILEJIT_SIMULATOR_TENSORMAP_H
#define TILEJIT_SIMULATOR_TENSORMAP_H

#include "tilejit/Base/Status.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace tilejit::sim {

/// Numbered as tensormap.replace.elemtype numbers them.
enum class TensorMapType : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F32Ftz, F64, BF16, TF32, TF32Ftz };
inline constexpr unsigned numTensorMapTypes = 13;
constexpr unsigned sizeOf(TensorMapType type) {
  constexpr uint8_t sizes[numTensorMapTypes] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  return sizes[static_cast<unsigned>(type)];
}
/// How 16-byte pieces of a box are permuted in shared memory, within rows of so many bytes.
enum class TensorMapSwizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };

inline constexpr unsigned tensorMapBytes = 128, tensorMapAlignment = 64, mostTensorRank = 5;
inline constexpr uint32_t mostTensorBox = 256, mostTensorStep = 8;
inline constexpr uint32_t mostTensorPixels = 1024, mostTensorChannels = 256;

/// Im2col mode: dimension 0 holds the channels of a pixel, the last one counts images, those between are places in an
/// image. A copy moves channels of consecutive pixels: it goes through a box of the image along dimension 1 first, from
/// one row of the box to the next and from one image to the next.
struct TensorMapPixels {
  uint32_t count = 0, channels = 0;                ///< That one copy moves; count 0: not in this mode.
  std::array<int32_t, mostTensorRank - 2> lower{}; ///< First place of the box in dimension 1, 2, ...,
  std::array<int32_t, mostTensorRank - 2> upper{}; ///< and its last place less the last one of the tensor.
};

/// A tensor and the box of it that one copy moves. Dimension 0 is the contiguous one.
struct TensorMapInfo {
  TensorMapType type = TensorMapType::F32;
  unsigned rank = 1;
  uint64_t address = 0;                                     ///< Of element 0.
  std::array<uint64_t, mostTensorRank> size{};              ///< Elements of each dimension.
  std::array<uint64_t, mostTensorRank - 1> stride{};        ///< Bytes from one to the next in dimension 1, 2, ...
  std::array<uint32_t, mostTensorRank> box{};               ///< Elements that the box spans in each dimension,
  std::array<uint32_t, mostTensorRank> step{1, 1, 1, 1, 1}; ///< of which each step-th is taken.
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  bool nanFill = false;   ///< Elements beyond the tensor are read as NaN, not as 0.
  TensorMapPixels pixels; ///< Im2col mode; `box` means nothing then.

  bool isIm2col() const { return pixels.count != 0; }
};

/// The 128 bytes.
struct TensorMapImage {
  static constexpr uint32_t magicNumber = 0x504d4a54; // "TJMP"
  /// Bits of `fields`: those that have a value. Dimension i: the bit shifted by i.
  enum Field : uint32_t {
    Address = 1,
    Rank = 1 << 1,
    Type = 1 << 2,
    Swizzle = 1 << 3,
    Interleave = 1 << 4,
    Fill = 1 << 5,
    Size = 1 << 8,
    Stride = 1 << 13,
    Box = 1 << 18,
    Step = 1 << 23,
  };
  uint32_t magic, fields;
  uint64_t address;
  uint64_t stride[mostTensorRank - 1];
  /// Sizes: 0 means 2^32. In im2col mode the box is pixels, channels, and corners of 16 bits each.
  uint32_t size[mostTensorRank], box[mostTensorRank], step[mostTensorRank];
  uint8_t rank, type, interleave, swizzle, atomicity, nanFill, im2col;
  uint8_t unused[13];
};
static_assert(sizeof(TensorMapImage) == tensorMapBytes);

/// What is wrong with the pixels of a map in im2col mode, or an empty text.
inline std::string tensorMapPixelFault(const TensorMapInfo &info) {
  const TensorMapPixels &pixels = info.pixels;
  auto number = [](int64_t n) { return std::to_string(n); };
  if (info.rank < 3)
    return "rank " + number(info.rank) + " is not 3 to 5, as im2col mode needs";
  if (pixels.count > mostTensorPixels)
    return number(pixels.count) + " pixels are not 1 to 1024";
  if (pixels.channels == 0 || pixels.channels > mostTensorChannels)
    return number(pixels.channels) + " channels are not 1 to 256";
  if (info.step[0] != 1)
    return "element stride " + number(info.step[0]) + " of dimension 0 is not 1, as im2col mode needs";
  // The more dimensions, the fewer bits for each corner.
  const int32_t most = info.rank == 3 ? 1 << 15 : info.rank == 4 ? 1 << 7 : 1 << 4;
  for (unsigned i = 0; i + 2 < info.rank; ++i)
    for (int32_t corner : {pixels.lower[i], pixels.upper[i]})
      if (corner < -most || corner >= most)
        return "corner " + number(corner) + " of dimension " + number(i + 1) + " is not " + number(-most) + " to " +
               number(most - 1);
  return {};
}

/// What is wrong with a tensor map, or an empty text.
inline std::string tensorMapFault(const TensorMapInfo &info) {
  auto number = [](uint64_t n) { return std::to_string(n); };
  unsigned bytes = sizeOf(info.type);
  if (info.rank < 1 || info.rank > mostTensorRank)
    return "rank " + number(info.rank) + " is not 1 to 5";
  if (info.address % 16)
    return "the global address is not a multiple of 16";
  for (unsigned i = 0; i < info.rank; ++i) {
    std::string dim = " of dimension " + number(i);
    if (info.size[i] == 0 || info.size[i] > 1ull << 32)
      return "size " + number(info.size[i]) + dim + " is not 1 to 2^32";
    if (i && (info.stride[i - 1] % 16 || info.stride[i - 1] >= 1ull << 40))
      return "stride " + number(info.stride[i - 1]) + dim + " is not a multiple of 16 below 2^40";
    if (!info.isIm2col() && (info.box[i] == 0 || info.box[i] > mostTensorBox))
      return "box size " + number(info.box[i]) + dim + " is not 1 to 256";
    if (info.step[i] == 0 || info.step[i] > mostTensorStep)
      return "element stride " + number(info.step[i]) + dim + " is not 1 to 8";
  }
  if (info.isIm2col())
    if (std::string fault = tensorMapPixelFault(info); !fault.empty())
      return fault;
  uint64_t row = info.isIm2col() ? info.pixels.channels : (info.box[0] + info.step[0] - 1) / info.step[0];
  row *= bytes;
  if (row % 16)
    return "a row of the box has " + number(row) + " bytes, no multiple of 16";
  auto swizzle = static_cast<unsigned>(info.swizzle);
  if (swizzle && row > 16u << swizzle)
    return "a row of the box has " + number(row) + " bytes, more than the swizzle's " + number(16u << swizzle);
  if (info.nanFill && info.type < TensorMapType::F16)
    return "elements that are integers can't be filled with NaN";
  return {};
}

/// Encodes a tensor map. InvalidArgument names the rule that it breaks.
inline Status encodeTensorMap(const TensorMapInfo &info, std::span<uint8_t, tensorMapBytes> bytes) {
  if (std::string fault = tensorMapFault(info); !fault.empty())
    return Status(StatusCode::InvalidArgument, "tensor map: " + fault);
  TensorMapImage image{};
  image.magic = TensorMapImage::magicNumber;
  image.fields = ~0u;
  image.address = info.address;
  for (unsigned i = 0; i < mostTensorRank; ++i) {
    image.size[i] = static_cast<uint32_t>(info.size[i]);
    image.box[i] = info.box[i];
    image.step[i] = info.step[i];
    if (i)
      image.stride[i - 1] = info.stride[i - 1];
  }
  image.rank = static_cast<uint8_t>(info.rank);
  image.type = static_cast<uint8_t>(info.type);
  image.swizzle = static_cast<uint8_t>(info.swizzle);
  image.nanFill = info.nanFill;
  image.im2col = info.isIm2col();
  if (info.isIm2col()) {
    image.box[0] = info.pixels.count;
    image.box[1] = info.pixels.channels;
    for (unsigned i = 0; i < mostTensorRank - 2; ++i)
      image.box[2 + i] = static_cast<uint16_t>(info.pixels.lower[i]) |
                         static_cast<uint32_t>(static_cast<uint16_t>(info.pixels.upper[i])) << 16;
  }
  std::memcpy(bytes.data(), &image, sizeof image);
  return Status::ok();
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_TENSORMAP_H
