// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The order of basic blocks. Lane groups run lowest block first, so the order decides where divided lanes meet: a
// reverse post-order in which the blocks of a loop stand together, before what follows the loop.

#include "decode/Decoder.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"

#include <algorithm>

namespace tilejit::sim {

std::vector<llvm::BasicBlock *> orderBlocks(llvm::Function &kernel) {
  llvm::DominatorTree dominators(kernel);
  llvm::LoopInfo loops(dominators);
  std::vector<llvm::BasicBlock *> postOrder;
  llvm::DenseMap<llvm::BasicBlock *, bool> seen;
  struct Frame {
    llvm::BasicBlock *block;
    std::vector<llvm::BasicBlock *> successors;
    size_t next;
  };
  auto enter = [&](llvm::BasicBlock *block) {
    seen[block] = true;
    std::vector<llvm::BasicBlock *> successors(llvm::succ_begin(block), llvm::succ_end(block));
    // Visited first means placed last: exits of the loop before what stays in it.
    std::stable_sort(successors.begin(), successors.end(), [&](llvm::BasicBlock *a, llvm::BasicBlock *b) {
      return loops.getLoopDepth(a) < loops.getLoopDepth(b);
    });
    return Frame{block, std::move(successors), 0};
  };
  std::vector<Frame> stack;
  stack.push_back(enter(&kernel.getEntryBlock()));
  while (!stack.empty()) {
    Frame &top = stack.back();
    if (top.next == top.successors.size()) {
      postOrder.push_back(top.block);
      stack.pop_back();
      continue;
    }
    llvm::BasicBlock *successor = top.successors[top.next++];
    if (!seen.lookup(successor))
      stack.push_back(enter(successor));
  }
  return {postOrder.rbegin(), postOrder.rend()};
}

} // namespace tilejit::sim
