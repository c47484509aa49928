// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The table of AMD's register layouts (SimulatorAmdLayouts.inc) and what evaluates its formulas, for tests of
// everything that must agree with it.

#ifndef TILEJIT_TEST_UNIT_AMDMATRIXLAYOUTS_H
#define TILEJIT_TEST_UNIT_AMDMATRIXLAYOUTS_H

#include <catch2/catch.hpp>

#include <cctype>
#include <cstdlib>
#include <vector>

namespace tilejit::sim::test {

/// Sums of products of numbers, the variables l, e, r and b, and parentheses.
class Formula {
public:
  Formula(const char *text, int l, int e, int bits) : at_(text), l_(l), e_(e), bits_(bits) {}
  int value() {
    int result = sum();
    REQUIRE(*at_ == 0);
    return result;
  }

private:
  int sum() {
    int result = product();
    while (*at_ == '+') {
      ++at_;
      result += product();
    }
    return result;
  }
  int product() {
    int result = atom();
    while (*at_ == '*' || *at_ == '/' || *at_ == '%') {
      char sign = *at_++;
      int right = atom();
      result = sign == '*' ? result * right : sign == '/' ? result / right : result % right;
    }
    return result;
  }
  int atom() {
    if (*at_ == '(') {
      ++at_;
      int result = sum();
      REQUIRE(*at_++ == ')');
      return result;
    }
    if (std::isdigit(static_cast<unsigned char>(*at_)))
      return static_cast<int>(std::strtol(at_, const_cast<char **>(&at_), 10));
    switch (*at_++) {
    case 'l':
      return l_;
    case 'e':
      return e_;
    case 'r':
      return e_ * bits_ / 32;
    case 'b':
      return e_ * bits_ % 32;
    default:
      FAIL("bad formula at " << at_ - 1);
      return 0;
    }
  }

  const char *at_;
  int l_, e_, bits_;
};

struct MatrixLayoutRow {
  const char *chip;
  int lanes;
  const char *name, *form;
  int m, k, blocks;
  const char *a, *b, *c;
  int countA, countB, countC;
  const char *typeA, *typeB, *typeC;
  const char *rowA, *depthA, *blockA, *columnB, *depthB, *blockB, *rowC, *columnC, *blockC;
};

inline const std::vector<MatrixLayoutRow> &matrixLayouts() {
  static const std::vector<MatrixLayoutRow> rows{
#define LAYOUT(...) MatrixLayoutRow{__VA_ARGS__},
#include "SimulatorAmdLayouts.inc"
#undef LAYOUT
  };
  return rows;
}

} // namespace tilejit::sim::test

#endif // TILEJIT_TEST_UNIT_AMDMATRIXLAYOUTS_H
