// RUN: tile-opt %s -split-input-file -convert-tile-to-cpu -canonicalize -cse -loop-invariant-code-motion | FileCheck %s
// RUN: tile-opt %s -split-input-file -convert-tile-to-cpu="vector-bits=256 vector-registers=16" -canonicalize -cse \
// RUN:   -loop-invariant-code-motion | FileCheck %s --check-prefix=HALF

// Weights that a reduction stored are read where they lie, as is the other operand, here by columns. What scales the
// accumulator is multiplied in when a register tile is done, and the result takes the accumulator's place.
// CHECK-LABEL: llvm.func internal @kernel_weighted
// CHECK: scf.for
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: scf.for {{.*}} -> (vector<16xf32>{{(, vector<16xf32>)+}})
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: llvm.load {{.*}} -> f32
// CHECK: vector.broadcast {{.*}} : f32 to vector<16xf32>
// CHECK: math.fma
// CHECK: scf.yield
// CHECK: %[[BEFORE:.*]] = llvm.load %[[PLACE:.*]] {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: %[[SUM:.*]] = math.fma %[[BEFORE]], {{.*}} : vector<16xf32>
// CHECK: llvm.store %[[SUM]], %[[PLACE]]
// CHECK-NOT: tensor<

// HALF-LABEL: llvm.func internal @kernel_weighted
// HALF: math.fma {{.*}} : vector<8xf32>
tile.kernel @weighted(%v: !tile.view<?x?xf32>, %s: !tile.view<?x?xf32>, %o: !tile.view<?x?xf32>)
    launch <sizes = [2, 1], grid = affine_map<(n) -> (n ceildiv 32)>> {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 48 : index
  %size = tile.dim %v, 0 : !tile.view<?x?xf32>
  %steps = arith.ceildivui %size, %bk : index
  %zero = arith.constant dense<0.0> : tensor<12x32xf32>
  %half = arith.constant dense<0.5> : tensor<12x32xf32>
  %none = arith.constant dense<0.0> : tensor<32xf32>
  %all:2 = scf.for %k = %c0 to %steps step %c1 iter_args(%x = %zero, %t = %none) -> (tensor<12x32xf32>, tensor<32xf32>) {
    %tv = tile.load %v[%k, %c0] pad zero : !tile.view<?x?xf32> -> tensor<48x12xf32>
    %ts = tile.load %s[%k, %i] pad zero : !tile.view<?x?xf32> -> tensor<48x32xf32>
    %w = math.exp %ts : tensor<48x32xf32>
    %part = tile.reduce %w axis 0 : tensor<48x32xf32> -> tensor<32xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %total = arith.addf %t, %part : tensor<32xf32>
    %turned = tile.transpose %tv [1, 0] : tensor<48x12xf32> -> tensor<12x48xf32>
    %less = arith.mulf %x, %half : tensor<12x32xf32>
    %y = tile.dot %turned, %w, %less : tensor<12x48xf32>, tensor<48x32xf32>, tensor<12x32xf32>
    scf.yield %y, %total : tensor<12x32xf32>, tensor<32xf32>
  }
  %e = tile.expand %all#1 axis 0 : tensor<32xf32> -> tensor<1x32xf32>
  %r = tile.broadcast %e : tensor<1x32xf32> -> tensor<12x32xf32>
  %q = arith.divf %all#0, %r : tensor<12x32xf32>
  tile.store %q, %o[%c0, %i] : tensor<12x32xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// A register tile nearly as good that cuts the rows evenly is the only one: two steps of eight rows by two vectors.
// CHECK-LABEL: llvm.func internal @kernel_even
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK-COUNT-32: math.fma {{.*}} : vector<16xf32>
// CHECK: scf.yield
// CHECK-NOT: math.fma
// CHECK: llvm.return
tile.kernel @even(%v: !tile.view<64x64xf32>, %s: !tile.view<64x32xf32>, %o: !tile.view<64x32xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %tv = tile.load %v[%i, %i] : !tile.view<64x64xf32> -> tensor<64x64xf32>
  %ts = tile.load %s[%i, %i] : !tile.view<64x32xf32> -> tensor<64x32xf32>
  %w = math.exp %ts : tensor<64x32xf32>
  %part = tile.reduce %w axis 0 : tensor<64x32xf32> -> tensor<32xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %line = tile.expand %part axis 0 : tensor<32xf32> -> tensor<1x32xf32>
  %turned = tile.transpose %tv [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %sum = tile.dot %turned, %w, %zero : tensor<64x64xf32>, tensor<64x32xf32>, tensor<64x32xf32>
  %all = tile.broadcast %line : tensor<1x32xf32> -> tensor<64x32xf32>
  %y = arith.mulf %sum, %all : tensor<64x32xf32>
  tile.store %y, %o[%i, %i] : tensor<64x32xf32>, !tile.view<64x32xf32>
  tile.return
}
