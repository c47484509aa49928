// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse | FileCheck %s

// A row of narrow floats that is swept more than once is made wide once, into scratch memory. The second sweep that
// uses it asks for the next row.
// CHECK-LABEL: llvm.func internal @kernel_centre
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<16xi16>
// CHECK: %[[WIDE:.*]] = arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: llvm.store %[[WIDE]]
// CHECK-NOT: vector<16xi16>
// CHECK: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
// CHECK-NOT: arith.extf
// CHECK: arith.subf {{.*}} : vector<16xf32>
// CHECK-NOT: prefetch
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
