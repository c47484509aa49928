// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Every matrix instruction of NVIDIA's warps, as intrinsic and as assembly, on random matrices: integers exactly, reals
// within the rounding of the sums. Where elements stand is taken from SimulatorMatrixCases.h.

#include "SimulatorKernel.h"
#include "SimulatorMatrixCases.h"

#include <cmath>
#include <limits>

namespace tilejit::sim::test {

namespace {

/// One instruction to run.
struct Instruction {
  std::string intrinsic, assembly;
  ShapeCase shape;
  std::string a, b, c, d; ///< Types.
  bool saturate = false, isXor = false, isSparse = false;
  int selector = 0;
};

/// How an operand's registers look in IR: type, and how many a lane has.
struct Registers {
  std::string type;
  int count, bytes;
};

Registers registersOf(const std::string &type, int elements, bool assembly) {
  const ElementType &element = elementType(type);
  if (element.bits == 64)
    return {"double", elements, 8};
  if (type == "f32")
    return {"float", elements, 4};
  int count = elements * element.bits / 32;
  bool halves = type == "f16" && !assembly;
  return {halves ? "<2 x half>" : "i32", count, 4};
}

std::string repeat(const std::string &text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += (i ? ", " : "") + text;
  return all;
}

/// Loads the registers of an operand from `pointer`; gives "T %a0, T %a1".
std::string loads(std::string &ir, char name, const Registers &regs) {
  std::string arguments;
  for (int r = 0; r < regs.count; ++r) {
    std::string v = std::string(1, name) + std::to_string(r);
    ir += "  %i" + v + " = add i32 " + "%n" + name + ", " + std::to_string(r) + "\n";
    ir += "  %p" + v + " = getelementptr " + regs.type + ", ptr addrspace(1) %" + name + ", i32 %i" + v + "\n";
    ir += "  %" + v + " = load " + regs.type + ", ptr addrspace(1) %p" + v + ", align " + std::to_string(regs.bytes) +
          "\n";
    arguments += ", " + regs.type + " %" + v;
  }
  return arguments;
}

std::string results(const Registers &d) { return d.count == 1 ? d.type : "{" + repeat(d.type, d.count) + "}"; }

std::string stores(const Registers &d) {
  std::string ir;
  for (int r = 0; r < d.count; ++r) {
    std::string v = std::to_string(r);
    if (d.count > 1)
      ir += "  %d" + v + " = extractvalue " + results(d) + " %r, " + v + "\n";
    ir += "  %id" + v + " = add i32 %nd, " + v + "\n";
    ir += "  %pd" + v + " = getelementptr " + d.type + ", ptr addrspace(1) %d, i32 %id" + v + "\n";
    ir += "  store " + d.type + (d.count > 1 ? " %d" + v : " %r") + ", ptr addrspace(1) %pd" + v + ", align " +
          std::to_string(d.bytes) + "\n";
  }
  return ir;
}

/// "{$4, $5}" of `count` operands from `first` on.
std::string group(int &first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first++);
  return text + "}";
}

std::string letter(const Registers &regs) { return regs.type == "float" ? "f" : regs.type == "double" ? "d" : "r"; }

std::string makeKernel(const Instruction &in, bool assembly) {
  Registers a = registersOf(in.a, in.shape.elementsA, assembly), b = registersOf(in.b, in.shape.elementsB, assembly);
  Registers c = registersOf(in.c, in.shape.elementsC, assembly), d = registersOf(in.d, in.shape.elementsC, assembly);
  std::string ir = "target triple = \"nvptx64-nvidia-cuda\"\n"
                   "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                   "define ptx_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, "
                   "ptr addrspace(1) %d, ptr addrspace(1) %e) {\n"
                   "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
  const Registers *all[] = {&a, &b, &c, &d};
  for (int i = 0; i < 4; ++i)
    ir += std::string("  %n") + "abcd"[i] + " = mul i32 %t, " + std::to_string(all[i]->count) + "\n";
  std::string arguments = loads(ir, 'a', a) + loads(ir, 'b', b) + loads(ir, 'c', c);
  if (in.isSparse) {
    ir += "  %pe = getelementptr i32, ptr addrspace(1) %e, i32 %t\n  %e0 = load i32, ptr addrspace(1) %pe\n";
    arguments += ", i32 %e0";
    if (!assembly)
      arguments += ", i32 " + std::to_string(in.selector);
  }
  arguments = arguments.substr(2);
  std::string types = repeat(a.type, a.count) + ", " + repeat(b.type, b.count) + ", " + repeat(c.type, c.count);
  if (!assembly) {
    ir += "  %r = call " + results(d) + " @" + in.intrinsic + "(" + arguments + ")\n";
  } else {
    int next = 0;
    std::string text = in.assembly + " ";
    for (const Registers *regs : {&d, &a, &b, &c})
      text += (regs == &d ? "" : ", ") + group(next, regs->count);
    if (in.isSparse)
      text += ", $" + std::to_string(next) + ", " + std::to_string(in.selector);
    std::string constraints = repeat("=" + letter(d), d.count) + ", " + repeat(letter(a), a.count) + ", " +
                              repeat(letter(b), b.count) + ", " + repeat(letter(c), c.count) +
                              (in.isSparse ? ", r" : "");
    std::erase(constraints, ' ');
    ir += "  %r = call " + results(d) + " asm \"" + text + ";\", \"" + constraints + "\"(" + arguments + ")\n";
  }
  ir += stores(d) + "  ret void\n}\n";
  if (!assembly)
    ir +=
        "declare " + results(d) + " @" + in.intrinsic + "(" + types + (in.isSparse ? ", i32, i32 immarg" : "") + ")\n";
  return ir;
}

std::vector<double> randomMatrix(std::mt19937 &random, int size, const ElementType &type, bool integers) {
  std::vector<double> matrix(static_cast<size_t>(size));
  for (double &v : matrix)
    v = type.random(random, integers);
  return matrix;
}

/// A with zeros, and the metadata that say where its elements are: see "Sparse matrix storage" in the PTX ISA.
struct SparseMatrix {
  std::vector<double> dense;
  std::vector<uint32_t> metadata; ///< Of each lane.
};

SparseMatrix expandSparse(std::mt19937 &random, const Instruction &in, const std::vector<double> &half) {
  const ShapeCase &shape = in.shape;
  int bits = elementType(in.a).bits;
  int perChunk = bits == 32 ? 2 : bits == 4 ? 8 : 4, chunks = shape.k / perChunk;
  SparseMatrix result;
  result.dense.assign(static_cast<size_t>(shape.m * shape.k), 0);
  result.metadata.assign(32, 0xffffffff); // Lanes that are not selected must not matter.
  std::vector<bool> begun(32);
  for (int row = 0; row < 16; ++row)
    for (int chunk = 0; chunk < chunks; ++chunk) {
      uint32_t first = random() % 3, second = first + 1 + random() % (3 - first);
      if (bits == 32) {
        first = random() % 2 * 2; // 0b0100 or 0b1110.
        second = first + 1;
      }
      for (int i = 0; i < perChunk / 2; ++i) {
        int at = bits == 32  ? static_cast<int>(first) / 2
                 : bits == 4 ? static_cast<int>(i < 2 ? first : second) * 2 + i % 2
                             : static_cast<int>(i ? second : first);
        result.dense[static_cast<size_t>(row * shape.k + chunk * perChunk + at)] =
            half[static_cast<size_t>(row * shape.k / 2 + chunk * perChunk / 2 + i)];
      }
      // 16 and 32 bits: 16 bits of row g, then of row g + 8, in a lane. Narrower: even lanes row g, odd ones g + 8.
      int quad = row % 8 * 4, lane = 0, bit = 0;
      if (bits >= 16) {
        lane = quad + in.selector * (chunks / 4) + chunk / 4;
        bit = row / 8 * 16 + chunk % 4 * 4;
      } else {
        lane = quad + in.selector * (chunks / 4) + chunk / 8 * 2 + row / 8;
        bit = chunk % 8 * 4;
      }
      auto index = static_cast<size_t>(lane);
      if (!begun[index])
        result.metadata[index] = 0;
      begun[index] = true;
      result.metadata[index] |= (first | second << 2) << bit;
    }
  return result;
}

/// What D must be, and how far from it may be.
struct Wanted {
  double value, error;
};

Wanted wantedAt(const Instruction &in, const std::vector<double> &a, const std::vector<double> &b, double c, int row,
                int column) {
  double sum = c, size = std::abs(c);
  for (int k = 0; k < in.shape.k; ++k) {
    double x = a[static_cast<size_t>(row * in.shape.k + k)], y = b[static_cast<size_t>(k * in.shape.n + column)];
    double product = in.a != "b1" ? x * y : in.isXor ? double(x != y) : double(x != 0 && y != 0);
    sum += product;
    size += std::abs(product);
  }
  if (in.d == "s32") {
    constexpr double most = std::numeric_limits<int32_t>::max(), least = std::numeric_limits<int32_t>::min();
    double wrapped = static_cast<double>(static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(sum))));
    return {in.saturate ? std::min(std::max(sum, least), most) : wrapped, 0};
  }
  // Each of k sums is rounded to half a unit in the last place; the reference itself in f64.
  double unit = in.d == "f64" ? 0x1p-53 : 0x1p-24;
  double error = in.shape.k * unit * size * 1.01 + (in.d == "f64" ? in.shape.k * 0x1p-53 * size : 0);
  if (in.d == "f16")
    error += 0x1p-11 * (std::abs(sum) + error) + 0x1p-25;
  return {sum, error};
}

void runInstruction(const Instruction &in, bool assembly, bool integers) {
  INFO((assembly ? in.assembly : in.intrinsic) << (integers ? " of integers" : " of reals"));
  std::mt19937 random(7);
  const ShapeCase &shape = in.shape;
  const ElementType &typeA = elementType(in.a), &typeB = elementType(in.b), &typeC = elementType(in.c);
  int columnsA = in.isSparse ? shape.k / 2 : shape.k;
  std::vector<double> a = randomMatrix(random, shape.m * columnsA, typeA, integers);
  std::vector<double> b = randomMatrix(random, shape.k * shape.n, typeB, integers);
  std::vector<double> c = randomMatrix(random, shape.m * shape.n, typeC, integers);
  std::vector<uint8_t> bytesA = toRegisters(a, columnsA, shape.a, shape.elementsA, typeA);
  std::vector<uint32_t> metadata(32);
  if (in.isSparse) {
    SparseMatrix whole = expandSparse(random, in, a);
    a = whole.dense;
    metadata = whole.metadata;
  }
  Machine machine(shape.chip, makeKernel(in, assembly));
  auto *deviceA = machine.array(bytesA);
  auto *deviceB = machine.array(toRegisters(b, shape.n, shape.b, shape.elementsB, typeB));
  auto *deviceC = machine.array(toRegisters(c, shape.n, shape.c, shape.elementsC, typeC));
  auto *deviceE = machine.array(metadata);
  const ElementType &typeD = elementType(in.d);
  auto *deviceD = machine.output<uint8_t>(static_cast<size_t>(32 * shape.elementsC * typeD.bits / 8));
  Outcome outcome = machine.run("k", {1, 1, 1}, {32, 1, 1}, deviceA, deviceB, deviceC, deviceD, deviceE);
  REQUIRE(kinds(outcome).empty());
  CHECK(outcome.counters.matrixInstructions == 1);
  std::vector<double> d = fromRegisters(deviceD, shape.m, shape.n, shape.c, shape.elementsC, typeD);
  for (int row = 0; row < shape.m; ++row)
    for (int column = 0; column < shape.n; ++column) {
      auto at = static_cast<size_t>(row * shape.n + column);
      Wanted expected = wantedAt(in, a, b, c[at], row, column);
      INFO("row " << row << " column " << column << ": " << d[at] << " for " << expected.value);
      REQUIRE(std::abs(d[at] - expected.value) <= (integers ? 0 : expected.error));
    }
}

void runAll(const Instruction &in) {
  bool real = elementType(in.a).isReal();
  for (bool assembly : {false, true}) {
    runInstruction(in, assembly, true);
    if (real)
      runInstruction(in, assembly, false);
  }
}

std::string dots(std::initializer_list<std::string> words) {
  std::string text;
  for (const std::string &word : words)
    if (!word.empty())
      text += (text.empty() ? "" : ".") + word;
  return text;
}

/// Names of a product: which types the intrinsic names differs by family.
Instruction product(const ShapeCase &shape, const std::string &a, const std::string &b, const std::string &c,
                    const std::string &d, const std::string &flag = "") {
  Instruction in;
  in.shape = shape;
  in.a = a;
  in.b = b;
  in.c = c;
  in.d = d;
  in.saturate = flag == "satfinite";
  in.isXor = flag == "xor";
  bool isBit = a == "b1";
  std::string types = a == "f16"                                               ? d + "." + c
                      : c == "s32" || a == "bf16" || a == "tf32" || a == "f64" ? (a == b ? a : a + "." + b)
                                                                               : dots({d, a, b, c});
  in.intrinsic = dots({"llvm.nvvm.mma", isBit ? flag + ".popc" : "", shape.shape, "row.col", isBit ? "" : flag, types});
  in.assembly =
      dots({"mma.sync.aligned", shape.shape, "row.col", isBit ? "" : flag, d, a, b, c, isBit ? flag + ".popc" : ""});
  return in;
}

Instruction sparseProduct(const ShapeCase &shape, const std::string &a, const std::string &b, const std::string &c,
                          const std::string &d, int selector, bool ordered) {
  Instruction in = product(shape, a, b, c, d);
  in.isSparse = true;
  in.selector = selector;
  in.intrinsic.replace(0, std::string("llvm.nvvm.mma").size(),
                       ordered ? "llvm.nvvm.mma.sp.ordered.metadata" : "llvm.nvvm.mma.sp");
  in.assembly.replace(0, 3, ordered ? "mma.sp::ordered_metadata" : "mma.sp");
  return in;
}

} // namespace

TEST_CASE("mma of f16 has the ISA's fragments and exact products", "[simulator][matrix]") {
  for (const ShapeCase &shape : denseShapes("f16"))
    for (const char *accumulator : {"f32", "f16"})
      runAll(product(shape, "f16", "f16", accumulator, accumulator));
}

TEST_CASE("mma of bf16, tf32 and f64", "[simulator][matrix]") {
  for (const char *type : {"bf16", "tf32"})
    for (const ShapeCase &shape : denseShapes(type))
      runAll(product(shape, type, type, "f32", "f32"));
  for (const ShapeCase &shape : denseShapes("f64"))
    runAll(product(shape, "f64", "f64", "f64", "f64"));
}

TEST_CASE("mma of 8-bit floating-point numbers", "[simulator][matrix]") {
  for (const ShapeCase &shape : denseShapes("fp8"))
    for (const char *a : {"e4m3", "e5m2"})
      for (const char *b : {"e4m3", "e5m2"})
        for (const char *accumulator : {"f32", "f16"})
          runAll(product(shape, a, b, accumulator, accumulator));
}

TEST_CASE("mma of integers wraps or saturates", "[simulator][matrix]") {
  for (const char *flag : {"", "satfinite"}) {
    for (const ShapeCase &shape : denseShapes("int8"))
      for (const char *a : {"s8", "u8"})
        for (const char *b : {"s8", "u8"})
          runAll(product(shape, a, b, "s32", "s32", flag));
    for (const ShapeCase &shape : denseShapes("int4"))
      for (const char *a : {"s4", "u4"})
        for (const char *b : {"s4", "u4"})
          runAll(product(shape, a, b, "s32", "s32", flag));
  }
}

TEST_CASE("mma of single bits counts differences or common ones", "[simulator][matrix]") {
  for (const ShapeCase &shape : denseShapes("b1"))
    for (const char *operation : {"xor", "and"})
      runAll(product(shape, "b1", "b1", "s32", "s32", operation));
}

TEST_CASE("sparse mma takes the elements that the metadata name", "[simulator][matrix]") {
  auto all = [](const ShapeCase &shape, const char *a, const char *b, const char *c, int bits) {
    int chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4, selectors = 16 * chunk / shape.k;
    for (int selector = 0; selector < selectors; ++selector)
      runAll(sparseProduct(shape, a, b, c, c, selector, selector % 2 == 1));
  };
  for (const ShapeCase &shape : sparseShapes("f16")) {
    all(shape, "f16", "f16", "f32", 16);
    all(shape, "f16", "f16", "f16", 16);
  }
  for (const ShapeCase &shape : sparseShapes("bf16"))
    all(shape, "bf16", "bf16", "f32", 16);
  for (const ShapeCase &shape : sparseShapes("tf32"))
    all(shape, "tf32", "tf32", "f32", 32);
  for (const ShapeCase &shape : sparseShapes("fp8"))
    all(shape, "e4m3", "e5m2", "f32", 8);
  for (const ShapeCase &shape : sparseShapes("int8"))
    all(shape, "s8", "u8", "s32", 8);
  for (const ShapeCase &shape : sparseShapes("int4"))
    all(shape, "u4", "s4", "s32", 4);
}

TEST_CASE("an instruction that the chip lacks is refused by name", "[simulator][matrix]") {
  for (const char *types : {"f16", "bf16", "tf32", "f64", "int8", "int4", "b1"})
    for (const ShapeCase &shape : denseShapes(types)) {
      if (shape.before.empty())
        continue;
      std::string a = std::string(types) == "int8" ? "s8" : std::string(types) == "int4" ? "s4" : types;
      std::string c = a == "f64" ? "f64" : elementType(a).isReal() ? "f32" : "s32";
      Instruction in = product(shape, a, a, c, c, a == "b1" ? "xor" : "");
      for (bool assembly : {false, true}) {
        Machine machine(shape.before, makeKernel(in, assembly));
        void *none = nullptr;
        auto outcome = machine.tryRun("k", {1, 1, 1}, {32, 1, 1}, none, none, none, none, none);
        REQUIRE(!outcome.isOk());
        INFO(outcome.status().message());
        std::string message = outcome.status().message();
        CHECK(message.find(shape.before) != std::string::npos);
        CHECK(message.find(assembly ? in.assembly : in.intrinsic) != std::string::npos);
      }
    }
}

TEST_CASE("an mma by half a warp is reported", "[simulator][matrix]") {
  Instruction in = product(denseShapes("f16")[1], "f16", "f16", "f32", "f32");
  Machine machine("sm_80", makeKernel(in, true));
  std::vector<uint8_t> zeros(4096);
  auto *a = machine.array(zeros), *b = machine.array(zeros), *c = machine.array(zeros), *d = machine.array(zeros);
  void *none = nullptr;
  CHECK(kinds(machine.run("k", {1, 1, 1}, {16, 1, 1}, a, b, c, d, none)) == "divergence");
}

} // namespace tilejit::sim::test
