# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
tilejit_add_unit_test(ReferenceTest
  SRCS
    ReferenceExpressionTest.cpp
    ReferenceFamiliesTest.cpp
    ReferenceNpyTest.cpp
    ReferenceRandomTest.cpp
    ReferenceVerifyTest.cpp
  DEPS TilejitReference)
