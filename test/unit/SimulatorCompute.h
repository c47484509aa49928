// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tests of instructions that compute: a kernel of one expression is made around a piece of IR and run on arrays, one
// element a thread. The piece finds its operands in %a, %b, %c, %e and leaves its result in %r.

#ifndef TILEJIT_TEST_UNIT_SIMULATORCOMPUTE_H
#define TILEJIT_TEST_UNIT_SIMULATORCOMPUTE_H

#include "SimulatorKernel.h"

#include <cmath>
#include <random>

namespace tilejit::sim::test {

/// What a test array of C++ holds, in LLVM's types: its name, and how many bytes.
struct Column {
  std::string type;
  const void *data = nullptr;
  size_t count = 0, bytes = 0;
};
template <class T> Column column(const std::string &type, const std::vector<T> &values) {
  return {type, values.data(), values.size(), sizeof(T)};
}

struct Expression {
  std::string chip = "sm_80";
  std::string result;  ///< Its LLVM type.
  std::string body;    ///< Lines of IR.
  std::string globals; ///< Declarations.
};

inline std::string kernelOf(const Expression &e, const std::vector<Column> &columns) {
  static const char *const names[] = {"a", "b", "c", "e"};
  bool nvidia = e.chip.starts_with("sm_");
  std::string text = nvidia ? "target triple = \"nvptx64-nvidia-cuda\"\n" : "target triple = \"amdgcn-amd-amdhsa\"\n";
  std::string parameters, loads;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::string n = names[i], type = columns[i].type;
    parameters += ", ptr addrspace(1) %in_" + n;
    loads += "  %at_" + n + " = getelementptr " + type + ", ptr addrspace(1) %in_" + n + ", i64 %wide\n";
    loads += "  %" + n + " = load " + type + ", ptr addrspace(1) %at_" + n + ", align 1\n";
  }
  std::string id = nvidia ? "llvm.nvvm.read.ptx.sreg.tid.x" : "llvm.amdgcn.workitem.id.x";
  std::string block = nvidia ? "llvm.nvvm.read.ptx.sreg.ctaid.x" : "llvm.amdgcn.workgroup.id.x";
  text += std::string("define ") + (nvidia ? "ptx_kernel" : "amdgpu_kernel") + " void @k(ptr addrspace(1) %out" +
          parameters + ", i32 %count) {\nentry:\n  %tid = call i32 @" + id + "()\n  %block = call i32 @" + block +
          "()\n  %first = shl i32 %block, 7\n  %i = add i32 %first, %tid\n  %in = icmp ult i32 %i, %count\n"
          "  br i1 %in, label %work, label %end\nwork:\n  %wide = zext i32 %i to i64\n" +
          loads + e.body + "\n  %at = getelementptr " + e.result + ", ptr addrspace(1) %out, i64 %wide\n  store " +
          e.result + " %r, ptr addrspace(1) %at, align 1\n  br label %end\nend:\n  ret void\n}\ndeclare i32 @" + id +
          "()\ndeclare i32 @" + block + "()\n" + e.globals;
  return text;
}

/// Runs an expression; the reports must be empty.
template <class D> std::vector<D> compute(const Expression &e, const std::vector<Column> &columns) {
  std::string text = kernelOf(e, columns);
  INFO(text);
  Machine machine(e.chip, text);
  size_t count = columns.at(0).count;
  std::vector<std::vector<uint8_t>> arguments;
  auto *out = static_cast<D *>(*machine.device().allocate(static_cast<int64_t>(count * sizeof(D)), "out", false));
  arguments.push_back(Machine::argument(out));
  for (const Column &c : columns) {
    void *memory = *machine.device().allocate(static_cast<int64_t>(c.count * c.bytes), "in", true);
    std::memcpy(memory, c.data, c.count * c.bytes);
    arguments.push_back(Machine::argument(memory));
  }
  arguments.push_back(Machine::argument(static_cast<uint32_t>(count)));
  Expected<Outcome> outcome =
      machine.launch("k", {static_cast<uint32_t>((count + 127) / 128), 1, 1}, {128, 1, 1}, std::move(arguments));
  INFO(outcome.status().message());
  for (const std::string &line : outcome.status().details())
    UNSCOPED_INFO(line);
  REQUIRE(outcome.isOk());
  CHECK(kinds(*outcome).empty());
  return std::vector<D>(out, out + count);
}

/// Inline assembly as an expression: "op $0, $1, $2;" with constraints "=r,r,r".
inline Expression assembly(const std::string &result, const std::string &text, const std::string &constraints,
                           const std::vector<Column> &columns, const std::string &chip = "sm_80") {
  static const char *const names[] = {"a", "b", "c", "e"};
  std::string arguments;
  for (size_t i = 0; i < columns.size(); ++i)
    arguments += (i ? ", " : "") + columns[i].type + " %" + names[i];
  return {chip, result, "  %r = call " + result + " asm \"" + text + "\", \"" + constraints + "\"(" + arguments + ")",
          ""};
}

/// A call of a function by name as an expression.
inline Expression callOf(const std::string &result, const std::string &name, const std::vector<Column> &columns,
                         const std::string &more = "", const std::string &chip = "sm_80") {
  static const char *const names[] = {"a", "b", "c", "e"};
  std::string arguments, types;
  for (size_t i = 0; i < columns.size(); ++i) {
    arguments += (i ? ", " : "") + columns[i].type + " %" + names[i];
    types += (i ? ", " : "") + columns[i].type;
  }
  if (!more.empty()) {
    arguments += ", " + more;
    types += ", " + more.substr(0, more.find(' '));
  }
  return {chip, result, "  %r = call " + result + " @" + name + "(" + arguments + ")",
          "declare " + result + " @" + name + "(" + types + ")\n"};
}

/// Numbers of all magnitudes with the special ones among them; the same ones each time.
inline std::vector<float> mixedFloats(size_t count, uint64_t seed, float largest = 3e38f) {
  std::mt19937_64 random(seed);
  std::vector<float> values = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 2.5f, -2.5f, 1e-40f, -1e-42f, INFINITY, -INFINITY, NAN};
  while (values.size() < count) {
    float value = static_cast<float>(
        std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 + 0.5, static_cast<int>(random() % 250) - 130));
    if (value <= largest)
      values.push_back(random() & 1 ? value : -value);
  }
  values.resize(count);
  for (float &value : values)
    value = std::isinf(value) && largest < 3e38f ? 1.5f : value;
  return values;
}

template <class T> std::vector<T> randomIntegers(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values = {T(0), T(1), T(~T(0)), std::numeric_limits<T>::max(), std::numeric_limits<T>::min(),
                           T(2), T(31)};
  while (values.size() < count) {
    uint64_t bits = random();
    values.push_back(static_cast<T>(random() % 3 ? bits : bits & 255));
  }
  values.resize(count);
  return values;
}

} // namespace tilejit::sim::test

#endif // TILEJIT_TEST_UNIT_SIMULATORCOMPUTE_H
