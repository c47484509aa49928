# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Compiler flags that hold for every target.
include_guard()

option(TILEJIT_ASSERTIONS "Keep assert() in optimised builds" ON)
option(TILEJIT_WERROR "Treat warnings as errors" OFF)

if(TILEJIT_ASSERTIONS)
  foreach(kind RELEASE RELWITHDEBINFO MINSIZEREL)
    string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_${kind} "${CMAKE_CXX_FLAGS_${kind}}")
    string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_${kind} "${CMAKE_C_FLAGS_${kind}}")
  endforeach()
endif()
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
if(TILEJIT_WERROR)
  add_compile_options(-Werror)
endif()
add_link_options(-Wl,--build-id=sha1 -Wl,--as-needed -Wl,-z,defs)

if(TILEJIT_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
