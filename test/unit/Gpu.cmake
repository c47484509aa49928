# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Code for GPUs, from kernels in the LLVM and vendors' dialects.
if(TARGET TilejitNvvmBackend)
  tilejit_add_unit_test(GpuCodeGenTest SRCS GpuKernel.cpp GpuTargets.cpp GpuCodeGenTest.cpp GpuOpsTest.cpp
    DEPS TilejitNvvmBackend TilejitRocdlBackend)
  tilejit_add_unit_test(PtxasTest SRCS PtxasTest.cpp DEPS TilejitNvvmBackend)
  if(TARGET TilejitSimulator)
    tilejit_add_unit_test(GpuMathTest SRCS GpuKernel.cpp GpuTargets.cpp MathCases.cpp GpuMathTest.cpp
      DEPS TilejitNvvmBackend TilejitRocdlBackend TilejitSimulatorLoader)
    add_dependencies(GpuMathTest TilejitSimulator)
  endif()
endif()
