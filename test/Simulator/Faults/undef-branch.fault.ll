; Part of tilejit, under the Apache License v2.0. See LICENSE for details.
;
; A branch on a value that one path leaves undefined: either side may be taken.
; REQUIRES: clang-22, simulator, tilec
; RUN: %launch %s
; TARGETS: sm_80
; LAUNCH: --kernel k --grid 1 --block 32 --arg out:%t.a.npy:i32[32]
; EXPECT: uninitialized

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @k(ptr addrspace(1) %a) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %lane, 20
  br i1 %low, label %defined, label %join

defined:
  %double = shl i32 %lane, 1
  br label %join

join:
  %value = phi i32 [ %double, %defined ], [ undef, %entry ]
  %place = getelementptr i32, ptr addrspace(1) %a, i32 %lane
  %large = icmp ugt i32 %value, 10
  br i1 %large, label %one, label %two

one:
  store i32 1, ptr addrspace(1) %place
  ret void

two:
  store i32 2, ptr addrspace(1) %place
  ret void
}
