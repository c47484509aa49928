// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Sides of a conversion in another form: with copies that share the work of storing, or cut into passes that need less
// memory. The way through memory is planned for the new form; then its registers are translated back.

#ifndef TILEJIT_LIB_TRANSFORMS_LAYOUTCONVERSION_SIDES_H
#define TILEJIT_LIB_TRANSFORMS_LAYOUTCONVERSION_SIDES_H

#include "tilejit/Transforms/LayoutConversion.h"

namespace tilejit::tilegpu {

/// A layout, and how its registers are those of the original side.
struct Side {
  LinearLayout layout;
  gf2::Vectors registers; ///< For each register bit of `layout`: the original register.
  gf2::Vectors exchange;  ///< For each bit of the thread: the original registers are exchanged by this.
};

/// The side as it is.
Side plainSide(const LinearLayout &layout);

/// Threads that hold copies keep different halves of their registers. None if there are no such threads.
std::optional<Side> spreadCopies(const LinearLayout &layout);

/// A cut of the tile into 2^bits parts of equal size, so that each thread has as many registers of each part.
struct Cut {
  gf2::Vectors functionals; ///< Bit i of an element's part is parity(functionals[i] & element).
  uint64_t partOf(uint64_t element) const;
};

/// A cut that both sides allow, if there is one; parts that do not depend on threads are preferred, and those that keep
/// the elements of `together` together.
std::optional<Cut> chooseCut(const LinearLayout &from, const LinearLayout &to, int bits, const gf2::Vectors &together);

/// One part of a side: the layout of part 0, and where the registers of the other parts are.
struct PartialSide {
  Side side;
  gf2::Vectors partRegister; ///< For each bit of the part: a register, of the side it was cut from, that leads there.
};
PartialSide cutSide(const Side &side, const Cut &cut);

} // namespace tilejit::tilegpu

#endif // TILEJIT_LIB_TRANSFORMS_LAYOUTCONVERSION_SIDES_H
