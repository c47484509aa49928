# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
tilejit_add_unit_test(TargetTest SRCS BoardTest.cpp OccupancyTest.cpp TargetTest.cpp TargetGpuTest.cpp TargetHostTest.cpp DEPS TilejitTarget)
target_include_directories(TargetTest PRIVATE ${PROJECT_SOURCE_DIR}/runtime/lib/Target)
