; Part of tilejit, under the Apache License v2.0. See LICENSE for details.
;
; An address made of an undefined index.
; REQUIRES: clang-22, simulator, tilec
; RUN: %launch %s
; TARGETS: gfx942
; LAUNCH: --kernel k --grid 1 --block 64 --arg out:%t.a.npy:i32[128]
; EXPECT: uninitialized

target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %a) #0 {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %odd = and i32 %lane, 1
  %isOdd = icmp eq i32 %odd, 1
  %offset = select i1 %isOdd, i32 undef, i32 64
  %index = add i32 %lane, %offset
  %place = getelementptr i32, ptr addrspace(1) %a, i32 %index
  store i32 %lane, ptr addrspace(1) %place
  ret void
}

attributes #0 = { "target-cpu"="gfx942" }
