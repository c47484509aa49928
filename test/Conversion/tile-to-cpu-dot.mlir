// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse -loop-invariant-code-motion | FileCheck %s
// RUN: tile-opt %s -convert-tile-to-cpu="vector-bits=256 vector-registers=16" -canonicalize -cse \
// RUN:   -loop-invariant-code-motion | FileCheck %s --check-prefix=HALF

// The register tile of the result is carried by the loop over the depth, which takes two steps at a time.
// CHECK-LABEL: llvm.func internal @kernel_product
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>{{(, vector<16xf32>)+}})
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: llvm.load {{.*}} -> f32
// CHECK: vector.broadcast {{.*}} : f32 to vector<16xf32>
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: scf.yield
// CHECK-NOT: tensor<

// HALF-LABEL: llvm.func internal @kernel_product
// HALF: math.fma {{.*}} : vector<8xf32>
tile.kernel @product(%a: !tile.view<?x?xf32>, %b: !tile.view<?x?xf32>, %c: !tile.view<?x?xf32>)
    launch <sizes = [2, 0, 2, 1], grid = affine_map<(m, n) -> (m ceildiv 64, n ceildiv 96)>> {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 128 : index
  %size = tile.dim %a, 1 : !tile.view<?x?xf32>
  %steps = arith.ceildivui %size, %bk : index
  %zero = arith.constant dense<0.0> : tensor<64x96xf32>
  %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%x = %zero) -> (tensor<64x96xf32>) {
    %ta = tile.load %a[%i, %k] pad zero : !tile.view<?x?xf32> -> tensor<64x128xf32>
    %tb = tile.load %b[%k, %j] pad zero : !tile.view<?x?xf32> -> tensor<128x96xf32>
    %y = tile.dot %ta, %tb, %x : tensor<64x128xf32>, tensor<128x96xf32>, tensor<64x96xf32>
    scf.yield %y : tensor<64x96xf32>
  }
  tile.store %sum, %c[%i, %j] : tensor<64x96xf32>, !tile.view<?x?xf32>
  tile.return
}
