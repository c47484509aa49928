// RUN: tile-interpret %s --arg iota:f32[5] --arg zero:f32[5] | FileCheck %s --check-prefix=SHORT
// RUN: tile-interpret %s --arg iota:f32[9] --arg zero:f32[9] | FileCheck %s --check-prefix=LONG
// RUN: tile-interpret %s --arg iota:f32[9] --arg zero:f32[9] --parallel 3 | FileCheck %s --check-prefix=LONG
// RUN: tile-interpret %s --arg iota:f32[5] --arg zero:f32[5] --kernel second \
// RUN:   | FileCheck %s --check-prefix=ONE

// In phase 0 one of two kernels runs, by the length; phase 1 reads what phase 0 left in the workspace.
// SHORT: 1: f32[5] = [1, 1, 1, 1, 1]
// LONG: 1: f32[9] = [36, 36, 36, 36, 36, 36, 36, 36, 36]
// Alone, phase 1 finds all ones, which is NaN.
// ONE: 1: f32[5] = [nan, nan, nan, nan, nan]

tile.kernel @short(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>, %w: !tile.ptr<i8>)
    launch <sizes = [0, 0], grid = affine_map<(n) -> (1)>, when = affine_set<(n) : (8 - n >= 0)>,
            workspace = affine_map<(n) -> (4)>> {
  %c = arith.constant dense<1.0> : tensor<1xf32>
  %p = tile.view %w : !tile.ptr<i8> -> !tile.view<4xi8>
  %zero = arith.constant 0 : index
  // The bytes of 1.0, as there is no cast of pointers.
  %one = arith.constant dense<[0, 0, -128, 63]> : tensor<4xi8>
  tile.store %one, %p[%zero] : tensor<4xi8>, !tile.view<4xi8>
  tile.return
}

tile.kernel @long(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>, %w: !tile.ptr<i8>)
    launch <sizes = [0, 0], grid = affine_map<(n) -> (1)>, workspace = affine_map<(n) -> (4)>> {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero] pad zero : !tile.view<?xf32> -> tensor<16xf32>
  %s = tile.reduce %t axis 0 : tensor<16xf32> -> tensor<f32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %e = tile.extract %s[] : tensor<f32> -> f32
  %bits = arith.bitcast %e : f32 to i32
  %words = tile.splat %bits : i32 -> tensor<4xi32>
  %iota = tile.iota : tensor<4xi32>
  %eight = arith.constant dense<8> : tensor<4xi32>
  %shift = arith.muli %iota, %eight : tensor<4xi32>
  %bytes = arith.shrui %words, %shift : tensor<4xi32>
  %low = arith.trunci %bytes : tensor<4xi32> to tensor<4xi8>
  %p = tile.view %w : !tile.ptr<i8> -> !tile.view<4xi8>
  tile.store %low, %p[%zero] : tensor<4xi8>, !tile.view<4xi8>
  tile.return
}

tile.kernel @second(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>, %w: !tile.ptr<i8>)
    launch <sizes = [0, 0], grid = affine_map<(n) -> (n ceildiv 4)>, phase = 1, workspace = affine_map<(n) -> (4)>> {
  %i = tile.program_id 0
  %zero = arith.constant 0 : index
  %p = tile.view %w : !tile.ptr<i8> -> !tile.view<4xi8>
  %bytes = tile.load %p[%zero] : !tile.view<4xi8> -> tensor<4xi8>
  %wide = arith.extui %bytes : tensor<4xi8> to tensor<4xi32>
  %iota = tile.iota : tensor<4xi32>
  %eight = arith.constant dense<8> : tensor<4xi32>
  %shift = arith.muli %iota, %eight : tensor<4xi32>
  %parts = arith.shli %wide, %shift : tensor<4xi32>
  %word = tile.reduce %parts axis 0 : tensor<4xi32> -> tensor<i32> {
  ^bb0(%l: i32, %r: i32):
    %o = arith.ori %l, %r : i32
    tile.yield %o : i32
  }
  %bits = tile.extract %word[] : tensor<i32> -> i32
  %value = arith.bitcast %bits : i32 to f32
  %t = tile.splat %value : f32 -> tensor<4xf32>
  tile.store %t, %y[%i] : tensor<4xf32>, !tile.view<?xf32>
  tile.return
}
