# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Compares what a library exports with the committed list, and looks at what it needs.
# cmake -DNM=nm -DREADELF=readelf -DLIBRARY=lib -DLIST=exports.txt -P check_exports.cmake
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE text RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "nm failed on ${LIBRARY}")
endif()
string(REGEX MATCHALL "[A-Za-z0-9_.]+@@TILEJIT_0" found "${text}")
list(TRANSFORM found REPLACE "@@.*" "")
list(SORT found)
file(STRINGS ${LIST} expected)
list(SORT expected)
if(NOT found STREQUAL expected)
  message(FATAL_ERROR "exports differ\nfound:    ${found}\nexpected: ${expected}")
endif()
string(REGEX MATCHALL "\n[0-9a-f]+ [A-Z] [^@\n]+\n" unversioned "\n${text}")
list(FILTER unversioned EXCLUDE REGEX " A TILEJIT_0")
if(unversioned)
  message(FATAL_ERROR "exports without a version: ${unversioned}")
endif()

execute_process(COMMAND ${READELF} -d ${LIBRARY} OUTPUT_VARIABLE dynamic)
if(dynamic MATCHES "libLLVM|libMLIR")
  message(FATAL_ERROR "the library needs LLVM:\n${dynamic}")
endif()
if(NOT dynamic MATCHES "soname: \\[libtilejit.so.0\\]")
  message(FATAL_ERROR "wrong soname:\n${dynamic}")
endif()
