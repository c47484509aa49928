// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Matrices between memory and the registers of a warp: ldmatrix, stmatrix, movmatrix with their bank conflicts, whole
// wmma programs, and the quad pairs of Volta's m8n8k4.

#include "SimulatorKernel.h"
#include "SimulatorMatrixCases.h"

#include <cmath>
#include <set>

namespace tilejit::sim::test {

namespace {

const std::string header = R"(
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
@tile = internal addrspace(3) global [4096 x i16] undef, align 128
)";

/// Copies 1024 numbers of 16 bits to shared memory, and gives lane l the address of row l, `rowBytes` apart.
std::string prologue(unsigned rowBytes, const std::string &space = "3") {
  std::string ir = "define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {\n"
                   "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
  for (int i = 0; i < 32; ++i) {
    std::string n = std::to_string(i);
    ir += "  %i" + n + " = add i32 %t, " + std::to_string(i * 32) + "\n  %g" + n +
          " = getelementptr i32, ptr addrspace(1) %in, i32 %i" + n + "\n  %v" + n + " = load i32, ptr addrspace(1) %g" +
          n + "\n  %s" + n + " = getelementptr i32, ptr addrspace(3) @tile, i32 %i" + n + "\n  store i32 %v" + n +
          ", ptr addrspace(3) %s" + n + "\n";
  }
  ir += "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  %o = mul i32 %t, " + std::to_string(rowBytes) +
        "\n  %row = getelementptr i8, ptr addrspace(3) @tile, i32 %o\n";
  if (space == "0")
    ir += "  %generic = addrspacecast ptr addrspace(3) %row to ptr\n";
  return ir;
}

std::string storeResults(unsigned count, const std::string &type) {
  std::string ir = "  %n = mul i32 %t, " + std::to_string(count) + "\n";
  for (unsigned r = 0; r < count; ++r) {
    std::string n = std::to_string(r);
    if (count > 1)
      ir += "  %r" + n + " = extractvalue " + type + " %r, " + n + "\n";
    ir += "  %n" + n + " = add i32 %n, " + n + "\n  %p" + n + " = getelementptr i32, ptr addrspace(1) %out, i32 %n" +
          n + "\n  store i32 " + (count > 1 ? "%r" + n : "%r") + ", ptr addrspace(1) %p" + n + "\n";
  }
  return ir + "  ret void\n}\n";
}

std::string structOf(const std::string &type, unsigned count) {
  if (count == 1)
    return type;
  std::string text = "{" + type;
  for (unsigned i = 1; i < count; ++i)
    text += ", " + type;
  return text + "}";
}

std::vector<uint16_t> numbers(size_t n) {
  std::vector<uint16_t> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = static_cast<uint16_t>(i);
  return values;
}

/// ldmatrix of `count` matrices whose rows are `rowBytes` apart.
std::string loadKernel(unsigned count, bool transposed, unsigned rowBytes, const std::string &space) {
  std::string x = ".x" + std::to_string(count) + (transposed ? ".trans" : "");
  std::string type = structOf("i32", count);
  std::string ir = header + prologue(rowBytes, space);
  if (space == "asm") {
    std::string list = "{", constraints;
    for (unsigned i = 0; i < count; ++i) {
      list += (i ? ", $" : "$") + std::to_string(i);
      constraints += "=r,";
    }
    return ir + "  %r = call " + type + " asm sideeffect \"ldmatrix.sync.aligned.m8n8" + x + ".shared.b16 " + list +
           "}, [$" + std::to_string(count) + "];\", \"" + constraints + "r\"(ptr addrspace(3) %row)\n" +
           storeResults(count, type);
  }
  std::string name = "@llvm.nvvm.ldmatrix.sync.aligned.m8n8" + x + ".b16.p" + space;
  std::string pointer = space == "0" ? "ptr" : "ptr addrspace(3)";
  return ir + "  %r = call " + type + " " + name + "(" + pointer + (space == "0" ? " %generic" : " %row") + ")\n" +
         storeResults(count, type) + "declare " + type + " " + name + "(" + pointer + ")\n";
}

} // namespace

TEST_CASE("ldmatrix gives each lane what the ISA says, and counts bank conflicts", "[simulator][matrix]") {
  for (unsigned count : {1u, 2u, 4u})
    for (bool transposed : {false, true})
      for (const char *space : {"3", "0", "asm"})
        for (unsigned rowBytes : {16u, 48u, 64u}) {
          INFO("x" << count << " trans " << transposed << " space " << space << " rows of " << rowBytes);
          std::string ir = loadKernel(count, transposed, rowBytes, space);
          Machine machine("sm_80", ir);
          auto *in = machine.array(numbers(2048));
          auto *out = machine.output<uint16_t>(64 * count);
          machine.options.siteCounters = true;
          Outcome outcome = machine.run("k", {1, 1, 1}, {32, 1, 1}, in, out);
          REQUIRE(kinds(outcome).empty());
          for (unsigned lane = 0; lane < 32; ++lane)
            for (unsigned i = 0; i < count * 2; ++i) {
              unsigned matrix = i / 2, half = i % 2;
              unsigned row = transposed ? lane % 4 * 2 + half : lane / 4;
              unsigned column = transposed ? lane / 4 : lane % 4 * 2 + half;
              REQUIRE(out[lane * count * 2 + i] == (matrix * 8 + row) * rowBytes / 2 + column);
            }
          // Eight rows of 16 bytes: 64 bytes apart they meet in the same banks four times.
          for (const SiteInfo &site : outcome.sites)
            if (site.text.find("ldmatrix") != std::string::npos && site.counters.instructions) {
              CHECK(site.counters.sharedWavefrontsIdeal == count);
              CHECK(site.counters.sharedWavefronts == count * (rowBytes == 64 ? 4 : 1));
              CHECK(site.counters.bytesShared == count * 128);
            }
        }
}

TEST_CASE("stmatrix is the inverse of ldmatrix", "[simulator][matrix]") {
  for (unsigned count : {1u, 2u, 4u})
    for (bool transposed : {false, true})
      for (bool assembly : {false, true}) {
        std::string x = ".x" + std::to_string(count) + (transposed ? ".trans" : "");
        std::string ir = header + prologue(16), arguments, list, constraints, types;
        for (unsigned i = 0; i < count; ++i) {
          std::string n = std::to_string(i);
          // Register i of lane l holds numbers 2 * (32 i + l) and that plus one.
          arguments += ", i32 %v" + n;
          types += ", i32";
          list += (i ? ", $" : "$") + std::to_string(i + 1);
          constraints += ",r";
        }
        std::string name = "@llvm.nvvm.stmatrix.sync.aligned.m8n8" + x + ".b16.p3";
        if (assembly)
          ir += "  call void asm sideeffect \"stmatrix.sync.aligned.m8n8" + x + ".shared.b16 [$0], {" + list +
                "};\", \"r" + constraints + "\"(ptr addrspace(3) %row" + arguments + ")\n";
        else
          ir += "  call void " + name + "(ptr addrspace(3) %row" + arguments + ")\n";
        ir += "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
        for (unsigned i = 0; i < count; ++i) {
          std::string n = std::to_string(i);
          ir += "  %w" + n + " = load i32, ptr addrspace(3) %s" + n + "\n  %q" + n +
                " = getelementptr i32, ptr addrspace(1) %out, i32 %i" + n + "\n  store i32 %w" + n +
                ", ptr addrspace(1) %q" + n + "\n";
        }
        ir += "  ret void\n}\n";
        if (!assembly)
          ir += "declare void " + name + "(ptr addrspace(3)" + types + ")\n";
        INFO(ir);
        Machine machine("sm_90", ir);
        auto *in = machine.array(numbers(2048));
        auto *out = machine.output<uint16_t>(64 * count);
        REQUIRE(kinds(machine.run("k", {1, 1, 1}, {32, 1, 1}, in, out)).empty());
        for (unsigned matrix = 0; matrix < count; ++matrix)
          for (unsigned row = 0; row < 8; ++row)
            for (unsigned column = 0; column < 8; ++column) {
              unsigned r = transposed ? column : row, c = transposed ? row : column;
              REQUIRE(out[matrix * 64 + row * 8 + column] == matrix * 64 + r * 8 + c);
            }
      }
  Machine old("sm_80", loadKernel(1, false, 16, "3"));
  CHECK(kinds(old.run("k", {1, 1, 1}, {32, 1, 1}, old.array(numbers(2048)), old.output<uint16_t>(64))).empty());
}

TEST_CASE("movmatrix transposes across the warp", "[simulator][matrix]") {
  std::string ir = header + prologue(16) +
                   "  %r = call i32 asm \"movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;\", \"=r,r\"(i32 %v0)\n" +
                   storeResults(1, "i32");
  Machine machine("sm_75", ir);
  auto *in = machine.array(numbers(2048));
  auto *out = machine.output<uint16_t>(64);
  REQUIRE(kinds(machine.run("k", {1, 1, 1}, {32, 1, 1}, in, out)).empty());
  for (unsigned row = 0; row < 8; ++row)
    for (unsigned column = 0; column < 8; ++column)
      REQUIRE(out[row * 8 + column] == column * 8 + row);
}

TEST_CASE("wrong addresses of matrices are reported", "[simulator][matrix]") {
  auto reports = [](unsigned rowBytes) {
    Machine machine("sm_80", loadKernel(4, false, rowBytes, "3"));
    auto *in = machine.array(numbers(2048));
    return kinds(machine.run("k", {1, 1, 1}, {32, 1, 1}, in, machine.output<uint16_t>(256)));
  };
  CHECK(reports(24) == "misaligned");
  CHECK(reports(240).find("uninitialized") != std::string::npos);
  CHECK(reports(512).find("bounds") != std::string::npos);
}

// --- wmma -----------------------------------------------------------------------------------------------------------

namespace {

struct Wmma {
  std::string shape;
  int m, n, k;
  std::string a, c; ///< Types of A and B, of C and D.
  std::string flag = {};
};

/// Registers of a fragment, as the intrinsics have them.
struct WmmaRegisters {
  std::string type;
  unsigned count;
};
WmmaRegisters wmmaRegisters(const std::string &type, int rows, int columns, bool operand) {
  const ElementType &element = elementType(type);
  if (type == "f16")
    return {"<2 x half>", operand ? 8u : static_cast<unsigned>(rows * columns / 64)};
  auto elements = static_cast<unsigned>(rows * columns / 32);
  if (type == "f32")
    return {"float", elements};
  if (type == "f64")
    return {"double", elements};
  return {"i32", elements * static_cast<unsigned>(element.bits) / 32};
}

std::string letterOf(const std::string &type) { return type == "float" ? "f" : type == "double" ? "d" : "r"; }

/// Loads a fragment: %NAME, a struct or a scalar.
std::string loadFragment(const Wmma &w, char name, const std::string &type, const std::string &layout, int stride,
                         const WmmaRegisters &regs, std::string &declarations, bool assembly) {
  std::string all = structOf(regs.type, regs.count), n(1, name);
  if (assembly) {
    std::string list, constraints;
    for (unsigned i = 0; i < regs.count; ++i) {
      list += (i ? ", $" : "$") + std::to_string(i);
      constraints += "=" + letterOf(regs.type) + ",";
    }
    return "  %" + n + "f = call " + all + " asm sideeffect \"wmma.load." + n + ".sync.aligned." + layout + "." +
           w.shape + ".global." + type + " {" + list + "}, [$" + std::to_string(regs.count) + "], $" +
           std::to_string(regs.count + 1) + ";\", \"" + constraints + "l,r\"(ptr addrspace(1) %" + n + ", i32 " +
           std::to_string(stride) + ")\n";
  }
  std::string intrinsic = "@llvm.nvvm.wmma." + w.shape + ".load." + n + "." + layout + ".stride." + type + ".p1";
  declarations += "declare " + all + " " + intrinsic + "(ptr addrspace(1), i32)\n";
  return "  %" + n + "f = call " + all + " " + intrinsic + "(ptr addrspace(1) %" + n + ", i32 " +
         std::to_string(stride) + ")\n";
}

/// The scalars of a fragment as arguments.
std::string unpack(std::string &ir, char name, const WmmaRegisters &regs) {
  std::string arguments, n(1, name);
  for (unsigned i = 0; i < regs.count; ++i) {
    std::string v = "%" + n + "f" + (regs.count > 1 ? std::to_string(i) : "");
    if (regs.count > 1)
      ir +=
          "  " + v + " = extractvalue " + structOf(regs.type, regs.count) + " %" + n + "f, " + std::to_string(i) + "\n";
    arguments += ", " + regs.type + " " + v;
  }
  return arguments;
}

struct Layouts {
  std::string a, b, c;
  int strideA, strideB, strideC;
};

std::string types(const std::string &arguments) {
  std::string text;
  for (size_t i = 0; i < arguments.size();) {
    size_t end = arguments.find(" %", i);
    text += arguments.substr(i, end - i);
    i = arguments.find(',', end) == std::string::npos ? arguments.size() : arguments.find(',', end);
  }
  return text.substr(2);
}

std::string wmmaKernel(const Wmma &w, const Layouts &layouts, bool assembly) {
  WmmaRegisters a = wmmaRegisters(w.a, w.m, w.k, true), b = wmmaRegisters(w.a, w.k, w.n, true);
  WmmaRegisters c = wmmaRegisters(w.c, w.m, w.n, false);
  if (assembly)
    for (WmmaRegisters *regs : {&a, &b, &c})
      if (regs->type == "<2 x half>")
        regs->type = "i32";
  std::string declarations, ir = "target triple = \"nvptx64-nvidia-cuda\"\n"
                                 "define ptx_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, "
                                 "ptr addrspace(1) %c, ptr addrspace(1) %d) {\n";
  ir += loadFragment(w, 'a', w.a, layouts.a, layouts.strideA, a, declarations, assembly);
  ir += loadFragment(w, 'b', w.a, layouts.b, layouts.strideB, b, declarations, assembly);
  ir += loadFragment(w, 'c', w.c, layouts.c, layouts.strideC, c, declarations, assembly);
  std::string arguments = unpack(ir, 'a', a) + unpack(ir, 'b', b) + unpack(ir, 'c', c), all = structOf(c.type, c.count);
  bool isBit = w.a == "b1";
  std::string name = w.a == "f16" ? "." + w.c + "." + w.c : "." + w.a;
  if (assembly) {
    unsigned next = 0;
    std::string groups, constraints;
    for (const WmmaRegisters *regs : {&c, &a, &b, &c}) {
      groups += next ? ", {" : "{";
      for (unsigned i = 0; i < regs->count; ++i) {
        groups += (i ? ", $" : "$") + std::to_string(next);
        constraints += (next ? "," : "") + std::string(next < c.count ? "=" : "") + letterOf(regs->type);
        ++next;
      }
      groups += "}";
    }
    std::string typeNames = w.a == "f16" ? w.c + "." + w.c : w.c + "." + w.a + "." + w.a + "." + w.c;
    ir += "  %df = call " + all + " asm sideeffect \"wmma.mma" + (isBit ? "." + w.flag + ".popc" : "") +
          ".sync.aligned." + layouts.a + "." + layouts.b + "." + w.shape + "." + typeNames +
          (w.flag == "satfinite" ? ".satfinite" : "") + " " + groups + ";\", \"" + constraints + "\"(" +
          arguments.substr(2) + ")\n";
  } else {
    std::string intrinsic = "@llvm.nvvm.wmma." + w.shape + ".mma" + (isBit ? "." + w.flag + ".popc" : "") + "." +
                            layouts.a + "." + layouts.b + name + (w.flag == "satfinite" ? ".satfinite" : "");
    ir += "  %df = call " + all + " " + intrinsic + "(" + arguments.substr(2) + ")\n";
    declarations += "declare " + all + " " + intrinsic + "(" + types(arguments) + ")\n";
  }
  std::string stored = unpack(ir, 'd', c);
  if (assembly) {
    std::string list, constraints;
    for (unsigned i = 0; i < c.count; ++i) {
      list += (i ? ", $" : "$") + std::to_string(i + 1);
      constraints += "," + letterOf(c.type);
    }
    ir += "  call void asm sideeffect \"wmma.store.d.sync.aligned." + layouts.c + "." + w.shape + ".global." + w.c +
          " [$0], {" + list + "}, $" + std::to_string(c.count + 1) + ";\", \"l" + constraints +
          ",r\"(ptr addrspace(1) %d" + stored + ", i32 " + std::to_string(layouts.strideC) + ")\n";
  } else {
    std::string intrinsic = "@llvm.nvvm.wmma." + w.shape + ".store.d." + layouts.c + ".stride." + w.c + ".p1";
    ir += "  call void " + intrinsic + "(ptr addrspace(1) %d" + stored + ", i32 " + std::to_string(layouts.strideC) +
          ")\n";
    declarations += "declare void " + intrinsic + "(ptr addrspace(1), " + types(stored) + ", i32)\n";
  }
  return ir + "  ret void\n}\n" + declarations;
}

/// A matrix in memory: lines `stride` elements apart.
std::vector<uint8_t> inMemory(const std::vector<double> &matrix, int rows, int columns, bool rowMajor, int stride,
                              const ElementType &type) {
  int lines = rowMajor ? rows : columns;
  std::vector<uint8_t> bytes(static_cast<size_t>(lines * stride * type.bits / 8 + 8));
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      auto bit = static_cast<size_t>((rowMajor ? row * stride + column : column * stride + row) * type.bits);
      uint64_t code = type.encode(matrix[static_cast<size_t>(row * columns + column)]);
      if (type.bits < 8)
        bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] | code << bit % 8);
      else
        std::memcpy(bytes.data() + bit / 8, &code, static_cast<size_t>(type.bits / 8));
    }
  return bytes;
}

void runWmma(const Wmma &w, const std::string &a, const std::string &b, const std::string &c, bool assembly) {
  int bits = elementType(w.a).bits, unit = 128 / std::min(bits, 128);
  auto strideOf = [&](bool row, int rows, int columns, int pad) { return (row ? columns : rows) + pad; };
  Layouts layouts{a, b, c, 0, 0, 0};
  auto padded = [](int length, int to) { return (length + to - 1) / to * to + to; };
  layouts.strideA = padded(strideOf(a == "row", w.m, w.k, 0), unit);
  layouts.strideB = padded(strideOf(b == "row", w.k, w.n, 0), unit);
  layouts.strideC = padded(strideOf(c == "row", w.m, w.n, 0), 8);
  std::string ir = wmmaKernel(w, layouts, assembly);
  INFO(ir);
  std::mt19937 random(11);
  const ElementType &typeA = elementType(w.a), &typeC = elementType(w.c);
  auto make = [&](int size, const ElementType &type) {
    std::vector<double> matrix(static_cast<size_t>(size));
    for (double &v : matrix)
      v = type.name == "s32" ? static_cast<double>(static_cast<int>(random() % 2001) - 1000)
                             : type.random(random, true);
    return matrix;
  };
  std::vector<double> ma = make(w.m * w.k, typeA), mb = make(w.k * w.n, typeA), mc = make(w.m * w.n, typeC);
  Machine machine("sm_80", ir);
  auto *da = machine.array(inMemory(ma, w.m, w.k, a == "row", layouts.strideA, typeA));
  auto *db = machine.array(inMemory(mb, w.k, w.n, b == "row", layouts.strideB, typeA));
  auto *dc = machine.array(inMemory(mc, w.m, w.n, c == "row", layouts.strideC, typeC));
  auto *dd = machine.array(
      std::vector<uint8_t>(static_cast<size_t>((c == "row" ? w.m : w.n) * layouts.strideC * typeC.bits / 8 + 8), 0xee));
  Outcome outcome = machine.run("k", {1, 1, 1}, {32, 1, 1}, da, db, dc, dd);
  REQUIRE(kinds(outcome).empty());
  for (int row = 0; row < w.m; ++row)
    for (int column = 0; column < w.n; ++column) {
      double sum = mc[static_cast<size_t>(row * w.n + column)];
      for (int k = 0; k < w.k; ++k) {
        double x = ma[static_cast<size_t>(row * w.k + k)], y = mb[static_cast<size_t>(k * w.n + column)];
        sum += w.a != "b1" ? x * y : w.flag == "xor" ? double(x != y) : double(x != 0 && y != 0);
      }
      uint64_t code = 0;
      int index = c == "row" ? row * layouts.strideC + column : column * layouts.strideC + row;
      std::memcpy(&code, dd + index * typeC.bits / 8, static_cast<size_t>(typeC.bits / 8));
      INFO("row " << row << " column " << column);
      REQUIRE(typeC.decode(code) == sum);
    }
}

} // namespace

TEST_CASE("wmma loads, multiplies and stores in every layout", "[simulator][matrix]") {
  std::vector<Wmma> cases;
  struct Shape {
    const char *name;
    int m, n;
  };
  for (const Shape &s : {Shape{"m16n16k16", 16, 16}, Shape{"m32n8k16", 32, 8}, Shape{"m8n32k16", 8, 32}}) {
    cases.push_back({s.name, s.m, s.n, 16, "f16", "f32"});
    cases.push_back({s.name, s.m, s.n, 16, "f16", "f16"});
    cases.push_back({s.name, s.m, s.n, 16, "bf16", "f32"});
    cases.push_back({s.name, s.m, s.n, 16, "s8", "s32"});
    cases.push_back({s.name, s.m, s.n, 16, "u8", "s32", "satfinite"});
  }
  cases.push_back({"m16n16k8", 16, 16, 8, "tf32", "f32"});
  cases.push_back({"m8n8k4", 8, 8, 4, "f64", "f64"});
  for (const Wmma &w : cases)
    for (const char *a : {"row", "col"})
      for (const char *b : {"row", "col"})
        for (const char *c : {"row", "col"})
          runWmma(w, a, b, c, false);
  for (const Wmma &w : cases)
    runWmma(w, "row", "col", "row", true);
  for (const char *type : {"s4", "u4"})
    for (bool assembly : {false, true})
      runWmma({"m8n8k32", 8, 8, 32, type, "s32"}, "row", "col", "row", assembly);
  for (const char *flag : {"xor", "and"})
    for (bool assembly : {false, true})
      runWmma({"m8n8k128", 8, 8, 128, "b1", "s32", flag}, "row", "col", "col", assembly);
}

TEST_CASE("m8n8k4 of f16 multiplies in each quad pair", "[simulator][matrix]") {
  // Lanes of pair q: 4q to 4q + 3 and the same plus 16; formulas of the ISA for each layout.
  for (const char *layoutA : {"row", "col"})
    for (const char *layoutB : {"row", "col"})
      for (const char *accumulator : {"f32", "f16"}) {
        bool rowA = std::string(layoutA) == "row", rowB = std::string(layoutB) == "row", wide = accumulator[1] == '3';
        std::string type = wide ? "float" : "<2 x half>", results = structOf(type, wide ? 8 : 4);
        std::string name =
            std::string("@llvm.nvvm.mma.m8n8k4.") + layoutA + "." + layoutB + "." + accumulator + "." + accumulator;
        std::string ir = "target triple = \"nvptx64-nvidia-cuda\"\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                         "define ptx_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %d) {\n"
                         "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
        std::string arguments, declared;
        for (const char *m : {"a", "b"})
          for (const char *r : {"0", "1"}) {
            std::string v = std::string(m) + r;
            ir += "  %x" + v + " = shl i32 %t, 1\n  %y" + v + " = add i32 %x" + v + ", " + r + "\n  %p" + v +
                  " = getelementptr <2 x half>, ptr addrspace(1) %" + m + ", i32 %y" + v + "\n  %" + v +
                  " = load <2 x half>, ptr addrspace(1) %p" + v + ", align 4\n";
            arguments += "<2 x half> %" + v + ", ";
            declared += "<2 x half>, ";
          }
        for (unsigned i = 0; i < (wide ? 8u : 4u); ++i) {
          arguments += (i ? ", " : "") + type + " zeroinitializer";
          declared += (i ? ", " : "") + type;
        }
        ir += "  %r = call " + results + " " + name + "(" + arguments + ")\n  %q = mul i32 %t, " + (wide ? "8" : "4") +
              "\n";
        for (unsigned i = 0; i < (wide ? 8u : 4u); ++i) {
          std::string n = std::to_string(i);
          ir += "  %e" + n + " = extractvalue " + results + " %r, " + n + "\n  %i" + n + " = add i32 %q, " + n +
                "\n  %o" + n + " = getelementptr " + type + ", ptr addrspace(1) %d, i32 %i" + n + "\n  store " + type +
                " %e" + n + ", ptr addrspace(1) %o" + n + ", align 4\n";
        }
        ir += "  ret void\n}\ndeclare " + results + " " + name + "(" + declared + ")\n";
        INFO(ir);
        std::mt19937 random(3);
        const ElementType &half = elementType("f16"), &sum = elementType(accumulator);
        double a[4][8][4], b[4][4][8];
        std::vector<uint16_t> inA(128), inB(128);
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 4; ++i) {
            int q = lane % 16 / 4, high = lane < 16 ? 0 : 4, own = lane % 4;
            double x = half.random(random, true), y = half.random(random, true);
            (rowA ? a[q][own + high][i] : a[q][i + high][own]) = x;
            (rowB ? b[q][own][i + high] : b[q][i][own + high]) = y;
            inA[static_cast<size_t>(lane * 4 + i)] = static_cast<uint16_t>(half.encode(x));
            inB[static_cast<size_t>(lane * 4 + i)] = static_cast<uint16_t>(half.encode(y));
          }
        Machine machine("sm_75", ir);
        auto *pa = machine.array(inA);
        auto *pb = machine.array(inB);
        auto *pd = machine.output<uint8_t>(static_cast<size_t>(32 * 8 * sum.bits / 8));
        REQUIRE(kinds(machine.run("k", {1, 1, 1}, {32, 1, 1}, pa, pb, pd)).empty());
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 8; ++i) {
            int q = lane % 16 / 4, high = lane < 16 ? 0 : 4;
            int row = (wide ? (lane & 1) + (i & 2) : lane % 4) + high;
            int column = wide ? (i & 4) + (lane & 2) + (i & 1) : i;
            double expected = 0;
            for (int k = 0; k < 4; ++k)
              expected += a[q][row][k] * b[q][k][column];
            uint64_t code = 0;
            std::memcpy(&code, pd + (lane * 8 + i) * sum.bits / 8, static_cast<size_t>(sum.bits / 8));
            INFO("lane " << lane << " element " << i);
            REQUIRE(sum.decode(code) == expected);
          }
      }
}

} // namespace tilejit::sim::test
