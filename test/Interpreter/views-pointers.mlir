// RUN: tile-interpret %s --kernel subviews --grid 1 --arg iota:i32[4,6] --arg zero:i32[2,3] --arg index:6 \
// RUN:   | FileCheck %s --check-prefix=SUBVIEW
// RUN: tile-interpret %s --kernel padding --grid 1 --arg iota:f32[2] --arg zero:f32[6,2] --arg iota:i8[2] \
// RUN:   --arg zero:i8[3,2] | FileCheck %s --check-prefix=PAD
// RUN: tile-interpret %s --kernel gathers --grid 1 --arg data:f32[4]=10,11,12,13 --arg zero:f32[4] \
// RUN:   | FileCheck %s --check-prefix=GATHER
// RUN: tile-interpret %s --kernel atomics --grid 5 --arg zero:i32[4] --arg zero:f32[2] --parallel 4 \
// RUN:   | FileCheck %s --check-prefix=ATOMIC

// SUBVIEW: 1: i32[2,3] = {{\[\[}}9, 10, 11], [15, 16, 17]]
tile.kernel @subviews(%x: !tile.view<?x?xi32>, %y: !tile.view<2x3xi32>, %pitch: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %p = tile.base %x : !tile.view<?x?xi32> -> !tile.ptr<i32>
  %v = tile.view %p sizes [%four] strides [%pitch] : !tile.ptr<i32> -> !tile.view<?x6xi32, strides = [?, 1]>
  %s = tile.subview %v[%one, %three] : !tile.view<?x6xi32, strides = [?, 1]> -> !tile.view<2x3xi32, strides = [?, 1]>
  %d = tile.stride %s, 0 : !tile.view<2x3xi32, strides = [?, 1]>
  %d1 = tile.assume %d equal 6 : index
  %t = tile.load %s[%zero, %zero] : !tile.view<2x3xi32, strides = [?, 1]> -> tensor<2x3xi32>
  tile.store %t, %y[%zero, %zero] : tensor<2x3xi32>, !tile.view<2x3xi32>
  tile.return
}

// Each row is the second half of a tile of 4 at coordinate 0 of a view of 2; the element inside a view stays.
// PAD: 1: f32[6,2] = {{\[\[}}0, 0], [1, 1], [-inf, -inf], [inf, inf], [nan, nan], [0, 0]]
// PAD: 3: i8[3,2] = {{\[\[}}-128, -128], [127, 127], [-1, -1]]
tile.kernel @padding(%x: !tile.view<2xf32>, %y: !tile.view<6x2xf32>, %u: !tile.view<2xi8>, %v: !tile.view<3x2xi8>) {
  %i = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = tile.load %x[%one] pad zero : !tile.view<2xf32> -> tensor<2xf32>
  %b = tile.load %x[%one] pad one : !tile.view<2xf32> -> tensor<2xf32>
  %c = tile.load %x[%one] pad lowest : !tile.view<2xf32> -> tensor<2xf32>
  %d = tile.load %x[%one] pad highest : !tile.view<2xf32> -> tensor<2xf32>
  %e = tile.load %x[%one] pad nan : !tile.view<2xf32> -> tensor<2xf32>
  %all = tile.cat %a, %b, %c, %d, %e axis 0
    : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<10xf32>
  %rows = tile.reshape %all : tensor<10xf32> -> tensor<5x2xf32>
  tile.store %rows, %y[%i, %i] : tensor<5x2xf32>, !tile.view<6x2xf32>
  %f = tile.load %u[%one] pad lowest : !tile.view<2xi8> -> tensor<2xi8>
  %g = tile.load %u[%one] pad highest : !tile.view<2xi8> -> tensor<2xi8>
  %h = tile.load %u[%one] pad all_ones : !tile.view<2xi8> -> tensor<2xi8>
  %bytes = tile.cat %f, %g, %h axis 0 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8> -> tensor<6xi8>
  %byteRows = tile.reshape %bytes : tensor<6xi8> -> tensor<3x2xi8>
  tile.store %byteRows, %v[%i, %i] : tensor<3x2xi8>, !tile.view<3x2xi8>
  tile.return
}

// Backwards, without the first element.
// GATHER: 1: f32[4] = [-1, 11, 12, 13]
tile.kernel @gathers(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
  %i = tile.iota : tensor<4xi32>
  %three = arith.constant dense<3> : tensor<4xi32>
  %back = arith.subi %three, %i : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %from = tile.addptr %xs, %back : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %to = tile.addptr %ys, %back : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %other = arith.constant dense<-1.0> : tensor<4xf32>
  %on = arith.cmpi ne, %i, %three : tensor<4xi32>
  %t = tile.gather %from mask %on other %other : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  tile.scatter %t, %to : tensor<4xf32>, tensor<4x!tile.ptr<f32>>
  tile.return
}

// ATOMIC: 0: i32[4] = [5, 4, 10, 1]
// ATOMIC: 1: f32[2] = [2.5, 2.5]
tile.kernel @atomics(%n: !tile.ptr<i32>, %f: !tile.view<2xf32>) {
  %zero = arith.constant 0 : index
  %id = tile.program_id 0
  %i = arith.index_cast %id : index to i32
  %half = arith.constant dense<0.5> : tensor<2xf32>
  tile.atomic addf %half, %f[%zero] relaxed device : tensor<2xf32>, !tile.view<2xf32>
  %iota = tile.iota : tensor<4xi32>
  %ps = tile.splat %n : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %p = tile.addptr %ps, %iota : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %one = arith.constant dense<1> : tensor<1xi32>
  %id1 = tile.splat %i : i32 -> tensor<1xi32>
  %p0 = tile.extract %p[%zero] : tensor<4x!tile.ptr<i32>> -> tensor<1x!tile.ptr<i32>>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %p1 = tile.extract %p[%c1] : tensor<4x!tile.ptr<i32>> -> tensor<1x!tile.ptr<i32>>
  %p2 = tile.extract %p[%c2] : tensor<4x!tile.ptr<i32>> -> tensor<1x!tile.ptr<i32>>
  %p3 = tile.extract %p[%c3] : tensor<4x!tile.ptr<i32>> -> tensor<1x!tile.ptr<i32>>
  %o0 = tile.atomic_rmw addi %one, %p0 relaxed device : tensor<1xi32>, tensor<1x!tile.ptr<i32>>
  %o1 = tile.atomic_rmw maxs %id1, %p1 acq_rel system : tensor<1xi32>, tensor<1x!tile.ptr<i32>>
  %on = arith.constant dense<true> : tensor<1xi1>
  %o2 = tile.atomic_rmw addi %id1, %p2 mask %on relaxed device : tensor<1xi32>, tensor<1x!tile.ptr<i32>>
  // Only the first one finds a zero.
  %expected = arith.constant dense<0> : tensor<1xi32>
  %o3 = tile.atomic_cas %expected, %one, %p3 acq_rel device : tensor<1xi32>, tensor<1x!tile.ptr<i32>>
  tile.return
}
