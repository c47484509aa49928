// RUN: tile-opt %s | FileCheck %s
// RUN: tile-opt --mlir-print-op-generic %s | tile-opt | FileCheck %s
// RUN: tile-opt --emit-bytecode %s | tile-opt | FileCheck %s

// Forms of syntax that the examples of the reference do not show.

// CHECK-DAG: #[[MAP:.*]] = affine_map<(d0, d1) -> (d0 ceildiv 64, d1, 3)>
// CHECK-DAG: #[[WORKSPACE:.*]] = affine_map<(d0, d1) -> (d0 * 4)>
// CHECK-DAG: #[[SET:.*]] = affine_set<(d0, d1) : (d0 - 5 >= 0)>

// CHECK: module attributes {tile.version = "1.0"}
module attributes {tile.version = "1.0"} {

// CHECK-LABEL: tile.kernel @launch(%a: !tile.view<?x?xf32, strides = [?, 1], align = 64>, %n: i32, %w: !tile.ptr<i8>)
// CHECK-SAME: launch <sizes = [0, 0, 0, 1], grid = #[[MAP]], when = #[[SET]], phase = 2, workspace = #[[WORKSPACE]]>
// CHECK-SAME: attributes {note = "kept"}
tile.kernel @launch(%a: !tile.view<?x?xf32, strides = [?, 1], align = 64>, %n: i32, %w: !tile.ptr<i8>)
    launch <sizes = [0, 0, 0, 1], grid = affine_map<(m, n) -> (m ceildiv 64, n, 3)>,
            when = affine_set<(m, n) : (m - 5 >= 0)>, phase = 2, workspace = affine_map<(m, n) -> (m * 4)>>
    attributes {note = "kept"} {
  tile.return
}

// CHECK-LABEL: tile.kernel @packs
// CHECK-SAME: launch <grid = #{{.*}}, workspace = #{{.*}}, packs = 0>
tile.kernel @packs(%a: !tile.view<4xf32>, %w: !tile.ptr<i8>)
    launch <grid = affine_map<() -> (1)>, packs = 0, workspace = affine_map<() -> (16)>> {
  tile.return
}

// CHECK-LABEL: tile.kernel @no_sizes() launch <grid = #{{.*}}> {
tile.kernel @no_sizes() launch <grid = affine_map<() -> (1)>> {
  tile.return
}

// An argument is named by its value; another name is kept beside it.
// CHECK-LABEL: tile.kernel @names(%x: index, %y: f64, %{{.*}}: index {tile.name = "a b"})
tile.kernel @names(%x: index, %1: f64 {tile.name = "y"}, %z: index {tile.name = "a b"}) {
  tile.return
}

// CHECK-LABEL: tile.kernel @defaults
tile.kernel @defaults(%v: !tile.view<?xf32>, %s: !tile.view<f32>, %p: !tile.ptr<f32>) {
  %i = tile.program_id 2
  // CHECK: tile.load %v[%{{.*}}] : !tile.view<?xf32> -> tensor<8xf32>
  %t = tile.load %v[%i] pad none : !tile.view<?xf32> -> tensor<8xf32>
  // CHECK: tile.load %s[] pad highest : !tile.view<f32> -> tensor<f32>
  %u = tile.load %s[] pad highest : !tile.view<f32> -> tensor<f32>
  // CHECK: tile.store %{{.*}}, %s[] : tensor<f32>, !tile.view<f32>
  tile.store %u, %s[] : tensor<f32>, !tile.view<f32>
  // CHECK: tile.view %p : !tile.ptr<f32> -> !tile.view<4x4xf32>
  %w = tile.view %p : !tile.ptr<f32> -> !tile.view<4x4xf32>
  // CHECK: tile.subview %{{.*}}[%{{.*}}, %{{.*}}] : !tile.view<4x4xf32> -> !tile.view<2x2xf32, strides = [4, 1]>
  %sub = tile.subview %w[%i, %i] : !tile.view<4x4xf32> -> !tile.view<2x2xf32, strides = [4, 1]>
  // CHECK: tile.addptr %p, %{{.*}} : !tile.ptr<f32>, index
  %q = tile.addptr %p, %i : !tile.ptr<f32>, index
  // CHECK: tile.splat %{{.*}} : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %ps = tile.splat %q : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  // CHECK: tile.gather %{{.*}} : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  %g = tile.gather %ps : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  // CHECK: tile.scatter %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8x!tile.ptr<f32>>
  tile.scatter %g, %ps : tensor<8xf32>, tensor<8x!tile.ptr<f32>>
  // CHECK: tile.atomic_rmw xchg %{{.*}}, %{{.*}} acq_rel system : tensor<8xf32>, tensor<8x!tile.ptr<f32>>
  %o = tile.atomic_rmw xchg %g, %ps acq_rel system : tensor<8xf32>, tensor<8x!tile.ptr<f32>>
  // CHECK: tile.fp_to_fp %{{.*}} : tensor<8xf32> -> tensor<8xf16>
  %h = tile.fp_to_fp %o rounding nearest_even : tensor<8xf32> -> tensor<8xf16>
  // CHECK: tile.fp_to_fp %{{.*}} rounding toward_zero saturate : tensor<8xf16> -> tensor<8xf8E5M2>
  %e = tile.fp_to_fp %h rounding toward_zero saturate : tensor<8xf16> -> tensor<8xf8E5M2>
  // CHECK: tile.print "nothing"
  tile.print "nothing"
  // CHECK: tile.assert %{{.*}}, "all" : tensor<8xi1>
  %c = arith.cmpf olt, %g, %o : tensor<8xf32>
  tile.assert %c, "all" : tensor<8xi1>
  tile.return
}

// CHECK-LABEL: func.func @math
func.func @math(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>, %n: tensor<4x8xi32>,
                %u: tensor<4x8xi8>, %v: tensor<8x4xi8>, %w: tensor<4x4xi32>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision bf16x3 : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>
  %d = tile.dot %a, %b, %c precision bf16x3 : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>
  // CHECK: tile.dot %{{.*}} unsigned_a unsigned_b : tensor<4x8xi8>, tensor<8x4xi8>, tensor<4x4xi32>
  %i = tile.dot %u, %v, %w unsigned_a unsigned_b : tensor<4x8xi8>, tensor<8x4xi8>, tensor<4x4xi32>
  // CHECK: tile.reduce %{{.*}}, %{{.*}} axis 0 : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<8xf32>, tensor<8xi32> {
  %r:2 = tile.reduce %a, %n axis 0 : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<8xf32>, tensor<8xi32> {
  ^bb0(%lv: f32, %li: i32, %rv: f32, %ri: i32):
    %g = arith.cmpf oge, %lv, %rv : f32
    %bv = arith.select %g, %lv, %rv : f32
    %bi = arith.select %g, %li, %ri : i32
    // CHECK: tile.yield %{{.*}}, %{{.*}} : f32, i32
    tile.yield %bv, %bi : f32, i32
  }
  // CHECK: tile.scan %{{.*}} axis 1 : tensor<4x8xi32> -> tensor<4x8xi32> {
  %s = tile.scan %n axis 1 : tensor<4x8xi32> -> tensor<4x8xi32> {
  ^bb0(%l: i32, %m: i32):
    %t = arith.addi %l, %m : i32
    tile.yield %t : i32
  }
  return
}
}
