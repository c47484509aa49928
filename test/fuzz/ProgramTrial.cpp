// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Memory, interpreter, compiled code, comparison.

#include "ProgramTrial.h"

#include "CapturedErrors.h"
#include "CompiledRun.h"
#include "TileProgram.h"

#include "tilejit/ABI/Compile.h"
#include "tilejit/Driver/Driver.h"
#include "tilejit/Interpreter/Interpreter.h"
#include "tilejit/OpLib/OpLib.h"
#include "tilejit/Reference/HostTensor.h"
#include "tilejit/Target/TargetSpec.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <regex>
#include <sstream>

namespace tilejit::fuzz {

namespace {

/// Memory of one argument.
struct Block {
  mlir::Type element;
  HostTensor bytes;
  int64_t count = 0;
  std::vector<int64_t> sizesAndStrides; ///< None for a pointer.

  int64_t elementBytes() const { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

  uint64_t bits(int64_t index) const {
    uint64_t value = 0;
    std::memcpy(&value, bytes.element(index * elementBytes()), size_t(elementBytes()));
    return value;
  }

  double number(int64_t index) const {
    auto type = mlir::cast<mlir::FloatType>(element);
    llvm::APFloat value(type.getFloatSemantics(), llvm::APInt(type.getWidth(), bits(index)));
    bool loses = false;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
    return value.convertToDouble();
  }
};

uint64_t randomBits(mlir::Type element, ProgramArgument::Fill fill, std::mt19937_64 &random) {
  uint64_t value = random();
  if (mlir::isa<mlir::Float8E8M0FNUType>(element)) // Has no small whole numbers.
    return value & 0xff;
  if (auto type = mlir::dyn_cast<mlir::FloatType>(element)) {
    llvm::APFloat number(double(int64_t(value % 9)) - 4);
    bool loses = false;
    number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
    return number.bitcastToAPInt().getZExtValue();
  }
  if (element.isInteger(1))
    return value & 1;
  return fill == ProgramArgument::Fill::Bits ? value : value % 9 - 4;
}

std::vector<Block> makeMemory(const TileProgram &program, mlir::MLIRContext &context, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Block> blocks;
  for (const ProgramArgument &argument : program.arguments) {
    Block block;
    block.element = mlir::parseType(argument.element, &context);
    block.count = elementCount(argument.shape);
    Expected<HostTensor> bytes = HostTensor::allocate(DType::U8, {block.count * block.elementBytes()});
    REQUIRE(bytes.isOk());
    block.bytes = *std::move(bytes);
    for (int64_t i = 0; i < block.count; ++i) {
      uint64_t value = randomBits(block.element, argument.fill, random);
      std::memcpy(block.bytes.element(i * block.elementBytes()), &value, size_t(block.elementBytes()));
    }
    if (!argument.isPointer) {
      block.sizesAndStrides = argument.shape;
      std::vector<int64_t> strides = denseStrides(argument.shape);
      block.sizesAndStrides.insert(block.sizesAndStrides.end(), strides.begin(), strides.end());
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

/// Gives what was printed.
std::string runInterpreter(mlir::ModuleOp module, const TileProgram &program, std::vector<Block> &blocks) {
  llvm::SmallVector<HostArgument> arguments;
  for (size_t i = 0; i < blocks.size(); ++i) {
    void *data = blocks[i].bytes.data();
    int64_t size = blocks[i].bytes.elements();
    arguments.push_back(program.arguments[i].isPointer ? HostArgument::pointer(data, size)
                                                       : HostArgument::view(data, size, program.arguments[i].shape));
  }
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  InterpreterOptions options;
  options.output = &stream;
  Status ran = interpret(module, arguments, options);
  INFO(ran.pointer() << ": " << ran.message());
  REQUIRE(ran.isOk());
  return printed;
}

/// The same.
std::string runCompiled(const abi::CompileRequest &request, std::vector<Block> &blocks, std::string_view place) {
  std::vector<test::RunOperand> operands;
  for (Block &block : blocks)
    operands.push_back({block.sizesAndStrides, static_cast<char *>(block.bytes.data()), block.bytes.elements()});
  test::CompiledRun compiled(request, test::runTarget(place));
  test::CapturedErrors errors;
  compiled.runClean(operands);
  return errors.take();
}

/// Printed lines in an order of their own, without the signs of zeros and NaNs.
std::vector<std::string> linesOf(const std::string &printed) {
  static const std::regex signedNothing("-(nan|0(?![.0-9e]))");
  std::istringstream stream(std::regex_replace(printed, signedNothing, "$1"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool agree(const Block &wanted, const Block &got, int64_t index, double tolerance) {
  if (wanted.bits(index) == got.bits(index))
    return true;
  if (!mlir::isa<mlir::FloatType>(wanted.element))
    return false;
  double x = wanted.number(index), y = got.number(index);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y);
  return x == y || std::abs(x - y) <= tolerance * std::max(1.0, std::abs(x));
}

/// Checks the first difference of each argument.
void compare(const TileProgram &program, const std::vector<Block> &wanted, const std::vector<Block> &got) {
  for (size_t i = 0; i < wanted.size(); ++i)
    for (int64_t k = 0; k < wanted[i].count; ++k)
      if (!agree(wanted[i], got[i], k, program.arguments[i].tolerance)) {
        bool isFloat = mlir::isa<mlir::FloatType>(wanted[i].element);
        auto text = [&](const Block &block) {
          return isFloat ? std::to_string(block.number(k)) : std::to_string(block.bits(k));
        };
        FAIL_CHECK("argument " << i << ", element " << k << ": expected " << text(wanted[i]) << ", found "
                               << text(got[i]));
        break;
      }
}

} // namespace

void tryProgram(uint64_t seed, std::string_view place, std::string_view text) {
  TileProgram program = randomProgram(seed);
  if (!text.empty())
    program.text = text;
  INFO("seed " << seed << " on " << place << "\n" << program.text);
  mlir::DialectRegistry registry;
  registerOpLibDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program.text, &context);
  REQUIRE(module);
  std::vector<Block> wanted = makeMemory(program, context, seed), got = makeMemory(program, context, seed);
  std::string saidWanted = runInterpreter(*module, program, wanted);
  abi::CompileRequest request;
  request.sourceKind = abi::SourceKind::TileIR;
  request.source = program.text;
  request.sourceName = "random.mlir";
  std::string said = runCompiled(request, got, place);
  compare(program, wanted, got);
  CHECK(linesOf(said) == linesOf(saidWanted));
}

} // namespace tilejit::fuzz
