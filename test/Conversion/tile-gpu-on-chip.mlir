// RUN: tile-opt %s -convert-tile-to-tilegpu=warps=2 -tile-gpu-on-chip | FileCheck %s
// RUN: tile-opt %s -convert-tile-to-tilegpu=warps=2 -tile-gpu-on-chip -tile-gpu-plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: not tile-opt %s -convert-tile-to-tilegpu=warps=2 -tile-gpu-on-chip -tile-gpu-plan-memory=limit=1024 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LIMIT

// LIMIT: needs 1536 bytes of on-chip memory, the chip has 1024 for a block: lower bm, bn or bk

// Each warp reduces its share of the row; the shares meet in on-chip memory.
// CHECK-LABEL: @row_sum
// CHECK: %[[SHARES:.*]] = tilegpu.reduce_in_warps %{{.*}} axis 1 : {{.*}} -> tensor<1x2xf32
// CHECK: tilegpu.yield
// CHECK: %[[PLACE:.*]] = tilegpu.shared_alloc
// CHECK: tilegpu.shared_store %[[SHARES]], %[[PLACE]]
// CHECK: %[[ALL:.*]] = tilegpu.shared_load %[[PLACE]]
// CHECK: tile.reduce %[[ALL]] axis 1 : tensor<1x2xf32, {{.*}} -> tensor<1xf32
// PLAN-LABEL: @row_sum
// PLAN-SAME: tilegpu.shared_bytes = 16 : i64
// PLAN: tilegpu.shared_alloc offset 0
// PLAN-NOT: tilegpu.barrier
// PLAN: tilegpu.shared_store

// PLAN: tilegpu.barrier
// PLAN-NEXT: tilegpu.shared_load
tile.kernel @row_sum(%x: !tile.view<?x?xf32>, %y: !tile.view<?xf32>) {
  %i = tile.program_id 0
  %t = tile.load %x[%i, %i] pad zero : !tile.view<?x?xf32> -> tensor<1x512xf32>
  %s = tile.reduce %t axis 1 : tensor<1x512xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  tile.store %s, %y[%i] : tensor<1xf32>, !tile.view<?xf32>
  tile.return
}

// The operands of a product are stored once a step and read from where the accumulators are. The second step's stores
// wait for the first one's reads; one barrier separates stores from reads.
// CHECK-LABEL: @dot
// CHECK: scf.for
// CHECK-COUNT-2: tilegpu.shared_store
// CHECK: tilegpu.shared_load
// CHECK: tile.dot {{.*}} : tensor<16x8xf32, {{.*}}, tensor<8x32xf32, {{.*}}, tensor<16x32xf32
// PLAN-LABEL: @dot
// PLAN: scf.for
// PLAN: tilegpu.barrier
// PLAN-NEXT: tilegpu.shared_store
// PLAN: tilegpu.shared_store
// PLAN: tilegpu.barrier
// PLAN-NEXT: tilegpu.shared_load
// PLAN-NOT: tilegpu.barrier
// PLAN: scf.yield
tile.kernel @dot(%a: !tile.view<?x?xf32>, %b: !tile.view<?x?xf32>, %c: !tile.view<?x?xf32>) {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %k = %c0 to %i step %c1 iter_args(%acc = %zero) -> tensor<16x32xf32> {
    %s = tile.load %a[%i, %k] pad zero : !tile.view<?x?xf32> -> tensor<16x8xf32>
    %t = tile.load %b[%k, %i] pad zero : !tile.view<?x?xf32> -> tensor<8x32xf32>
    %d = tile.dot %s, %t, %acc : tensor<16x8xf32>, tensor<8x32xf32>, tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  tile.store %sum, %c[%i, %i] : tensor<16x32xf32>, !tile.view<?x?xf32>
  tile.return
}

// One element of a tile is read by all threads.
// CHECK-LABEL: @extract
// CHECK: tilegpu.shared_store
// CHECK: tilegpu.shared_load %{{.*}}[%{{.*}}, %{{.*}}] : {{.*}} -> tensor<1x1xf32
// CHECK: tile.extract {{.*}} -> f32
tile.kernel @extract(%x: !tile.view<?x?xf32>, %y: !tile.view<?x?xf32>) {
  %i = tile.program_id 0
  %t = tile.load %x[%i, %i] pad zero : !tile.view<?x?xf32> -> tensor<32x32xf32>
  %e = tile.extract %t[%i, %i] : tensor<32x32xf32> -> f32
  %s = tile.splat %e : f32 -> tensor<32x32xf32>
  %r = arith.addf %t, %s : tensor<32x32xf32>
  tile.store %r, %y[%i, %i] : tensor<32x32xf32>, !tile.view<?x?xf32>
  tile.return
}

// A long depth is a loop over pieces, which have 256 multiply-adds for a thread.
// CHECK-LABEL: @deep_dot
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step
// CHECK: tilegpu.shared_load %{{.*}}[%{{.*}}, %[[K]]] : {{.*}} -> tensor<64x4xf32
// CHECK: tilegpu.shared_load %{{.*}}[%[[K]], %{{.*}}] : {{.*}} -> tensor<4x64xf32
// CHECK: tile.dot
// PLAN-LABEL: @deep_dot
// PLAN: tilegpu.barrier
// PLAN: scf.for
// PLAN-NOT: tilegpu.barrier
// PLAN: scf.yield
tile.kernel @deep_dot(%a: !tile.view<?x?xf32>, %b: !tile.view<?x?xf32>, %c: !tile.view<?x?xf32>) {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.load %a[%i, %i] pad zero : !tile.view<?x?xf32> -> tensor<64x32xf32>
  %t = tile.load %b[%i, %i] pad zero : !tile.view<?x?xf32> -> tensor<32x64xf32>
  %d = tile.dot %s, %t, %zero : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
  tile.store %d, %c[%i, %i] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
