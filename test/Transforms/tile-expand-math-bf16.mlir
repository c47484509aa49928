// RUN: tile-opt %s --tile-expand-math="bf16-convert=true" | FileCheck %s

// The instruction flushes subnormals: a register with any is rounded by integer operations.
// CHECK-LABEL: func @register
func.func @register(%x: vector<16xf32>) -> vector<16xbf16> {
  // CHECK: %[[SUBNORMAL:.*]] = llvm.call_intrinsic "llvm.x86.avx512.fpclass.ps.512"(%arg0, %{{.*}}) : (vector<16xf32>, i32) -> vector<16xi1>
  // CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[SUBNORMAL]]
  // CHECK: %[[RESULT:.*]] = scf.if %[[ANY]]
  // CHECK:   arith.shrui
  // CHECK: else
  // CHECK:   llvm.call_intrinsic "llvm.x86.avx512bf16.cvtneps2bf16.512"(%arg0)
  // CHECK: return %[[RESULT]]
  %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %0 : vector<16xbf16>
}

// Two registers have an instruction of their own.
// CHECK-LABEL: func @two_registers
func.func @two_registers(%x: vector<32xf32>) -> vector<32xbf16> {
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.fpclass.ps.512"
  // CHECK: %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<32xi1> into i1
  // CHECK: scf.if %[[ANY]]
  // CHECK: else
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
  // CHECK-NOT: call_intrinsic
  // CHECK: return
  %0 = arith.truncf %x : vector<32xf32> to vector<32xbf16>
  return %0 : vector<32xbf16>
}

// Other widths and another rounding have no such instruction.
// CHECK-LABEL: func @others
func.func @others(%x: vector<8xf32>, %y: f32, %z: vector<16xf32>) -> (vector<8xbf16>, bf16, vector<16xbf16>) {
  // CHECK-NOT: call_intrinsic
  %0 = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  %1 = arith.truncf %y : f32 to bf16
  %2 = arith.truncf %z toward_zero : vector<16xf32> to vector<16xbf16>
  return %0, %1, %2 : vector<8xbf16>, bf16, vector<16xbf16>
}
