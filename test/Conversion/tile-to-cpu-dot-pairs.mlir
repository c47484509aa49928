// RUN: tile-opt %s -split-input-file -convert-tile-to-cpu="pairs=true fma-ports=1 load-ports=1" -canonicalize -cse -loop-invariant-code-motion | FileCheck %s
// RUN: tile-opt %s -split-input-file -convert-tile-to-cpu -canonicalize -cse | FileCheck %s --check-prefix=WITHOUT
// RUN: tile-opt %s -split-input-file -convert-tile-to-cpu="pairs=true vector-bits=256 vector-registers=16" | FileCheck %s --check-prefix=HALF

// Two neighbours of a column of b share 32 bits; a's are two of its elements as they lie. Where one of them is subnormal,
// they are made wide.
// CHECK-LABEL: llvm.func internal @kernel_pairs
// CHECK: arith.minui {{.*}} : vector<32xi16>
// CHECK: vector.shuffle {{.*}} : vector<32xi16>, vector<32xi16>
// CHECK: llvm.bitcast {{.*}} : vector<32xi16> to vector<16xi32>
// CHECK: scf.if
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>{{(, vector<16xf32>)+}})
// CHECK: %[[TWO:.*]] = llvm.load {{.*}} -> f32
// CHECK: %[[A:.*]] = vector.broadcast %[[TWO]] : f32 to vector<16xf32>
// CHECK: %[[PAIR:.*]] = llvm.bitcast %[[A]] : vector<16xf32> to vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %[[PAIR]], %{{.*}})
// WITHOUT-LABEL: llvm.func internal @kernel_pairs
// WITHOUT-NOT: dpbf16ps
// WITHOUT: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// HALF-LABEL: llvm.func internal @kernel_pairs
// HALF: arith.extui {{.*}} : vector<8xi16> to vector<8xi32>
// HALF: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.256"
tile.kernel @pairs(%a: !tile.view<32x64xbf16>, %b: !tile.view<64x64xbf16>, %c: !tile.view<32x64xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %ta = tile.load %a[%i, %i] : !tile.view<32x64xbf16> -> tensor<32x64xbf16>
  %tb = tile.load %b[%i, %i] : !tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %y = tile.dot %ta, %tb, %zero : tensor<32x64xbf16>, tensor<64x64xbf16>, tensor<32x64xf32>
  tile.store %y, %c[%i, %i] : tensor<32x64xf32>, !tile.view<32x64xf32>
  tile.return
}

// A few rows are bound by reading b, and are summed in f32 from the start.
// CHECK-LABEL: llvm.func internal @kernel_few
// CHECK-NOT: dpbf16ps
// CHECK: math.fma
tile.kernel @few(%a: !tile.view<32x64xbf16>, %b: !tile.view<64x64xbf16>, %c: !tile.view<32x64xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<2x64xf32>
  %ta = tile.load %a[%i, %i] : !tile.view<32x64xbf16> -> tensor<2x64xbf16>
  %tb = tile.load %b[%i, %i] : !tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %y = tile.dot %ta, %tb, %zero : tensor<2x64xbf16>, tensor<64x64xbf16>, tensor<2x64xf32>
  tile.store %y, %c[%i, %i] : tensor<2x64xf32>, !tile.view<32x64xf32>
  tile.return
}

// -----

// Queries that a loop multiplies again and again are packed before it; keys are read where they lie, two neighbours of a
// row at a time, after a look at whether any is subnormal.
// CHECK-LABEL: llvm.func internal @kernel_queries
// CHECK: vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK: scf.for
// CHECK-NOT: vector.shuffle
// CHECK: arith.minui {{.*}} : vector<32xi16>
// CHECK: scf.if
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT: vector.shuffle
// CHECK: llvm.return
tile.kernel @queries(%k: !tile.view<640x64xbf16>, %q: !tile.view<32x64xbf16>, %o: !tile.view<64x32xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %tq = tile.load %q[%c0, %c0] : !tile.view<32x64xbf16> -> tensor<32x64xbf16>
  %t = tile.transpose %tq [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
  %all = scf.for %i = %c0 to %c10 step %c1 iter_args(%acc = %zero) -> tensor<64x32xf32> {
    %tk = tile.load %k[%i, %c0] : !tile.view<640x64xbf16> -> tensor<64x64xbf16>
    %y = tile.dot %tk, %t, %acc : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    scf.yield %y : tensor<64x32xf32>
  }
  tile.store %all, %o[%c0, %c0] : tensor<64x32xf32>, !tile.view<64x32xf32>
  tile.return
}
