# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# The operator library: its kernels verify, and interpreter and CPU say that they compute what the reference does.
if(TARGET TilejitOpLib AND TARGET TilejitInterpreter)
  tilejit_add_unit_test(OpLibTest
    SRCS OpLibBuildTest.cpp OpLibCases.cpp OpLibGpuTest.cpp OpLibInterpret.cpp OpLibRunTest.cpp OpLibTrial.cpp
    DEPS TilejitOpLib TilejitInterpreter TilejitReference)
endif()
if(TARGET TilejitTestRun)
  tilejit_add_unit_test(OpLibCpuTest
    SRCS FunctionAccuracyTest.cpp OpLibCases.cpp OpLibCpuTest.cpp OpLibTrial.cpp
    DEPS TilejitTestRun TilejitReference)
  tilejit_add_unit_test(OpLibEmulatedTest
    SRCS OpLibCases.cpp OpLibEmulatedTest.cpp OpLibTrial.cpp
    DEPS TilejitTestRun TilejitReference)
  tilejit_add_unit_test(OpLibSimulatedTest
    SRCS OpLibCases.cpp OpLibSimulatedTest.cpp OpLibTrial.cpp
    DEPS TilejitTestRun TilejitReference)
endif()
