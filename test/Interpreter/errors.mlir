// RUN: not tile-interpret %s --grid 1 --kernel outside --arg iota:f32[3] 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: tile-interpret %s --grid 1 --kernel outside --arg iota:f32[3] --no-bounds
// RUN: not tile-interpret %s --grid 1 --kernel part --arg iota:f32[3] 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not tile-interpret %s --grid 1 --kernel pointer --arg iota:f32[3] 2>&1 | FileCheck %s --check-prefix=POINTER
// RUN: not tile-interpret %s --grid 1 --kernel nan --arg iota:f32[3] --check-nan 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: tile-interpret %s --grid 1 --kernel nan --arg iota:f32[3]
// RUN: not tile-interpret %s --grid 1 --kernel assumption --arg index:12 2>&1 | FileCheck %s --check-prefix=ASSUME
// RUN: not tile-interpret %s --grid 1 --kernel division --arg i32:0 2>&1 | FileCheck %s --check-prefix=DIVISION
// RUN: not tile-interpret %s --grid 1 --kernel assertion --arg i32:0 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: not tile-interpret %s --grid 1 --kernel endless --max-steps 1000 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: not tile-interpret %s --grid 1 --kernel index --arg index:9 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not tile-interpret %s --grid 1 --kernel outside 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not tile-interpret %s --grid 1 --kernel outside --arg iota:f32[3,1] 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not tile-interpret %s --grid 1 --kernel fixed --arg iota:f32[3] 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not tile-interpret %s --kernel outside --arg iota:f32[3] 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not tile-interpret %s --kernel nobody 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not tile-interpret %s --grid 1 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not tile-interpret %s --kernel negative --arg zero:f32[0] 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// COUNT: errors.mlir:[[#@LINE+6]]:1: 'tile.kernel': expected 1 arguments, got 0
// RANK: errors.mlir:[[#@LINE+5]]:1: 'tile.kernel': expected rank 1, got 2 of 'x'
// RULE: 'tile.kernel': expected a grid, as the kernel has no launch rule
// NOBODY: error: expected a kernel 'nobody'
// SEVERAL: error: expected one kernel for a grid, got several; name one

tile.kernel @outside(%x: !tile.view<?xf32>) {
  %zero = arith.constant 0 : index
  // OUTSIDE: errors.mlir:[[#@LINE+1]]:8: 'tile.load': expected a tile inside the view, got element 3 of the tile outside
  %t = tile.load %x[%zero] : !tile.view<?xf32> -> tensor<4xf32>
  tile.return
}

tile.kernel @part(%x: !tile.view<?xf32>) {
  %two = arith.constant 2 : index
  // PART: errors.mlir:[[#@LINE+1]]:8: 'tile.subview': expected a part of the source's 3 elements in dimension 0, got 2 from 2
  %t = tile.subview %x[%two] : !tile.view<?xf32> -> !tile.view<2xf32>
  tile.return
}

tile.kernel @pointer(%x: !tile.ptr<f32>) {
  %i = tile.iota : tensor<4xi32>
  %ps = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %p = tile.addptr %ps, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  // POINTER: errors.mlir:[[#@LINE+1]]:8: 'tile.gather': expected an access inside the 12 bytes of 'x', got 4 bytes at offset 12
  %t = tile.gather %p : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  tile.return
}

tile.kernel @nan(%x: !tile.view<?xf32>) {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero] : !tile.view<?xf32> -> tensor<3xf32>
  // NAN: errors.mlir:[[#@LINE+1]]:8: 'arith.divf': expected a number, got NaN from operands without NaN
  %q = arith.divf %t, %t : tensor<3xf32>
  tile.return
}

tile.kernel @assumption(%n: index) {
  // ASSUME: errors.mlir:[[#@LINE+1]]:8: 'tile.assume': expected a number divisible by 8, got 12
  %m = tile.assume %n divisible 8 : index
  tile.return
}

tile.kernel @division(%n: i32) {
  // DIVISION: errors.mlir:[[#@LINE+1]]:8: 'arith.divsi': expected a divisor other than 0
  %q = arith.divsi %n, %n : i32
  tile.return
}

tile.kernel @assertion(%n: i32) {
  %c = arith.trunci %n : i32 to i1
  // ASSERT: errors.mlir:[[#@LINE+1]]:3: 'tile.assert': n is odd
  tile.assert %c, "n is odd" : i1
  tile.return
}

tile.kernel @endless() {
  %true = arith.constant true
  scf.while : () -> () {
    // ENDLESS: expected at most 1000 operations in a launch
    %more = arith.ori %true, %true : i1
    scf.condition(%more)
  } do {
    scf.yield
  }
  tile.return
}

tile.kernel @index(%i: index) {
  %t = tile.iota : tensor<8xi32>
  // INDEX: errors.mlir:[[#@LINE+1]]:8: 'tile.extract': expected a coordinate below 8 in dimension 0, got 9
  %e = tile.extract %t[%i] : tensor<8xi32> -> i32
  tile.return
}

// SIZE: 'tile.kernel': expected size 4 in dimension 0, got 3 of 'x'
tile.kernel @fixed(%x: !tile.view<4xf32>) {
  tile.return
}

// NEGATIVE: 'tile.kernel': expected a grid of at least 0 program instances, got -1
tile.kernel @negative(%x: !tile.view<?xf32>) launch <sizes = [0, 0], grid = affine_map<(n) -> (n - 1)>> {
  tile.return
}
