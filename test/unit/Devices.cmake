# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# What devices share, without any device.
tilejit_add_unit_test(DevicesTest
  SRCS
    DevicesPrintTest.cpp
    DevicesProgramTest.cpp
  DEPS TilejitDeviceCommon)
