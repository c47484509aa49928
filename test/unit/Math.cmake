# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Accuracy of the expanded math functions and conversions, on this machine's CPU.
if(TARGET TilejitCpuBackend)
  tilejit_add_unit_test(MathTest SRCS MathCases.cpp MathKernel.cpp MathAccuracyTest.cpp MathConversionTest.cpp
    DEPS TilejitCpuBackend)
endif()
