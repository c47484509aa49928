// RUN: tile-interpret %s --kernel sums --grid 1 --arg iota:f32[3,5] --arg zero:f32[3] --arg zero:f32[5] \
// RUN:   | FileCheck %s --check-prefix=SUM
// RUN: tile-interpret %s --kernel argmax --grid 1 --arg data:f32[2,4]=1,9,3,9,-4,-3,-2,-1 --arg zero:i32[2] \
// RUN:   | FileCheck %s --check-prefix=ARGMAX
// RUN: tile-interpret %s --kernel branches --grid 1 --arg data:i32[5]=3,-1,4,-1,5 --arg zero:i32[1] \
// RUN:   | FileCheck %s --check-prefix=BRANCH
// RUN: tile-interpret %s --kernel scans --grid 1 --arg data:i32[2,4]=1,2,3,4,5,6,7,8 --arg zero:i32[3,2,4] \
// RUN:   | FileCheck %s --check-prefix=SCAN

// SUM: 1: f32[3] = [10, 35, 60]
// SUM: 2: f32[5] = [15, 18, 21, 24, 27]
tile.kernel @sums(%x: !tile.view<3x5xf32>, %r: !tile.view<3xf32>, %c: !tile.view<5xf32>) {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero, %zero] : !tile.view<3x5xf32> -> tensor<3x5xf32>
  %rows = tile.reduce %t axis 1 : tensor<3x5xf32> -> tensor<3xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  %columns = tile.reduce %t axis 0 : tensor<3x5xf32> -> tensor<5xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  tile.store %rows, %r[%zero] : tensor<3xf32>, !tile.view<3xf32>
  tile.store %columns, %c[%zero] : tensor<5xf32>, !tile.view<5xf32>
  tile.return
}

// The first of equal values wins, in whatever order they meet.
// ARGMAX: 1: i32[2] = [1, 3]
tile.kernel @argmax(%x: !tile.view<2x4xf32>, %r: !tile.view<2xi32>) {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero, %zero] : !tile.view<2x4xf32> -> tensor<2x4xf32>
  %i = tile.iota : tensor<4xi32>
  %e = tile.expand %i axis 0 : tensor<4xi32> -> tensor<1x4xi32>
  %n = tile.broadcast %e : tensor<1x4xi32> -> tensor<2x4xi32>
  %m:2 = tile.reduce %t, %n axis 1 : tensor<2x4xf32>, tensor<2x4xi32> -> tensor<2xf32>, tensor<2xi32> {
  ^bb0(%av: f32, %ai: i32, %bv: f32, %bi: i32):
    %more = arith.cmpf ogt, %av, %bv : f32
    %same = arith.cmpf oeq, %av, %bv : f32
    %first = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %same, %first : i1
    %left = arith.ori %more, %tie : i1
    %v = arith.select %left, %av, %bv : f32
    %k = arith.select %left, %ai, %bi : i32
    tile.yield %v, %k : f32, i32
  }
  tile.store %m#1, %r[%zero] : tensor<2xi32>, !tile.view<2xi32>
  tile.return
}

// A region may branch: here the sum of what is positive.
// BRANCH: 1: i32[1] = [12]
tile.kernel @branches(%x: !tile.view<5xi32>, %r: !tile.view<1xi32>) {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero] : !tile.view<5xi32> -> tensor<5xi32>
  %s = tile.reduce %t axis 0 : tensor<5xi32> -> tensor<i32> {
  ^bb0(%a: i32, %b: i32):
    %z = arith.constant 0 : i32
    %up = arith.cmpi sgt, %b, %z : i32
    %v = scf.if %up -> (i32) {
      %ma = arith.maxsi %a, %z : i32
      %u = arith.addi %ma, %b : i32
      scf.yield %u : i32
    } else {
      %ma = arith.maxsi %a, %z : i32
      scf.yield %ma : i32
    }
    tile.yield %v : i32
  }
  %v = tile.reshape %s : tensor<i32> -> tensor<1xi32>
  tile.store %v, %r[%zero] : tensor<1xi32>, !tile.view<1xi32>
  tile.return
}

// Sums along a row and backwards; and a region that is not commutative: 10 * left + right along a column.
// SCAN: 1: i32[3,2,4] =
// SCAN-SAME: {{\[\[}}1, 3, 6, 10], [5, 11, 18, 26]]
// SCAN-SAME: {{\[\[}}10, 9, 7, 4], [26, 21, 15, 8]]
// SCAN-SAME: {{\[\[}}1, 2, 3, 4], [15, 26, 37, 48]]
tile.kernel @scans(%x: !tile.view<2x4xi32>, %r: !tile.view<3x2x4xi32>) {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero, %zero] : !tile.view<2x4xi32> -> tensor<2x4xi32>
  %a = tile.scan %t axis 1 : tensor<2x4xi32> -> tensor<2x4xi32> {
  ^bb0(%l: i32, %m: i32):
    %s = arith.addi %l, %m : i32
    tile.yield %s : i32
  }
  %b = tile.scan %t axis 1 reverse : tensor<2x4xi32> -> tensor<2x4xi32> {
  ^bb0(%l: i32, %m: i32):
    %s = arith.addi %l, %m : i32
    tile.yield %s : i32
  }
  %c = tile.scan %t axis 0 : tensor<2x4xi32> -> tensor<2x4xi32> {
  ^bb0(%l: i32, %m: i32):
    %ten = arith.constant 10 : i32
    %p = arith.muli %l, %ten : i32
    %s = arith.addi %p, %m : i32
    tile.yield %s : i32
  }
  %ea = tile.expand %a axis 0 : tensor<2x4xi32> -> tensor<1x2x4xi32>
  %eb = tile.expand %b axis 0 : tensor<2x4xi32> -> tensor<1x2x4xi32>
  %ec = tile.expand %c axis 0 : tensor<2x4xi32> -> tensor<1x2x4xi32>
  %all = tile.cat %ea, %eb, %ec axis 0
    : tensor<1x2x4xi32>, tensor<1x2x4xi32>, tensor<1x2x4xi32> -> tensor<3x2x4xi32>
  tile.store %all, %r[%zero, %zero, %zero] : tensor<3x2x4xi32>, !tile.view<3x2x4xi32>
  tile.return
}
