# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Finds Debian's MLIR and LLVM and prepares the one precompiled header of the heavy MLIR headers.
# Only the shared libraries MLIR and LLVM are ever linked: a static MLIR piece beside them breaks type identities.
include_guard()

# What instantiates MLIR's templates keeps default visibility: MLIR tells traits apart by the address of a variable in
# an inline function or by a compiler's spelling of a type. Hidden, g++'s spelling differs from the one in libMLIR, which
# clang built, and no trait of ours would be seen there, nor theirs here.
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_VISIBILITY_INLINES_HIDDEN OFF)

find_package(MLIR 22.1 REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
# Debian ships lit as bin/lit, where LLVM's own CMake looks for bin/llvm-lit.
set(LLVM_EXTERNAL_LIT "${LLVM_TOOLS_BINARY_DIR}/lit" CACHE FILEPATH "The lit test runner")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

option(TILEJIT_PCH "Share one precompiled header of the heavy MLIR headers" ON)
if(TILEJIT_PCH)
  file(WRITE ${CMAKE_BINARY_DIR}/pch.cpp.tmp "// The translation unit that owns the precompiled header.\n")
  configure_file(${CMAKE_BINARY_DIR}/pch.cpp.tmp ${CMAKE_BINARY_DIR}/pch.cpp COPYONLY)
  add_library(TilejitMlirPch STATIC ${CMAKE_BINARY_DIR}/pch.cpp)
  target_include_directories(TilejitMlirPch SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(TilejitMlirPch PRIVATE -fno-exceptions)
  target_precompile_headers(TilejitMlirPch PRIVATE
    <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/Matchers.h> <mlir/IR/PatternMatch.h>
    <mlir/Pass/Pass.h> <mlir/Transforms/DialectConversion.h>
    <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/LLVMIR/LLVMDialect.h>
    <mlir/Dialect/Math/IR/Math.h> <mlir/Dialect/SCF/IR/SCF.h> <mlir/Dialect/Vector/IR/VectorOps.h>)
endif()
