// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse | FileCheck %s
// RUN: tile-opt %s -convert-tile-to-cpu="vector-bits=256 masks=false" -canonicalize -cse | FileCheck %s --check-prefix=PLAIN

// Loads and arithmetic are evaluated in the loop of the store: a loop without masks, then the rest of the row.
// CHECK-LABEL: llvm.func internal @kernel_scale
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %{{.*}} : vector<16xf32>
// CHECK: llvm.store %[[Y]]
// CHECK: scf.for
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
// CHECK-NOT: tensor<

// Without masks single elements are left.
// PLAIN-LABEL: llvm.func internal @kernel_scale
// PLAIN: llvm.load {{.*}} -> vector<8xf32>
// PLAIN: scf.for
// PLAIN: llvm.load {{.*}} -> f32
// PLAIN-NOT: masked
// PLAIN: llvm.func @tilejit_plan
tile.kernel @scale(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>)
    launch <sizes = [0, 0], grid = affine_map<(n) -> (n ceildiv 64)>> {
  %i = tile.program_id 0
  %t = tile.load %x[%i] pad zero : !tile.view<?xf32> -> tensor<64xf32>
  %c = arith.constant dense<2.0> : tensor<64xf32>
  %r = arith.mulf %t, %c : tensor<64xf32>
  tile.store %r, %y[%i] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
