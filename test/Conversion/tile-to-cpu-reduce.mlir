// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse | FileCheck %s

// A small tile that a loop carries is SSA vectors; the reduction folds them pairwise, then the lanes.
// CHECK-LABEL: llvm.func internal @kernel_row
// CHECK: %[[SUMS:.*]]:4 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK: arith.addf %[[SUMS]]#0, %[[SUMS]]#2 : vector<16xf32>
// CHECK: vector.shuffle {{.*}} [8, 9, 10, 11, 12, 13, 14, 15,
// CHECK: vector.shuffle {{.*}} [1, -1, -1,
// CHECK: vector.extract {{.*}}[0]
tile.kernel @row(%x: !tile.view<?x4096xf32>, %y: !tile.view<?xf32>)
    launch <sizes = [0, 0], grid = affine_map<(m) -> (m)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<1x64xf32>
  %sums = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %zero) -> (tensor<1x64xf32>) {
    %t = tile.load %x[%i, %k] : !tile.view<?x4096xf32> -> tensor<1x64xf32>
    %n = arith.addf %s, %t : tensor<1x64xf32>
    scf.yield %n : tensor<1x64xf32>
  }
  %r = tile.reduce %sums axis 1 : tensor<1x64xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %q: f32):
    %a = arith.addf %l, %q : f32
    tile.yield %a : f32
  }
  tile.store %r, %y[%i] : tensor<1xf32>, !tile.view<?xf32>
  tile.return
}
