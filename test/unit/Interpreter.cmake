# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# The interpreter: that it knows every operation, and its number formats against the runtime's own.
if(TARGET TilejitInterpreter)
  tilejit_add_unit_test(InterpreterTest SRCS InterpreterTest.cpp DEPS TilejitInterpreter)
endif()
