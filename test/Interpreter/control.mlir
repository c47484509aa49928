// RUN: tile-interpret %s --grid 2,3 --kernel grid --arg zero:i32[2,3] | FileCheck %s --check-prefix=GRID
// RUN: tile-interpret %s --grid 1 --kernel collatz --arg i32:27 --arg zero:i32[1] | FileCheck %s --check-prefix=WHILE
// RUN: tile-interpret %s --grid 1 --kernel choose --arg index:7 --arg zero:i32[1] | FileCheck %s --check-prefix=SWITCH
// RUN: tile-interpret %s --grid 1 --kernel print --arg f32:0.5 2>&1 | FileCheck %s --check-prefix=PRINT

// GRID: 0: i32[2,3] = {{\[\[}}0, 2, 4], [3, 5, 7]]
tile.kernel @grid(%x: !tile.view<2x3xi32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %m = tile.num_programs 0
  %n = tile.num_programs 1
  %a = arith.muli %i, %n : index
  %b = arith.muli %j, %m : index
  %s = arith.addi %a, %b : index
  %v = arith.index_cast %s : index to i32
  %t = tile.splat %v : i32 -> tensor<1x1xi32>
  tile.store %t, %x[%i, %j] : tensor<1x1xi32>, !tile.view<2x3xi32>
  tile.return
}

// WHILE: 1: i32[1] = [111]
tile.kernel @collatz(%n: i32, %y: !tile.view<1xi32>) {
  %zero = arith.constant 0 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %end:2 = scf.while (%v = %n, %steps = %c0) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ne, %v, %c1 : i32
    scf.condition(%more) %v, %steps : i32, i32
  } do {
  ^bb0(%v: i32, %steps: i32):
    %r = arith.remsi %v, %c2 : i32
    %odd = arith.cmpi eq, %r, %c1 : i32
    %next = scf.if %odd -> (i32) {
      %t = arith.muli %v, %c3 : i32
      %u = arith.addi %t, %c1 : i32
      scf.yield %u : i32
    } else {
      %h = arith.divsi %v, %c2 : i32
      scf.yield %h : i32
    }
    %count = arith.addi %steps, %c1 : i32
    scf.yield %next, %count : i32, i32
  }
  %t = tile.splat %end#1 : i32 -> tensor<1xi32>
  tile.store %t, %y[%zero] : tensor<1xi32>, !tile.view<1xi32>
  tile.return
}

// SWITCH: 1: i32[1] = [70]
tile.kernel @choose(%n: index, %y: !tile.view<1xi32>) {
  %zero = arith.constant 0 : index
  %v = scf.index_switch %n -> i32
  case 2 {
    %a = arith.constant 20 : i32
    scf.yield %a : i32
  }
  case 7 {
    %a = arith.constant 70 : i32
    scf.yield %a : i32
  }
  default {
    %a = arith.constant -1 : i32
    scf.yield %a : i32
  }
  %t = tile.splat %v : i32 -> tensor<1xi32>
  tile.store %t, %y[%zero] : tensor<1xi32>, !tile.view<1xi32>
  tile.return
}

// PRINT: values 0.5 [0, 1, 2, ..., 6, 7, 8]
tile.kernel @print(%x: f32) {
  %t = tile.iota : tensor<9xi32>
  tile.hint {cpu = {}}
  tile.print "values", %x, %t : f32, tensor<9xi32>
  tile.return
}
