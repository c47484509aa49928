// RUN: tile-opt %s -convert-tile-to-cpu | FileCheck %s

// The bits of what is shown go to the host's printer, where there is one.

// CHECK-LABEL: llvm.func internal @kernel_print(
// CHECK: %[[CELL:.*]] = arith.extui %{{.*}} : i32 to i64
// CHECK: llvm.store %[[CELL]]
// CHECK: %[[PRINTER:.*]] = llvm.mlir.addressof @tilejit_printer
// CHECK: %[[FUNCTION:.*]] = llvm.load %[[PRINTER]]
// CHECK: %[[SET:.*]] = llvm.icmp "ne" %[[FUNCTION]]
// CHECK: scf.if %[[SET]]
// CHECK: llvm.call %[[FUNCTION]](
// CHECK: llvm.func @tilejit_set_printer
// CHECK: llvm.mlir.global internal constant @tilejit_print_text_0("acc\00")
// CHECK: llvm.mlir.global internal constant @tilejit_print_text_1("f32[2] i64\00")
tile.kernel @print(%x: !tile.view<2xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<2xf32> -> tensor<2xf32>
  tile.print "acc", %t, %c0 : tensor<2xf32>, index
  tile.return
}
