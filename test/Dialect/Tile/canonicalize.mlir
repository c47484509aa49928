// RUN: tile-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @dim_static
func.func @dim_static(%v: !tile.view<?x64xf32>) -> (index, index, index) {
  // CHECK-DAG: %[[SIZE:.*]] = arith.constant 64 : index
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
  %d = tile.dim %v, 1 : !tile.view<?x64xf32>
  %s = tile.stride %v, 0 : !tile.view<?x64xf32>
  %t = tile.stride %v, 1 : !tile.view<?x64xf32>
  // CHECK: return %[[SIZE]], %[[SIZE]], %[[ONE]]
  return %d, %s, %t : index, index, index
}

// CHECK-LABEL: func.func @dim_of_view
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>, %[[M:.*]]: index, %[[N:.*]]: index, %[[S:.*]]: index)
func.func @dim_of_view(%p: !tile.ptr<f32>, %m: index, %n: index, %s: index) -> (index, index, index, !tile.ptr<f32>) {
  %v = tile.view %p sizes [%m, %n] strides [%s] : !tile.ptr<f32> -> !tile.view<?x4x?xf32, strides = [32, ?, 1]>
  %sub = tile.subview %v[%m, %m, %m] sizes [%s]
    : !tile.view<?x4x?xf32, strides = [32, ?, 1]> -> !tile.view<2x2x?xf32, strides = [32, ?, 1]>
  %d = tile.dim %v, 2 : !tile.view<?x4x?xf32, strides = [32, ?, 1]>
  %e = tile.dim %sub, 2 : !tile.view<2x2x?xf32, strides = [32, ?, 1]>
  %t = tile.stride %v, 1 : !tile.view<?x4x?xf32, strides = [32, ?, 1]>
  %b = tile.base %v : !tile.view<?x4x?xf32, strides = [32, ?, 1]> -> !tile.ptr<f32>
  // CHECK-NEXT: return %[[N]], %[[S]], %[[S]], %[[P]]
  return %d, %e, %t, %b : index, index, index, !tile.ptr<f32>
}

// CHECK-LABEL: func.func @same_shape
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @same_shape(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %b = tile.broadcast %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %r = tile.reshape %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %t = tile.transpose %x [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]]
  return %b, %r, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @twice
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[Y:.*]]: tensor<1x1xf32>)
func.func @twice(%x: tensor<2x3x4xf32>, %y: tensor<1x1xf32>)
    -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<24xf32>, tensor<4x8xf32>) {
  // CHECK-DAG: %[[T:.*]] = tile.transpose %[[X]] [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %t0 = tile.transpose %x [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %t1 = tile.transpose %t0 [1, 2, 0] : tensor<3x4x2xf32> -> tensor<4x2x3xf32>
  %t2 = tile.transpose %t1 [1, 2, 0] : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
  // CHECK-DAG: %[[R:.*]] = tile.reshape %[[X]] : tensor<2x3x4xf32> -> tensor<24xf32>
  %r0 = tile.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %r1 = tile.reshape %r0 : tensor<6x4xf32> -> tensor<24xf32>
  // CHECK-DAG: %[[B:.*]] = tile.broadcast %[[Y]] : tensor<1x1xf32> -> tensor<4x8xf32>
  %b0 = tile.broadcast %y : tensor<1x1xf32> -> tensor<4x1xf32>
  %b1 = tile.broadcast %b0 : tensor<4x1xf32> -> tensor<4x8xf32>
  // CHECK: return %[[T]], %[[X]], %[[R]], %[[B]]
  return %t1, %t2, %r1, %b1 : tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<24xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<2x4xf32>, tensor<8xf32>) {
  // CHECK-DAG: %[[A:.*]] = arith.constant dense<3.000000e+00> : tensor<2x4xf32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<3.000000e+00> : tensor<8xf32>
  %c = arith.constant 3.0 : f32
  %s = tile.splat %c : f32 -> tensor<4xf32>
  %e = tile.expand %s axis 1 : tensor<4xf32> -> tensor<4x1xf32>
  %b = tile.broadcast %e : tensor<4x1xf32> -> tensor<4x2xf32>
  %t = tile.transpose %b [1, 0] : tensor<4x2xf32> -> tensor<2x4xf32>
  %r = tile.reshape %t : tensor<2x4xf32> -> tensor<8xf32>
  // CHECK: return %[[A]], %[[B]]
  return %t, %r : tensor<2x4xf32>, tensor<8xf32>
}

// Saturation turns infinities into numbers, so it stays.
// CHECK-LABEL: func.func @conversions
// CHECK-SAME: (%[[X:.*]]: f32, %[[P:.*]]: tensor<4xi8>, %[[U:.*]]: tensor<8xf4E2M1FN>)
func.func @conversions(%x: f32, %p: tensor<4xi8>, %u: tensor<8xf4E2M1FN>)
    -> (f32, f32, tensor<4xi8>, tensor<8xf4E2M1FN>, tensor<8xi4>) {
  %a = tile.fp_to_fp %x : f32 -> f32
  // CHECK: %[[B:.*]] = tile.fp_to_fp %[[X]] saturate : f32 -> f32
  %b = tile.fp_to_fp %x saturate : f32 -> f32
  %c = tile.unpack %p : tensor<4xi8> -> tensor<8xi4>
  %d = tile.pack %c : tensor<8xi4> -> tensor<4xi8>
  // CHECK: %[[Q:.*]] = tile.pack %[[U]]
  %e = tile.pack %u : tensor<8xf4E2M1FN> -> tensor<4xi8>
  %f = tile.unpack %e : tensor<4xi8> -> tensor<8xf4E2M1FN>
  // CHECK: %[[G:.*]] = tile.unpack %[[Q]] : tensor<4xi8> -> tensor<8xi4>
  %g = tile.unpack %e : tensor<4xi8> -> tensor<8xi4>
  // CHECK: return %[[X]], %[[B]], %[[P]], %[[U]], %[[G]]
  return %a, %b, %d, %f, %g : f32, f32, tensor<4xi8>, tensor<8xf4E2M1FN>, tensor<8xi4>
}

// Hints and prefetches have no result, but they are not dead code; neither is a check.
// CHECK-LABEL: func.func @kept
func.func @kept(%v: !tile.view<?xf32>, %i: index, %c: i1) {
  // CHECK: tile.hint
  tile.hint {cpu = {}}
  // CHECK: tile.prefetch
  tile.prefetch %v[%i] shape [8] : !tile.view<?xf32>
  // CHECK: tile.assert
  tile.assert %c, "c" : i1
  return
}
