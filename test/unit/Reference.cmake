# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
tilejit_add_unit_test(ReferenceTest
  SRCS ReferenceNpyTest.cpp ReferenceRandomTest.cpp
  DEPS TilejitReference)
