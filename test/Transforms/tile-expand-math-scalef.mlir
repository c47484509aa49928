// RUN: tile-opt %s --tile-expand-math="scalef=true" | FileCheck %s

// Where masks are free the lower bound of exp is put in at the end. What is never positive needs no upper one.
// CHECK-LABEL: func @bounds
func.func @bounds(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  // CHECK: arith.cmpf olt, %{{.*}}, %arg0 : vector<16xf32>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
  // CHECK: arith.cmpf olt, %arg0, %{{.*}} : vector<16xf32>
  %0 = math.exp %x : vector<16xf32>
  // CHECK: %[[ABS:.*]] = math.absf %arg0
  // CHECK: %[[LOW:.*]] = arith.mulf %[[ABS]], %{{.*}}
  // CHECK-NOT: arith.cmpf
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

// Several registers at once: the instructions take one each.
// CHECK-LABEL: func @wide
func.func @wide(%x: vector<32xf32>) -> vector<32xf32> {
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
  // CHECK: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
  // CHECK: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
  %0 = math.exp %x : vector<32xf32>
  return %0 : vector<32xf32>
}

// Doubles go by series.
// CHECK-LABEL: func @double
func.func @double(%x: vector<8xf64>) -> vector<8xf64> {
  // CHECK-NOT: permvar
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.pd.512"
  %0 = math.exp %x : vector<8xf64>
  return %0 : vector<8xf64>
}

// What is seen to be near 0 needs no bound, and exp2 nothing but differences to reduce it.
// CHECK-LABEL: func @near
func.func @near(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK: %[[LOW:.*]] = arith.mulf
  // CHECK-NOT: arith.cmpf
  // CHECK: %[[SHIFTED:.*]] = arith.addf %[[LOW]], %{{.*}}
  // CHECK: %[[N:.*]] = arith.subf %[[SHIFTED]], %{{.*}}
  // CHECK: arith.subf %[[LOW]], %[[N]]
  // CHECK-NOT: arith.cmpf
  // CHECK: return
  %abs = math.absf %x : vector<16xf32>
  %limit = arith.constant dense<30.0> : vector<16xf32>
  %near = arith.minimumf %abs, %limit : vector<16xf32>
  %half = arith.constant dense<-0.5> : vector<16xf32>
  %low = arith.mulf %near, %half : vector<16xf32>
  %0 = math.exp2 %low : vector<16xf32>
  return %0 : vector<16xf32>
}

// A distance below something larger needs no upper bound, and no second part of ln 2 either: it was rounded.
// CHECK-LABEL: func @distance
func.func @distance(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  // CHECK: %[[X:.*]] = arith.subf
  // CHECK-NOT: arith.cmpf
  // CHECK: math.fma %[[X]]
  // CHECK: math.fma %{{.*}}, %{{.*}}, %[[X]]
  // CHECK-COUNT-3: math.fma
  // CHECK-NOT: math.fma
  // CHECK: arith.cmpf olt, %[[X]], %{{.*}}
  // CHECK-NOT: arith.cmpf
  // CHECK: return
  %low = arith.subf %x, %y : vector<16xf32>
  %0 = math.exp %low {tile.distance} : vector<16xf32>
  return %0 : vector<16xf32>
}

// A logarithm takes its argument apart by instructions, which know the special cases too: no comparison is left.
// CHECK-LABEL: func @logarithm
func.func @logarithm(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.getmant.ps.512"
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.getexp.ps.512"
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
  // CHECK-NOT: arith.cmpf
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.getmant.ps.512"
  %0 = math.log %x : vector<16xf32>
  // The fast one has one table less, and four steps of series and sum behind the first difference.
  // CHECK: math.fma
  // CHECK-COUNT-4: math.fma
  // CHECK-NOT: math.fma
  // CHECK-NOT: arith.cmpf
  // CHECK: return
  %1 = math.log %x fastmath<afn> : vector<16xf32>
  return %0, %1 : vector<16xf32>, vector<16xf32>
}

// The fast power stays in f32.
// CHECK-LABEL: func @power
func.func @power(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  // CHECK-NOT: f64
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.getmant.ps.512"
  // CHECK-NOT: f64
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
  // CHECK-NOT: f64
  // CHECK: return
  %0 = math.powf %x, %y fastmath<afn> : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func @reciprocal_root
func.func @reciprocal_root(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.rsqrt14.ps.512"
  // CHECK-NOT: arith.divf
  // CHECK: return
  %0 = math.rsqrt %x fastmath<afn> : vector<16xf32>
  return %0 : vector<16xf32>
}

// What a gelu loses comes from tables, and what it was made of is gone.
// CHECK-LABEL: func @gelu_loss
func.func @gelu_loss(%d: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  // CHECK-NOT: arith.divf
  // CHECK-NOT: arith.minimumf
  // CHECK: %[[FAR:.*]] = arith.cmpf ogt, %arg0, %{{.*}}
  // CHECK: %[[NEAR:.*]] = arith.select %[[FAR]]
  // CHECK-COUNT-6: permvar
  // CHECK: arith.mulf %[[NEAR]], %{{.*}} fastmath<contract>
  // CHECK-COUNT-6: permvar
  // CHECK: arith.mulf
  // CHECK-NOT: arith.divf
  // CHECK: return
  %one = arith.constant dense<1.0> : vector<16xf32>
  %far = arith.constant dense<30.0> : vector<16xf32>
  %bounded = arith.minimumf %d, %far : vector<16xf32>
  %0 = math.exp2 %bounded : vector<16xf32>
  %1 = arith.divf %one, %0 : vector<16xf32>
  %2 = arith.mulf %bounded, %1 fastmath<contract> {tile.gelu_loss} : vector<16xf32>
  %3 = arith.mulf %bounded, %1 {tile.gelu_tanh_loss} : vector<16xf32>
  return %2, %3 : vector<16xf32>, vector<16xf32>
}

// A factor that something else reads stays, and so does what no register holds.
// CHECK-LABEL: func @shared_tail
func.func @shared_tail(%d: vector<16xf32>, %e: vector<4xf32>, %f: vector<8xf64>)
    -> (vector<16xf32>, vector<16xf32>, vector<4xf32>, vector<8xf64>) {
  // CHECK: %[[TAIL:.*]] = arith.divf
  // CHECK: arith.mulf %arg1, %arg1
  // CHECK: arith.mulf %arg2, %arg2
  // CHECK: return %{{.*}}, %[[TAIL]]
  %one = arith.constant dense<1.0> : vector<16xf32>
  %0 = arith.divf %one, %d : vector<16xf32>
  %1 = arith.mulf %d, %0 {tile.gelu_loss} : vector<16xf32>
  %2 = arith.mulf %e, %e {tile.gelu_loss} : vector<4xf32>
  %3 = arith.mulf %f, %f {tile.gelu_loss} : vector<8xf64>
  return %1, %0, %2, %3 : vector<16xf32>, vector<16xf32>, vector<4xf32>, vector<8xf64>
}
