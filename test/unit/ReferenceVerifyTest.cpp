// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Acceptance of single results, the choice of rows, and whole comparisons: right results pass, small faults are found
// and named.

#include "ReferenceCases.h"
#include "tilejit/Reference/Random.h"
#include "tilejit/Reference/Reference.h"
#include "tilejit/Reference/Tolerance.h"
#include "tilejit/Reference/Verify.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace tilejit;
using namespace tilejit::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double none = std::numeric_limits<double>::quiet_NaN();

struct Run {
  std::vector<HostTensor> inputs, outputs;
};

Run run(const Description &description, uint64_t seed) {
  Run result;
  for (int i = 0; i < static_cast<int>(description.inputs.size()); ++i)
    result.inputs.push_back(*randomInput(description, {}, i, seed));
  REQUIRE(referenceRun(description, {}, result.inputs, result.outputs).isOk());
  return result;
}

} // namespace

TEST_CASE("a result is accepted where the rounded interval has it") {
  CHECK(isAccepted(1.0, {1.0, 0}, DType::F32));
  CHECK_FALSE(isAccepted(1.0 + 0x1p-23, {1.0, 0}, DType::F32));
  CHECK(isAccepted(1.0 + 0x1p-23, {1.0, 0x1p-23}, DType::F32));
  CHECK(isAccepted(1.0, {1.0 + 0x1p-8, 0}, DType::BF16)); // Half way goes to even.
  CHECK_FALSE(isAccepted(1.0 + 0x1p-7, {1.0 + 0x1p-8, 0}, DType::BF16));
  CHECK(isAccepted(-0.0, {0.0, 0}, DType::F32));
  CHECK(isAccepted(none, {none, 0}, DType::F32));
  CHECK_FALSE(isAccepted(1.0, {none, 0}, DType::F32));
  CHECK_FALSE(isAccepted(none, {1.0, 0.5}, DType::F32));
  CHECK(isAccepted(inf, {inf, 0}, DType::F16));
  CHECK_FALSE(isAccepted(-inf, {inf, 0}, DType::F16));
  CHECK(isAccepted(inf, {65520.0, 0}, DType::F16));
  CHECK(isAccepted(none, {inf, 0}, DType::F8E4M3FN));
  CHECK(isAccepted(none, {500.0, 0}, DType::F8E4M3FN));
  CHECK_FALSE(isAccepted(448.0, {500.0, 0}, DType::F8E4M3FN));
  CHECK(isAccepted(448.0, {463.0, 4}, DType::F8E4M3FN)); // May or may not overflow.
  CHECK(isAccepted(none, {463.0, 4}, DType::F8E4M3FN));
  CHECK(isAccepted(none, {0.0, inf}, DType::F32));
  CHECK(isAccepted(int64_t{5}, int64_t{5}, 0));
  CHECK_FALSE(isAccepted(int64_t{5}, int64_t{6}, 0));
  CHECK(isAccepted(int64_t{5}, int64_t{6}, 1));
}

TEST_CASE("bounds of sums grow with length, then with its root") {
  CHECK(growth(1) == 2);
  CHECK(growth(36) == 37);
  CHECK(growth(4096) == 6 * 64 + 1);
  CHECK(operandRounding(Precision::Tf32) == Approx(0x1p-10).epsilon(1e-3));
  CHECK(operandRounding(Precision::Bf16x3) == 3 * 0x1p-16);
}

TEST_CASE("selected rows hold the ends, both sides of borders and random ones") {
  std::vector<int64_t> rows = selectRows(2048, 2048, {40, 7});
  CHECK(rows.size() == 40);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
  for (int64_t row : {0, 2047, 63, 64, 127, 128, 1919, 1920, 7, 8})
    CHECK(std::binary_search(rows.begin(), rows.end(), row));
  CHECK(rows == selectRows(2048, 2048, {40, 7}));
  CHECK(rows != selectRows(2048, 2048, {40, 8}));
  CHECK(selectRows(5, 5, {100, 1}).size() == 5);
  CHECK(selectRows(5, 5, {4, 1}).size() == 4);
  CHECK(selectRows(1, 1, {4, 1}) == std::vector<int64_t>{0});
  CHECK(selectRows(1000, 10, {30, 1}).size() == 30);
}

TEST_CASE("sampled rows have the values of the whole") {
  std::vector<Description> descriptions = {
      makeMatmul(DType::F32, {300, 17}, {17, 9}),
      makeSoftmax(Family::Softmax, DType::F32, {300, 5, 7}, 1),
      makeReduce(ReduceKind::Sum, DType::F32, {300, 9}, {1}),
      makeTranspose(DType::I32, {8, 300}, {1, 0}),
      makeCast(DType::F32, DType::I8, {300, 3}),
  };
  for (const Description &description : descriptions) {
    std::vector<HostTensor> inputs;
    for (int i = 0; i < static_cast<int>(description.inputs.size()); ++i)
      inputs.push_back(*randomInput(description, {}, i, 3));
    std::vector<ReferenceTensor> all, some;
    RowSelection selection{20, 5};
    REQUIRE(evaluateReference(description, {}, inputs, all).isOk());
    REQUIRE(evaluateReference(description, {}, inputs, some, &selection).isOk());
    CHECK(some[0].rows == 20);
    CHECK(some[0].size() < all[0].size());
    for (int64_t i = 0; i < some[0].size(); ++i) {
      auto place = static_cast<size_t>(some[0].place(i)), index = static_cast<size_t>(i);
      REQUIRE(some[0].errors[index] == all[0].errors[place]);
      if (some[0].values.empty())
        REQUIRE(some[0].integers[index] == all[0].integers[place]);
      else
        REQUIRE(some[0].values[index] == all[0].values[place]);
    }
  }
}

TEST_CASE("an f32 product in any order passes, one that loses an element does not") {
  uint64_t seed = std::random_device()();
  INFO("seed " << seed);
  int64_t m = 9, n = 11, k = 300;
  Description description = makeMatmul(DType::F32, {m, k}, {k, n});
  Run r = run(description, seed);
  std::vector<double> a = values(r.inputs[0]), b = values(r.inputs[1]);
  auto product = [&](int64_t length) {
    HostTensor c = *HostTensor::allocate(DType::F32, {m, n});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t l = length; l-- > 0;)
          sum += static_cast<float>(a[static_cast<size_t>(i * k + l)]) *
                 static_cast<float>(b[static_cast<size_t>(l * n + j)]);
        storeDouble(c.element(i * n + j), DType::F32, sum);
      }
    std::vector<HostTensor> outputs;
    outputs.push_back(std::move(c));
    return outputs;
  };
  VerifyResult right = *verify(description, {}, r.inputs, product(k), seed);
  INFO(right.summary());
  CHECK(right.ok);
  CHECK(right.maxAbsError > 0);
  CHECK(right.tolerance > 0);
  CHECK_FALSE(right.sampled);
  CHECK(right.checked == m * n);
  VerifyResult wrong = *verify(description, {}, r.inputs, product(k - 1), seed);
  CHECK_FALSE(wrong.ok);
  CHECK(wrong.wrong > m * n / 2);
}

TEST_CASE("a single wrong element is found and named") {
  Description description = makeSoftmax(Family::Softmax, DType::BF16, {7, 50}, 1);
  Run r = run(description, 9);
  CHECK(verify(description, {}, r.inputs, r.outputs, 1)->ok);
  double value = loadAsDouble(r.outputs[0].element(3 * 50 + 20), DType::BF16);
  storeDouble(r.outputs[0].element(3 * 50 + 20), DType::BF16, value * 1.02);
  VerifyResult result = *verify(description, {}, r.inputs, r.outputs, 1);
  CHECK_FALSE(result.ok);
  CHECK(result.wrong == 1);
  CHECK(result.output == "y");
  CHECK(result.worstIndex == Shape{3, 20});
  CHECK_THAT(result.summary(), Catch::Contains("y[3, 20]"));
  CHECK(std::abs(result.actual - result.expected) > result.tolerance);
}

TEST_CASE("NaN in the wrong place is a failure, in the right one it is not") {
  Description description = makeCast(DType::F32, DType::F16, {4});
  std::vector<HostTensor> inputs, outputs;
  inputs.push_back(tensorOf(DType::F32, {4}, {1, none, 1e9, -2}));
  outputs.push_back(tensorOf(DType::F16, {4}, {1, none, inf, -2}));
  VerifyResult result = *verify(description, {}, inputs, outputs, 1);
  CHECK(result.ok);
  CHECK(result.maxAbsError == 0);
  outputs[0] = tensorOf(DType::F16, {4}, {1, 5, inf, none});
  result = *verify(description, {}, inputs, outputs, 1);
  CHECK_FALSE(result.ok);
  CHECK(result.misplacedNan == 2);
  CHECK(result.maxAbsError == inf);
}

TEST_CASE("integers must agree exactly") {
  Description description = makeMatmul(DType::I8, {5, 40}, {40, 6}, DType::I32);
  Run r = run(description, 2);
  CHECK(verify(description, {}, r.inputs, r.outputs, 1)->ok);
  storeInteger(r.outputs[0].element(7), DType::I32, loadAsInteger(r.outputs[0].element(7), DType::I32) + 1);
  VerifyResult result = *verify(description, {}, r.inputs, r.outputs, 1);
  CHECK_FALSE(result.ok);
  CHECK(result.worstIndex == Shape{1, 1});
  CHECK(result.maxAbsError == 1);
}

TEST_CASE("a long product is sampled, and says so") {
  Description description = makeMatmul(DType::BF16, {1024, 512}, {512, 8192});
  CHECK(referenceCost(description, {}).total() > fullReferenceFlops);
  std::vector<HostTensor> inputs, outputs;
  for (int i = 0; i < 2; ++i)
    inputs.push_back(*randomInput(description, {}, i, 4));
  outputs.push_back(*HostTensor::allocate(DType::F32, {1024, 8192}));
  outputs[0].fillBytes(0);
  VerifyResult result = *verify(description, {}, inputs, outputs, 4);
  CHECK(result.sampled);
  CHECK_FALSE(result.ok);
  CHECK(result.rows < result.allRows);
  CHECK(result.checked == result.rows * 8192);
  CHECK_THAT(result.summary(), Catch::Contains("of 1024 rows sampled"));
}

TEST_CASE("outputs of another shape are an error, empty ones are right") {
  Description description = makeCast(DType::F32, DType::F16, {2});
  std::vector<HostTensor> inputs, outputs;
  inputs.push_back(tensorOf(DType::F32, {2}, {1, 2}));
  outputs.push_back(tensorOf(DType::F16, {3}, {1, 2, 3}));
  CHECK(verify(description, {}, inputs, outputs, 1).status().code() == StatusCode::InvalidArgument);
  Run empty = run(makeCast(DType::F32, DType::F16, {0, 4}), 1);
  VerifyResult result = *verify(makeCast(DType::F32, DType::F16, {0, 4}), {}, empty.inputs, empty.outputs, 1);
  CHECK(result.ok);
  CHECK(result.checked == 0);
}
