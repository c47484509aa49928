# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Layouts of tiles on GPUs: the algebra, and fragments against the formulas of the instruction references.
if(TARGET TilejitTileGPULayout)
  tilejit_add_unit_test(TileGpuLayoutTest
    SRCS
      SimulatorMatrixCases.cpp
      TileGpuBuildersTest.cpp
      TileGpuFragmentsTest.cpp
      TileGpuGf2Test.cpp
      TileGpuLayoutTest.cpp
      TileGpuPictureTest.cpp
    DEPS TilejitTileGPULayout)
endif()
if(TARGET TilejitLayoutConversion)
  tilejit_add_unit_test(LayoutConversionTest
    SRCS ConversionMachine.cpp ConversionPracticalTest.cpp ConversionRandomTest.cpp ConversionReductionTest.cpp
    DEPS TilejitLayoutConversion)
endif()
