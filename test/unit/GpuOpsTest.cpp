// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Every operation that kernels are made of, on every type, for every GPU target: LLVM would end the process over one
// that it can't select, so none may get there that does.

#include "GpuKernel.h"

#include <catch2/catch.hpp>

using namespace tilejit;
using namespace tilejit::test;
using abi::EmitKind;

namespace {

/// One kernel of operations on %x, %y of type $t; each result %r... is stored by the lines it comes with.
class KernelText {
public:
  explicit KernelText(std::string name) : name_(std::move(name)) {}

  /// A value of a type, from memory.
  std::string input(const std::string &type) {
    std::string value = next();
    body_ += value + "p = llvm.getelementptr %in[" + std::to_string(64 * count_) +
             "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n" + value + " = llvm.load " + value + "p : !llvm.ptr<1> -> " +
             memory(type) + "\n";
    return isNarrow8(type) ? cast(value, memory(type), type) : value;
  }
  /// Adds "%N = OPERATION" and stores the result, which is of the type given.
  void add(const std::string &operation, const std::string &type) {
    std::string value = next();
    body_ += value + " = " + operation + "\n";
    store(value, type);
  }
  void addPlain(const std::string &line) { body_ += line + "\n"; }

  std::string text() const {
    return "llvm.func @" + name_ + "(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) $kernel(64) {\n" + body_ +
           "llvm.return\n}\n";
  }

private:
  std::string next() { return "%v" + std::to_string(count_++); }
  static bool isNarrow8(const std::string &type) { return type.find("f8") != std::string::npos; }
  static std::string memory(const std::string &type) { return isNarrow8(type) ? "i8" : type; }
  std::string cast(const std::string &value, const std::string &from, const std::string &to) {
    std::string result = next();
    body_ += result + " = arith.bitcast " + value + " : " + from + " to " + to + "\n";
    return result;
  }
  void store(std::string value, const std::string &type) {
    if (isNarrow8(type))
      value = cast(value, type, memory(type));
    body_ += value + "q = llvm.getelementptr %out[" + std::to_string(64 * count_) +
             "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\nllvm.store " + value + ", " + value + "q : " + memory(type) +
             ", !llvm.ptr<1>\n";
  }

  std::string name_, body_;
  int count_ = 0;
};

const std::vector<std::string> floatTypes = {"f64", "f32", "f16", "bf16"};
const std::vector<std::string> narrowTypes = {"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E8M0FNU"};
const std::vector<std::string> intTypes = {"i8", "i16", "i32", "i64"};

std::string boolsLike(const std::string &type) { return type.starts_with("vector") ? "vector<4xi1>" : "i1"; }

std::string floatOps(const std::string &type) {
  KernelText kernel("float_ops");
  std::string x = kernel.input(type), y = kernel.input(type), z = kernel.input(type), of = " : " + type;
  for (const char *op : {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf", "arith.maximumf",
                         "arith.minimumf", "arith.maxnumf", "arith.minnumf", "math.copysign"})
    kernel.add(std::string(op) + " " + x + ", " + y + of, type);
  for (const char *op : {"arith.negf", "math.absf", "math.sqrt", "math.floor", "math.ceil", "math.trunc",
                         "math.roundeven", "math.round", "math.rsqrt"})
    kernel.add(std::string(op) + " " + x + of, type);
  kernel.add("math.fma " + x + ", " + y + ", " + z + of, type);
  for (const char *predicate : {"oeq", "olt", "ole", "one", "ord", "ueq", "ult", "une", "uno"}) {
    std::string name = std::string("%is_") + predicate;
    kernel.addPlain(name + " = arith.cmpf " + predicate + ", " + x + ", " + y + of);
    kernel.add("arith.select " + name + ", " + x + ", " + y + " : " +
                   (boolsLike(type) == "i1" ? "" : boolsLike(type) + ", ") + type,
               type);
  }
  return kernel.text();
}

std::string intOps(const std::string &type) {
  KernelText kernel("int_ops");
  std::string x = kernel.input(type), y = kernel.input(type), of = " : " + type;
  for (const char *op : {"addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "andi", "ori", "xori", "shli",
                         "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui"})
    kernel.add("arith." + std::string(op) + " " + x + ", " + y + of, type);
  for (const char *op : {"math.absi", "math.ctpop", "math.ctlz", "math.cttz"})
    kernel.add(std::string(op) + " " + x + of, type);
  for (const char *op : {"mulsi_extended", "mului_extended"}) {
    kernel.addPlain("%low_" + std::string(op) + ", %high_" + op + " = arith." + op + " " + x + ", " + y + of);
    kernel.add("arith.xori %low_" + std::string(op) + ", %high_" + op + of, type);
  }
  for (const char *predicate : {"eq", "slt", "sle", "ult", "ule"}) {
    std::string name = std::string("%is_") + predicate;
    kernel.addPlain(name + " = arith.cmpi " + predicate + ", " + x + ", " + y + of);
    kernel.add("arith.select " + name + ", " + x + ", " + y + " : " +
                   (boolsLike(type) == "i1" ? "" : boolsLike(type) + ", ") + type,
               type);
  }
  return kernel.text();
}

/// Between all types.
std::string conversions() {
  KernelText kernel("conversions");
  std::vector<std::string> floats = floatTypes;
  floats.insert(floats.end(), narrowTypes.begin(), narrowTypes.end());
  auto widthOf = [](const std::string &type) {
    return type.find("f8") == 0 ? 8 : std::stoi(type.substr(type.find_first_of("0123456789")));
  };
  for (const std::string &from : floats) {
    std::string x = kernel.input(from);
    for (const std::string &to : floats) {
      if (widthOf(to) != widthOf(from))
        kernel.add(std::string(widthOf(to) > widthOf(from) ? "arith.extf " : "arith.truncf ") + x + " : " + from +
                       " to " + to,
                   to);
    }
    for (const std::string &to : intTypes)
      for (const char *op : {"arith.fptosi ", "arith.fptoui "})
        kernel.add(op + x + " : " + from + " to " + to, to);
  }
  for (const std::string &from : intTypes) {
    std::string x = kernel.input(from);
    for (const std::string &to : floats)
      for (const char *op : {"arith.sitofp ", "arith.uitofp "})
        kernel.add(op + x + " : " + from + " to " + to, to);
    for (const std::string &to : intTypes)
      if (widthOf(to) > widthOf(from)) {
        kernel.add("arith.extsi " + x + " : " + from + " to " + to, to);
        kernel.add("arith.extui " + x + " : " + from + " to " + to, to);
      } else if (widthOf(to) < widthOf(from)) {
        kernel.add("arith.trunci " + x + " : " + from + " to " + to, to);
      }
  }
  return kernel.text();
}

std::string atomics() {
  KernelText kernel("atomics");
  for (std::string type : {"i32", "i64"}) {
    std::string x = kernel.input(type), y = kernel.input(type);
    for (const char *op : {"add", "_and", "_or", "_xor", "max", "min", "umax", "umin", "xchg"})
      kernel.add("llvm.atomicrmw " + std::string(op) + " %out, " + x + " monotonic : !llvm.ptr<1>, " + type, type);
    kernel.add("llvm.cmpxchg %out, " + x + ", " + y + " acq_rel monotonic : !llvm.ptr<1>, " + type,
               "!llvm.struct<(" + type + ", i1)>");
  }
  for (const std::string &type : floatTypes) {
    std::string x = kernel.input(type);
    for (const char *op : {"fadd", "fmax", "fmin"})
      kernel.add("llvm.atomicrmw " + std::string(op) + " %out, " + x + " monotonic : !llvm.ptr<1>, " + type, type);
  }
  return kernel.text();
}

/// Expanded functions, all in one kernel.
std::string functionOps(const std::string &type) {
  KernelText kernel("functions");
  std::string x = kernel.input(type), y = kernel.input(type), i = kernel.input("i32");
  for (const char *op :
       {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh", "erf", "erfc"})
    kernel.add("math." + std::string(op) + " " + x + " : " + type, type);
  kernel.add("math.powf " + x + ", " + y + " : " + type, type);
  kernel.add("math.fpowi " + x + ", " + i + " : " + type + ", i32", type);
  return kernel.text();
}

std::string vectorOf(const std::string &type) { return "vector<4x" + type + ">"; }

void compileFor(const TargetSpec &target, const std::string &text, const std::string &what) {
  GpuCompiled compiled = compileGpu(text, target, EmitKind::Package);
  INFO(what << " for " << target.name << ": " << compiled.errors);
  if (!compiled.ok)
    UNSCOPED_INFO(text.substr(0, 4000));
  CHECK(compiled.ok);
}

/// One of each kind of instruction set.
std::vector<TargetSpec> someTargets() {
  std::vector<TargetSpec> targets;
  for (const char *name : {"sm_75", "sm_90a", "gfx906", "gfx942", "gfx1201"})
    targets.push_back(gpuTarget(name));
  return targets;
}

} // namespace

TEST_CASE("operations compile for GPU targets of each kind") {
  for (const TargetSpec &target : someTargets()) {
    for (const std::string &type : floatTypes)
      compileFor(target, floatOps(type), type);
    compileFor(target, floatOps(vectorOf("f16")), vectorOf("f16"));
    for (const std::string &type : intTypes)
      compileFor(target, intOps(type), type);
    compileFor(target, intOps(vectorOf("i32")), vectorOf("i32"));
    compileFor(target, atomics(), "atomics");
    compileFor(target, conversions(), "conversions");
    compileFor(target, functionOps("f32"), "functions of f32");
  }
}

// Hidden: minutes. Run by name, or with [long].
TEST_CASE("operations compile for every GPU target", "[.][long]") {
  for (const TargetSpec &target : gpuTargets()) {
    for (const std::string &type : floatTypes) {
      compileFor(target, floatOps(type), type);
      compileFor(target, floatOps(vectorOf(type)), vectorOf(type));
      compileFor(target, functionOps(type), "functions of " + type);
    }
    for (const std::string &type : intTypes) {
      compileFor(target, intOps(type), type);
      compileFor(target, intOps(vectorOf(type)), vectorOf(type));
    }
    compileFor(target, atomics(), "atomics");
    compileFor(target, conversions(), "conversions");
  }
}
