// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Names in device libraries: those that differ from the table of functions, and the integer functions.

#ifndef TILEJIT_SIMULATOR_DECODE_LIBRARYNAMES_H
#define TILEJIT_SIMULATOR_DECODE_LIBRARYNAMES_H

#include "core/Elementwise.h"

#include "llvm/ADT/StringRef.h"

#include <string_view>

namespace tilejit::sim {

/// The name in the table of functions: "fmax" is "maxnum".
llvm::StringRef libraryAlias(llvm::StringRef name);

struct LibraryInteger {
  std::string_view name;
  HandlerPair handlers;
};
/// Functions on integers: of libdevice without "__nv_", of OCKL without "__ockl_". Null for others.
const LibraryInteger *findLibraryInteger(std::string_view name);

/// Lane functions that LLVM's intrinsics and libraries share, for a kind of float.
HandlerPair frexpHandlers(Kind kind, bool exponent); ///< Mantissa, or exponent (I32).
HandlerPair fractionHandlersOf(Kind kind);           ///< What modf leaves.
HandlerPair scaleHandlersOf(Kind kind);              ///< a * 2^b, b of I32.
HandlerPair powerHandlersOf(Kind kind);              ///< a^b, b of I32.
HandlerPair classHandlersOf(Kind kind);              ///< I8: whether a is of the classes of the operation's number.
HandlerPair signBitHandlersOf(Kind kind);            ///< I8

} // namespace tilejit::sim

#endif // TILEJIT_SIMULATOR_DECODE_LIBRARYNAMES_H
