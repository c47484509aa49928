// RUN: tile-opt %s -convert-tile-to-cpu="quads=true amx-quads=true" -canonicalize -cse | FileCheck %s
// RUN: tile-opt %s -convert-tile-to-cpu="quads=true amx-quads=true vector-bits=256 vector-registers=16" | FileCheck %s --check-prefix=HALF

// A block of 32 rows and one of 8; a depth of 17 whole groups is one chunk of 16 and one that is shorter, for which the
// sums are loaded again. Registers are 4 (and 5) for a, 6 and 7 for b.
// CHECK-LABEL: llvm.func internal @kernel_signed
// CHECK-NOT: vpdpbusd
// CHECK: scf.for %[[PASS:.*]] = %{{.*}} to %{{.*}} step
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: scf.if
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: } else {
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK: }
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tdpbssd"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// HALF-NOT: tilezero
tile.kernel @signed(%a: !tile.view<40x68xi8>, %b: !tile.view<68x32xi8>, %c: !tile.view<40x32xi32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0> : tensor<40x32xi32>
  %ta = tile.load %a[%i, %i] : !tile.view<40x68xi8> -> tensor<40x68xi8>
  %tb = tile.load %b[%i, %i] : !tile.view<68x32xi8> -> tensor<68x32xi8>
  %y = tile.dot %ta, %tb, %zero : tensor<40x68xi8>, tensor<68x32xi8>, tensor<40x32xi32>
  tile.store %y, %c[%i, %i] : tensor<40x32xi32>, !tile.view<40x32xi32>
  tile.return
}
