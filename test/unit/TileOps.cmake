# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Operations of the tile dialect on this machine's CPU and on simulated GPUs, against the interpreter.
if(TARGET TilejitTestRun AND TARGET TilejitInterpreter)
  tilejit_add_unit_test(TileOpsTest
    SRCS TileOpsCheck.cpp TileOpsTest.cpp TileOpsReduceTest.cpp TileOpsDotTest.cpp
         TileOpsFlowTest.cpp TileOpsAccessTest.cpp GpuFaultsTest.cpp
    DEPS TilejitTestRun TilejitConversion TilejitInterpreter TilejitReference)
endif()
