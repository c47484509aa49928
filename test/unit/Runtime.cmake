# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# The runtime with a fake compiler: a library in a tree of its own, and a kernel made by the host's compiler.
set(fake ${CMAKE_BINARY_DIR}/fake)

add_library(TilejitFakeKernel MODULE RuntimeFakeKernel.cpp)
target_include_directories(TilejitFakeKernel PRIVATE ${PROJECT_SOURCE_DIR}/runtime/include)
target_compile_options(TilejitFakeKernel PRIVATE -O1 -fno-exceptions -fno-rtti -fno-stack-protector -fno-sanitize=all
                       -fno-asynchronous-unwind-tables -fno-tree-vectorize)
target_link_options(TilejitFakeKernel PRIVATE -nostdlib -fno-sanitize=all -Wl,-z,noexecstack)
set_target_properties(TilejitFakeKernel PROPERTIES PREFIX "" OUTPUT_NAME fake-kernel LIBRARY_OUTPUT_DIRECTORY ${fake}/lib)

add_library(TilejitFakeCompiler SHARED RuntimeFakeCompiler.cpp)
target_link_libraries(TilejitFakeCompiler PRIVATE TilejitABI TilejitTarget)
set_target_properties(TilejitFakeCompiler PROPERTIES OUTPUT_NAME tilejit-compiler LIBRARY_OUTPUT_DIRECTORY ${fake}/lib)

tilejit_add_unit_test(RuntimeTest
  SRCS
    RuntimeContextTest.cpp
    RuntimeDeviceTest.cpp
    RuntimeElfTest.cpp
    RuntimeLaunchTest.cpp
    RuntimePackageTest.cpp
    RuntimeWorkerTest.cpp
  DEPS TilejitRuntime)
target_include_directories(RuntimeTest PRIVATE ${PROJECT_SOURCE_DIR}/runtime/lib/Runtime
                           ${PROJECT_SOURCE_DIR}/runtime/devices/cpu)
target_compile_definitions(RuntimeTest PRIVATE TILEJIT_TEST_HOME="${fake}"
                           TILEJIT_TEST_WORKER="$<TARGET_FILE:tilejit-worker>")
add_dependencies(RuntimeTest TilejitFakeKernel TilejitFakeCompiler tilejit-worker)
