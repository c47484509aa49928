# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Code for GPUs, from kernels in the LLVM and vendors' dialects.
if(TARGET TilejitNvvmBackend)
  tilejit_add_unit_test(GpuCodeGenTest SRCS GpuKernel.cpp GpuTargets.cpp GpuCodeGenTest.cpp
    DEPS TilejitNvvmBackend TilejitRocdlBackend)
endif()
