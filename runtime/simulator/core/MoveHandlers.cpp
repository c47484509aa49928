// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Moves: copies, selects, bit casts, addresses, and elements picked by a variable.

#include "core/ElementSize.h"
#include "core/GlobalMemory.h"
#include "core/Handlers.h"
#include "core/Lanes.h"
#include "core/Warp.h"

#include <type_traits>

namespace tilejit::sim {

namespace {

template <unsigned W, class T> void select(Warp &warp, const Op &op) {
  const uint8_t *a = warp.reg<uint8_t>(op.a);
  const T *b = warp.reg<T>(op.b), *c = warp.reg<T>(op.c);
  map<W>(warp.mask, warp.reg<T>(op.d), [=](unsigned l) { return a[l] ? b[l] : c[l]; });
}

template <unsigned W, class T> void copy(Warp &warp, const Op &op) {
  const T *a = warp.reg<T>(op.a);
  T *d = warp.reg<T>(op.d);
  if (warp.mask == allLanes<W>)
    std::memcpy(d, a, W * sizeof(T));
  else
    blend<W>(d, a, warp.mask);
}

/// Two halves of a word, or a word in two halves: what nearly all bit casts are.
template <unsigned W, class Half, class Word> bool castPair(Warp &warp, const OpOperands &x) {
  if (x.in.size() == 2 && x.out.size() == 1) {
    const Half *a = warp.reg<Half>(x.in[0]), *b = warp.reg<Half>(x.in[1]);
    map<W>(warp.mask, warp.reg<Word>(x.out[0]),
           [=](unsigned l) { return static_cast<Word>(Word(a[l]) | Word(b[l]) << (sizeof(Half) * 8)); });
    return true;
  }
  if (x.in.size() == 1 && x.out.size() == 2) {
    const Word *a = warp.reg<Word>(x.in[0]);
    map<W>(warp.mask, warp.reg<Half>(x.out[0]), [=](unsigned l) { return static_cast<Half>(a[l]); });
    map<W>(warp.mask, warp.reg<Half>(x.out[1]),
           [=](unsigned l) { return static_cast<Half>(a[l] >> (sizeof(Half) * 8)); });
    return true;
  }
  return false;
}

template <unsigned W> void bitcast(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  unsigned in = sizeOf(x.inKinds[0]), out = sizeOf(x.outKinds[0]);
  bool whole = op.imm == 0;
  if (whole && ((in == 2 && out == 4) || (in == 4 && out == 2)) && castPair<W, uint16_t, uint32_t>(warp, x))
    return;
  if (whole && ((in == 4 && out == 8) || (in == 8 && out == 4)) && castPair<W, uint32_t, uint64_t>(warp, x))
    return;
  // Lane by lane, bit by bit where elements are no whole bytes.
  forEachLane(warp.mask, [&](unsigned l) {
    alignas(8) uint8_t bits[mostBitcastBytes] = {};
    unsigned at = 0;
    for (size_t i = 0; i < x.in.size(); ++i) {
      unsigned bytes = sizeOf(x.inKinds[i]);
      uint64_t value = 0;
      std::memcpy(&value, warp.registers + x.in[i] + size_t(l) * bytes, bytes);
      auto count = static_cast<unsigned>(x.numbers[i]);
      if (at % 8 == 0 && count % 8 == 0)
        std::memcpy(bits + at / 8, &value, count / 8);
      else
        for (unsigned b = 0; b < count; ++b)
          bits[(at + b) / 8] |= static_cast<uint8_t>(((value >> b) & 1) << ((at + b) % 8));
      at += count;
    }
    at = 0;
    for (size_t i = 0; i < x.out.size(); ++i) {
      uint64_t value = 0;
      auto count = static_cast<unsigned>(x.numbers[x.in.size() + i]);
      if (at % 8 == 0 && count % 8 == 0)
        std::memcpy(&value, bits + at / 8, count / 8);
      else
        for (unsigned b = 0; b < count; ++b)
          value |= uint64_t((bits[(at + b) / 8] >> ((at + b) % 8)) & 1) << b;
      unsigned bytes = sizeOf(x.outKinds[i]);
      std::memcpy(warp.registers + x.out[i] + size_t(l) * bytes, &value, bytes);
      at += count;
    }
  });
}

template <unsigned W, class I> void address(Warp &warp, const Op &op) {
  const uint64_t *a = warp.reg<uint64_t>(op.a);
  const I *b = warp.reg<I>(op.b);
  int64_t scale = op.imm;
  uint64_t keep = op.c ? 0xffffffffull : ~0ull;
  map<W>(warp.mask, warp.reg<uint64_t>(op.d),
         [=](unsigned l) { return (a[l] + static_cast<uint64_t>(static_cast<int64_t>(b[l]) * scale)) & keep; });
}

template <unsigned W> void displacement(Warp &warp, const Op &op) {
  const uint64_t *a = warp.reg<uint64_t>(op.a);
  auto by = static_cast<uint64_t>(op.imm);
  uint64_t keep = op.c ? 0xffffffffull : ~0ull;
  map<W>(warp.mask, warp.reg<uint64_t>(op.d), [=](unsigned l) { return (a[l] + by) & keep; });
}

template <unsigned W> void addressSpace(Warp &warp, const Op &op) {
  const uint64_t *a = warp.reg<uint64_t>(op.a);
  auto window = static_cast<uint64_t>(op.imm < 0 ? -op.imm : op.imm);
  if (op.imm > 0)
    map<W>(warp.mask, warp.reg<uint64_t>(op.d), [=](unsigned l) { return a[l] + window; });
  else
    map<W>(warp.mask, warp.reg<uint64_t>(op.d),
           [=](unsigned l) { return a[l] - window < windowBytes ? a[l] - window : a[l] & 0xffffffffull; });
}

template <unsigned W> void pickElement(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  unsigned bytes = sizeOf(x.inKinds[0]);
  const uint64_t *index = warp.reg<uint64_t>(op.a);
  forEachLane(warp.mask, [&](unsigned l) {
    if (index[l] < x.in.size())
      std::memcpy(warp.registers + op.d + l * bytes, warp.registers + x.in[index[l]] + l * bytes, bytes);
    else
      std::memset(warp.registers + op.d + l * bytes, 0xbd, bytes);
  });
}

template <unsigned W> void putElement(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  unsigned bytes = sizeOf(x.inKinds[0]);
  const uint64_t *index = warp.reg<uint64_t>(op.a);
  forEachLane(warp.mask, [&](unsigned l) {
    for (size_t i = 0; i < x.in.size(); ++i) {
      const uint8_t *from = warp.registers + (index[l] == i ? op.b : x.in[i]) + l * bytes;
      std::memcpy(warp.registers + x.out[i] + l * bytes, from, bytes);
    }
  });
}

template <unsigned W> void predicated(Warp &warp, const Op &op) {
  LaneMask all = warp.mask, holds = maskOf<W>(warp.reg<uint8_t>(op.predicate));
  warp.mask = all & (op.registers & Op::Negated ? ~holds : holds);
  if (warp.mask)
    op.inner(warp, op);
  warp.mask = all;
}

} // namespace

#define TILEJIT_BOTH(name) (width == 64 ? &name<64> : &name<32>)

Handler selectHandler(Kind kind, unsigned width) {
  return forElementSize(sizeOf(kind), [=](auto t) -> Handler {
    return width == 64 ? &select<64, decltype(t)> : &select<32, decltype(t)>;
  });
}

Handler copyHandler(Kind kind, unsigned width) {
  return forElementSize(
      sizeOf(kind), [=](auto t) -> Handler { return width == 64 ? &copy<64, decltype(t)> : &copy<32, decltype(t)>; });
}

Handler addressHandler(Kind index, unsigned width) {
  return forElementSize(sizeOf(index), [=](auto t) -> Handler {
    using I = std::make_signed_t<decltype(t)>;
    return width == 64 ? &address<64, I> : &address<32, I>;
  });
}

Handler bitcastHandler(unsigned width) { return TILEJIT_BOTH(bitcast); }
Handler displacementHandler(unsigned width) { return TILEJIT_BOTH(displacement); }
Handler addressSpaceHandler(unsigned width) { return TILEJIT_BOTH(addressSpace); }
Handler pickElementHandler(unsigned width) { return TILEJIT_BOTH(pickElement); }
Handler putElementHandler(unsigned width) { return TILEJIT_BOTH(putElement); }
Handler predicatedHandler(unsigned width) { return TILEJIT_BOTH(predicated); }

#undef TILEJIT_BOTH

} // namespace tilejit::sim
