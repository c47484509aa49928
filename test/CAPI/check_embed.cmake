# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Installs the library, moves the installation, and builds and runs the example against it in both documented ways.
# cmake -DBUILD=... -DSOURCE=... -DFAKE=... -DWORKER=... -DSCRATCH=... -P check_embed.cmake
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code})\n${out}\n${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
run("install" ${CMAKE_COMMAND} --install ${BUILD} --component runtime --prefix ${SCRATCH}/installed)
file(RENAME ${SCRATCH}/installed ${SCRATCH}/moved)
file(GLOB_RECURSE pc ${SCRATCH}/moved/*/tilejit.pc)
get_filename_component(pc "${pc}" DIRECTORY)

run("configure" ${CMAKE_COMMAND} -S ${SOURCE}/examples/embed -B ${SCRATCH}/build
    -DCMAKE_PREFIX_PATH=${SCRATCH}/moved)
run("build" ${CMAKE_COMMAND} --build ${SCRATCH}/build)
run("make" make -C ${SOURCE}/examples/embed OUT=${SCRATCH}/embed PKG_CONFIG_PATH=${pc})

set(environment ${CMAKE_COMMAND} -E env TILEJIT_CACHE_DIR=${SCRATCH}/cache TILEJIT_HOME=${FAKE} TILEJIT_WORKER=${WORKER}
    TILEJIT_CONFIG=)
run("first run" ${environment} ${SCRATCH}/build/embed)
if(NOT output MATCHES "not in the cache.*100000 elements: right")
  message(FATAL_ERROR "first run: ${output}")
endif()
run("second run" ${environment} ${SCRATCH}/embed)
if(NOT output MATCHES "from the cache.*100000 elements: right")
  message(FATAL_ERROR "second run: ${output}")
endif()
