// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse | FileCheck %s

// Squares are read as rows, turned in registers and written as rows; nothing is gathered.
// CHECK-LABEL: llvm.func internal @kernel_turn
// CHECK-COUNT-64: vector.shuffle
// CHECK-NOT: gather
// CHECK: llvm.func @tilejit_plan
tile.kernel @turn(%x: !tile.view<64x64xf32>, %y: !tile.view<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<64x64xf32> -> tensor<64x64xf32>
  %r = tile.transpose %t [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %r, %y[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}
