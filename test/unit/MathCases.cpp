// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The table of functions.

#include "MathCases.h"

namespace tilejit::test {

namespace {

Wide rsqrtWide(Wide x, Wide) {
  return x == 0 ? std::copysign(std::numeric_limits<Wide>::infinity(), x) : 1 / std::sqrt(x);
}

const MathFunction functions[] = {
    {"exp", "%r = math.exp %x : $in", [](Wide x, Wide) { return std::exp(x); }, 2, 2, -110, 90},
    {"exp2", "%r = math.exp2 %x : $in", [](Wide x, Wide) { return std::exp2(x); }, 2, 2, -150, 130},
    {"expm1", "%r = math.expm1 %x : $in", [](Wide x, Wide) { return std::expm1(x); }, 4, 4, -4, 4},
    {"log", "%r = math.log %x : $in", [](Wide x, Wide) { return std::log(x); }, 2, 2, 0, 4},
    {"log2", "%r = math.log2 %x : $in", [](Wide x, Wide) { return std::log2(x); }, 2, 2, 0, 4},
    {"log10", "%r = math.log10 %x : $in", [](Wide x, Wide) { return std::log10(x); }, 3, 3, 0, 4},
    {"log1p", "%r = math.log1p %x : $in", [](Wide x, Wide) { return std::log1p(x); }, 4, 4, -1, 3},
    {"sqrt", "%r = math.sqrt %x : $in", [](Wide x, Wide) { return std::sqrt(x); }, 0.51, 0.51, 0, 4},
    {"rsqrt", "%r = math.rsqrt %x : $in", rsqrtWide, 2, 2, 0, 4},
    {"sin", "%r = math.sin %x : $in", [](Wide x, Wide) { return std::sin(x); }, 2, 2, -1000, 1000, false, true},
    {"cos", "%r = math.cos %x : $in", [](Wide x, Wide) { return std::cos(x); }, 2, 2, -1000, 1000, false, true},
    {"tan", "%r = math.tan %x : $in", [](Wide x, Wide) { return std::tan(x); }, 4, 4, -100, 100},
    {"tanh", "%r = math.tanh %x : $in", [](Wide x, Wide) { return std::tanh(x); }, 4, 4, -12, 12},
    {"erf", "%r = math.erf %x : $in", [](Wide x, Wide) { return std::erf(x); }, 3, 3, -5, 5},
    // To 2^-16 of the result, which is up to 256 units of f32. f64 is not approximated.
    {"fast_exp", "%r = math.exp %x fastmath<afn> : $in", [](Wide x, Wide) { return std::exp(x); }, 256, 2, -110, 90},
    {"fast_exp2", "%r = math.exp2 %x fastmath<afn> : $in", [](Wide x, Wide) { return std::exp2(x); }, 256, 2, -150,
     130},
    {"fast_tanh", "%r = math.tanh %x fastmath<afn> : $in", [](Wide x, Wide) { return std::tanh(x); }, 256, 4, -12, 12},
    {"fast_erf", "%r = math.erf %x fastmath<afn> : $in", [](Wide x, Wide) { return std::erf(x); }, 256, 3, -5, 5},
    {"fast_log", "%r = math.log %x fastmath<afn> : $in", [](Wide x, Wide) { return std::log(x); }, 256, 2, 0, 4},
    {"fast_log2", "%r = math.log2 %x fastmath<afn> : $in", [](Wide x, Wide) { return std::log2(x); }, 256, 2, 0, 4},
    {"fast_log1p", "%r = math.log1p %x fastmath<afn> : $in", [](Wide x, Wide) { return std::log1p(x); }, 256, 4, -1, 3},
    {"fast_rsqrt", "%r = math.rsqrt %x fastmath<afn> : $in", rsqrtWide, 256, 2, 0, 4},
    {"fast_sin", "%r = math.sin %x fastmath<afn> : $in", [](Wide x, Wide) { return std::sin(x); }, 256, 2, -1000, 1000,
     false, true},
    {"fast_cos", "%r = math.cos %x fastmath<afn> : $in", [](Wide x, Wide) { return std::cos(x); }, 256, 2, -1000, 1000,
     false, true},
    {"fast_pow", "%r = math.powf %x, %y fastmath<afn> : $in", [](Wide x, Wide y) { return std::pow(x, y); }, 256, 3, 0,
     20, true},
    {"erfc", "%r = math.erfc %x : $in", [](Wide x, Wide) { return std::erfc(x); }, 6, 6, -4, 10},
    {"pow", "%r = math.powf %x, %y : $in", [](Wide x, Wide y) { return std::pow(x, y); }, 2, 3, 0, 20, true},
    {"div", "%r = arith.divf %x, %y : $in", [](Wide x, Wide y) { return x / y; }, 0.51, 0.51, -4, 4, true},
    {"floor", "%r = math.floor %x : $in", [](Wide x, Wide) { return std::floor(x); }, 0, 0, -4, 4},
    {"ceil", "%r = math.ceil %x : $in", [](Wide x, Wide) { return std::ceil(x); }, 0, 0, -4, 4},
    {"trunc", "%r = math.trunc %x : $in", [](Wide x, Wide) { return std::trunc(x); }, 0, 0, -4, 4},
    {"round", "%r = math.round %x : $in", [](Wide x, Wide) { return std::round(x); }, 0, 0, -4, 4},
    {"roundeven", "%r = math.roundeven %x : $in", [](Wide x, Wide) { return std::nearbyint(x); }, 0, 0, -4, 4},
    // Without the instruction, subnormal results of f64 may be rounded twice.
    {"fma", "%r = math.fma %x, %y, %x : $in", [](Wide x, Wide y) { return std::fma(x, y, x); }, 0.51, 0.51, -4, 4,
     true},
};

} // namespace

std::span<const MathFunction> mathFunctions() { return functions; }

} // namespace tilejit::test
