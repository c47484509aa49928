// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse | FileCheck %s

// Two regimes of one phase and a second phase. The first size of argument 0 stands in slot 1.
// CHECK-LABEL: llvm.func @tilejit_plan(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: arith.cmpi
// CHECK: llvm.return

// CHECK-LABEL: llvm.func @tilejit_run
// CHECK: scf.if
// CHECK: llvm.call @kernel_small
// CHECK: scf.if
// CHECK: llvm.call @kernel_large
// CHECK: scf.if
// CHECK: llvm.call @kernel_second
tile.kernel @small(%x: !tile.view<?xf32>, %w: !tile.ptr<i8>)
    launch <sizes = [0, 0], grid = affine_map<(n) -> (1)>, when = affine_set<(n) : (64 - n >= 0)>,
            workspace = affine_map<(n) -> (64)>> {
  tile.return
}
tile.kernel @large(%x: !tile.view<?xf32>, %w: !tile.ptr<i8>)
    launch <sizes = [0, 0], grid = affine_map<(n) -> (n ceildiv 64)>,
            workspace = affine_map<(n) -> ((n ceildiv 64) * 4)>> {
  tile.return
}
tile.kernel @second(%x: !tile.view<?xf32>, %w: !tile.ptr<i8>)
    launch <sizes = [0, 0], grid = affine_map<(n) -> (1)>, phase = 1, workspace = affine_map<(n) -> (64)>> {
  tile.return
}
