// RUN: tile-opt %s -split-input-file -convert-tile-to-cpu -canonicalize -cse -loop-invariant-code-motion | FileCheck %s

// Few rows: the panel of b is read where it lies, and lines of the next panel are asked for on the way. The zero that
// the sum starts from is not written anywhere.
// CHECK-LABEL: llvm.func internal @kernel_few
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>{{(, vector<16xf32>)+}})
// CHECK: "llvm.intr.prefetch"
// CHECK: llvm.getelementptr {{.*}} !llvm.ptr, f32
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: scf.yield
// CHECK-NOT: arith.addf
// CHECK: llvm.return
tile.kernel @few(%a: !tile.view<16x256xf32>, %b: !tile.view<256x512xf32>, %c: !tile.view<16x512xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16x512xf32>
  %ta = tile.load %a[%i, %i] : !tile.view<16x256xf32> -> tensor<16x256xf32>
  %tb = tile.load %b[%i, %i] : !tile.view<256x512xf32> -> tensor<256x512xf32>
  %y = tile.dot %ta, %tb, %zero : tensor<16x256xf32>, tensor<256x512xf32>, tensor<16x512xf32>
  tile.store %y, %c[%i, %i] : tensor<16x512xf32>, !tile.view<16x512xf32>
  tile.return
}

// -----

// More rows read a panel where it lies too, if it takes several lines of each row: the distance of its rows is that of b
// but for a panel that reaches beyond b.
// CHECK-LABEL: llvm.func internal @kernel_many
// CHECK: arith.select %[[INSIDE:.*]], %c512_i64, %c64_i64 : i64
// CHECK: scf.if %[[INSIDE]]
// CHECK: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: llvm.return
tile.kernel @many(%a: !tile.view<36x256xf32>, %b: !tile.view<256x512xf32>, %c: !tile.view<36x512xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<36x512xf32>
  %ta = tile.load %a[%i, %i] : !tile.view<36x256xf32> -> tensor<36x256xf32>
  %tb = tile.load %b[%i, %i] : !tile.view<256x512xf32> -> tensor<256x512xf32>
  %y = tile.dot %ta, %tb, %zero : tensor<36x256xf32>, tensor<256x512xf32>, tensor<36x512xf32>
  tile.store %y, %c[%i, %i] : tensor<36x512xf32>, !tile.view<36x512xf32>
  tile.return
}

// -----

// A small one comes to the nearest cache.
// CHECK-LABEL: llvm.func internal @kernel_small
// CHECK: arith.select %[[INSIDE:.*]], %c512_i64, %c64_i64 : i64
// CHECK: scf.if %[[INSIDE]]
// CHECK: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: llvm.return
tile.kernel @small(%a: !tile.view<36x32xf32>, %b: !tile.view<32x512xf32>, %c: !tile.view<36x512xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<36x512xf32>
  %ta = tile.load %a[%i, %i] : !tile.view<36x32xf32> -> tensor<36x32xf32>
  %tb = tile.load %b[%i, %i] : !tile.view<32x512xf32> -> tensor<32x512xf32>
  %y = tile.dot %ta, %tb, %zero : tensor<36x32xf32>, tensor<32x512xf32>, tensor<36x512xf32>
  tile.store %y, %c[%i, %i] : tensor<36x512xf32>, !tile.view<36x512xf32>
  tile.return
}

// -----

// So are the rows of a, at a distance that instructions hold, where those of a register tile don't meet in the cache.
// CHECK-LABEL: llvm.func internal @kernel_left
// CHECK: arith.muli %{{.*}}, %c250_i64
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: llvm.return
tile.kernel @left(%a: !tile.view<72x250xf32>, %b: !tile.view<250x512xf32>, %c: !tile.view<72x512xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<72x512xf32>
  %ta = tile.load %a[%i, %i] : !tile.view<72x250xf32> -> tensor<72x250xf32>
  %tb = tile.load %b[%i, %i] : !tile.view<250x512xf32> -> tensor<250x512xf32>
  %y = tile.dot %ta, %tb, %zero : tensor<72x250xf32>, tensor<250x512xf32>, tensor<72x512xf32>
  tile.store %y, %c[%i, %i] : tensor<72x512xf32>, !tile.view<72x512xf32>
  tile.return
}

// -----

// These would: 4 KiB apart, all have one place.
// CHECK-LABEL: llvm.func internal @kernel_left_packed
// CHECK: arith.muli %{{.*}}, %c1040_i64
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: llvm.return
tile.kernel @left_packed(%a: !tile.view<72x1024xf32>, %b: !tile.view<1024x512xf32>, %c: !tile.view<72x512xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<72x512xf32>
  %ta = tile.load %a[%i, %i] : !tile.view<72x1024xf32> -> tensor<72x1024xf32>
  %tb = tile.load %b[%i, %i] : !tile.view<1024x512xf32> -> tensor<1024x512xf32>
  %y = tile.dot %ta, %tb, %zero : tensor<72x1024xf32>, tensor<1024x512xf32>, tensor<72x512xf32>
  tile.store %y, %c[%i, %i] : tensor<72x512xf32>, !tile.view<72x512xf32>
  tile.return
}

// -----

// Rows that fill no register tile have a smaller one: no row beyond the result is computed.
// CHECK-LABEL: llvm.func internal @kernel_rest
// CHECK-COUNT-2: scf.yield {{.*}} : vector<16xf32>
// CHECK: llvm.return
tile.kernel @rest(%a: !tile.view<71x256xf32>, %b: !tile.view<256x32xf32>, %c: !tile.view<71x32xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<71x32xf32>
  %ta = tile.load %a[%i, %i] : !tile.view<71x256xf32> -> tensor<71x256xf32>
  %tb = tile.load %b[%i, %i] : !tile.view<256x32xf32> -> tensor<256x32xf32>
  %y = tile.dot %ta, %tb, %zero : tensor<71x256xf32>, tensor<256x32xf32>, tensor<71x32xf32>
  tile.store %y, %c[%i, %i] : tensor<71x32xf32>, !tile.view<71x32xf32>
  tile.return
}

// -----

// Rows of the transposed b that follow each other without gaps: the lines 32 rows of 512 bytes ahead come into L2.
// CHECK-LABEL: llvm.func internal @kernel_inner
// CHECK-COUNT-4: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: scf.yield
// CHECK: llvm.return
tile.kernel @inner(%a: !tile.view<1x128xf32>, %b: !tile.view<256x128xf32>, %c: !tile.view<1x64xf32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<1x64xf32>
  %from = arith.constant 0 : index
  %to = arith.constant 4 : index
  %step = arith.constant 1 : index
  %ta = tile.load %a[%i, %i] : !tile.view<1x128xf32> -> tensor<1x128xf32>
  %sum = scf.for %j = %from to %to step %step iter_args(%before = %zero) -> (tensor<1x64xf32>) {
    %tb = tile.load %b[%j, %i] : !tile.view<256x128xf32> -> tensor<64x128xf32>
    %turned = tile.transpose %tb [1, 0] : tensor<64x128xf32> -> tensor<128x64xf32>
    %y = tile.dot %ta, %turned, %before : tensor<1x128xf32>, tensor<128x64xf32>, tensor<1x64xf32>
    scf.yield %y : tensor<1x64xf32>
  }
  tile.store %sum, %c[%i, %i] : tensor<1x64xf32>, !tile.view<1x64xf32>
  tile.return
}
