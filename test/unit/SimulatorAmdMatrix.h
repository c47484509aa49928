// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// For tests of AMD's matrix instructions: number formats from their definitions, and a kernel that runs one instruction
// on whole matrices.

#ifndef TILEJIT_TEST_UNIT_SIMULATORAMDMATRIX_H
#define TILEJIT_TEST_UNIT_SIMULATORAMDMATRIX_H

#include "AmdMatrixLayouts.h"
#include "SimulatorKernel.h"

#include <cmath>
#include <random>

namespace tilejit::sim::test {

// --- Number formats ------------------------------------------------------------------------------------------------

struct NumberFormat {
  std::string name;
  int bits, exponentBits, mantissaBits, bias; ///< No exponent bits: an integer.
  bool isSigned = true;
};
inline const NumberFormat &numberFormat(const std::string &name) {
  static const std::vector<NumberFormat> formats{
      {"f64", 64, 11, 52, 1023}, {"f32", 32, 8, 23, 127},    {"xf32", 32, 8, 23, 127},   {"f16", 16, 5, 10, 15},
      {"bf16", 16, 8, 7, 127},   {"fp8", 8, 4, 3, 7},        {"bf8", 8, 5, 2, 15},       {"fp8fnuz", 8, 4, 3, 8},
      {"bf8fnuz", 8, 5, 2, 16},  {"fp6", 6, 2, 3, 1},        {"bf6", 6, 3, 2, 3},        {"fp4", 4, 2, 1, 1},
      {"i8", 8, 0, 0, 0},        {"iu8", 8, 0, 0, 0, false}, {"iu4", 4, 0, 0, 0, false}, {"i32", 32, 0, 0, 0},
  };
  for (const NumberFormat &format : formats)
    if (format.name == name)
      return format;
  FAIL("no format " << name);
  return formats[0];
}

inline double decodeNumber(const NumberFormat &f, uint64_t code) {
  if (f.exponentBits == 0) {
    int64_t value = static_cast<int64_t>(code << (64 - f.bits)) >> (64 - f.bits);
    return f.isSigned ? static_cast<double>(value) : static_cast<double>(code);
  }
  int sign = static_cast<int>(code >> (f.bits - 1) & 1);
  auto exponent = static_cast<int>(code >> f.mantissaBits & ((uint64_t(1) << f.exponentBits) - 1));
  auto mantissa = static_cast<double>(code & ((uint64_t(1) << f.mantissaBits) - 1));
  double value = exponent ? std::ldexp(std::ldexp(mantissa, -f.mantissaBits) + 1, exponent - f.bias)
                          : std::ldexp(mantissa, 1 - f.bias - f.mantissaBits);
  return sign ? -value : value;
}

/// The code of an integer from -2 to 2 (unsigned formats: 0 to 2).
inline uint64_t encodeSmall(const NumberFormat &f, int value) {
  if (f.exponentBits == 0)
    return static_cast<uint64_t>(value) & (f.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << f.bits) - 1);
  if (value == 0)
    return 0;
  auto exponent = static_cast<uint64_t>(f.bias + (std::abs(value) == 2));
  return uint64_t(value < 0) << (f.bits - 1) | exponent << f.mantissaBits;
}

/// A number of about 1 with random digits; any integer.
inline uint64_t randomCode(const NumberFormat &f, std::mt19937_64 &random) {
  uint64_t code = random() & (f.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << f.bits) - 1);
  if (f.exponentBits == 0)
    return f.bits == 32 ? (code & 0xffff) : code;
  uint64_t mask = ((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits;
  int low = std::max(1, f.bias - 2), high = f.bias + 1;
  auto exponent = static_cast<uint64_t>(low + static_cast<int>(random() % static_cast<uint64_t>(high - low + 1)));
  code = (code & ~mask) | exponent << f.mantissaBits;
  return f.name == "xf32" ? code & ~uint64_t(0x1fff) : code;
}

inline void putBits(std::vector<uint8_t> &bytes, size_t at, int bits, uint64_t code) {
  for (int i = 0; i < bits; ++i, ++at)
    bytes[at / 8] = static_cast<uint8_t>((bytes[at / 8] & ~(1u << at % 8)) | (code >> i & 1) << at % 8);
}
inline uint64_t getBits(const std::vector<uint8_t> &bytes, size_t at, int bits) {
  uint64_t code = 0;
  for (int i = 0; i < bits; ++i, ++at)
    code |= uint64_t(bytes[at / 8] >> at % 8 & 1) << i;
  return code;
}

// --- One instruction -------------------------------------------------------------------------------------------------

/// "<8 x half>" as it stands in the name of an overloaded intrinsic.
inline std::string mangled(std::string type) {
  std::string count;
  if (type[0] == '<') {
    size_t x = type.find(" x ");
    count = "v" + type.substr(1, x - 1);
    type = type.substr(x + 3, type.size() - x - 4);
  }
  return count + (type == "float" ? "f32" : type == "half" ? "f16" : type == "double" ? "f64" : type);
}

struct MatrixModifiers {
  int cbsz = 0, abid = 0, blgp = 0, half = 0, signedA = 0, signedB = 0, clamp = 0;
  int scaleByteA = 0, scaleByteB = 0;
  bool tied = false;
};

/// Place of a format in the numbering of f8f6f4.
inline int formatNumber(const std::string &name) {
  const std::vector<std::string> names{"fp8", "bf8", "fp6", "bf6", "fp4"};
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// IR of a kernel that executes the instruction once: operands of lane l are at l * bytes of their arrays, x and y have
/// one more dword a lane (scales, index).
inline std::string matrixKernel(const MatrixLayoutRow &row, const MatrixModifiers &mods) {
  std::string form = row.form, a = row.typeA, b = row.typeB, c = row.typeC, name = row.name, arguments, types;
  auto number = [](int value) { return std::to_string(value); };
  std::string abc = a + " %va, " + b + " %vb, " + c + " %vc";
  types = a + ", " + b + ", " + c;
  if (form == "mfma") {
    arguments = abc + ", i32 " + number(mods.cbsz) + ", i32 " + number(mods.abid) + ", i32 " + number(mods.blgp);
    types += ", i32, i32, i32";
  } else if (form == "scaled") {
    name += "." + mangled(a) + "." + mangled(b);
    arguments = abc + ", i32 " + number(formatNumber(row.a)) + ", i32 " + number(formatNumber(row.b)) + ", i32 " +
                number(mods.scaleByteA) + ", i32 %vx, i32 " + number(mods.scaleByteB) + ", i32 %vy";
    types += ", i32, i32, i32, i32, i32, i32";
  } else if (form == "sparse") {
    arguments = abc + ", i32 %vx, i32 " + number(mods.cbsz) + ", i32 " + number(mods.abid);
    types += ", i32, i32, i32";
  } else if (form.starts_with("swmmac")) {
    // As many bits of the index as there are places, two each.
    std::string index = "i" + number(2 * row.countA);
    name += "." + mangled(c) + "." + mangled(a) + "." + mangled(b) + "." + index;
    arguments = abc + ", " + index + " %index";
    types += ", " + index;
    if (form == "swmmaciu") {
      arguments = "i1 " + number(mods.signedA) + ", " + a + " %va, i1 " + number(mods.signedB) + ", " + b + " %vb, " +
                  c + " %vc, " + index + " %index, i1 " + number(mods.clamp);
      types = "i1, " + a + ", i1, " + b + ", " + c + ", " + index + ", i1";
    }
  } else {
    if (mods.tied)
      name += ".tied";
    name += "." + mangled(c) + "." + mangled(a);
    arguments = abc;
    if (form == "half") {
      arguments += ", i1 " + number(mods.half);
      types += ", i1";
    } else if (form == "iu") {
      arguments = "i1 " + number(mods.signedA) + ", " + a + " %va, i1 " + number(mods.signedB) + ", " + b + " %vb, " +
                  c + " %vc, i1 " + number(mods.clamp);
      types = "i1, " + a + ", i1, " + b + ", " + c + ", i1";
    }
  }
  auto bytes = [](int count, const char *format) { return std::to_string(count * numberFormat(format).bits / 8); };
  auto load = [&](const std::string &letter, const std::string &type, const std::string &stride) {
    return "  %o" + letter + " = mul i32 %t, " + stride + "\n  %p" + letter +
           " = getelementptr i8, ptr addrspace(1) %" + letter + ", i32 %o" + letter + "\n  %v" + letter + " = load " +
           type + ", ptr addrspace(1) %p" + letter + ", align 4\n";
  };
  std::string narrowIndex;
  if (form.starts_with("swmmac"))
    narrowIndex =
        "  %index = " + (row.countA == 16 ? "add i32 %vx, 0" : "trunc i32 %vx to i" + number(2 * row.countA)) + "\n";
  return "target triple = \"amdgcn-amd-amdhsa\"\n"
         "define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) "
         "%d, ptr addrspace(1) %x, ptr addrspace(1) %y) #0 {\n"
         "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n" +
         load("a", a, bytes(row.countA, row.a)) + load("b", b, bytes(row.countB, row.b)) +
         load("c", c, bytes(row.countC, row.c)) + load("x", "i32", "4") + load("y", "i32", "4") + narrowIndex +
         "  %r = call " + c + " @llvm.amdgcn." + name + "(" + arguments +
         ")\n  %pd = getelementptr i8, ptr addrspace(1) %d, i32 %oc\n  store " + c +
         " %r, ptr addrspace(1) %pd, align 4\n  ret void\n}\n"
         "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare " +
         c + " @llvm.amdgcn." + name + "(" + types + ")\nattributes #0 = { \"target-features\"=\"+wavefrontsize" +
         number(row.lanes) + "\" }\n";
}

/// Matrices as codes, [block][row][column].
struct Matrices {
  std::vector<uint64_t> a, b, c;
};

inline std::string describe(const MatrixLayoutRow &row) {
  return std::string(row.chip) + " " + row.name + " " + row.a + "," + row.b + " wave" + std::to_string(row.lanes);
}

} // namespace tilejit::sim::test

#endif // TILEJIT_TEST_UNIT_SIMULATORAMDMATRIX_H
