// RUN: tile-opt %s -convert-tile-to-cpu="stream-bytes=16384" -canonicalize -cse -split-input-file | FileCheck %s
// RUN: tile-opt %s -convert-tile-to-cpu="stream-bytes=16384 vector-bits=256 masks=false" -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=NEVER

// NEVER-NOT: nontemporal
// NEVER-NOT: sfence

// A large result: aligned whole vectors, then what lies behind and before them, computed with masks but stored element
// by element: no store with a mask waits among those past the cache.
// CHECK-LABEL: llvm.func internal @kernel_large
// CHECK: llvm.ptrtoint
// CHECK: scf.for
// CHECK: %[[Y:.*]] = arith.mulf {{.*}} : vector<16xf32>
// CHECK: llvm.store %[[Y]], %{{.*}} {alignment = 64 : i64, nontemporal}
// CHECK: scf.for
// CHECK-NOT: masked.store
// CHECK: %[[ENDS:.*]] = arith.mulf {{.*}} : vector<16xf32>
// CHECK: llvm.store %[[ENDS]], {{.*}} : vector<16xf32>
// CHECK: scf.for
// CHECK: %[[ONE:.*]] = llvm.load {{.*}} -> f32
// CHECK: llvm.store %[[ONE]], {{.*}} : f32
// CHECK-NOT: masked.store
// CHECK: llvm.call_intrinsic "llvm.x86.sse.sfence"()
// CHECK-NEXT: llvm.return

// Without masks the ends go by single elements.
// PLAIN-LABEL: llvm.func internal @kernel_large
// PLAIN-NOT: masked
// PLAIN: llvm.store {{.*}} {alignment = 32 : i64, nontemporal} : vector<8xf32>
tile.kernel @large(%x: !tile.view<64x128xf32>, %y: !tile.view<64x128xf32>, %u: !tile.view<?x128xf32>,
                   %s: !tile.view<16x128xf32>)
    launch <grid = affine_map<() -> (64)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : !tile.view<64x128xf32> -> tensor<1x128xf32>
  %c = arith.constant dense<2.0> : tensor<1x128xf32>
  %r = arith.mulf %t, %c : tensor<1x128xf32>
  tile.store %r, %y[%i, %c0] : tensor<1x128xf32>, !tile.view<64x128xf32>
  tile.return
}

// Where the size is known late, the code chooses the way.
// CHECK-LABEL: llvm.func internal @kernel_dynamic
// CHECK: scf.for
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: llvm.store {{.*}} {alignment = 64 : i64, nontemporal}
// CHECK: } else {
// CHECK-NEXT: llvm.store {{.*}} {alignment = 4 : i64} : vector<16xf32>
// CHECK: scf.if %{{.*}} {
// CHECK: llvm.store {{.*}} : f32
// CHECK: } else {
// CHECK: llvm.intr.masked.store {{.*}} : vector<16xf32>
tile.kernel @dynamic(%x: !tile.view<64x128xf32>, %y: !tile.view<64x128xf32>, %u: !tile.view<?x128xf32>,
                     %s: !tile.view<16x128xf32>)
    launch <grid = affine_map<() -> (64)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : !tile.view<64x128xf32> -> tensor<1x128xf32>
  tile.store %t, %u[%i, %c0] : tensor<1x128xf32>, !tile.view<?x128xf32>
  tile.return
}

// Not what is small, nor what the kernel reads again.
// CHECK-LABEL: llvm.func internal @kernel_kept
// CHECK-NOT: nontemporal
// CHECK-NOT: sfence
// CHECK: llvm.func @tilejit_plan
tile.kernel @kept(%x: !tile.view<64x128xf32>, %y: !tile.view<64x128xf32>, %u: !tile.view<?x128xf32>,
                  %s: !tile.view<16x128xf32>)
    launch <grid = affine_map<() -> (16)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : !tile.view<64x128xf32> -> tensor<1x128xf32>
  tile.store %t, %s[%i, %c0] : tensor<1x128xf32>, !tile.view<16x128xf32>
  tile.store %t, %y[%i, %c0] : tensor<1x128xf32>, !tile.view<64x128xf32>
  %back = tile.load %y[%i, %c0] : !tile.view<64x128xf32> -> tensor<1x128xf32>
  tile.store %back, %s[%i, %c0] : tensor<1x128xf32>, !tile.view<16x128xf32>
  tile.return
}

// -----

// The store of a large result asks for what it reads a little later, but not for what is small.
// CHECK-LABEL: llvm.func internal @kernel_ahead
// CHECK: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
// CHECK-NOT: prefetch
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK-NOT: prefetch
// CHECK: llvm.func @tilejit_plan
// NEVER-NOT: prefetch
tile.kernel @ahead(%x: !tile.view<64x512xf32>, %bias: !tile.view<512xf32>, %y: !tile.view<64x512xf32>)
    launch <grid = affine_map<() -> (64)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : !tile.view<64x512xf32> -> tensor<1x512xf32>
  %b = tile.load %bias[%c0] : !tile.view<512xf32> -> tensor<512xf32>
  %e = tile.expand %b axis 0 : tensor<512xf32> -> tensor<1x512xf32>
  %r = arith.addf %t, %e : tensor<1x512xf32>
  tile.store %r, %y[%i, %c0] : tensor<1x512xf32>, !tile.view<64x512xf32>
  tile.return
}

// -----

// Pieces of several rows are streamed where they begin with a line.
// CHECK-LABEL: llvm.func internal @kernel_piece
// CHECK: %[[FIRST:.*]] = arith.maxsi
// CHECK: %[[BEGINS:.*]] = arith.cmpi slt, %[[FIRST]], %c1
// CHECK: scf.for
// CHECK: scf.if %[[BEGINS]]
// CHECK: llvm.store {{.*}} nontemporal
tile.kernel @piece(%x: !tile.view<64x1024xf32>) {
  %i = tile.program_id 0
  %c = arith.constant dense<1.0> : tensor<64x256xf32>
  %z = arith.constant 0 : index
  tile.store %c, %x[%z, %i] : tensor<64x256xf32>, !tile.view<64x1024xf32>
  tile.return
}
