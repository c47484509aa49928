// RUN: tile-opt %s --tile-expand-math="leave-bf16=true" | FileCheck %s

// Conversions stay what they are; arithmetic goes by way of f32.
// CHECK-LABEL: func @product
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : vector<4xf32>
// CHECK: arith.truncf %[[SQUARE]] : vector<4xf32> to vector<4xbf16>
func.func @product(%x: vector<4xbf16>) -> vector<4xbf16> {
  %wide = arith.extf %x : vector<4xbf16> to vector<4xf32>
  %square = arith.mulf %wide, %wide : vector<4xf32>
  %narrow = arith.truncf %square : vector<4xf32> to vector<4xbf16>
  return %narrow : vector<4xbf16>
}

// Rounding toward zero is nobody's instruction.
// CHECK-LABEL: func @cut
// CHECK-NOT: arith.truncf
// CHECK: arith.shrui
// CHECK: return
func.func @cut(%x: f32) -> bf16 {
  %narrow = arith.truncf %x toward_zero : f32 to bf16
  return %narrow : bf16
}
