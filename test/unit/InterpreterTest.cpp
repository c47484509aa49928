// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The interpreter's insides: every operation has a handler, and its formats, which are LLVM's, agree with those of the
// runtime, which are written by hand.

#include "lib/Interpreter/Instance.h"
#include "tilejit/Base/Float.h"
#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

using namespace tilejit;
using namespace tilejit::interpreter;

namespace {

/// Operations without a handler of their own, and why.
bool needsNoHandler(llvm::StringRef name) {
  return name == "tile.kernel" || name == "tile.return" || name == "tile.yield" || // Run by what holds them.
         name == "arith.scaling_extf" || name == "arith.scaling_truncf";           // Not part of tile programs.
}

/// The formats that both sides have.
std::vector<std::pair<DType, mlir::Type>> formats(mlir::MLIRContext &context) {
  return {{DType::F64, mlir::Float64Type::get(&context)},
          {DType::F32, mlir::Float32Type::get(&context)},
          {DType::F16, mlir::Float16Type::get(&context)},
          {DType::BF16, mlir::BFloat16Type::get(&context)},
          {DType::F8E4M3FN, mlir::Float8E4M3FNType::get(&context)},
          {DType::F8E5M2, mlir::Float8E5M2Type::get(&context)},
          {DType::F8E4M3FNUZ, mlir::Float8E4M3FNUZType::get(&context)},
          {DType::F8E5M2FNUZ, mlir::Float8E5M2FNUZType::get(&context)},
          {DType::F8E8M0, mlir::Float8E8M0FNUType::get(&context)},
          {DType::F4E2M1, mlir::Float4E2M1FNType::get(&context)}};
}

/// Equal as bits, or both NaN.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

} // namespace

TEST_CASE("the interpreter knows every operation") {
  mlir::MLIRContext context;
  context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  HandlerTable table;
  for (const char *dialect : {"tile", "arith", "math"})
    for (mlir::RegisteredOperationName name : context.getRegisteredOperationsByDialect(dialect)) {
      INFO(name.getStringRef().str());
      CHECK((needsNoHandler(name.getStringRef()) || table.find(name) != nullptr));
    }
}

TEST_CASE("formats decode all codes as the runtime does") {
  mlir::MLIRContext context;
  for (auto [dtype, type] : formats(context)) {
    INFO(dtypeName(dtype));
    Format format(type);
    if (format.getWidth() > 16)
      continue;
    for (uint64_t bits = 0; bits < uint64_t(1) << format.getWidth(); ++bits) {
      double value = toReal(format.decode(bits));
      if (!same(value, decodeFloat(bits, dtype)))
        FAIL_CHECK("code " << bits << ": " << value << " and " << decodeFloat(bits, dtype));
      if (!std::isnan(value) && format.encode(toCell(value)) != bits)
        FAIL_CHECK("code " << bits << " is encoded as " << format.encode(toCell(value)));
    }
  }
}

TEST_CASE("formats round as the runtime does") {
  mlir::MLIRContext context;
  uint64_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (auto [dtype, type] : formats(context)) {
    INFO(dtypeName(dtype));
    Format format(type);
    double largest = format.getLargest();
    for (int i = 0; i < 20000; ++i) {
      double value;
      uint64_t bits = random();
      if (i % 2 == 0) {
        std::memcpy(&value, &bits, sizeof value); // Any double at all.
      } else {
        // Near numbers of the format: halves, and what lies just beside them.
        double code = decodeFloat(bits & ((uint64_t(1) << std::min(16u, format.getWidth())) - 1), dtype);
        value = code * (1 + std::ldexp(double(bits >> 60), -precisionBits(dtype) - 2));
      }
      INFO("value " << value << ", largest " << largest);
      if (!same(format.round(value), roundToFloat(value, dtype)))
        FAIL_CHECK(format.round(value) << " and " << roundToFloat(value, dtype));
    }
  }
}
