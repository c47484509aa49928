// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// AMD's side of gpu.h: ids, barriers and lane exchange by clang's AMDGPU builtins, and short names for the rest.
// Include gpu.h, not this. The width of a wave is that of clang's default: 64 on gfx9, 32 from gfx10 on.

#ifndef TILEJIT_TEST_SIMULATOR_AMD_H
#define TILEJIT_TEST_SIMULATOR_AMD_H

#ifdef __GFX9__
constexpr unsigned warpWidth = 64;
#else
constexpr unsigned warpWidth = 32;
#endif

__device__ __forceinline unsigned threadIndexX() { return __builtin_amdgcn_workitem_id_x(); }
__device__ __forceinline unsigned threadIndexY() { return __builtin_amdgcn_workitem_id_y(); }
__device__ __forceinline unsigned threadIndexZ() { return __builtin_amdgcn_workitem_id_z(); }
__device__ __forceinline unsigned blockIndexX() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ __forceinline unsigned blockIndexY() { return __builtin_amdgcn_workgroup_id_y(); }
__device__ __forceinline unsigned blockIndexZ() { return __builtin_amdgcn_workgroup_id_z(); }
__device__ __forceinline unsigned blockSizeX() { return __builtin_amdgcn_workgroup_size_x(); }
__device__ __forceinline unsigned blockSizeY() { return __builtin_amdgcn_workgroup_size_y(); }
__device__ __forceinline unsigned blockSizeZ() { return __builtin_amdgcn_workgroup_size_z(); }
/// The hidden arguments begin with the numbers of blocks.
__device__ __forceinline unsigned hiddenCount(unsigned axis) {
  return ((const __attribute__((address_space(4))) unsigned *)__builtin_amdgcn_implicitarg_ptr())[axis];
}
__device__ __forceinline unsigned gridSizeX() { return hiddenCount(0); }
__device__ __forceinline unsigned gridSizeY() { return hiddenCount(1); }
__device__ __forceinline unsigned gridSizeZ() { return hiddenCount(2); }

__device__ __forceinline unsigned laneIndex() {
#ifdef __GFX9__
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
#else
  return __builtin_amdgcn_mbcnt_lo(~0u, 0);
#endif
}

__device__ __forceinline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
/// A wave is in lock step; only the compiler has to keep the order.
__device__ __forceinline void __syncwarp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
__device__ __forceinline void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__device__ __forceinline void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }

__device__ __forceinline int shuffleIndex(int value, unsigned lane) {
  return __builtin_amdgcn_ds_bpermute(static_cast<int>(lane * 4), value);
}
/// Beyond the end a lane keeps its own value, as on NVIDIA.
__device__ __forceinline int shuffleDown(int value, unsigned by) {
  unsigned lane = laneIndex(), from = lane + by;
  return shuffleIndex(value, from < warpWidth ? from : lane);
}
__device__ __forceinline int shuffleUp(int value, unsigned by) {
  unsigned lane = laneIndex();
  return shuffleIndex(value, lane >= by ? lane - by : lane);
}
__device__ __forceinline int shuffleXor(int value, unsigned by) { return shuffleIndex(value, laneIndex() ^ by); }
__device__ __forceinline uint64_t ballot(bool value) {
#ifdef __GFX9__
  return __builtin_amdgcn_ballot_w64(value);
#else
  return __builtin_amdgcn_ballot_w32(value);
#endif
}

// Controls of data-parallel primitives (gfx9 and, without the broadcasts, gfx10 on).
constexpr int dppRowShiftRight = 0x110; ///< + 1..15
constexpr int dppRowRotateRight = 0x120;
constexpr int dppRowMirror = 0x140, dppRowHalfMirror = 0x141;
constexpr int dppBroadcast15 = 0x142, dppBroadcast31 = 0x143; ///< gfx9

/// Lanes without a source, and rows that the mask leaves out, get `old`.
template <int control, int rows = 0xf> __device__ __forceinline int dpp(int old, int value) {
  return __builtin_amdgcn_update_dpp(old, value, control, rows, 0xf, false);
}

#endif // TILEJIT_TEST_SIMULATOR_AMD_H
