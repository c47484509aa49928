// RUN: tile-opt %s -tile-gpu-on-chip=banks=cdna -tile-gpu-plan-memory=limit=65536 -convert-tilegpu-to-llvm="amd=true banks=cdna" \
// RUN:   | FileCheck %s

// Lanes that hold copies could share the storing, which would make memory cheaper than a shuffle. Nobody does that, so
// the pass leaves the conversion to the lowering, which comes to the same plan.
// CHECK-LABEL: llvm.func @from_copies(
// CHECK-COUNT-1: rocdl.ds_bpermute
// CHECK-NOT: rocdl.ds_bpermute
// CHECK: llvm.return
#copies = #tilegpu.layout<[64], registers = [8, 16, 32], lanes = [0, 0, 0, 1, 2, 4]>
#lanes = #tilegpu.layout<[64], lanes = [1, 2, 4, 8, 16, 32]>
tile.kernel @from_copies() attributes {tilegpu.lanes = 64 : i64, tilegpu.warps = 1 : i64} {
  %x = arith.constant dense<1> : tensor<64xi32, #copies>
  %y = tilegpu.convert_layout %x : tensor<64xi32, #copies> -> tensor<64xi32, #lanes>
  tile.return
}
