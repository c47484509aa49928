// RUN: tile-opt %s --tile-expand-math="ldexp=true" | FileCheck %s
// RUN: tile-opt %s --tile-expand-math | FileCheck %s --check-prefix=FACTORS

// 2^n is put in by one instruction where there is one, else in two factors. Only the bounds that an argument may pass
// are put in.
// CHECK-LABEL: func @logistic
// CHECK: %[[LOW:.*]] = arith.mulf
// CHECK-NOT: arith.cmpf
// CHECK: %[[ONE:.*]] = llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %{{.*}}) : (vector<8xf32>, vector<8xi32>) -> vector<8xf32>
// CHECK: arith.cmpf ogt, %{{.*}}, %arg0
// CHECK-NOT: arith.cmpf
// CHECK: %[[TWO:.*]] = llvm.call_intrinsic "llvm.ldexp"
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf olt
// CHECK: %[[THREE:.*]] = llvm.call_intrinsic "llvm.ldexp"
// CHECK: return %[[ONE]], %[[TWO]], %[[THREE]]
// FACTORS-LABEL: func @logistic
// FACTORS-NOT: llvm.ldexp
// FACTORS: arith.mulf
func.func @logistic(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  %bound = arith.constant dense<200.0> : vector<8xf32>
  %half = arith.constant dense<-0.5> : vector<8xf32>
  %abs = math.absf %x : vector<8xf32>
  %near = arith.minimumf %abs, %bound : vector<8xf32>
  %low = arith.mulf %near, %half : vector<8xf32>
  %0 = math.exp %low : vector<8xf32>
  %1 = math.exp %x {tile.distance} : vector<8xf32>
  %2 = math.exp %x : vector<8xf32>
  return %0, %1, %2 : vector<8xf32>, vector<8xf32>, vector<8xf32>
}

// The integer is of 32 bits for doubles too. A scalar's bounds are known like a vector's.
// CHECK-LABEL: func @double
// CHECK-NOT: arith.cmpf
// CHECK: arith.trunci %{{.*}} : i64 to i32
// CHECK: llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %{{.*}}) : (f64, i32) -> f64
func.func @double(%x: f64) -> f64 {
  %bound = arith.constant 3.0 : f64
  %abs = math.absf %x : f64
  %near = arith.minimumf %abs, %bound : f64
  %0 = math.exp %near : f64
  return %0 : f64
}
