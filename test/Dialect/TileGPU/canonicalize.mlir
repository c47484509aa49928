// RUN: tile-opt %s -canonicalize -cse | FileCheck %s

#lanes = #tilegpu.layout<[64], registers = [1], lanes = [2, 4, 8, 16, 32]>
#rows = #tilegpu.layout<[64], registers = [32], lanes = [1, 2, 4, 8, 16]>

// CHECK-LABEL: @to_itself
// CHECK-NEXT: return %arg0
func.func @to_itself(%x: tensor<64xf32, #lanes>) -> tensor<64xf32, #lanes> {
  %y = tilegpu.convert_layout %x : tensor<64xf32, #lanes> -> tensor<64xf32, #lanes>
  return %y : tensor<64xf32, #lanes>
}

// Unused conversions go, equal ones become one.
// CHECK-LABEL: @pure
// CHECK-COUNT-1: tilegpu.convert_layout
// CHECK-NOT: tilegpu.convert_layout
func.func @pure(%x: tensor<64xf32, #lanes>) -> (tensor<64xf32, #rows>, tensor<64xf32, #rows>) {
  %0 = tilegpu.convert_layout %x : tensor<64xf32, #lanes> -> tensor<64xf32, #rows>
  %1 = tilegpu.convert_layout %x : tensor<64xf32, #lanes> -> tensor<64xf32, #rows>
  %2 = tilegpu.convert_layout %0 : tensor<64xf32, #rows> -> tensor<64xf32, #lanes>
  return %0, %1 : tensor<64xf32, #rows>, tensor<64xf32, #rows>
}

// Places, their contents and barriers are memory: none of two equal accesses goes.
// CHECK-LABEL: @memory
// CHECK-COUNT-2: tilegpu.shared_alloc
// CHECK: tilegpu.shared_store
// CHECK: tilegpu.barrier
// CHECK: tilegpu.shared_load
// CHECK: tilegpu.shared_store
// CHECK: tilegpu.barrier
// CHECK: tilegpu.shared_load
func.func @memory(%x: tensor<64xf32, #lanes>, %at: index) -> (tensor<64xf32, #rows>, tensor<64xf32, #rows>) {
  %s = tilegpu.shared_alloc : !tilegpu.shared<64xf32, #tilegpu.memory<[64], offsets = [1, 2, 4, 8, 16, 32]>>
  %t = tilegpu.shared_alloc : !tilegpu.shared<64xf32, #tilegpu.memory<[64], offsets = [1, 2, 4, 8, 16, 32]>>
  tilegpu.shared_store %x, %s
    : tensor<64xf32, #lanes>, !tilegpu.shared<64xf32, #tilegpu.memory<[64], offsets = [1, 2, 4, 8, 16, 32]>>
  tilegpu.barrier
  %0 = tilegpu.shared_load %s[%at]
    : !tilegpu.shared<64xf32, #tilegpu.memory<[64], offsets = [1, 2, 4, 8, 16, 32]>> -> tensor<64xf32, #rows>
  tilegpu.shared_store %x, %t
    : tensor<64xf32, #lanes>, !tilegpu.shared<64xf32, #tilegpu.memory<[64], offsets = [1, 2, 4, 8, 16, 32]>>
  tilegpu.barrier
  %1 = tilegpu.shared_load %t[%at]
    : !tilegpu.shared<64xf32, #tilegpu.memory<[64], offsets = [1, 2, 4, 8, 16, 32]>> -> tensor<64xf32, #rows>
  return %0, %1 : tensor<64xf32, #rows>, tensor<64xf32, #rows>
}
