# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
if(TARGET TilejitSimulator)
  tilejit_add_unit_test(SimulatorTest
    SRCS
      SimulatorAccessTest.cpp
      ${PROJECT_SOURCE_DIR}/runtime/simulator/core/SharedReads.cpp
      ${PROJECT_SOURCE_DIR}/runtime/simulator/core/Wavefronts.cpp
      SimulatorAssemblyTest.cpp
      SimulatorAsyncCopyTest.cpp
      SimulatorAsyncStoreTest.cpp
      SimulatorAtomicsTest.cpp
      SimulatorBulkCopyTest.cpp
      SimulatorAmdLanesTest.cpp
      SimulatorAmdMathTest.cpp
      SimulatorAmdMatrixTest.cpp
      SimulatorAmdMemoryTest.cpp
      SimulatorAmdTransposeTest.cpp
      SimulatorCoreTest.cpp
      SimulatorGlobalRaceTest.cpp
      SimulatorNewerTextTest.cpp
      ${PROJECT_SOURCE_DIR}/runtime/simulator/decode/NewerText.cpp
      SimulatorBarrierTest.cpp
      SimulatorClusterTest.cpp
      SimulatorIm2colTest.cpp
      SimulatorLanesTest.cpp
      SimulatorMatrixCases.cpp
      SimulatorMatrixMemoryTest.cpp
      SimulatorMatrixTest.cpp
      SimulatorIntrinsicsTest.cpp
      SimulatorNarrowFloatTest.cpp
      ${PROJECT_SOURCE_DIR}/runtime/simulator/core/NarrowFloat.cpp
      SimulatorNvvmTest.cpp
      SimulatorPlacesTest.cpp
      SimulatorPtxTest.cpp
      SimulatorVectorMathTest.cpp
      SimulatorWarpgroupTest.cpp
      SimulatorWideIntegersTest.cpp
    DEPS TilejitSimulatorLoader)
  # Numbers of any width, to compare with.
  target_include_directories(SimulatorTest SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  if(TARGET LLVMSupport)
    target_link_libraries(SimulatorTest PRIVATE LLVMSupport)
  else()
    target_link_libraries(SimulatorTest PRIVATE LLVM)
  endif()
  target_include_directories(SimulatorTest PRIVATE ${PROJECT_SOURCE_DIR}/runtime/simulator)
  add_dependencies(SimulatorTest TilejitSimulator)
endif()
