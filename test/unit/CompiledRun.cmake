# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# What the tests of several parts compile and run kernels with.
if(TARGET TilejitDriver AND TARGET TilejitCpuBackend AND TARGET TilejitNvvmBackend)
  add_library(TilejitTestRun STATIC CompiledRun.cpp EmulatedRun.cpp AmxTrap.cpp)
  target_include_directories(TilejitTestRun PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} PRIVATE ${PROJECT_SOURCE_DIR}/test)
  target_compile_definitions(TilejitTestRun PRIVATE TILEJIT_RUNNERS="${CMAKE_BINARY_DIR}/bin/emulated")
  foreach(arch ${TILEJIT_EMULATED})
    add_dependencies(TilejitTestRun TilejitRunner-${arch})
  endforeach()
  target_link_libraries(TilejitTestRun PUBLIC
    TilejitDriver TilejitCpuBackend TilejitNvvmBackend TilejitRocdlBackend TilejitCpuDevice TilejitSimDevice
    Catch2::Catch2)
endif()
