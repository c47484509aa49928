// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse | FileCheck %s

// Small tiles cross branches and loops as vectors; `while` keeps its two regions.
// CHECK-LABEL: llvm.func internal @kernel_branches
// CHECK: scf.while ({{.*}}) : (vector<16xf32>, vector<16xf32>, i64) -> (vector<16xf32>, vector<16xf32>, i64)
// CHECK: scf.condition
// CHECK: arith.mulf {{.*}} : vector<16xf32>
// CHECK: scf.yield
// CHECK: scf.if {{.*}} -> (vector<16xf32>, vector<16xf32>)
tile.kernel @branches(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant dense<0.5> : tensor<32xf32>
  %a = tile.load %x[%i] pad zero : !tile.view<?xf32> -> tensor<32xf32>
  %r, %count = scf.while (%t = %a, %k = %c0) : (tensor<32xf32>, index) -> (tensor<32xf32>, index) {
    %more = arith.cmpi slt, %k, %i : index
    scf.condition(%more) %t, %k : tensor<32xf32>, index
  } do {
  ^bb0(%t: tensor<32xf32>, %k: index):
    %u = arith.mulf %t, %half : tensor<32xf32>
    %next = arith.addi %k, %c1 : index
    scf.yield %u, %next : tensor<32xf32>, index
  }
  %odd = arith.cmpi eq, %count, %c1 : index
  %f = scf.if %odd -> tensor<32xf32> {
    %n = arith.negf %r : tensor<32xf32>
    scf.yield %n : tensor<32xf32>
  } else {
    scf.yield %r : tensor<32xf32>
  }
  tile.store %f, %y[%i] : tensor<32xf32>, !tile.view<?xf32>
  tile.return
}
