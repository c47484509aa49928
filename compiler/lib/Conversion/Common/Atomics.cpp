// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Atomic updates in LLVM's terms, see Atomics.h.

#include "Atomics.h"

using namespace mlir;
using namespace tilejit;

LLVM::AtomicOrdering tilejit::orderingOf(tile::MemoryOrder order) {
  switch (order) {
  case tile::MemoryOrder::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case tile::MemoryOrder::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case tile::MemoryOrder::Release:
    return LLVM::AtomicOrdering::release;
  case tile::MemoryOrder::AcqRel:
    return LLVM::AtomicOrdering::acq_rel;
  }
  return LLVM::AtomicOrdering::seq_cst;
}

LLVM::AtomicOrdering tilejit::failureOrdering(LLVM::AtomicOrdering ordering) {
  bool acquires = ordering == LLVM::AtomicOrdering::acquire || ordering == LLVM::AtomicOrdering::acq_rel;
  return acquires ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic;
}

LLVM::AtomicBinOp tilejit::integerKind(tile::AtomicKind kind) {
  switch (kind) {
  case tile::AtomicKind::MaxS:
    return LLVM::AtomicBinOp::max;
  case tile::AtomicKind::MinS:
    return LLVM::AtomicBinOp::min;
  case tile::AtomicKind::MaxU:
    return LLVM::AtomicBinOp::umax;
  case tile::AtomicKind::MinU:
    return LLVM::AtomicBinOp::umin;
  case tile::AtomicKind::AndI:
    return LLVM::AtomicBinOp::_and;
  case tile::AtomicKind::OrI:
    return LLVM::AtomicBinOp::_or;
  case tile::AtomicKind::XorI:
    return LLVM::AtomicBinOp::_xor;
  case tile::AtomicKind::Exchange:
    return LLVM::AtomicBinOp::xchg;
  default:
    return LLVM::AtomicBinOp::add;
  }
}
