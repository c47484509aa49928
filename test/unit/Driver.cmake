# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
if(TARGET TilejitDriver)
  tilejit_add_unit_test(DriverTest SRCS DriverTest.cpp DEPS TilejitDriver TilejitCpuBackend)
endif()
