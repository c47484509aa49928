// RUN: tile-interpret %s --grid 1 --kernel moves --arg iota:i32[2,3] --arg zero:i32[3,2] --arg zero:i32[2,2] \
// RUN:   --arg zero:i32[4] --arg zero:i32[2,3] | FileCheck %s
// RUN: tile-interpret %s --grid 1 --kernel packing --arg data:i8[2]=0x2f,-128 --arg zero:i8[4] --arg zero:i8[2] \
// RUN:   --arg zero:f32[4] | FileCheck %s --check-prefix=PACK

// CHECK: 1: i32[3,2] = {{\[\[}}0, 3], [1, 4], [2, 5]]
// CHECK: 2: i32[2,2] = {{\[\[}}4, 10], [5, 12]]
// CHECK: 3: i32[4] = [2, 1, 0, 1]
// CHECK: 4: i32[2,3] = {{\[\[}}3, 1, 5], [0, 1, 2]]
tile.kernel @moves(%x: !tile.view<2x3xi32>, %t: !tile.view<3x2xi32>, %j: !tile.view<2x2xi32>, %g: !tile.view<4xi32>,
                   %r: !tile.view<2x3xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = tile.load %x[%zero, %zero] : !tile.view<2x3xi32> -> tensor<2x3xi32>
  %tr = tile.transpose %v [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
  tile.store %tr, %t[%zero, %zero] : tensor<3x2xi32>, !tile.view<3x2xi32>

  // The last two of row 1, paired with their doubles plus 2, then split and joined again.
  %row = tile.extract %v[%one, %zero] : tensor<2x3xi32> -> tensor<1x3xi32>
  %flat = tile.reshape %row : tensor<1x3xi32> -> tensor<3xi32>
  %pick = arith.constant dense<[1, 2]> : tensor<2xi32>
  %two = tile.gather_in_tile %flat[%pick] axis 0 : tensor<3xi32>, tensor<2xi32> -> tensor<2xi32>
  %c2 = arith.constant dense<2> : tensor<2xi32>
  %double = arith.muli %two, %c2 : tensor<2xi32>
  %plus = arith.addi %double, %c2 : tensor<2xi32>
  %pairs = tile.join %two, %plus : tensor<2xi32> -> tensor<2x2xi32>
  %a, %b = tile.split %pairs : tensor<2x2xi32> -> tensor<2xi32>
  %again = tile.join %a, %b : tensor<2xi32> -> tensor<2x2xi32>
  tile.store %again, %j[%zero, %zero] : tensor<2x2xi32>, !tile.view<2x2xi32>

  %first = tile.extract %v[%zero, %zero] : tensor<2x3xi32> -> tensor<1x3xi32>
  %line = tile.reshape %first : tensor<1x3xi32> -> tensor<3xi32>
  %back = arith.constant dense<[2, 1, 0, 1]> : tensor<4xi8>
  %picked = tile.gather_in_tile %line[%back] axis 0 : tensor<3xi32>, tensor<4xi8> -> tensor<4xi32>
  tile.store %picked, %g[%zero] : tensor<4xi32>, !tile.view<4xi32>

  %which = arith.constant dense<[[1, 0, 1], [0, 0, 0]]> : tensor<2x3xi32>
  %columns = tile.gather_in_tile %v[%which] axis 0 : tensor<2x3xi32>, tensor<2x3xi32> -> tensor<2x3xi32>
  tile.store %columns, %r[%zero, %zero] : tensor<2x3xi32>, !tile.view<2x3xi32>
  tile.return
}

// 0x2f has -1 below and 2 above; 0x80 has 0 below and -8 above. As f4E2M1FN: -6, 1, 0, -0.
// PACK: 1: i8[4] = [-1, 2, 0, -8]
// PACK: 2: i8[2] = [47, -128]
// PACK: 3: f32[4] = [-6, 1, 0, -0]
tile.kernel @packing(%x: !tile.view<2xi8>, %y: !tile.view<4xi8>, %z: !tile.view<2xi8>, %f: !tile.view<4xf32>) {
  %zero = arith.constant 0 : index
  %bytes = tile.load %x[%zero] : !tile.view<2xi8> -> tensor<2xi8>
  %nibbles = tile.unpack %bytes : tensor<2xi8> -> tensor<4xi4>
  %wide = arith.extsi %nibbles : tensor<4xi4> to tensor<4xi8>
  tile.store %wide, %y[%zero] : tensor<4xi8>, !tile.view<4xi8>
  %again = tile.pack %nibbles : tensor<4xi4> -> tensor<2xi8>
  tile.store %again, %z[%zero] : tensor<2xi8>, !tile.view<2xi8>
  %small = tile.unpack %bytes : tensor<2xi8> -> tensor<4xf4E2M1FN>
  %real = tile.fp_to_fp %small : tensor<4xf4E2M1FN> -> tensor<4xf32>
  tile.store %real, %f[%zero] : tensor<4xf32>, !tile.view<4xf32>
  tile.return
}
