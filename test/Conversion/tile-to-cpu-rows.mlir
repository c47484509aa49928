// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse -split-input-file | FileCheck %s

// A row of narrow floats that is swept more than once is made wide once: the first sweep stores it on its way. The second
// one asks for the next row.
// CHECK-LABEL: llvm.func internal @kernel_centre
// CHECK: scf.for
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<16xi16>
// CHECK: %[[WIDE:.*]] = arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: llvm.store %[[WIDE]]
// CHECK: arith.addf %{{.*}}, %[[WIDE]]
// CHECK: scf.for
// CHECK-NOT: arith.extf
// CHECK: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
// CHECK: arith.subf {{.*}} : vector<16xf32>
// CHECK: llvm.func @tilejit_plan
tile.kernel @centre(%x: !tile.view<64x1024xbf16>, %y: !tile.view<64x1024xf32>)
    launch <grid = affine_map<() -> (64)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : !tile.view<64x1024xbf16> -> tensor<1x1024xbf16>
  %w = tile.fp_to_fp %t : tensor<1x1024xbf16> -> tensor<1x1024xf32>
  %sum = tile.reduce %w axis 1 : tensor<1x1024xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %s = tile.expand %sum axis 1 : tensor<1xf32> -> tensor<1x1xf32>
  %m = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x1024xf32>
  %d = arith.subf %w, %m : tensor<1x1024xf32>
  tile.store %d, %y[%i, %c0] : tensor<1x1024xf32>, !tile.view<64x1024xf32>
  tile.return
}

// -----

// What does not stay in the first-level cache is read again as it lies.
// CHECK-LABEL: llvm.func internal @kernel_long
// CHECK: arith.extf
// CHECK-NOT: llvm.store
// CHECK: arith.addf
// CHECK: arith.extf
// CHECK: arith.subf
// CHECK: llvm.func @tilejit_plan
tile.kernel @long(%x: !tile.view<64x16384xbf16>, %y: !tile.view<64x16384xf32>)
    launch <grid = affine_map<() -> (64)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : !tile.view<64x16384xbf16> -> tensor<1x16384xbf16>
  %w = tile.fp_to_fp %t : tensor<1x16384xbf16> -> tensor<1x16384xf32>
  %sum = tile.reduce %w axis 1 : tensor<1x16384xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %s = tile.expand %sum axis 1 : tensor<1xf32> -> tensor<1x1xf32>
  %m = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x16384xf32>
  %d = arith.subf %w, %m : tensor<1x16384xf32>
  tile.store %d, %y[%i, %c0] : tensor<1x16384xf32>, !tile.view<64x16384xf32>
  tile.return
}

// -----

// Nor does a row that would, but for the weights which the last sweep reads beside it.
// CHECK-LABEL: llvm.func internal @kernel_weighted
// CHECK: arith.extf
// CHECK-NOT: llvm.store
// CHECK: arith.addf
// CHECK: arith.extf
// CHECK: arith.subf
// CHECK: llvm.func @tilejit_plan
tile.kernel @weighted(%x: !tile.view<64x2560xbf16>, %w: !tile.view<2560xf32>, %y: !tile.view<64x2560xf32>)
    launch <grid = affine_map<() -> (64)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : !tile.view<64x2560xbf16> -> tensor<1x2560xbf16>
  %wide = tile.fp_to_fp %t : tensor<1x2560xbf16> -> tensor<1x2560xf32>
  %sum = tile.reduce %wide axis 1 : tensor<1x2560xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %s = tile.expand %sum axis 1 : tensor<1xf32> -> tensor<1x1xf32>
  %m = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x2560xf32>
  %d = arith.subf %wide, %m : tensor<1x2560xf32>
  %u = tile.load %w[%c0] : !tile.view<2560xf32> -> tensor<2560xf32>
  %r = tile.expand %u axis 0 : tensor<2560xf32> -> tensor<1x2560xf32>
  %p = arith.mulf %d, %r : tensor<1x2560xf32>
  tile.store %p, %y[%i, %c0] : tensor<1x2560xf32>, !tile.view<64x2560xf32>
  tile.return
}

// -----

// Narrow results of long rows are computed two registers at a time, so that a whole one is stored.
// CHECK-LABEL: llvm.func internal @kernel_narrow
// CHECK: arith.mulf {{.*}} : vector<32xf32>
// CHECK: llvm.store {{.*}} : vector<32xi16>
// CHECK: llvm.func internal @kernel_short
// CHECK: arith.mulf {{.*}} : vector<16xf32>
// CHECK: vector<16xi16>
tile.kernel @narrow(%x: !tile.view<64x1024xf32>, %y: !tile.view<64x1024xbf16>, %z: !tile.view<64x48xf32>,
                    %s: !tile.view<64x48xbf16>)
    launch <grid = affine_map<() -> (64)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : !tile.view<64x1024xf32> -> tensor<1x1024xf32>
  %m = arith.mulf %t, %t : tensor<1x1024xf32>
  %n = tile.fp_to_fp %m : tensor<1x1024xf32> -> tensor<1x1024xbf16>
  tile.store %n, %y[%i, %c0] : tensor<1x1024xbf16>, !tile.view<64x1024xbf16>
  tile.return
}

tile.kernel @short(%x: !tile.view<64x1024xf32>, %y: !tile.view<64x1024xbf16>, %z: !tile.view<64x48xf32>,
                   %s: !tile.view<64x48xbf16>)
    launch <grid = affine_map<() -> (64)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %z[%i, %c0] : !tile.view<64x48xf32> -> tensor<1x48xf32>
  %m = arith.mulf %t, %t : tensor<1x48xf32>
  %n = tile.fp_to_fp %m : tensor<1x48xf32> -> tensor<1x48xbf16>
  tile.store %n, %s[%i, %c0] : tensor<1x48xbf16>, !tile.view<64x48xbf16>
  tile.return
}
