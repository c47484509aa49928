// RUN: tile-interpret %s --arg iota:f32[2,2] --arg out:%t.npy:f32[2,2]
// RUN: tile-interpret %s --arg in:%t.npy --arg zero:f32[2,2] | FileCheck %s
// RUN: tile-interpret %s --arg iota:f32[2,2] --arg inout:%t.npy
// RUN: tile-interpret %s --arg in:%t.npy --arg zero:f32[2,2] | FileCheck %s
// RUN: not tile-interpret %s --arg in:%t.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not tile-interpret %s --arg f32[2] 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not tile-interpret %s --arg zero:f32 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not tile-interpret %s --arg data:f32[2]=1,x 2>&1 | FileCheck %s --check-prefix=NUMBER

// Doubled on the way out and once more on the way in; a second time from the start.
// CHECK: 1: f32[2,2] = {{\[\[}}0, 4], [8, 12]]
// MISSING: error: {{.*}}missing
// BAD: error: expected in:, inout:, out:, iota:, zero:, fill:, data: or a scalar like i32:5, got 'f32[2]'
// TYPE: error: expected an array type like f32[4,4], got 'f32'
// NUMBER: error: expected a number for each element, got 'x'

tile.kernel @double(%x: !tile.view<2x2xf32>, %y: !tile.view<2x2xf32>) launch <grid = affine_map<() -> (1)>> {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero, %zero] : !tile.view<2x2xf32> -> tensor<2x2xf32>
  %two = arith.addf %t, %t : tensor<2x2xf32>
  tile.store %two, %y[%zero, %zero] : tensor<2x2xf32>, !tile.view<2x2xf32>
  tile.return
}
