// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The functions by name. Each takes f32 or f64; what differs between the two is inside.

#ifndef TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_FUNCTIONS_H
#define TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_FUNCTIONS_H

#include "Emit.h"
#include "IntervalTable.h"

#include "mlir/IR/BuiltinTypes.h"

namespace tilejit::math {

Num expandExp(Num x);
Num expandExp2(Num x);
Num expandExpM1(Num x);
Num expandTanh(Num x);

Num expandLog(Num x);
Num expandLog2(Num x);
Num expandLog10(Num x);
Num expandLog1P(Num x);

Num expandErf(Num x);
Num expandErfc(Num x);

/// e^x for what is never positive and was rounded itself (tile.distance).
Num expandExpOfDistance(Num x);

/// The factors of tile.gelu_loss and tile.gelu_tanh_loss, a distance and a tail, for registers of f32 that
/// scalesByInstruction() and are not negative (or NaN).
Tabulated geluLossByTable(Num distance);
Tabulated geluTanhLossByTable(Num distance);

// The functions of f32 to 2^-16 of the result; right at the infinities, NaN, zeros and subnormal arguments.
Num expandFastExp(Num x);
Num expandFastExp2(Num x);
Num expandFastTanh(Num x);
Num expandFastErf(Num x);
Num expandFastLog(Num x);
Num expandFastLog2(Num x);
Num expandFastLog1P(Num x);
Num expandFastSin(Num x);
Num expandFastCos(Num x);
Num expandFastRsqrt(Num x);
Num expandFastPow(Num x, Num y);

/// 2^x to 2^-18 of itself for registers that scalesByInstruction(), where x is not exact: `restOf` gives what remains
/// of it beside a multiple of 1/16 that is within 1/32 of x.
Num fastExp2OfSum(Num x, llvm::function_ref<Num(Num)> restOf);

Num expandSin(Num x);
Num expandCos(Num x);
Num expandTan(Num x);

Num expandRsqrt(Num x);
Num expandPow(Num x, Num y);
/// x to an integer power (i32 or i64 of any width up to 64), by repeated squaring.
Num expandPowInt(Num x, Num n);

Num expandFloor(Num x);
Num expandCeil(Num x);
Num expandRoundEven(Num x);
Num expandRoundAway(Num x);
/// x * y + z rounded once, without the instruction for it.
Num expandFma(Num x, Num y, Num z);

/// What C's fmod gives: exact, with the sign of x.
Num expandRemainder(Num x, Num y);

/// Whether conversions between a narrow type and f32 stay the code generator's.
bool isLeftToCodeGenerator(mlir::FloatType narrow, const MathExpansionOptions &options);
/// Any float type to f32 or f64, exactly. `source` has the narrow type.
Num extendNarrow(const Emit &emit, mlir::Value source, bool toDouble);
/// f32 or f64 to a narrower type, rounded once; values beyond the range become what the type has for them.
mlir::Value truncateToNarrow(Num x, mlir::FloatType type, bool towardZero);

} // namespace tilejit::math

#endif // TILEJIT_LIB_TRANSFORMS_MATHEXPANSION_FUNCTIONS_H
