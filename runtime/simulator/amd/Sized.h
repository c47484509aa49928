// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Picks the instance of a handler for the size of a register's elements and the width of the waves. The handler is a
// class with a static member template `run<W, T>`.

#ifndef TILEJIT_SIMULATOR_AMD_SIZED_H
#define TILEJIT_SIMULATOR_AMD_SIZED_H

#include "decode/Decoder.h"

namespace tilejit::sim {

template <class F> Handler sizedHandler(const Decoder &decoder, Kind kind) {
  switch (sizeOf(kind)) {
  case 1:
    return decoder.pick(F::template run<32, uint8_t>, F::template run<64, uint8_t>);
  case 2:
    return decoder.pick(F::template run<32, uint16_t>, F::template run<64, uint16_t>);
  case 4:
    return decoder.pick(F::template run<32, uint32_t>, F::template run<64, uint32_t>);
  default:
    return decoder.pick(F::template run<32, uint64_t>, F::template run<64, uint64_t>);
  }
}

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_AMD_SIZED_H
