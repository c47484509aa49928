// RUN: tile-opt %s --tile-expand-math --split-input-file | FileCheck %s
// RUN: tile-opt %s --tile-expand-math="fma=false half-convert=false" --split-input-file | FileCheck %s --check-prefix=PLAIN

// Functions become arithmetic; what a CPU has in hardware stays.
// CHECK-LABEL: func @functions
// PLAIN-LABEL: func @functions
func.func @functions(%x: vector<16xf32>, %s: f64) -> (vector<16xf32>, f64) {
  // CHECK-NOT: math.{{exp|log|tanh|powf|rsqrt}}
  // CHECK: math.fma
  // CHECK: math.sqrt
  // PLAIN-NOT: math.{{fma|exp|log|tanh|powf|floor}}
  // PLAIN: math.sqrt
  %0 = math.exp %x : vector<16xf32>
  %1 = math.log %0 : vector<16xf32>
  %2 = math.tanh %1 : vector<16xf32>
  %3 = math.powf %2, %x : vector<16xf32>
  %4 = math.floor %3 : vector<16xf32>
  %5 = math.rsqrt %4 : vector<16xf32>
  %6 = math.exp %s : f64
  return %5, %6 : vector<16xf32>, f64
}

// -----

// Large angles take a branch, with the digits of pi in a table.
// CHECK: llvm.mlir.global internal constant @tilejit_two_over_pi
// CHECK-LABEL: func @angles
func.func @angles(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK: %[[ANY:.*]] = vector.reduction <or>
  // CHECK: scf.if %[[ANY]]
  // CHECK: scf.for
  // CHECK: llvm.mlir.addressof @tilejit_two_over_pi
  %0 = math.sin %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// bf16 is widened by a shift and rounded by integer arithmetic, never by the instructions that flush subnormals.
// CHECK-LABEL: func @bf16
func.func @bf16(%x: vector<16xbf16>) -> vector<16xbf16> {
  // CHECK: arith.bitcast %{{.*}} : vector<16xbf16> to vector<16xi16>
  // CHECK: arith.shli
  // CHECK: arith.addf %{{.*}} : vector<16xf32>
  // CHECK-NOT: arith.truncf
  // CHECK: arith.bitcast %{{.*}} : vector<16xi16> to vector<16xbf16>
  %0 = arith.addf %x, %x : vector<16xbf16>
  return %0 : vector<16xbf16>
}

// -----

// f16 uses the hardware where there is any. f64 goes by way of one rounding to odd.
// CHECK-LABEL: func @f16
// PLAIN-LABEL: func @f16
func.func @f16(%x: vector<8xf16>, %d: vector<8xf64>) -> (vector<8xf32>, vector<8xf16>) {
  // CHECK: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
  // CHECK: arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
  // CHECK: arith.ori
  // CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
  // PLAIN-NOT: vector<8xf16> to vector<8xf32>
  // PLAIN-NOT: vector<8xf32> to vector<8xf16>
  %0 = arith.extf %x : vector<8xf16> to vector<8xf32>
  %1 = arith.truncf %d : vector<8xf64> to vector<8xf16>
  return %0, %1 : vector<8xf32>, vector<8xf16>
}

// -----

// Tiles are left alone.
// CHECK-LABEL: func @tiles
func.func @tiles(%x: tensor<16xf32>) -> tensor<16xf32> {
  // CHECK: math.exp
  %0 = math.exp %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
