// RUN: tile-opt %s -convert-tile-to-tilegpu=warps=2 -tile-gpu-on-chip -canonicalize -cse -tile-gpu-plan-memory | FileCheck %s

// An instance does what it is told in order: what it wrote to an argument's memory it reads afterwards, and the other
// way round, whichever threads do it.
// CHECK-LABEL: @in_place
// CHECK: tile.load
// CHECK: tilegpu.barrier
// CHECK-NEXT: tile.store
// CHECK: tilegpu.barrier
// CHECK-NEXT: tile.load
tile.kernel @in_place(%x: !tile.view<64xf32>, %y: !tile.view<64xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  %b = arith.addf %a, %a : tensor<64xf32>
  tile.store %b, %x[%c0] : tensor<64xf32>, !tile.view<64xf32>
  %c = tile.load %x[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  tile.store %c, %y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// Different arguments lead to different memory, and tiles of one type in one view lie apart.
// CHECK-LABEL: @streams
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.return
tile.kernel @streams(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tile.program_id 0
  scf.for %i = %c0 to %n step %c1 {
    %a = tile.load %x[%i] pad zero : !tile.view<?xf32> -> tensor<64xf32>
    tile.store %a, %y[%i] : tensor<64xf32>, !tile.view<?xf32>
  }
  tile.return
}

// Through pointers only the argument is known; atomic updates do not disturb each other.
// CHECK-LABEL: @pointers
// CHECK-COUNT-2: tile.atomic_rmw
// CHECK: tilegpu.barrier
// CHECK-NEXT: tile.gather
// CHECK: tilegpu.barrier
// CHECK-NEXT: tile.scatter
tile.kernel @pointers(%p: !tile.ptr<i32>) {
  %i = tile.iota : tensor<64xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %a = tile.addptr %s, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %0 = tile.atomic_rmw addi %i, %a relaxed device : tensor<64xi32>, tensor<64x!tile.ptr<i32>>
  %1 = tile.atomic_rmw addi %i, %a relaxed device : tensor<64xi32>, tensor<64x!tile.ptr<i32>>
  %x = tile.gather %a : tensor<64x!tile.ptr<i32>> -> tensor<64xi32>
  tile.scatter %x, %a : tensor<64xi32>, tensor<64x!tile.ptr<i32>>
  tile.return
}

// A while loop is left at the end of its first region: what that one read is pending behind the loop, although the
// second one ends with a barrier.
// CHECK-LABEL: @leaves
// CHECK: scf.while
// CHECK: tilegpu.shared_load
// CHECK: scf.condition
// CHECK: scf.yield
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.shared_store
tile.kernel @leaves(%x: !tile.view<1x256xi32>, %y: !tile.view<256xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %t0 = tile.load %x[%c0, %c0] : !tile.view<1x256xi32> -> tensor<1x256xi32>
  %end = scf.while (%t = %t0) : (tensor<1x256xi32>) -> tensor<1x256xi32> {
    %all = tile.reduce %t axis 1 : tensor<1x256xi32> -> tensor<1xi32> {
    ^bb0(%l: i32, %r: i32):
      %g = arith.maxsi %l, %r : i32
      tile.yield %g : i32
    }
    %n = tile.extract %all[%c0] : tensor<1xi32> -> i32
    %go = arith.cmpi sgt, %n, %zero : i32
    scf.condition(%go) %t : tensor<1x256xi32>
  } do {
  ^bb0(%t: tensor<1x256xi32>):
    %less = arith.subi %t, %t : tensor<1x256xi32>
    scf.yield %less : tensor<1x256xi32>
  }
  %m = tile.reduce %end axis 1 : tensor<1x256xi32> -> tensor<1xi32> {
  ^bb0(%l: i32, %r: i32):
    %g = arith.minsi %l, %r : i32
    tile.yield %g : i32
  }
  %n = tile.extract %m[%c0] : tensor<1xi32> -> i32
  %s = tile.splat %n : i32 -> tensor<256xi32>
  tile.store %s, %y[%c0] : tensor<256xi32>, !tile.view<256xi32>
  tile.return
}
