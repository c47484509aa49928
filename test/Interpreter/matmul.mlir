// RUN: tile-interpret %s --kernel ragged --arg iota:f32[3,5] --arg iota:f32[5,2] --arg zero:f32[3,2] | FileCheck %s
// RUN: tile-interpret %s --kernel precision --grid 1 --arg fill:f32[1,1]=1.000244140625 --arg zero:f32[3] \
// RUN:   | FileCheck %s --check-prefix=PRECISION
// RUN: tile-interpret %s --kernel precision --grid 1 --arg fill:f32[1,1]=1.000244140625 --arg zero:f32[3] --double \
// RUN:   | FileCheck %s --check-prefix=DOUBLE
// RUN: tile-interpret %s --kernel integers --grid 1 --arg data:i8[1,2]=-1,127 --arg data:i8[2,1]=-1,-128 \
// RUN:   --arg zero:i32[4,1] | FileCheck %s --check-prefix=INT

// CHECK: 2: f32[3,2] = [
// CHECK-SAME: [60, 70], [160, 195], [260, 320]]
tile.kernel @ragged(%a: !tile.view<?x?xf32>, %b: !tile.view<?x?xf32>, %c: !tile.view<?x?xf32>)
    launch <sizes = [0, 0, 1, 1], grid = affine_map<(m, n) -> (m ceildiv 2, n ceildiv 2)>> {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %depth = tile.dim %a, 1 : !tile.view<?x?xf32>
  %blocks = arith.ceildivui %depth, %two : index
  %init = arith.constant dense<0.0> : tensor<2x2xf32>
  %acc = scf.for %k = %zero to %blocks step %one iter_args(%sum = %init) -> (tensor<2x2xf32>) {
    %ta = tile.load %a[%i, %k] pad zero : !tile.view<?x?xf32> -> tensor<2x2xf32>
    %tb = tile.load %b[%k, %j] pad zero : !tile.view<?x?xf32> -> tensor<2x2xf32>
    %next = tile.dot %ta, %tb, %sum : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
    scf.yield %next : tensor<2x2xf32>
  }
  tile.store %acc, %c[%i, %j] : tensor<2x2xf32>, !tile.view<?x?xf32>
  tile.return
}

// (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: tf32 drops the 2^-12, bf16x3 keeps the cross terms.
// PRECISION: 1: f32[3] = [1.00048828, 1, 1.00048828]
// DOUBLE: 1: f32[3] = [1.00048828, 1.00048828, 1.00048828]
tile.kernel @precision(%a: !tile.view<1x1xf32>, %c: !tile.view<3xf32>) {
  %zero = arith.constant 0 : index
  %t = tile.load %a[%zero, %zero] : !tile.view<1x1xf32> -> tensor<1x1xf32>
  %init = arith.constant dense<0.0> : tensor<1x1xf32>
  %x = tile.dot %t, %t, %init : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
  %y = tile.dot %t, %t, %init precision tf32 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
  %z = tile.dot %t, %t, %init precision bf16x3 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
  %all = tile.cat %x, %y, %z axis 0 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32> -> tensor<3x1xf32>
  %flat = tile.reshape %all : tensor<3x1xf32> -> tensor<3xf32>
  tile.store %flat, %c[%zero] : tensor<3xf32>, !tile.view<3xf32>
  tile.return
}

// (-1)(-1) + 127(-128), then with the bits of a, of b, of both unsigned.
// INT: 2: i32[4,1] = {{\[\[}}-16255], [-16511], [16001], [81281]]
tile.kernel @integers(%a: !tile.view<1x2xi8>, %b: !tile.view<2x1xi8>, %c: !tile.view<4x1xi32>) {
  %zero = arith.constant 0 : index
  %ta = tile.load %a[%zero, %zero] : !tile.view<1x2xi8> -> tensor<1x2xi8>
  %tb = tile.load %b[%zero, %zero] : !tile.view<2x1xi8> -> tensor<2x1xi8>
  %init = arith.constant dense<0> : tensor<1x1xi32>
  %w = tile.dot %ta, %tb, %init : tensor<1x2xi8>, tensor<2x1xi8>, tensor<1x1xi32>
  %x = tile.dot %ta, %tb, %init unsigned_a : tensor<1x2xi8>, tensor<2x1xi8>, tensor<1x1xi32>
  %y = tile.dot %ta, %tb, %init unsigned_b : tensor<1x2xi8>, tensor<2x1xi8>, tensor<1x1xi32>
  %z = tile.dot %ta, %tb, %init unsigned_a unsigned_b : tensor<1x2xi8>, tensor<2x1xi8>, tensor<1x1xi32>
  %all = tile.cat %w, %x, %y, %z axis 0
    : tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32> -> tensor<4x1xi32>
  tile.store %all, %c[%zero, %zero] : tensor<4x1xi32>, !tile.view<4x1xi32>
  tile.return
}
