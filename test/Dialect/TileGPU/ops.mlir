// RUN: tile-opt %s | FileCheck %s
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt --mlir-print-op-generic %s | tile-opt | FileCheck %s
// RUN: tile-opt --emit-bytecode %s | tile-opt | FileCheck %s

// Every operation, type and attribute, in the forms that the examples of the reference do not show.

// A list without numbers is left out.
// CHECK-DAG: #[[NOTHING:.*]] = #tilegpu.layout<[]>
// CHECK-DAG: #[[ONE:.*]] = #tilegpu.layout<[1, 1], lanes = [0, 0, 0, 0, 0], warps = [0]>
// CHECK-DAG: #[[ODD:.*]] = #tilegpu.layout<[4, 8], registers = [1], lanes = [2, 4, 8, 16, 0], warps = [0]>
// CHECK-DAG: #[[OTHER:.*]] = #tilegpu.layout<[4, 8], registers = [16], lanes = [1, 2, 4, 8, 0], warps = [0]>
// CHECK-DAG: #[[SWIZZLED:.*]] = #tilegpu.memory<[4, 8], offsets = [1, 2, 4, 9, 18]>
// CHECK-DAG: #[[POINT:.*]] = #tilegpu.memory<[]>
#odd = #tilegpu.layout<[4, 8], registers = [1], lanes = [2, 4, 8, 16, 0], warps = [0]>
#other = #tilegpu.layout<[4, 8], warps = [0], lanes = [1, 2, 4, 8, 0], registers = [16]>
#one = #tilegpu.layout<[1, 1], registers = [], lanes = [0, 0, 0, 0, 0], warps = [0]>
#swizzled = #tilegpu.memory<[4, 8], offsets = [1, 2, 4, 9, 18]>

// CHECK-LABEL: @attributes
// CHECK-SAME: example.layout = #[[NOTHING]]
func.func private @attributes() attributes {example.layout = #tilegpu.layout<[], registers = [], lanes = [], warps = []>}

// CHECK-LABEL: @types
// CHECK-SAME: !tilegpu.shared<3x5xi1, #[[SWIZZLED]]>
// CHECK-SAME: !tilegpu.shared<4x8x!tile.ptr<f32>, #[[SWIZZLED]]>
// CHECK-SAME: !tilegpu.shared<f64, #[[POINT]]>
// CHECK-SAME: tensor<3x5xindex, #[[ODD]]>
func.func private @types(!tilegpu.shared<3x5xi1, #swizzled>, !tilegpu.shared<4x8x!tile.ptr<f32>, #swizzled>,
                         !tilegpu.shared<f64, #tilegpu.memory<[]>>, tensor<3x5xindex, #odd>)

// CHECK-LABEL: @convert
// CHECK: tilegpu.convert_layout %{{.*}} {note} : tensor<3x5xf16, #[[ODD]]> -> tensor<3x5xf16, #[[OTHER]]>
func.func @convert(%x: tensor<3x5xf16, #odd>) -> tensor<3x5xf16, #other> {
  %y = tilegpu.convert_layout %x {note} : tensor<3x5xf16, #odd> -> tensor<3x5xf16, #other>
  return %y : tensor<3x5xf16, #other>
}

// The folder of a conversion to the layout that the tile has runs in canonicalize.mlir.

// CHECK-LABEL: @on_chip
func.func @on_chip(%x: tensor<3x5xf32, #odd>, %i: tensor<3x5xi32, #odd>, %at: index) {
  // CHECK: %[[S:.*]] = tilegpu.shared_alloc : !tilegpu.shared<3x5xf32, #[[SWIZZLED]]>
  %s = tilegpu.shared_alloc : !tilegpu.shared<3x5xf32, #swizzled>
  // CHECK: %[[FLAT:.*]] = tilegpu.shared_alloc offset 128 : !tilegpu.shared<32xf32,
  %flat = tilegpu.shared_alloc offset 128 : !tilegpu.shared<32xf32, #tilegpu.memory<[32], offsets = [1, 2, 4, 8, 16]>>
  // CHECK: tilegpu.shared_store %{{.*}}, %[[S]] : tensor<3x5xf32, #[[ODD]]>, !tilegpu.shared<3x5xf32, #[[SWIZZLED]]>
  tilegpu.shared_store %x, %s : tensor<3x5xf32, #odd>, !tilegpu.shared<3x5xf32, #swizzled>
  // A place of another shape with as many elements.
  // CHECK: tilegpu.shared_store %{{.*}}, %[[FLAT]]
  tilegpu.shared_store %x, %flat
    : tensor<3x5xf32, #odd>, !tilegpu.shared<32xf32, #tilegpu.memory<[32], offsets = [1, 2, 4, 8, 16]>>
  // CHECK: tilegpu.barrier
  tilegpu.barrier
  // CHECK: tilegpu.shared_load %[[S]][%[[AT:.*]], %[[AT]]] : {{.*}} -> tensor<1x1xf32, #[[ONE]]>
  %e = tilegpu.shared_load %s[%at, %at] : !tilegpu.shared<3x5xf32, #swizzled> -> tensor<1x1xf32, #one>
  // CHECK: tilegpu.shared_gather %[[S]][%[[I:.*]]] axis 1 : {{.*}}, tensor<3x5xi32, #[[ODD]]> -> tensor<3x5xf32, #[[ODD]]>
  %g = tilegpu.shared_gather %s[%i] axis 1
    : !tilegpu.shared<3x5xf32, #swizzled>, tensor<3x5xi32, #odd> -> tensor<3x5xf32, #odd>
  // From a place of rank 1 by the elements' numbers.
  // CHECK: tilegpu.shared_gather %[[FLAT]][%[[I]]] axis 0
  %h = tilegpu.shared_gather %flat[%i] axis 0
    : !tilegpu.shared<32xf32, #tilegpu.memory<[32], offsets = [1, 2, 4, 8, 16]>>, tensor<3x5xi32, #odd>
    -> tensor<3x5xf32, #odd>
  return
}

#halves = #tilegpu.layout<[64], registers = [], lanes = [1, 2, 4, 8, 16], warps = [32]>
#shares = #tilegpu.layout<[2], lanes = [0, 0, 0, 0, 0], warps = [1]>
// CHECK-LABEL: @argmax
// CHECK: tilegpu.reduce_in_warps %{{.*}}, %{{.*}} axis 0 : tensor<64xf32, #{{.*}}>, tensor<64xi32, #{{.*}}> -> tensor<2xf32, #{{.*}}>, tensor<2xi32, #{{.*}}> {
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
// CHECK: tilegpu.yield %{{.*}}, %{{.*}} : f32, i32
func.func @argmax(%x: tensor<64xf32, #halves>, %i: tensor<64xi32, #halves>) {
  %v, %p = tilegpu.reduce_in_warps %x, %i axis 0
    : tensor<64xf32, #halves>, tensor<64xi32, #halves> -> tensor<2xf32, #shares>, tensor<2xi32, #shares> {
  ^bb0(%a: f32, %m: i32, %b: f32, %n: i32):
    %gt = arith.cmpf ogt, %b, %a : f32
    %w = arith.select %gt, %b, %a : f32
    %q = arith.select %gt, %n, %m : i32
    tilegpu.yield %w, %q : f32, i32
  }
  return
}
