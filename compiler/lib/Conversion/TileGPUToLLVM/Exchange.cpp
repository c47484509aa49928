// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Values of other lanes. Lanes exchange words of 32 bits: narrow elements travel together, wide ones in two.

#include "Exchange.h"

using namespace mlir;
using namespace tilejit;
using namespace tilejit::gpu;

/// A vector's bits as words; `restore` undoes it.
static SmallVector<Value> toWords(KernelEmitter &e, Value vector, std::function<Value(ArrayRef<Value>)> &restore) {
  auto type = cast<VectorType>(vector.getType());
  Type element = type.getElementType();
  int64_t count = type.getNumElements();
  Type i32 = e.b.getI32Type();
  int64_t bits = element.getIntOrFloatBitWidth(), all = bits * count;
  Value integers = vector;
  auto integerType = type.clone(e.b.getIntegerType(unsigned(bits)));
  if (integerType != type)
    integers = arith::BitcastOp::create(e.b, e.loc, integerType, vector);
  auto back = [&e, type, integerType](Value integers) {
    return integerType == type ? integers : Value(arith::BitcastOp::create(e.b, e.loc, type, integers));
  };
  if (bits >= 8 && all % 32 == 0) {
    auto words = VectorType::get({all / 32}, i32);
    restore = [&e, back, integerType](ArrayRef<Value> words) {
      Value joined = e.fromScalars(words);
      return back(joined.getType() == integerType ? joined
                                                  : Value(vector::BitCastOp::create(e.b, e.loc, integerType, joined)));
    };
    return e.scalars(integerType == words ? integers : Value(vector::BitCastOp::create(e.b, e.loc, words, integers)));
  }
  auto wide = type.clone(i32);
  restore = [&e, back, integerType](ArrayRef<Value> words) {
    return back(arith::TruncIOp::create(e.b, e.loc, integerType, e.fromScalars(words)));
  };
  return e.scalars(arith::ExtUIOp::create(e.b, e.loc, wide, integers));
}

static Value exchange(KernelEmitter &e, Value vector, function_ref<Value(Value)> move) {
  std::function<Value(ArrayRef<Value>)> restore;
  SmallVector<Value> words = toWords(e, vector, restore);
  for (Value &word : words)
    word = move(word);
  return restore(words);
}

Value gpu::fromLaneXor(KernelEmitter &e, Value vector, int64_t mask) {
  return exchange(e, vector, [&](Value word) { return e.threads.shuffleXor(e.b, e.loc, word, mask); });
}

Value gpu::fromLane(KernelEmitter &e, Value vector, Value lane) {
  return exchange(e, vector, [&](Value word) { return e.threads.shuffleFrom(e.b, e.loc, word, lane); });
}

Value gpu::laneBit(KernelEmitter &e, int64_t bit) {
  PrologueGuard guard(e);
  Type i32 = e.b.getI32Type();
  Value set = arith::AndIOp::create(e.b, e.loc, e.thread(), e.integer(i32, int64_t{1} << bit));
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, set, e.integer(i32, 0));
}
