// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The tables: see the header.

#include "SimulatorMatrixCases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace tilejit::sim::test {

namespace {

// groupID and threadID_in_group.
int g(int lane) { return lane >> 2; }
int t(int lane) { return lane % 4; }

// --- C and D --------------------------------------------------------------------------------------------------------
Place c16x8(int lane, int i) { return {i < 2 ? g(lane) : g(lane) + 8, t(lane) * 2 + (i & 1)}; }
Place c8x8(int lane, int i) { return {g(lane), t(lane) * 2 + (i & 1)}; }

// --- 16 bits --------------------------------------------------------------------------------------------------------
Place a16k8(int lane, int i) { return {i < 2 ? g(lane) : g(lane) + 8, t(lane) * 2 + (i & 1)}; }
Place b16k8(int lane, int i) { return {t(lane) * 2 + i, g(lane)}; }
Place a16k16(int lane, int i) {
  bool low = i < 2 || (4 <= i && i < 6);
  return {low ? g(lane) : g(lane) + 8, t(lane) * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place b16k16(int lane, int i) { return {t(lane) * 2 + (i & 1) + (i >= 2 ? 8 : 0), g(lane)}; }
Place b16k32(int lane, int i) { return {t(lane) * 2 + (i & 1) + 8 * (i / 2), g(lane)}; }

// --- 32 and 64 bits -------------------------------------------------------------------------------------------------
Place a32k4(int lane, int i) { return {i == 0 ? g(lane) : g(lane) + 8, t(lane)}; }
Place b32k4(int lane, int) { return {t(lane), g(lane)}; }
Place a32k8(int lane, int i) { return {i == 0 || i == 2 ? g(lane) : g(lane) + 8, i < 2 ? t(lane) : t(lane) + 4}; }
Place b32k8(int lane, int i) { return {i == 0 ? t(lane) : t(lane) + 4, g(lane)}; }
Place b32k16(int lane, int i) { return {t(lane) + i * 4, g(lane)}; }
Place a64m8(int lane, int) { return {g(lane), t(lane)}; }
Place a64k16(int lane, int i) {
  return {i % 2 == 0 ? g(lane) : g(lane) + 8, i % 2 == 0 ? i * 2 + t(lane) : i * 2 - 2 + t(lane)};
}
Place b64k16(int lane, int i) { return {t(lane) + i * 4, g(lane)}; }

// --- 8 bits ---------------------------------------------------------------------------------------------------------
Place a8m8(int lane, int i) { return {g(lane), t(lane) * 4 + i}; }
Place b8k16(int lane, int i) { return {t(lane) * 4 + i, g(lane)}; }
Place a8k16(int lane, int i) { return {i < 4 ? g(lane) : g(lane) + 8, t(lane) * 4 + (i & 3)}; }
Place a8k32(int lane, int i) {
  bool low = i < 4 || (8 <= i && i < 12);
  return {low ? g(lane) : g(lane) + 8, t(lane) * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
Place b8k32(int lane, int i) { return {t(lane) * 4 + (i & 3) + (i >= 4 ? 16 : 0), g(lane)}; }
Place b8k64(int lane, int i) { return {t(lane) * 4 + (i & 3) + 16 * (i / 4), g(lane)}; }

// --- 4 bits and 1 bit -----------------------------------------------------------------------------------------------
Place a4m8(int lane, int i) { return {g(lane), t(lane) * 8 + i}; }
Place b4k32(int lane, int i) { return {t(lane) * 8 + i, g(lane)}; }
Place a4k32(int lane, int i) { return {i < 8 ? g(lane) : g(lane) + 8, t(lane) * 8 + (i & 7)}; }
Place a4k64(int lane, int i) {
  bool low = i < 8 || (16 <= i && i < 24);
  return {low ? g(lane) : g(lane) + 8, t(lane) * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
}
Place b4k64(int lane, int i) { return {t(lane) * 8 + (i & 7) + (i >= 8 ? 32 : 0), g(lane)}; }
Place b4k128(int lane, int i) { return {t(lane) * 8 + (i & 7) + 32 * (i / 8), g(lane)}; }
Place a1m8(int lane, int i) { return {g(lane), t(lane) * 32 + i}; }
Place b1k128(int lane, int i) { return {t(lane) * 32 + i, g(lane)}; }
Place a1k128(int lane, int i) { return {i < 32 ? g(lane) : g(lane) + 8, t(lane) * 32 + (i & 31)}; }
Place a1k256(int lane, int i) {
  bool low = i < 32 || (64 <= i && i < 96);
  return {low ? g(lane) : g(lane) + 8, t(lane) * 32 + (i & 31) + (i >= 64 ? 128 : 0)};
}
Place b1k256(int lane, int i) { return {t(lane) * 32 + (i & 31) + (i >= 32 ? 128 : 0), g(lane)}; }

const std::map<std::string, std::vector<ShapeCase>> dense = {
    {"f16",
     {{"m16n8k8", 16, 8, 8, "sm_75", "", a16k8, b16k8, c16x8, 4, 2, 4},
      {"m16n8k16", 16, 8, 16, "sm_80", "sm_75", a16k16, b16k16, c16x8, 8, 4, 4}}},
    {"bf16",
     {{"m16n8k8", 16, 8, 8, "sm_80", "sm_75", a16k8, b16k8, c16x8, 4, 2, 4},
      {"m16n8k16", 16, 8, 16, "sm_80", "sm_75", a16k16, b16k16, c16x8, 8, 4, 4}}},
    {"tf32",
     {{"m16n8k4", 16, 8, 4, "sm_80", "sm_75", a32k4, b32k4, c16x8, 2, 1, 4},
      {"m16n8k8", 16, 8, 8, "sm_80", "sm_75", a32k8, b32k8, c16x8, 4, 2, 4}}},
    {"f64",
     {{"m8n8k4", 8, 8, 4, "sm_80", "sm_75", a64m8, b32k4, c8x8, 1, 1, 2},
      {"m16n8k4", 16, 8, 4, "sm_90", "sm_89", a32k4, b32k4, c16x8, 2, 1, 4},
      {"m16n8k8", 16, 8, 8, "sm_90", "sm_89", a32k8, b32k8, c16x8, 4, 2, 4},
      {"m16n8k16", 16, 8, 16, "sm_90", "sm_89", a64k16, b64k16, c16x8, 8, 4, 4}}},
    {"fp8",
     {{"m16n8k16", 16, 8, 16, "sm_89", "sm_86", a8k16, b8k16, c16x8, 8, 4, 4},
      {"m16n8k32", 16, 8, 32, "sm_89", "sm_86", a8k32, b8k32, c16x8, 16, 8, 4}}},
    {"int8",
     {{"m8n8k16", 8, 8, 16, "sm_75", "", a8m8, b8k16, c8x8, 4, 4, 2},
      {"m16n8k16", 16, 8, 16, "sm_80", "sm_75", a8k16, b8k16, c16x8, 8, 4, 4},
      {"m16n8k32", 16, 8, 32, "sm_80", "sm_75", a8k32, b8k32, c16x8, 16, 8, 4}}},
    {"int4",
     {{"m8n8k32", 8, 8, 32, "sm_75", "", a4m8, b4k32, c8x8, 8, 8, 2},
      {"m16n8k32", 16, 8, 32, "sm_80", "sm_75", a4k32, b4k32, c16x8, 16, 8, 4},
      {"m16n8k64", 16, 8, 64, "sm_80", "sm_75", a4k64, b4k64, c16x8, 32, 16, 4}}},
    {"b1",
     {{"m8n8k128", 8, 8, 128, "sm_80", "", a1m8, b1k128, c8x8, 32, 32, 2},
      {"m16n8k128", 16, 8, 128, "sm_80", "sm_75", a1k128, b1k128, c16x8, 64, 32, 4},
      {"m16n8k256", 16, 8, 256, "sm_80", "sm_75", a1k256, b1k256, c16x8, 128, 64, 4}}},
};

const std::map<std::string, std::vector<ShapeCase>> sparse = {
    {"f16",
     {{"m16n8k16", 16, 8, 16, "sm_80", "sm_75", a16k8, b16k16, c16x8, 4, 4, 4},
      {"m16n8k32", 16, 8, 32, "sm_80", "sm_75", a16k16, b16k32, c16x8, 8, 8, 4}}},
    {"bf16",
     {{"m16n8k16", 16, 8, 16, "sm_80", "sm_75", a16k8, b16k16, c16x8, 4, 4, 4},
      {"m16n8k32", 16, 8, 32, "sm_80", "sm_75", a16k16, b16k32, c16x8, 8, 8, 4}}},
    {"tf32",
     {{"m16n8k8", 16, 8, 8, "sm_80", "sm_75", a32k4, b32k8, c16x8, 2, 2, 4},
      {"m16n8k16", 16, 8, 16, "sm_80", "sm_75", a32k8, b32k16, c16x8, 4, 4, 4}}},
    {"fp8", {{"m16n8k64", 16, 8, 64, "sm_89", "sm_86", a8k32, b8k64, c16x8, 16, 16, 4}}},
    {"int8",
     {{"m16n8k32", 16, 8, 32, "sm_80", "sm_75", a8k16, b8k32, c16x8, 8, 8, 4},
      {"m16n8k64", 16, 8, 64, "sm_80", "sm_75", a8k32, b8k64, c16x8, 16, 16, 4}}},
    {"int4",
     {{"m16n8k64", 16, 8, 64, "sm_80", "sm_75", a4k32, b4k64, c16x8, 16, 16, 4},
      {"m16n8k128", 16, 8, 128, "sm_80", "sm_75", a4k64, b4k128, c16x8, 32, 32, 4}}},
};

const std::vector<ElementType> elementTypes = {{"f16", 16, 5, 10, 15},
                                               {"bf16", 16, 8, 7, 127},
                                               {"tf32", 32, 8, 23, 127},
                                               {"f32", 32, 8, 23, 127},
                                               {"f64", 64, 11, 52, 1023},
                                               {"e4m3", 8, 4, 3, 7},
                                               {"e5m2", 8, 5, 2, 15},
                                               {"s8", 8, 0, 0, 0, true},
                                               {"u8", 8},
                                               {"s4", 4, 0, 0, 0, true},
                                               {"u4", 4},
                                               {"b1", 1},
                                               {"s32", 32, 0, 0, 0, true}};

} // namespace

const ElementType &elementType(const std::string &name) {
  return *std::find_if(elementTypes.begin(), elementTypes.end(), [&](const ElementType &e) { return e.name == name; });
}
const std::vector<ShapeCase> &denseShapes(const std::string &types) { return dense.at(types); }
const std::vector<ShapeCase> &sparseShapes(const std::string &types) { return sparse.at(types); }

uint64_t ElementType::encode(double value) const {
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  if (!isReal())
    return static_cast<uint64_t>(static_cast<int64_t>(value)) & mask;
  uint64_t sign = std::signbit(value) ? uint64_t(1) << (bits - 1) : 0;
  if (value == 0)
    return sign;
  int exponent = 0;
  double fraction = std::frexp(std::abs(value), &exponent); // In [1/2, 1).
  int field = exponent - 1 + bias;
  if (field <= 0) // A denormal number.
    return sign | static_cast<uint64_t>(std::ldexp(std::abs(value), bias - 1 + mantissaBits));
  auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, mantissaBits + 1)) - (uint64_t(1) << mantissaBits);
  return sign | uint64_t(field) << mantissaBits | mantissa;
}

double ElementType::decode(uint64_t code) const {
  if (!isReal()) {
    auto value = static_cast<int64_t>(code);
    return static_cast<double>(isSigned && code >> (bits - 1) & 1 ? value - (int64_t(1) << bits) : value);
  }
  double sign = code >> (bits - 1) & 1 ? -1 : 1;
  auto field = static_cast<int>(code >> mantissaBits & ((uint64_t(1) << exponentBits) - 1));
  uint64_t mantissa = code & ((uint64_t(1) << mantissaBits) - 1);
  uint64_t leading = field ? uint64_t(1) << mantissaBits : 0;
  return sign * std::ldexp(static_cast<double>(mantissa | leading), std::max(field, 1) - bias - mantissaBits);
}

double ElementType::random(std::mt19937 &random, bool integers) const {
  if (!isReal()) {
    uint64_t code = bits >= 32 ? uint64_t(random()) : random() & ((uint64_t(1) << bits) - 1);
    return decode(code);
  }
  if (integers)
    return static_cast<double>(static_cast<int>(random() % 15) - 7);
  // A mantissa of the type at a size near 1; tf32 keeps 10 bits.
  int digits = std::min(name == "tf32" ? 10 : mantissaBits, 30);
  double mantissa = 1 + static_cast<double>(random() % (1u << digits)) / (1u << digits);
  return std::ldexp(random() & 1 ? mantissa : -mantissa, static_cast<int>(random() % 8) - 4);
}

std::vector<uint8_t> toRegisters(const std::vector<double> &matrix, int columns, Fragment fragment, int elements,
                                 const ElementType &type) {
  std::vector<uint8_t> bytes(static_cast<size_t>(32 * elements * type.bits / 8));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < elements; ++i) {
      Place place = fragment(lane, i);
      uint64_t code = type.encode(matrix[static_cast<size_t>(place.row * columns + place.column)]);
      auto bit = static_cast<size_t>((lane * elements + i) * type.bits);
      if (type.bits < 8)
        bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] | code << bit % 8);
      else
        std::memcpy(bytes.data() + bit / 8, &code, static_cast<size_t>(type.bits / 8));
    }
  return bytes;
}

std::vector<double> fromRegisters(const uint8_t *registers, int rows, int columns, Fragment fragment, int elements,
                                  const ElementType &type) {
  std::vector<double> matrix(static_cast<size_t>(rows * columns));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < elements; ++i) {
      Place place = fragment(lane, i);
      uint64_t code = 0;
      std::memcpy(&code, registers + (lane * elements + i) * type.bits / 8, static_cast<size_t>(type.bits / 8));
      matrix[static_cast<size_t>(place.row * columns + place.column)] = type.decode(code);
    }
  return matrix;
}

} // namespace tilejit::sim::test
