// RUN: tile-opt %s --tile-expand-math="scalef=true" | FileCheck %s

// Where masks are free the bounds of exp are put in at the end. What is never positive needs one of them.
// CHECK-LABEL: func @bounds
func.func @bounds(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
  // CHECK: arith.cmpf olt, %arg0, %{{.*}} : vector<16xf32>
  // CHECK: arith.cmpf ogt, %arg0, %{{.*}} : vector<16xf32>
  %0 = math.exp %x : vector<16xf32>
  // CHECK: %[[ABS:.*]] = math.absf %arg0
  // CHECK: %[[LOW:.*]] = arith.mulf %[[ABS]], %{{.*}}
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
  // CHECK: arith.cmpf olt, %[[LOW]], %{{.*}} : vector<16xf32>
  // CHECK-NOT: arith.cmpf
  // CHECK: return
  %abs = math.absf %x : vector<16xf32>
  %half = arith.constant dense<-0.5> : vector<16xf32>
  %low = arith.mulf %abs, %half : vector<16xf32>
  %1 = math.exp %low : vector<16xf32>
  return %0, %1 : vector<16xf32>, vector<16xf32>
}
