# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Operations of the tile dialect on this machine's CPU, against the interpreter.
if(TARGET TilejitDriver AND TARGET TilejitCpuBackend AND TARGET TilejitInterpreter)
  tilejit_add_unit_test(TileOpsCpuTest
    SRCS TileOpsCpuTest.cpp
    DEPS TilejitDriver TilejitCpuBackend TilejitInterpreter TilejitReference TilejitCpuDevice)
endif()
