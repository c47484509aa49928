// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The launch of a GPU payload as JSON, a part of the manifest. An expression is one text in postfix order: integers,
// `s2` for the third size, and `+ * / ^ %` for the operators, `/` rounding down and `^` a quotient that rounds up:
// "s0 127 + 128 /" or "s0 128 ^".

#ifndef TILEJIT_LIB_ABI_LAUNCHJSON_H
#define TILEJIT_LIB_ABI_LAUNCHJSON_H

#include "Members.h"

#include "tilejit/ABI/GpuLaunch.h"

namespace tilejit::abi {

json::Value launchJson(const GpuLaunch &launch);
/// Reads what launchJson() wrote. Expressions leave exactly one value and use sizes that exist; counts are in range.
/// Whatever is wrong is remembered by `members`.
GpuLaunch readLaunch(Members &members);

} // namespace tilejit::abi

#endif // TILEJIT_LIB_ABI_LAUNCHJSON_H
