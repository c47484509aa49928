# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
tilejit_add_unit_test(BaseTest SRCS FloatTest.cpp DEPS TilejitBase)
tilejit_add_unit_test(BaseSystemTest
  SRCS BaseBytesTest.cpp BaseFileTest.cpp BaseLogTest.cpp BasePtxasTest.cpp BaseSettingsTest.cpp
  DEPS TilejitBase)
