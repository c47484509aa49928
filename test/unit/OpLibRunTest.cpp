// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What the kernels of the operator library for a CPU compute, said by the interpreter.

#include "OpLibInterpret.h"

using namespace tilejit;
using namespace tilejit::test;

static void runAll(const std::vector<OpLibCase> &cases, const abi::Config &given = {}) {
  interpretCases(cases, TargetSpec(), given);
}

TEST_CASE("matmul kernels compute the product", "[oplib]") { runAll(matmulCases()); }
TEST_CASE("matmul kernels with odd tiles compute the product", "[oplib]") {
  runAll(matmulCases(), {{"bm", 3}, {"bn", 5}, {"bk", 2}});
}
TEST_CASE("kernels that pack an operand first compute the product", "[oplib]") { runAll(tallProductCases()); }
TEST_CASE("kernels that pack a constant operand compute the product", "[oplib]") { runAll(constantProductCases()); }
TEST_CASE("elementwise kernels compute their expressions", "[oplib]") { runAll(elementwiseCases()); }
TEST_CASE("reductions agree with the reference", "[oplib]") { runAll(reduceCases()); }
TEST_CASE("reductions in narrow steps and short parts agree", "[oplib]") {
  runAll(reduceCases(), {{"bn", 7}, {"chunk", 1024}});
}
TEST_CASE("softmax and norms agree with the reference", "[oplib]") { runAll(rowCases()); }
TEST_CASE("softmax and norms in narrow steps agree", "[oplib]") { runAll(rowCases(), {{"bn", 9}}); }
TEST_CASE("attention agrees with the reference", "[oplib]") { runAll(attentionCases()); }
TEST_CASE("attention in odd tiles agrees", "[oplib]") { runAll(attentionCases(), {{"bm", 5}, {"bn", 6}}); }
TEST_CASE("decoding agrees with the reference", "[oplib]") { runAll(decodeCases()); }
TEST_CASE("attention of sequences agrees", "[oplib]") { runAll(sequenceCases()); }
TEST_CASE("transpositions and casts agree with the reference", "[oplib]") { runAll(moveCases()); }
