// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Makes handlers of functions of one lane: `float f(float, float)` becomes d = f(a, b) for all lanes, in both widths.
// The types of lanes are those of the signature; a last parameter of type Imm gets the operation's number.

#ifndef TILEJIT_SIMULATOR_CORE_ELEMENTWISE_H
#define TILEJIT_SIMULATOR_CORE_ELEMENTWISE_H

#include "core/Lanes.h"
#include "core/Program.h"
#include "core/Warp.h"

namespace tilejit::sim {

struct Imm {
  int64_t value;
};

/// One operation for warps of 32 and of 64 lanes.
struct HandlerPair {
  Handler narrow = nullptr, wide = nullptr;
  explicit constexpr operator bool() const { return narrow != nullptr; }
};

namespace elementwise {

template <unsigned W, auto F, class D> inline void run(Warp &warp, const Op &op, D (*)(Imm)) {
  Imm imm{op.imm};
  map<W>(warp.mask, warp.reg<D>(op.d), [=](unsigned) { return F(imm); });
}
template <unsigned W, auto F, class D, class A> inline void run(Warp &warp, const Op &op, D (*)(A)) {
  const A *a = warp.reg<A>(op.a);
  map<W>(warp.mask, warp.reg<D>(op.d), [=](unsigned l) { return F(a[l]); });
}
template <unsigned W, auto F, class D, class A> inline void run(Warp &warp, const Op &op, D (*)(A, Imm)) {
  const A *a = warp.reg<A>(op.a);
  Imm imm{op.imm};
  map<W>(warp.mask, warp.reg<D>(op.d), [=](unsigned l) { return F(a[l], imm); });
}
template <unsigned W, auto F, class D, class A, class B> inline void run(Warp &warp, const Op &op, D (*)(A, B)) {
  const A *a = warp.reg<A>(op.a);
  const B *b = warp.reg<B>(op.b);
  map<W>(warp.mask, warp.reg<D>(op.d), [=](unsigned l) { return F(a[l], b[l]); });
}
template <unsigned W, auto F, class D, class A, class B> inline void run(Warp &warp, const Op &op, D (*)(A, B, Imm)) {
  const A *a = warp.reg<A>(op.a);
  const B *b = warp.reg<B>(op.b);
  Imm imm{op.imm};
  map<W>(warp.mask, warp.reg<D>(op.d), [=](unsigned l) { return F(a[l], b[l], imm); });
}
template <unsigned W, auto F, class D, class A, class B, class C>
inline void run(Warp &warp, const Op &op, D (*)(A, B, C)) {
  const A *a = warp.reg<A>(op.a);
  const B *b = warp.reg<B>(op.b);
  const C *c = warp.reg<C>(op.c);
  map<W>(warp.mask, warp.reg<D>(op.d), [=](unsigned l) { return F(a[l], b[l], c[l]); });
}
template <unsigned W, auto F, class D, class A, class B, class C>
inline void run(Warp &warp, const Op &op, D (*)(A, B, C, Imm)) {
  const A *a = warp.reg<A>(op.a);
  const B *b = warp.reg<B>(op.b);
  const C *c = warp.reg<C>(op.c);
  Imm imm{op.imm};
  map<W>(warp.mask, warp.reg<D>(op.d), [=](unsigned l) { return F(a[l], b[l], c[l], imm); });
}

template <unsigned W, auto F> void handle(Warp &warp, const Op &op) { run<W, F>(warp, op, F); }

} // namespace elementwise

/// The handlers of a lane function.
template <auto F> inline constexpr HandlerPair lanesOf{elementwise::handle<32, F>, elementwise::handle<64, F>};

/// The handler of a lane function for machines whose warps have 32 lanes.
template <auto F> inline constexpr Handler warpOf = elementwise::handle<32, F>;

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_CORE_ELEMENTWISE_H
