// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From layouts to numbers: which thread this is and where its registers lie in a tile. All of it depends on the thread
// only and is computed once, at the kernel's start.

#include "KernelEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

PrologueGuard::PrologueGuard(KernelEmitter &e) : guard(e.b) { e.b.setInsertionPoint(e.prologueEnd_); }

Value KernelEmitter::thread() {
  if (!thread_) {
    PrologueGuard guard(*this);
    thread_ = threads.threadId(b, loc, blockThreads_);
  }
  return thread_;
}

/// Runs of bits that move together by a shift take one and, one shift.
Value KernelEmitter::threadCombination(ArrayRef<int64_t> columns) {
  Type i32 = b.getI32Type();
  Value sum;
  int64_t used = 0;
  for (size_t i = 0; i < columns.size();) {
    if (columns[i] == 0) {
      ++i;
      continue;
    }
    Value term;
    int64_t bits = columns[i];
    if (llvm::isPowerOf2_64(uint64_t(columns[i]))) {
      size_t end = i + 1;
      while (end < columns.size() && columns[end] == columns[end - 1] * 2)
        ++end;
      bits = ((int64_t{1} << (end - i)) - 1) * columns[i];
      int64_t shift = int64_t(llvm::Log2_64(uint64_t(columns[i]))) - int64_t(i), mask = bits >> (shift + int64_t(i));
      term = arith::AndIOp::create(b, loc, thread(), integer(i32, mask << i));
      if (shift > 0)
        term = arith::ShLIOp::create(b, loc, term, integer(i32, shift));
      if (shift < 0)
        term = arith::ShRUIOp::create(b, loc, term, integer(i32, -shift));
      i = end;
    } else {
      Value bit = arith::ShRUIOp::create(b, loc, thread(), integer(i32, int64_t(i)));
      bit = arith::AndIOp::create(b, loc, bit, integer(i32, 1));
      term = arith::MulIOp::create(b, loc, bit, integer(i32, columns[i]));
      ++i;
    }
    if (!sum)
      sum = term;
    else if ((used & bits) == 0)
      sum = arith::AddIOp::create(b, loc, sum, term);
    else
      sum = arith::XOrIOp::create(b, loc, sum, term);
    used |= bits;
  }
  return sum ? sum : integer(i32, 0);
}

Value KernelEmitter::threadParity(uint64_t mask) {
  PrologueGuard guard(*this);
  Type i32 = b.getI32Type();
  Value bits = arith::AndIOp::create(b, loc, thread(), integer(i32, int64_t(mask)));
  if (llvm::popcount(mask) > 1) {
    Value count = math::CtPopOp::create(b, loc, bits);
    bits = arith::AndIOp::create(b, loc, count, integer(i32, 1));
  }
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bits, integer(i32, 0));
}

const KernelEmitter::Coordinates &KernelEmitter::coordinates(LayoutAttr layout, int dim) {
  std::unique_ptr<Coordinates> &kept = coordinates_[{layout, dim}];
  if (kept)
    return *kept;
  kept = std::make_unique<Coordinates>();
  Coordinates &result = *kept;
  auto along = [&](int64_t element) { return layout.coordinateOf(element, dim); };
  SmallVector<int64_t> columns = llvm::map_to_vector(layout.threadColumns(), along);
  for (int64_t column : columns)
    result.threadBits |= column;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
    result.ofRegisters.push_back(along(layout.elementOfRegister(reg)));
  PrologueGuard guard(*this);
  result.ofThread = result.threadBits == 0 ? index(0) : toIndex(threadCombination(columns));
  return result;
}

Value KernelEmitter::coordinate(LayoutAttr layout, int dim, int64_t reg) {
  const Coordinates &along = coordinates(layout, dim);
  int64_t own = along.ofRegisters[reg];
  if ((own & along.threadBits) == 0)
    return add(along.ofThread, index(own));
  return arith::XOrIOp::create(b, loc, along.ofThread, index(own));
}

Value KernelEmitter::coordinateVector(LayoutAttr layout, int dim) {
  const Coordinates &along = coordinates(layout, dim);
  auto type = VectorType::get({layout.numRegisters()}, b.getI64Type());
  auto own = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, [&] {
                                         SmallVector<Attribute> numbers;
                                         for (int64_t number : along.ofRegisters)
                                           numbers.push_back(b.getI64IntegerAttr(number));
                                         return numbers;
                                       }()));
  return arith::XOrIOp::create(b, loc, splat(along.ofThread, layout.numRegisters()), own);
}

Value KernelEmitter::insideTile(LayoutAttr layout, ArrayRef<int64_t> shape) {
  Value inside;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (llvm::isPowerOf2_64(uint64_t(size)))
      continue;
    Value at = coordinateVector(layout, int(dim));
    inside = both(inside, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, integer(at.getType(), size)));
  }
  return inside;
}

Value KernelEmitter::isOriginal(LayoutAttr layout) {
  int64_t copies = layout.copyBits();
  if (copies == 0)
    return {};
  Value bits = arith::AndIOp::create(b, loc, thread(), integer(b.getI32Type(), copies));
  return equal(bits, 0);
}
