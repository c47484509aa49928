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

# Which sanitizers the values of TILEJIT_SANITIZE mean.
set(TILEJIT_SANITIZERS_address address,undefined)
set(TILEJIT_SANITIZERS_thread thread)
if(TILEJIT_SANITIZE)
  set(sanitizers ${TILEJIT_SANITIZERS_${TILEJIT_SANITIZE}})
  if(NOT sanitizers)
    message(FATAL_ERROR "TILEJIT_SANITIZE: expected address or thread, found ${TILEJIT_SANITIZE}")
  endif()
  # Checks of dynamic types need type information across libraries, which hidden symbols don't give.
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers})
endif()
