// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse | FileCheck %s

// One element beyond whole vectors is stored alone: as a masked store it would be of the wider type that it was rounded
// from, and overwrite its neighbour.
// CHECK-LABEL: llvm.func internal @kernel_round
// CHECK-NOT: llvm.intr.masked.store
// CHECK: llvm.store {{.*}} : i16, !llvm.ptr
// CHECK: llvm.func @tilejit_plan
tile.kernel @round(%x: !tile.view<17xf32>, %y: !tile.view<17xbf16>) launch <grid = affine_map<() -> (1)>> {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<17xf32> -> tensor<17xf32>
  %r = tile.fp_to_fp %t : tensor<17xf32> -> tensor<17xbf16>
  tile.store %r, %y[%c0] : tensor<17xbf16>, !tile.view<17xbf16>
  tile.return
}
