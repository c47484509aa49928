// RUN: tile-opt %s -convert-tile-to-cpu | FileCheck %s

// What has two results is spelled out by operations with one: high halves come from twice the width.

// CHECK-LABEL: llvm.func internal @kernel_high(
// CHECK-NOT: _extended
// CHECK: arith.extsi %{{.*}} : vector<{{.*}}xi32> to vector<{{.*}}xi64>
// CHECK: arith.muli %{{.*}} : vector<{{.*}}xi64>
// CHECK: arith.shrui
// CHECK: arith.trunci
// CHECK-NOT: _extended
// CHECK: llvm.return
tile.kernel @high(%x: !tile.view<64xi32>, %y: !tile.view<64xi32>, %z: !tile.view<64xi8>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<64xi32> -> tensor<64xi32>
  %low, %high = arith.mulsi_extended %t, %t : tensor<64xi32>
  %sum, %carry = arith.addui_extended %low, %high : tensor<64xi32>, tensor<64xi1>
  %c = arith.extui %carry : tensor<64xi1> to tensor<64xi8>
  tile.store %high, %y[%c0] : tensor<64xi32>, !tile.view<64xi32>
  tile.store %c, %z[%c0] : tensor<64xi8>, !tile.view<64xi8>
  tile.return
}
