// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Decoding of LLVM's atomic instructions, fences, and of atomic and volatile loads and stores.

#ifndef TILEJIT_SIMULATOR_DECODE_ATOMICS_H
#define TILEJIT_SIMULATOR_DECODE_ATOMICS_H

namespace llvm {
class AtomicCmpXchgInst;
class AtomicRMWInst;
class FenceInst;
class LoadInst;
class StoreInst;
} // namespace llvm

namespace tilejit::sim {

class Decoder;

void decodeAtomicRmw(Decoder &decoder, llvm::AtomicRMWInst &instruction);
void decodeCmpXchg(Decoder &decoder, llvm::AtomicCmpXchgInst &instruction);
void decodeFence(Decoder &decoder, llvm::FenceInst &instruction);
/// Loads and stores that are atomic or volatile, of any type.
void decodeAtomicLoad(Decoder &decoder, llvm::LoadInst &instruction);
void decodeAtomicStore(Decoder &decoder, llvm::StoreInst &instruction);

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_ATOMICS_H
