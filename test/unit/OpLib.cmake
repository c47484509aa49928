# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# The operator library: kernels build and verify.
if(TARGET TilejitOpLib)
  tilejit_add_unit_test(OpLibTest
    SRCS OpLibBuildTest.cpp OpLibCases.cpp
    DEPS TilejitOpLib)
endif()
