# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
tilejit_add_unit_test(CacheTest
  SRCS
    AbiCompileTest.cpp
    AbiLaunchTest.cpp
    AbiStageTextsTest.cpp
    CacheEntryTest.cpp
    CacheFaultTest.cpp
    CacheKeyTest.cpp
    CacheMaintenanceTest.cpp
    CacheProcessTest.cpp
    CacheTest.cpp
    CacheToolchainTest.cpp
  DEPS TilejitCache TilejitABI TilejitBase)
