// RUN: tile-opt %s -convert-tile-to-tilegpu=warps=2 | FileCheck %s
// RUN: tile-opt %s -convert-tile-to-tilegpu="warps=2 lanes=64" | FileCheck %s --check-prefix=WAVE64

// WAVE64: #layout = #tilegpu.layout<[4, 64], registers = [1], lanes = [2, 4, 8, 16, 32, 64], warps = [128]>
// CHECK-DAG: #[[ROWS:.*]] = #tilegpu.layout<[4, 64], registers = [32, 64], lanes = [1, 2, 4, 8, 16], warps = [128]>
// CHECK-DAG: #[[PAIRS:.*]] = #tilegpu.layout<[4, 64], registers = [1, 2], lanes = [4, 8, 16, 32, 64], warps = [128]>

// A load's layout: 16 bytes of neighbours in a thread, lanes along the contiguous dimension, warps over the rows.
// Everything elementwise follows; nothing is converted.
// CHECK-LABEL: @elementwise
// CHECK-SAME: tilegpu.lanes = 32 : i64, tilegpu.warps = 2 : i64
// CHECK: tile.load {{.*}} -> tensor<4x64xf32, #[[PAIRS]]>
// CHECK-NOT: convert_layout
// CHECK: math.exp {{.*}} : tensor<4x64xf32, #[[PAIRS]]>
// CHECK: tile.store {{.*}} : tensor<4x64xf32, #[[PAIRS]]>
tile.kernel @elementwise(%x: !tile.view<?x?xf32>, %y: !tile.view<?x?xf32>) {
  %i = tile.program_id 0
  %t = tile.load %x[%i, %i] pad zero : !tile.view<?x?xf32> -> tensor<4x64xf32>
  %e = math.exp %t : tensor<4x64xf32>
  tile.store %e, %y[%i, %i] : tensor<4x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// Where rows can't all be aligned, neighbouring lanes have neighbouring elements.
// CHECK-LABEL: @odd_rows
// CHECK: tile.load {{.*}} -> tensor<4x64xf16, #[[ROWS]]>
tile.kernel @odd_rows(%x: !tile.view<?x255xf16>, %y: !tile.view<?x255xf16>) {
  %i = tile.program_id 0
  %t = tile.load %x[%i, %i] pad zero : !tile.view<?x255xf16> -> tensor<4x64xf16>
  tile.store %t, %y[%i, %i] : tensor<4x64xf16>, !tile.view<?x255xf16>
  tile.return
}

// A constant and a broadcast are made in the layout of their user.
// CHECK-LABEL: @row_sum
// CHECK: tile.load {{.*}} -> tensor<8x32xf32, #[[L:.*]]>
// CHECK: tile.reduce {{.*}} -> tensor<8xf32,
// CHECK: tile.expand
// CHECK: tile.broadcast {{.*}} -> tensor<8x32xf32, #[[L]]>
// CHECK-NOT: convert_layout
// CHECK: arith.subf {{.*}} : tensor<8x32xf32, #[[L]]>
tile.kernel @row_sum(%x: !tile.view<?x?xf32>, %y: !tile.view<?x?xf32>) {
  %i = tile.program_id 0
  %t = tile.load %x[%i, %i] pad zero : !tile.view<?x?xf32> -> tensor<8x32xf32>
  %s = tile.reduce %t axis 1 : tensor<8x32xf32> -> tensor<8xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %e = tile.expand %s axis 1 : tensor<8xf32> -> tensor<8x1xf32>
  %b = tile.broadcast %e : tensor<8x1xf32> -> tensor<8x32xf32>
  %d = arith.subf %t, %b : tensor<8x32xf32>
  tile.store %d, %y[%i, %i] : tensor<8x32xf32>, !tile.view<?x?xf32>
  tile.return
}

// A transposed tile would be stored in pieces of four bytes: it is converted first.
// CHECK-LABEL: @transpose
// CHECK: tile.load
// CHECK: tile.transpose
// CHECK: tilegpu.convert_layout
// CHECK: tile.store
tile.kernel @transpose(%x: !tile.view<?x?xf32>, %y: !tile.view<?x?xf32>) {
  %i = tile.program_id 0
  %t = tile.load %x[%i, %i] pad zero : !tile.view<?x?xf32> -> tensor<32x64xf32>
  %e = tile.transpose %t [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
  tile.store %e, %y[%i, %i] : tensor<64x32xf32>, !tile.view<?x?xf32>
  tile.return
}
