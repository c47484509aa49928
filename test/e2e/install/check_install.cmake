# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Installs everything, moves the installation, and compiles, runs and simulates there: worker, compiler and simulator
# are found by their places, LLVM and MLIR where they were at build time.
# cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -P check_install.cmake
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
set(tilec ${SCRATCH}/moved/bin/tilec)
set(environment ${CMAKE_COMMAND} -E env --unset=TILEJIT_HOME --unset=TILEJIT_WORKER --unset=LD_LIBRARY_PATH
    TILEJIT_CACHE_DIR=${SCRATCH}/cache TILEJIT_CONFIG=)

function(run what expected)
  execute_process(COMMAND ${environment} ${ARGN} WORKING_DIRECTORY ${SCRATCH}
    RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0 OR NOT out MATCHES "${expected}")
    message(FATAL_ERROR "${what}: exit code ${code}, expected ${expected}\n${out}\n${err}")
  endif()
endfunction()

foreach(component runtime compiler tools)
  run("install ${component}" "" ${CMAKE_COMMAND} --install ${BUILD} --component ${component} --prefix ${SCRATCH}/installed)
endforeach()
file(RENAME ${SCRATCH}/installed ${SCRATCH}/moved)

set(example ${SOURCE}/examples/matmul.json)
run("compile" "" ${tilec} compile ${example} --target native,sm_80,gfx942 -o matmul.tjk)
run("inspect" "gfx942" ${tilec} inspect matmul.tjk)
run("run" "" ${tilec} run ${example} --set m=17 --verify)
run("verify on a simulator" "" ${tilec} verify ${example} --set m=3 --target sim:sm_80)
run("simulate" "" ${tilec} simulate ${SOURCE}/examples/simulate/reverse.ll --target sm_80 --kernel ramp --grid 2 --block 64
    --arg "out:o.npy:f32[128]" --arg "i32:128")
run("doctor" "" ${tilec} doctor)
