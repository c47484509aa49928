// RUN: tile-opt %s -convert-tile-to-tilegpu -tile-gpu-on-chip -canonicalize -cse -tile-gpu-plan-memory -convert-tilegpu-to-llvm -cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: tile-opt %s -convert-tile-to-tilegpu="lanes=64 amd=true" -tile-gpu-on-chip=banks=cdna -canonicalize -cse \
// RUN:   -tile-gpu-plan-memory=limit=65536 -convert-tilegpu-to-llvm="amd=true banks=cdna" -cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AMD

// Each family of operations of the tile dialect through the whole pipeline: the lines that carry it. The hints give
// every kernel as few warps as show it.

// CHECK-NOT: tile.
// CHECK-NOT: tilegpu.

// CHECK-LABEL: llvm.func @pads(
// CHECK-DAG: arith.constant 0xFF800000 : f32
// CHECK-DAG: arith.constant 0x7F800000 : f32
// CHECK-DAG: arith.constant 1.000000e+00 : f32
// CHECK-DAG: arith.constant -1 : i32
// CHECK-DAG: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-DAG: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
tile.kernel @pads(%x: !tile.view<?xf32>, %n: !tile.view<?xi32>) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 1 : i64}}
  %i = tile.program_id 0
  %a = tile.load %x[%i] pad lowest : !tile.view<?xf32> -> tensor<128xf32>
  %b = tile.load %x[%i] pad highest : !tile.view<?xf32> -> tensor<128xf32>
  %c = tile.load %x[%i] pad one : !tile.view<?xf32> -> tensor<128xf32>
  %d = tile.load %n[%i] pad all_ones : !tile.view<?xi32> -> tensor<128xi32>
  %s = arith.addf %a, %b : tensor<128xf32>
  %t = arith.addf %s, %c : tensor<128xf32>
  tile.store %t, %x[%i] : tensor<128xf32>, !tile.view<?xf32>
  tile.store %d, %n[%i] : tensor<128xi32>, !tile.view<?xi32>
  tile.return
}

// CHECK-LABEL: llvm.func @pointers(
// CHECK: llvm.inttoptr
// CHECK-NEXT: llvm.load {{.*}} : !llvm.ptr<1> -> f32
// CHECK: scf.if
// CHECK-NEXT: llvm.inttoptr
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<1>
tile.kernel @pointers(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %o: !tile.view<?xi32>) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 2 : i64}}
  %i = tile.program_id 0
  %k = tile.load %o[%i] pad zero : !tile.view<?xi32> -> tensor<128xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %a = tile.addptr %s, %k : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %zero = arith.constant dense<0> : tensor<128xi32>
  %m = arith.cmpi sgt, %k, %zero : tensor<128xi32>
  %other = arith.constant dense<7.0> : tensor<128xf32>
  %x = tile.gather %a mask %m other %other : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  %t = tile.splat %q : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %b = tile.addptr %t, %k : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.scatter %x, %b mask %m : tensor<128xf32>, tensor<128x!tile.ptr<f32>>
  tile.return
}

// The old value of an element with copies goes to all of them.
// CHECK-LABEL: llvm.func @atomics(
// NVIDIA: llvm.atomicrmw fadd {{.*}} syncscope("device") monotonic : !llvm.ptr<1>, f32
// AMD: llvm.atomicrmw fadd {{.*}} syncscope("agent") monotonic : !llvm.ptr<1>, f32
// CHECK: llvm.atomicrmw max {{.*}} acq_rel : !llvm.ptr<1>, i32
// CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
// NVIDIA: nvvm.barrier
// AMD: rocdl.s.barrier
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> i32
// CHECK: llvm.cmpxchg {{.*}} acq_rel acquire : !llvm.ptr<1>, i32
tile.kernel @atomics(%x: !tile.view<?xf32>, %p: !tile.ptr<i32>, %y: !tile.view<?xi32>) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 2 : i64}}
  %i = tile.program_id 0
  %one = arith.constant dense<1.0> : tensor<64xf32>
  tile.atomic addf %one, %x[%i] relaxed device : tensor<64xf32>, !tile.view<?xf32>
  %k = tile.iota : tensor<16xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %a = tile.addptr %s, %k : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  %old = tile.atomic_rmw maxs %k, %a acq_rel device : tensor<16xi32>, tensor<16x!tile.ptr<i32>>
  %o = tile.atomic_cas %old, %k, %a acq_rel device : tensor<16xi32>, tensor<16x!tile.ptr<i32>>
  tile.store %o, %y[%i] : tensor<16xi32>, !tile.view<?xi32>
  tile.return
}

// CHECK-LABEL: llvm.func @argmax(
// NVIDIA-COUNT-2: nvvm.shfl.sync bfly
// AMD-COUNT-2: rocdl.ds_bpermute
// CHECK: arith.cmpf ogt
// CHECK: llvm.store {{.*}} : {{.*}}f32{{.*}}, !llvm.ptr<3>
// CHECK: llvm.store {{.*}} : {{.*}}i32{{.*}}, !llvm.ptr<3>
tile.kernel @argmax(%x: !tile.view<1x512xf32>, %v: !tile.view<1xf32>, %p: !tile.view<1xi32>) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 2 : i64}}
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<1x512xf32> -> tensor<1x512xf32>
  %i = tile.iota : tensor<512xi32>
  %e = tile.expand %i axis 0 : tensor<512xi32> -> tensor<1x512xi32>
  %m, %q = tile.reduce %t, %e axis 1 : tensor<1x512xf32>, tensor<1x512xi32> -> tensor<1xf32>, tensor<1xi32> {
  ^bb0(%a: f32, %i0: i32, %b: f32, %i1: i32):
    %gt = arith.cmpf ogt, %b, %a : f32
    %big = arith.select %gt, %b, %a : f32
    %at = arith.select %gt, %i1, %i0 : i32
    tile.yield %big, %at : f32, i32
  }
  tile.store %m, %v[%c0] : tensor<1xf32>, !tile.view<1xf32>
  tile.store %q, %p[%c0] : tensor<1xi32>, !tile.view<1xi32>
  tile.return
}

// CHECK-LABEL: llvm.func @scan(
// NVIDIA: nvvm.shfl.sync idx
// AMD: rocdl.ds_bpermute
// CHECK: arith.addi
// CHECK: arith.select
tile.kernel @scan(%x: !tile.view<2x128xi32>) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 2 : i64}}
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<2x128xi32> -> tensor<2x128xi32>
  %s = tile.scan %t axis 1 reverse : tensor<2x128xi32> -> tensor<2x128xi32> {
  ^bb0(%l: i32, %r: i32):
    %a = arith.addi %l, %r : i32
    tile.yield %a : i32
  }
  tile.store %s, %x[%c0, %c0] : tensor<2x128xi32>, !tile.view<2x128xi32>
  tile.return
}

// Sides that are no powers of two: elements are looked up in on-chip memory.
// CHECK-LABEL: llvm.func @odd_shapes(
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: arith.divui
tile.kernel @odd_shapes(%x: !tile.view<6x10xf32>, %y: !tile.view<5x24xf32>, %z: !tile.view<3x5xf32>) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 2 : i64}}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<6x10xf32> -> tensor<6x10xf32>
  %c = tile.cat %t, %t axis 1 : tensor<6x10xf32>, tensor<6x10xf32> -> tensor<6x20xf32>
  %r = tile.reshape %c : tensor<6x20xf32> -> tensor<5x24xf32>
  tile.store %r, %y[%c0, %c0] : tensor<5x24xf32>, !tile.view<5x24xf32>
  %e = tile.extract %t[%c1, %c1] : tensor<6x10xf32> -> tensor<3x5xf32>
  tile.store %e, %z[%c0, %c0] : tensor<3x5xf32>, !tile.view<3x5xf32>
  tile.return
}

// CHECK-LABEL: llvm.func @pairs(
// CHECK: vector.shuffle {{.*}}[1, 3{{.*}}xi4>
// CHECK: arith.shli %{{.*}} : vector<{{.*}}xi8>
// CHECK: arith.ori
tile.kernel @pairs(%x: !tile.view<2x128xi8>, %y: !tile.view<2x128x2xi8>) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 2 : i64}}
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<2x128xi8> -> tensor<2x128xi8>
  %u = tile.unpack %t : tensor<2x128xi8> -> tensor<2x256xi4>
  %a = arith.addi %u, %u : tensor<2x256xi4>
  %p = tile.pack %a : tensor<2x256xi4> -> tensor<2x128xi8>
  %j = tile.join %t, %p : tensor<2x128xi8> -> tensor<2x128x2xi8>
  tile.store %j, %y[%c0, %c0, %c0] : tensor<2x128x2xi8>, !tile.view<2x128x2xi8>
  %l, %r = tile.split %j : tensor<2x128x2xi8> -> tensor<2x128xi8>
  tile.store %r, %x[%c0, %c0] : tensor<2x128xi8>, !tile.view<2x128xi8>
  tile.return
}

// CHECK-LABEL: llvm.func @picks(
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> bf16
tile.kernel @picks(%x: !tile.view<64xbf16>, %i: !tile.view<128xi32>, %y: !tile.view<128xbf16>) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 2 : i64}}
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<64xbf16> -> tensor<64xbf16>
  %k = tile.load %i[%c0] : !tile.view<128xi32> -> tensor<128xi32>
  %g = tile.gather_in_tile %t[%k] axis 0 : tensor<64xbf16>, tensor<128xi32> -> tensor<128xbf16>
  tile.store %g, %y[%c0] : tensor<128xbf16>, !tile.view<128xbf16>
  tile.return
}

// CHECK-LABEL: llvm.func @flow(
// CHECK: scf.for {{.*}} -> (vector<{{.*}}xf64>, vector<{{.*}}xi1>)
// CHECK: scf.if {{.*}} -> (vector<{{.*}}xf64>)
// CHECK: scf.while {{.*}} (vector<{{.*}}xf64>) -> vector<{{.*}}xf64>
tile.kernel @flow(%x: !tile.view<128xf64>, %n: index) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 2 : i64}}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tile.assume %n divisible 4 : index
  %t = tile.load %x[%c0] : !tile.view<128xf64> -> tensor<128xf64>
  %no = arith.constant dense<false> : tensor<128xi1>
  %f, %b = scf.for %k = %c0 to %m step %c1 iter_args(%p = %t, %q = %no) -> (tensor<128xf64>, tensor<128xi1>) {
    %s = arith.addf %p, %t : tensor<128xf64>
    %c = arith.cmpf ogt, %s, %p : tensor<128xf64>
    scf.yield %s, %c : tensor<128xf64>, tensor<128xi1>
  }
  %d = arith.select %b, %f, %t : tensor<128xi1>, tensor<128xf64>
  %odd = arith.cmpi ugt, %m, %c1 : index
  %i = scf.if %odd -> tensor<128xf64> {
    %s = arith.mulf %d, %d : tensor<128xf64>
    scf.yield %s : tensor<128xf64>
  } else {
    scf.yield %d : tensor<128xf64>
  }
  %w = scf.while (%v = %i) : (tensor<128xf64>) -> tensor<128xf64> {
    %e = tile.extract %v[%c0] : tensor<128xf64> -> f64
    %zero = arith.constant 0.0 : f64
    %go = arith.cmpf ogt, %e, %zero : f64
    scf.condition(%go) %v : tensor<128xf64>
  } do {
  ^bb0(%v: tensor<128xf64>):
    %s = arith.subf %v, %t : tensor<128xf64>
    scf.yield %s : tensor<128xf64>
  }
  tile.store %w, %x[%c0] : tensor<128xf64>, !tile.view<128xf64>
  tile.return
}

// A table lies in memory with its sides rounded up; one-bit elements take a byte.
// CHECK-LABEL: llvm.func @tables(
// CHECK: llvm.mlir.addressof @[[BITS:.*]] : !llvm.ptr<1>
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> i8
// CHECK: arith.cmpi ne
tile.kernel @tables(%x: !tile.view<5xi32>) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 2 : i64}}
  %c0 = arith.constant 0 : index
  %b = arith.constant dense<[true, false, true, true, false]> : tensor<5xi1>
  %l = tile.load %x[%c0] : !tile.view<5xi32> -> tensor<5xi32>
  %s = arith.muli %l, %l : tensor<5xi32>
  %t = arith.select %b, %l, %s : tensor<5xi1>, tensor<5xi32>
  tile.store %t, %x[%c0] : tensor<5xi32>, !tile.view<5xi32>
  tile.return
}

// CHECK-LABEL: llvm.func @narrow(
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> i8
// CHECK: arith.bitcast {{.*}} to vector<{{.*}}xf8E4M3FN>
tile.kernel @narrow(%x: !tile.view<128xf8E4M3FN>, %y: !tile.view<128xf32>) {
  tile.hint {nvvm = {warps = 2 : i64}, rocdl = {warps = 2 : i64}}
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<128xf8E4M3FN> -> tensor<128xf8E4M3FN>
  %f = tile.fp_to_fp %t : tensor<128xf8E4M3FN> -> tensor<128xf32>
  tile.store %f, %y[%c0] : tensor<128xf32>, !tile.view<128xf32>
  tile.return
}
