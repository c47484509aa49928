// RUN: tile-opt %s -convert-tilegpu-to-llvm | FileCheck %s
// RUN: tile-opt %s -convert-tilegpu-to-llvm=amd | FileCheck %s --check-prefix=AMD

// Each thread that holds numbers which are shown takes room in the launch's buffer and writes records there; thread 0
// counts the line. Element 63 is in register 1 of lane 31.

// CHECK-LABEL: llvm.func @print(
// CHECK-SAME: %[[BUFFER:[a-z0-9]+]]: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: scf.if
// CHECK: %[[LINES:.*]] = llvm.getelementptr %[[BUFFER]][1]
// CHECK: llvm.atomicrmw add %[[LINES]], %{{.*}} syncscope("device") monotonic
// CHECK: %[[FIRST:.*]] = llvm.atomicrmw add %[[BUFFER]], %{{.*}} syncscope("device") monotonic
// CHECK: %[[ROOM:.*]] = llvm.getelementptr %[[BUFFER]][2]
// CHECK: llvm.load %[[ROOM]]
// CHECK: scf.if
// CHECK-COUNT-6: llvm.store
// CHECK: scf.if
// CHECK-NOT: llvm.getelementptr %[[BUFFER]][1]
// CHECK: llvm.return

// AMD: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("agent") monotonic
#lanes = #tilegpu.layout<[2], lanes = [1, 0, 0, 0, 0]>
tile.kernel @print(%x: i64) attributes {tilegpu.lanes = 32 : i64, tilegpu.warps = 1 : i64} {
  %t = arith.constant dense<2.0> : tensor<2xf32, #lanes>
  tile.print "t", %x, %t : i64, tensor<2xf32, #lanes>
  tile.return
}
