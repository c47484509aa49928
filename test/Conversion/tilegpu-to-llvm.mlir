// RUN: tile-opt %s -convert-tile-to-tilegpu=warps=2 -tile-gpu-on-chip -tile-gpu-plan-memory -convert-tilegpu-to-llvm -cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: tile-opt %s -convert-tile-to-tilegpu="warps=1 lanes=64" -tile-gpu-on-chip -tile-gpu-plan-memory \
// RUN:   -convert-tilegpu-to-llvm=amd=true -cse | FileCheck %s --check-prefixes=CHECK,AMD

// Parameters: each view's address, sizes and strides, then three counts and the number of the first instance.
// NVIDIA-LABEL: llvm.func @copy(%arg0: !llvm.ptr<1>, %arg1: i64, %arg2: i64, %arg3: !llvm.ptr<1>, %arg4: i64, %arg5: i64,
// NVIDIA-SAME: %arg6: i64, %arg7: i64, %arg8: i64, %arg9: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>}
// AMD-LABEL: llvm.func @copy(
// AMD-SAME: rocdl.kernel
// AMD-SAME: rocdl.reqd_work_group_size = array<i32: 64, 1, 1>
// NVIDIA: nvvm.read.ptx.sreg.tid.x range <i32, 0, 64>
// AMD: rocdl.workitem.id.x range <i32, 0, 64>
// A whole tile moves by vectors of 16 bytes.
// CHECK: scf.if %{{.*}} -> (vector<4xf32>)
// CHECK: llvm.getelementptr
// CHECK-NEXT: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// At an edge, elements outside are the padding.
// CHECK: } else {
// CHECK: arith.minsi
// CHECK: arith.select
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
tile.kernel @copy(%x: !tile.view<?xf32, align = 16>, %y: !tile.view<?xf32, align = 16>) {
  %i = tile.program_id 0
  %t = tile.load %x[%i] pad zero : !tile.view<?xf32, align = 16> -> tensor<256xf32>
  tile.store %t, %y[%i] : tensor<256xf32>, !tile.view<?xf32, align = 16>
  tile.return
}

// Where a view's side is a multiple of the access, each access is inside or outside as a whole: one path, without the
// nearest place inside. AMD's chips move 16 bytes from wherever numbers may be; NVIDIA's ask whether they are aligned.
// CHECK-LABEL: llvm.func @copy_pieces(
// NVIDIA: scf.if %{{.*}} -> (vector<4xf32>)
// CHECK-NOT: arith.minsi %{{.*}} : i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt
// CHECK: scf.if %{{.*}} -> (vector<4xf32>)
// NVIDIA-NEXT: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// AMD-NEXT: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: arith.minsi %{{.*}} : i32
// NVIDIA: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// AMD: llvm.store %{{.*}} {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr<1>
// AMD-NOT: llvm.store
// CHECK: llvm.return
tile.kernel @copy_pieces(%x: !tile.view<?x12xf32>, %y: !tile.view<?x12xf32>) {
  %i = tile.program_id 0
  %rows = tile.dim %x, 0 : !tile.view<?x12xf32>
  %c12 = arith.constant 12 : index
  %size = arith.muli %rows, %c12 : index
  %px = tile.base %x : !tile.view<?x12xf32> -> !tile.ptr<f32>
  %py = tile.base %y : !tile.view<?x12xf32> -> !tile.ptr<f32>
  %from = tile.view %px sizes[%size] : !tile.ptr<f32> -> !tile.view<?xf32>
  %to = tile.view %py sizes[%size] : !tile.ptr<f32> -> !tile.view<?xf32>
  %t = tile.load %from[%i] pad zero : !tile.view<?xf32> -> tensor<256xf32>
  tile.store %t, %to[%i] : tensor<256xf32>, !tile.view<?xf32>
  tile.return
}

// Registers by halves, lanes by butterflies, warps through memory.
// CHECK-LABEL: llvm.func @row_sum
// CHECK: vector.shuffle
// CHECK: arith.addf
// NVIDIA-COUNT-5: nvvm.shfl.sync bfly
// NVIDIA: nvvm.barrier
// AMD-COUNT-6: rocdl.ds_bpermute
tile.kernel @row_sum(%x: !tile.view<?x?xf32>, %y: !tile.view<?xf32>) {
  %i = tile.program_id 0
  %t = tile.load %x[%i, %i] pad zero : !tile.view<?x?xf32> -> tensor<1x512xf32>
  %s = tile.reduce %t axis 1 : tensor<1x512xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  // One of all threads that have the sum writes it.
  // CHECK: scf.if
  // CHECK: llvm.store
  tile.store %s, %y[%i] : tensor<1xf32>, !tile.view<?xf32>
  tile.return
}

// A failed assertion leaves its number and ends the warp.
// CHECK-LABEL: llvm.func @assertion
// CHECK: scf.if
// CHECK-NEXT: arith.constant 1 : i64
// NVIDIA-NEXT: llvm.atomicrmw max %{{.*}} syncscope("device") monotonic
// NVIDIA-NEXT: llvm.call_intrinsic "llvm.nvvm.exit"
// AMD-NEXT: llvm.atomicrmw max %{{.*}} syncscope("agent") monotonic
// AMD-NEXT: llvm.call_intrinsic "llvm.amdgcn.endpgm"
tile.kernel @assertion(%x: !tile.view<?xi32>) {
  %i = tile.program_id 0
  %c9 = arith.constant 9 : index
  %ok = arith.cmpi ult, %i, %c9 : index
  tile.assert %ok, "too many" : i1
  tile.return
}
