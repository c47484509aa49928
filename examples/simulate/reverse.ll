; Part of tilejit, under the Apache License v2.0. See LICENSE for details.
;
; Two kernels for tilec simulate: ramp fills an array, reverse turns each block of 64 elements around in shared memory.
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @ramp(ptr addrspace(1) %x, i32 %n) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %thread
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %store, label %end

store:
  %value = sitofp i32 %i to float
  %place = getelementptr float, ptr addrspace(1) %x, i32 %i
  store float %value, ptr addrspace(1) %place, align 4
  br label %end

end:
  ret void
}

define ptx_kernel void @reverse(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %thread
  %from = getelementptr float, ptr addrspace(1) %x, i32 %i
  %value = load float, ptr addrspace(1) %from, align 4
  %mine = getelementptr float, ptr addrspace(3) @tile, i32 %thread
  store float %value, ptr addrspace(3) %mine, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %mirror = sub i32 63, %thread
  %other = getelementptr float, ptr addrspace(3) @tile, i32 %mirror
  %turned = load float, ptr addrspace(3) %other, align 4
  %to = getelementptr float, ptr addrspace(1) %y, i32 %i
  store float %turned, ptr addrspace(1) %to, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
