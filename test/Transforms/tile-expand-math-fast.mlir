// RUN: tile-opt %s --tile-expand-math | FileCheck %s

// Where approximation is allowed, f32 takes a quotient of short polynomials.
// CHECK-LABEL: func @fast
// CHECK-COUNT-6: math.fma
// CHECK-NOT: math.fma
// CHECK: arith.divf
func.func @fast(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.tanh %x fastmath<afn> : vector<8xf32>
  return %0 : vector<8xf32>
}

// f64 does not, nor does a function that has no short form.
// CHECK-LABEL: func @full
// CHECK-COUNT-10: math.fma
func.func @full(%x: vector<4xf64>) -> vector<4xf64> {
  %0 = math.tanh %x fastmath<afn> : vector<4xf64>
  return %0 : vector<4xf64>
}

// CHECK-LABEL: func @other
// CHECK-NOT: math.log
func.func @other(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.log %x fastmath<afn> : vector<8xf32>
  return %0 : vector<8xf32>
}

// One series of four terms serves both halves of a turn: no second one, and nothing to choose.
// CHECK-LABEL: func @sine
// CHECK-COUNT-3: math.fma
// CHECK: scf.if
// CHECK: } else {
// CHECK: }
// CHECK-NOT: arith.select
// CHECK-COUNT-3: math.fma
// CHECK-NOT: math.fma
// CHECK: arith.xori
func.func @sine(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sin %x fastmath<afn> : vector<8xf32>
  return %0 : vector<8xf32>
}
