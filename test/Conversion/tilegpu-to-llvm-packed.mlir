// Products of packed numbers, where the chip has them for the types and signs.
// RUN: tile-opt %s -convert-tile-to-tilegpu=warps=1 -tile-gpu-on-chip -tile-gpu-plan-memory \
// RUN:   -convert-tilegpu-to-llvm="dot4=true mixed-signs=true" | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: tile-opt %s -convert-tile-to-tilegpu="warps=1 lanes=64 amd=true" -tile-gpu-on-chip -tile-gpu-plan-memory \
// RUN:   -convert-tilegpu-to-llvm="amd=true dot2=true dot4=true" | FileCheck %s --check-prefixes=CHECK,GCN,GCN1
// RUN: tile-opt %s -convert-tile-to-tilegpu="warps=1 lanes=64 amd=true" -tile-gpu-on-chip -tile-gpu-plan-memory \
// RUN:   -convert-tilegpu-to-llvm="amd=true dot2=true dot4=true packed-f32=true" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,GCN,CDNA
// RUN: tile-opt %s -convert-tile-to-tilegpu="warps=1 lanes=32 amd=true" -tile-gpu-on-chip -tile-gpu-plan-memory \
// RUN:   -convert-tilegpu-to-llvm="amd=true dot2=true dot4=true mixed-signs=true" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,RDNA

// CHECK-LABEL: llvm.func @bytes(
// NVIDIA: nvvm.dot.accumulate.4way %{{.*}} <signed>, %{{.*}} <signed>, %{{.*}} : vector<4xi8>, vector<4xi8>
// GCN: llvm.call_intrinsic "llvm.amdgcn.sdot4"
// RDNA: llvm.call_intrinsic "llvm.amdgcn.sudot4"
tile.kernel @bytes(%a: !tile.view<16x16xi8>, %b: !tile.view<16x16xi8>, %c: !tile.view<16x16xi32>) {
  %i = arith.constant 0 : index
  %s = tile.load %a[%i, %i] : !tile.view<16x16xi8> -> tensor<16x16xi8>
  %t = tile.load %b[%i, %i] : !tile.view<16x16xi8> -> tensor<16x16xi8>
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %d = tile.dot %s, %t, %zero : tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xi32>
  tile.store %d, %c[%i, %i] : tensor<16x16xi32>, !tile.view<16x16xi32>
  tile.return
}

// CHECK-LABEL: llvm.func @mixed(
// NVIDIA: nvvm.dot.accumulate.4way %{{.*}} <unsigned>, %{{.*}} <signed>
// GCN-NOT: dot4
// GCN: arith.extui
// RDNA: llvm.call_intrinsic "llvm.amdgcn.sudot4"
tile.kernel @mixed(%a: !tile.view<16x16xi8>, %b: !tile.view<16x16xi8>, %c: !tile.view<16x16xi32>) {
  %i = arith.constant 0 : index
  %s = tile.load %a[%i, %i] : !tile.view<16x16xi8> -> tensor<16x16xi8>
  %t = tile.load %b[%i, %i] : !tile.view<16x16xi8> -> tensor<16x16xi8>
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %d = tile.dot %s, %t, %zero unsigned_a : tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xi32>
  tile.store %d, %c[%i, %i] : tensor<16x16xi32>, !tile.view<16x16xi32>
  tile.return
}

// CHECK-LABEL: llvm.func @halves(
// NVIDIA-NOT: dot.accumulate
// NVIDIA: math.fma
// GCN: llvm.call_intrinsic "llvm.amdgcn.fdot2"
// RDNA: llvm.call_intrinsic "llvm.amdgcn.fdot2"
tile.kernel @halves(%a: !tile.view<16x16xf16>, %b: !tile.view<16x16xf16>, %c: !tile.view<16x16xf32>) {
  %i = arith.constant 0 : index
  %s = tile.load %a[%i, %i] : !tile.view<16x16xf16> -> tensor<16x16xf16>
  %t = tile.load %b[%i, %i] : !tile.view<16x16xf16> -> tensor<16x16xf16>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.dot %s, %t, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  tile.store %d, %c[%i, %i] : tensor<16x16xf32>, !tile.view<16x16xf32>
  tile.return
}

// A pair of sums has a vector of its own from the first term to the last.
// CHECK-LABEL: llvm.func @singles(
// NVIDIA: math.fma %{{.*}} : f32
// GCN1: math.fma %{{.*}} : f32
// CDNA-NOT: math.fma %{{.*}} : f32
// CDNA: %[[SUMS:.*]] = math.fma %{{.*}} : vector<2xf32>
// CDNA: math.fma %{{.*}}, %{{.*}}, %[[SUMS]] : vector<2xf32>
tile.kernel @singles(%a: !tile.view<16x16xf32>, %b: !tile.view<16x16xf32>, %c: !tile.view<16x16xf32>) {
  %i = arith.constant 0 : index
  %s = tile.load %a[%i, %i] : !tile.view<16x16xf32> -> tensor<16x16xf32>
  %t = tile.load %b[%i, %i] : !tile.view<16x16xf32> -> tensor<16x16xf32>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.dot %s, %t, %zero : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  tile.store %d, %c[%i, %i] : tensor<16x16xf32>, !tile.view<16x16xf32>
  tile.return
}
