# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# The runtime with a fake compiler: a library in a tree of its own, and a kernel made by the host's compiler.
set(fake ${CMAKE_BINARY_DIR}/fake)

function(tilejit_add_fake_kernel target name source)
  add_library(${target} MODULE ${source})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/runtime/include)
  target_compile_options(${target} PRIVATE -O1 -fno-exceptions -fno-rtti -fno-stack-protector -fno-sanitize=all
                         -fno-asynchronous-unwind-tables -fno-tree-vectorize)
  target_link_options(${target} PRIVATE -nostdlib -fno-sanitize=all -Wl,-z,noexecstack)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${fake}/lib)
endfunction()
tilejit_add_fake_kernel(TilejitFakeKernel fake-kernel RuntimeFakeKernel.cpp)
tilejit_add_fake_kernel(TilejitFakePackingKernel fake-packing-kernel RuntimeFakePackingKernel.cpp)
add_dependencies(TilejitFakeKernel TilejitFakePackingKernel)

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
