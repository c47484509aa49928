// RUN: rm -rf %t && mkdir %t
// RUN: tile-opt %s -tile-gpu-print-layouts="svg-dir=%t/pictures" > %t/out.mlir
// RUN: FileCheck %s < %t/out.mlir
// RUN: FileCheck %s --check-prefix=SVG < %t/pictures/layout-0.svg
// RUN: FileCheck %s --check-prefix=MEMORY < %t/pictures/layout-2.svg
// The pictures are comments: what is printed is the module.
// RUN: tile-opt %s > %t/module.mlir
// RUN: tile-opt %t/out.mlir | diff %t/module.mlir -
// RUN: touch %t/file
// RUN: not tile-opt %s -tile-gpu-print-layouts="svg-dir=%t/file" 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: cannot write '{{.*}}layout-0.svg': {{.*}}

// CHECK: // 0: func.func #tilegpu.layout<[2, 4], registers = [1], lanes = [2, 4]>
// CHECK-NEXT: //   l0 r0 l0 r1 l1 r0 l1 r1
// CHECK-NEXT: //   l2 r0 l2 r1 l3 r0 l3 r1
// CHECK-NEXT: // 1: tilegpu.convert_layout #tilegpu.layout<[2, 4], registers = [4], lanes = [1, 2]>
// CHECK-NEXT: //   l0 r0 l1 r0 l2 r0 l3 r0
// CHECK-NEXT: //   l0 r1 l1 r1 l2 r1 l3 r1
// CHECK-NEXT: // 2: tilegpu.shared_alloc #tilegpu.memory<[2, 4], offsets = [1, 2, 5]>
// CHECK-NEXT: //   o0 o1 o2 o3
// CHECK-NEXT: //   o5 o4 o7 o6
// CHECK-NOT: //
// CHECK: func.func @f

// SVG: <svg xmlns
// SVG: 0: func.func #tilegpu.layout&lt;[2, 4], registers = [1], lanes = [2, 4]&gt;
// SVG: <title>dim0=1 dim1=3: l3 r1
// MEMORY: tilegpu.shared_alloc
#lanes = #tilegpu.layout<[2, 4], registers = [1], lanes = [2, 4]>
#rows = #tilegpu.layout<[2, 4], registers = [4], lanes = [1, 2]>
func.func @f(%x: tensor<2x3xf32, #lanes>) -> tensor<2x3xf32, #lanes> {
  %y = tilegpu.convert_layout %x : tensor<2x3xf32, #lanes> -> tensor<2x3xf32, #rows>
  %z = tilegpu.convert_layout %y : tensor<2x3xf32, #rows> -> tensor<2x3xf32, #lanes>
  %s = tilegpu.shared_alloc : !tilegpu.shared<2x4xf32, #tilegpu.memory<[2, 4], offsets = [1, 2, 5]>>
  return %z : tensor<2x3xf32, #lanes>
}
