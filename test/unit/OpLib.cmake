# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# The operator library: its kernels verify, and the interpreter says that they compute what the reference does.
if(TARGET TilejitOpLib AND TARGET TilejitInterpreter)
  tilejit_add_unit_test(OpLibTest
    SRCS OpLibBuildTest.cpp OpLibCases.cpp OpLibRunTest.cpp
    DEPS TilejitOpLib TilejitInterpreter TilejitReference)
endif()
