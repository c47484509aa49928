# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Parts of tilec that are pure logic.
tilejit_add_unit_test(ToolsTest
  SRCS AlignmentTest.cpp ${PROJECT_SOURCE_DIR}/tools/tilec/Alignment.cpp ${PROJECT_SOURCE_DIR}/tools/tilec/Version.cpp
  DEPS TilejitRuntime)
target_include_directories(ToolsTest PRIVATE ${PROJECT_SOURCE_DIR}/tools/tilec)
target_compile_definitions(ToolsTest PRIVATE
  TILEJIT_VERSION="0.0" TILEJIT_LLVM_VERSION="none" TILEJIT_LLD_VERSION="none" TILEJIT_OPERATOR_LIBRARY_VERSION="1.0"
  TILEJIT_COMPILER_VERSION="12.2" TILEJIT_CMAKE_VERSION="3.25" TILEJIT_TABLE="${PROJECT_SOURCE_DIR}/third_party/alignment.json")
