// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Keys and values of one head, block by block, whether they lie in a row or in pages. A block has at most `bn` keys and
// lies within one page, so that every row of it is loaded as it lies. Lengths and tables are brought into their ranges
// first: whatever they hold, nothing outside the operands is read.

#ifndef TILEJIT_LIB_OPLIB_ATTENTIONKEYS_H
#define TILEJIT_LIB_OPLIB_ATTENTIONKEYS_H

#include "Schedule.h"
#include "Values.h"

namespace tilejit::oplib {

class AttentionKeys {
public:
  /// For the keys that a program instance sees: of one head of one batch.
  AttentionKeys(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime, Value batch, Value head);

  struct Block {
    Value number;
    Value first; ///< Number of its first key.
    Value limit; ///< How many keys it has, if less than `bn`; may be more than that. Null: `bn` and more.
    // Where keys lie in pages.
    Value page, piece; ///< The page in the cache, and which block of it this is.
    Value inPage;      ///< Keys that the page holds.
  };

  /// Number of keys of the sequence.
  Value count() const { return count_; }
  /// The block that holds a key, and how many blocks hold the keys before `end`.
  Value blockOf(Value key);
  Value blocksBefore(Value end);
  /// Number of all blocks.
  Value blocks();
  Block at(Value number);
  /// Keys or values of a block, zeros where it has none.
  Value load(int slot, const Block &block);

private:
  Value scalarOf(int operand, llvm::ArrayRef<Value> place);
  Value clamped(Value number, Value most);
  Value findCount();
  Value findPage(Value number);

  KernelBuilder &b_;
  const AttentionShape &shape_;
  const AttentionRegime &regime_;
  DType dtype_;
  int64_t blocksOfPage_ = 1;
  Value batch_, head_, count_;
};

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_ATTENTIONKEYS_H
