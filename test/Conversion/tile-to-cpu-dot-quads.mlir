// RUN: tile-opt %s -convert-tile-to-cpu="quads=true" -canonicalize -cse -loop-invariant-code-motion | FileCheck %s
// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse | FileCheck %s --check-prefix=WITHOUT
// RUN: tile-opt %s -convert-tile-to-cpu="quads=true vector-bits=256 vector-registers=16" | FileCheck %s --check-prefix=HALF
// RUN: tile-opt %s -convert-tile-to-cpu="quads=true words=true" -canonicalize -cse | FileCheck %s --check-prefix=WORDS
// RUN: tile-opt %s -convert-tile-to-cpu="words=true vector-bits=256 vector-registers=16" | FileCheck %s --check-prefix=WIDE

// Four neighbours of a column of b go into an i32; a's are four of its bytes as they lie.
// CHECK-LABEL: llvm.func internal @kernel_mixed
// CHECK: vector.shuffle {{.*}} : vector<64xi8>, vector<64xi8>
// CHECK: vector.shuffle {{.*}} : vector<32xi16>, vector<32xi16>
// CHECK: llvm.bitcast {{.*}} : vector<32xi16> to vector<16xi32>
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xi32>{{(, vector<16xi32>)+}})
// CHECK: %[[FOUR:.*]] = llvm.load {{.*}} -> i32
// CHECK: %[[A:.*]] = vector.broadcast %[[FOUR]] : i32 to vector<16xi32>
// CHECK: %[[BYTES:.*]] = llvm.bitcast %[[A]] : vector<16xi32> to vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[BYTES]], %{{.*}})
// WITHOUT-LABEL: llvm.func internal @kernel_mixed
// WITHOUT-NOT: vpdpbusd
// WITHOUT: arith.muli {{.*}} : vector<16xi32>
// HALF-LABEL: llvm.func internal @kernel_mixed
// HALF: arith.extui {{.*}} : vector<8xi8> to vector<8xi32>
// HALF: arith.shli
// HALF: arith.ori
// HALF: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
tile.kernel @mixed(%a: !tile.view<32x64xi8>, %b: !tile.view<64x64xi8>, %c: !tile.view<32x64xi32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0> : tensor<32x64xi32>
  %ta = tile.load %a[%i, %i] : !tile.view<32x64xi8> -> tensor<32x64xi8>
  %tb = tile.load %b[%i, %i] : !tile.view<64x64xi8> -> tensor<64x64xi8>
  %y = tile.dot %ta, %tb, %zero unsigned_a : tensor<32x64xi8>, tensor<64x64xi8>, tensor<32x64xi32>
  tile.store %y, %c[%i, %i] : tensor<32x64xi32>, !tile.view<32x64xi32>
  tile.return
}

// The instruction takes a as unsigned: 128 is added to signed bytes, and 128 times the sum of each column of b taken off.
// CHECK-LABEL: llvm.func internal @kernel_signed
// CHECK: arith.xori {{.*}} : vector<64xi8>
// CHECK: vpdpbusd
// CHECK: vpdpbusd
// CHECK: arith.subi {{.*}} : vector<16xi32>
tile.kernel @signed(%a: !tile.view<32x64xi8>, %b: !tile.view<64x64xi8>, %c: !tile.view<32x64xi32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0> : tensor<32x64xi32>
  %ta = tile.load %a[%i, %i] : !tile.view<32x64xi8> -> tensor<32x64xi8>
  %tb = tile.load %b[%i, %i] : !tile.view<64x64xi8> -> tensor<64x64xi8>
  %y = tile.dot %ta, %tb, %zero : tensor<32x64xi8>, tensor<64x64xi8>, tensor<32x64xi32>
  tile.store %y, %c[%i, %i] : tensor<32x64xi32>, !tile.view<32x64xi32>
  tile.return
}

// Both unsigned: no such instruction.
// CHECK-LABEL: llvm.func internal @kernel_unsigned
// CHECK-NOT: vpdpbusd
// CHECK: arith.muli {{.*}} : vector<16xi32>
tile.kernel @unsigned(%a: !tile.view<32x64xi8>, %b: !tile.view<64x64xi8>, %c: !tile.view<32x64xi32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0> : tensor<32x64xi32>
  %ta = tile.load %a[%i, %i] : !tile.view<32x64xi8> -> tensor<32x64xi8>
  %tb = tile.load %b[%i, %i] : !tile.view<64x64xi8> -> tensor<64x64xi8>
  %y = tile.dot %ta, %tb, %zero unsigned_a unsigned_b : tensor<32x64xi8>, tensor<64x64xi8>, tensor<32x64xi32>
  tile.store %y, %c[%i, %i] : tensor<32x64xi32>, !tile.view<32x64xi32>
  tile.return
}

// Without such an instruction, or with two unsigned operands, bytes are made wide by twos.
// WORDS-LABEL: llvm.func internal @kernel_words
// WORDS: arith.extui {{.*}} : vector<32xi8> to vector<32xi16>
// WORDS: %[[BOTH:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"({{.*}}) : (vector<32xi16>, vector<32xi16>) -> vector<16xi32>
// WORDS: arith.addi %{{.*}}, %[[BOTH]] : vector<16xi32>
// WIDE-LABEL: llvm.func internal @kernel_words
// WIDE: llvm.x86.avx2.pmadd.wd
tile.kernel @words(%a: !tile.view<32x64xi8>, %b: !tile.view<64x64xi8>, %c: !tile.view<32x64xi32>)
    launch <sizes = [], grid = affine_map<() -> (1)>> {
  %i = tile.program_id 0
  %zero = arith.constant dense<0> : tensor<32x64xi32>
  %ta = tile.load %a[%i, %i] : !tile.view<32x64xi8> -> tensor<32x64xi8>
  %tb = tile.load %b[%i, %i] : !tile.view<64x64xi8> -> tensor<64x64xi8>
  %y = tile.dot %ta, %tb, %zero unsigned_a unsigned_b : tensor<32x64xi8>, tensor<64x64xi8>, tensor<32x64xi32>
  tile.store %y, %c[%i, %i] : tensor<32x64xi32>, !tile.view<32x64xi32>
  tile.return
}
