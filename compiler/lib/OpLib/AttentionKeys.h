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

/// Numbers from `first` on.
struct IndexRange {
  Value first, count;
};

/// Rows of sequence `number` of those that an operand of starts cuts a size into, brought into the size.
IndexRange sequenceRange(KernelBuilder &b, int starts, Value number, const Size &size);
/// The sequences that have a query among `rows` rows from `first` on: from the first to before the second.
std::pair<Value, Value> sequencesOf(KernelBuilder &b, const AttentionShape &shape, Value first, int64_t rows);

class AttentionKeys {
public:
  /// For the keys that a program instance sees: of one head of one batch; in a row, only those of `range` if given.
  AttentionKeys(KernelBuilder &b, const AttentionShape &shape, const AttentionRegime &regime, Value batch, Value head,
                IndexRange range = {});

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
  /// Announces that keys and values of a block, which may be one beyond the last, will be loaded.
  void prefetch(const Block &block);

private:
  Value findCount();
  Value findPage(Value number);
  Value rowsOf(Value view);
  Value viewOf(int slot, const Block &block);
  Value rowOf(const Block &block) { return shape_.isPaged() ? block.piece : block.number; }

  KernelBuilder &b_;
  const AttentionShape &shape_;
  const AttentionRegime &regime_;
  DType dtype_;
  int64_t blocksOfPage_ = 1;
  Value batch_, head_, count_;
  Value start_; ///< The first key of a range.
};

} // namespace tilejit::oplib

#endif // TILEJIT_LIB_OPLIB_ATTENTIONKEYS_H
