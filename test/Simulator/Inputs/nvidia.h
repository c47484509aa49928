// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// NVIDIA's side of gpu.h: ids, barriers and lane exchange by clang's NVPTX builtins, and matrix instructions and
// asynchronous copies by inline PTX. Include gpu.h, not this. Addresses of shared memory are 32-bit, as PTX takes them.

#ifndef TILEJIT_TEST_SIMULATOR_NVIDIA_H
#define TILEJIT_TEST_SIMULATOR_NVIDIA_H

constexpr unsigned warpWidth = 32;
constexpr unsigned allLanes = 0xffffffffu;

__device__ __forceinline unsigned threadIndexX() { return __nvvm_read_ptx_sreg_tid_x(); }
__device__ __forceinline unsigned threadIndexY() { return __nvvm_read_ptx_sreg_tid_y(); }
__device__ __forceinline unsigned threadIndexZ() { return __nvvm_read_ptx_sreg_tid_z(); }
__device__ __forceinline unsigned blockIndexX() { return __nvvm_read_ptx_sreg_ctaid_x(); }
__device__ __forceinline unsigned blockIndexY() { return __nvvm_read_ptx_sreg_ctaid_y(); }
__device__ __forceinline unsigned blockIndexZ() { return __nvvm_read_ptx_sreg_ctaid_z(); }
__device__ __forceinline unsigned blockSizeX() { return __nvvm_read_ptx_sreg_ntid_x(); }
__device__ __forceinline unsigned blockSizeY() { return __nvvm_read_ptx_sreg_ntid_y(); }
__device__ __forceinline unsigned blockSizeZ() { return __nvvm_read_ptx_sreg_ntid_z(); }
__device__ __forceinline unsigned gridSizeX() { return __nvvm_read_ptx_sreg_nctaid_x(); }
__device__ __forceinline unsigned gridSizeY() { return __nvvm_read_ptx_sreg_nctaid_y(); }
__device__ __forceinline unsigned gridSizeZ() { return __nvvm_read_ptx_sreg_nctaid_z(); }

__device__ __forceinline unsigned laneIndex() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// __syncthreads is a builtin of clang.
__device__ __forceinline void __syncwarp(unsigned mask = allLanes) { __nvvm_bar_warp_sync(mask); }
/// A barrier of `threads` threads with a number of its own; arrive does not wait.
__device__ __forceinline void namedBarrier(unsigned number, unsigned threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ __forceinline void namedArrive(unsigned number, unsigned threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ __forceinline void __threadfence() { __nvvm_membar_gl(); }
__device__ __forceinline void __threadfence_block() { __nvvm_membar_cta(); }

__device__ __forceinline int shuffleDown(int value, unsigned by) {
  return __nvvm_shfl_sync_down_i32(allLanes, value, by, 0x1f);
}
__device__ __forceinline int shuffleUp(int value, unsigned by) {
  return __nvvm_shfl_sync_up_i32(allLanes, value, by, 0);
}
__device__ __forceinline int shuffleXor(int value, unsigned by) {
  return __nvvm_shfl_sync_bfly_i32(allLanes, value, by, 0x1f);
}
__device__ __forceinline int shuffleIndex(int value, unsigned lane) {
  return __nvvm_shfl_sync_idx_i32(allLanes, value, lane, 0x1f);
}
__device__ __forceinline uint64_t ballot(bool value) { return __nvvm_vote_ballot_sync(allLanes, value); }

// --- Fragments of matrix instructions --------------------------------------------------------------------------------

__device__ __forceinline uint32_t sharedAddress(const void *pointer) {
  return static_cast<uint32_t>(reinterpret_cast<uint64_t>((const LOCAL_SPACE void *)pointer));
}

__device__ __forceinline uint4 loadMatrix4(const void *row) {
  uint4 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row))
               : "memory");
  return r;
}
__device__ __forceinline uint2 loadMatrix2Transposed(const void *row) {
  uint2 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(sharedAddress(row))
               : "memory");
  return r;
}
__device__ __forceinline float4 mmaF16(uint4 a, uint2 b, float4 c) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  return c;
}
__device__ __forceinline int4 mmaS8(uint4 a, uint2 b, int4 c) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
               "{%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  return c;
}

// --- Asynchronous copies of sm_80 ------------------------------------------------------------------------------------

/// 16 bytes, of which `bytes` are read and the rest are zero.
__device__ __forceinline void copyAsync16(void *shared, const void *global, int bytes = 16) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(shared)), "l"(global), "r"(bytes)
               : "memory");
}
__device__ __forceinline void copyAsync4(void *shared, const void *global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(sharedAddress(shared)), "l"(global) : "memory");
}
__device__ __forceinline void copyCommit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending> __device__ __forceinline void copyWait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// --- mbarrier, bulk copies and wgmma of sm_90 ------------------------------------------------------------------------

__device__ __forceinline void mbarrierInit(uint64_t *barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)), "r"(count) : "memory");
}
/// Makes initialised mbarriers visible to the asynchronous proxy.
__device__ __forceinline void mbarrierInitFence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline void mbarrierInvalidate(uint64_t *barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(sharedAddress(barrier)) : "memory");
}
__device__ __forceinline void mbarrierArrive(uint64_t *barrier) {
  asm volatile(
      "{\n\t.reg .b64 state;\n\tmbarrier.arrive.shared::cta.b64 state, [%0];\n\t}" ::"r"(sharedAddress(barrier))
      : "memory");
}
__device__ __forceinline void mbarrierExpect(uint64_t *barrier, unsigned bytes) {
  asm volatile("{\n\t.reg .b64 state;\n\tmbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1;\n\t}" ::"r"(
                   sharedAddress(barrier)),
               "r"(bytes)
               : "memory");
}
/// Waits until the phase of this parity is complete.
__device__ __forceinline void mbarrierWait(uint64_t *barrier, unsigned parity) {
  asm volatile("{\n\t.reg .pred complete;\n\twaitLoop:\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n\t"
               "@!complete bra.uni waitLoop;\n\t}" ::"r"(sharedAddress(barrier)),
               "r"(parity)
               : "memory");
}
__device__ __forceinline void fenceProxyAsync() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline void bulkLoad(void *shared, const void *global, unsigned bytes, uint64_t *barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   sharedAddress(shared)),
               "l"(global), "r"(bytes), "r"(sharedAddress(barrier))
               : "memory");
}
__device__ __forceinline void bulkStore(void *global, const void *shared, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(sharedAddress(shared)),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline void bulkCommit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// All bulk stores are done.
__device__ __forceinline void bulkWait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
/// All bulk stores have read their source.
__device__ __forceinline void bulkWaitRead() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__device__ __forceinline void tensorLoad2d(void *shared, const void *map, int x, int y, uint64_t *barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
               "[%4];" ::"r"(sharedAddress(shared)),
               "l"(map), "r"(x), "r"(y), "r"(sharedAddress(barrier))
               : "memory");
}
/// Pixels of images of height and width, the first at x, y of image n, each read dx, dy further on.
__device__ __forceinline void tensorLoadPixels(void *shared, const void *map, int channel, int x, int y, int n,
                                               uint16_t dx, uint16_t dy, uint64_t *barrier) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
               "[%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(sharedAddress(shared)),
               "l"(map), "r"(channel), "r"(x), "r"(y), "r"(n), "r"(sharedAddress(barrier)), "h"(dx), "h"(dy)
               : "memory");
}
__device__ __forceinline void tensorStore2d(const void *map, const void *shared, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(sharedAddress(shared)), "r"(x), "r"(y)
               : "memory");
}

// --- Clusters of sm_90 -----------------------------------------------------------------------------------------------

__device__ __forceinline unsigned clusterRank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline unsigned clusterSize() {
  unsigned size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}
__device__ __forceinline void clusterArrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline void clusterWait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline void clusterSync() {
  clusterArrive();
  clusterWait();
}
/// The same place in the shared memory of another block of the cluster.
template <class T> __device__ __forceinline T *inBlock(T *shared, unsigned rank) {
  T *there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return there;
}
__device__ __forceinline void mbarrierArriveIn(uint64_t *barrier, unsigned rank) {
  asm volatile("{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %0, %1;\n\t"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n\t}" ::"r"(sharedAddress(barrier)),
               "r"(rank)
               : "memory");
}
/// Stores a value in another block, whose mbarrier hears of it.
__device__ __forceinline void storeAsyncIn(int *shared, int value, uint64_t *barrier, unsigned rank) {
  asm volatile("{\n\t.reg .b32 there, full;\n\tmapa.shared::cluster.u32 there, %0, %3;\n\t"
               "mapa.shared::cluster.u32 full, %2, %3;\n\t"
               "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], %1, [full];\n\t}" ::"r"(
                   sharedAddress(shared)),
               "r"(value), "r"(sharedAddress(barrier)), "r"(rank)
               : "memory");
}
/// Adds a value to one in another block.
__device__ __forceinline void addAsyncIn(int *shared, int value, uint64_t *barrier, unsigned rank) {
  asm volatile("{\n\t.reg .b32 there, full;\n\tmapa.shared::cluster.u32 there, %0, %3;\n\t"
               "mapa.shared::cluster.u32 full, %2, %3;\n\t"
               "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [there], %1, [full];"
               "\n\t}" ::"r"(sharedAddress(shared)),
               "r"(value), "r"(sharedAddress(barrier)), "r"(rank)
               : "memory");
}
/// To the same place in each block whose bit is set, where the mbarrier at the same place hears of it.
__device__ __forceinline void bulkLoadMulticast(void *shared, const void *global, unsigned bytes, uint64_t *barrier,
                                                uint16_t blocks) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
               "[%3], %4;" ::"r"(sharedAddress(shared)),
               "l"(global), "r"(bytes), "r"(sharedAddress(barrier)), "h"(blocks)
               : "memory");
}

#define TENSORMAP_FIELD(shared, field, type, constraint, value)                                                        \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], %1;" ::"r"(sharedAddress(shared)),   \
               constraint(value)                                                                                       \
               : "memory")
#define TENSORMAP_INDEXED(shared, field, index, type, constraint, value)                                               \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], " #index                             \
               ", %1;" ::"r"(sharedAddress(shared)),                                                                   \
               constraint(value)                                                                                       \
               : "memory")

/// Builds in `global` (128 bytes) the map of a row-major [height][width] matrix with boxes [boxHeight][boxWidth],
/// through `shared` (128 bytes, aligned so). Elements are i32 or f16. Called by one whole warp.
__device__ __forceinline void makeTensorMap(void *global, uint32_t *shared, const void *data, int width, int height,
                                            int64_t rowBytes, int boxWidth, int boxHeight, int swizzle, bool f16) {
  unsigned lane = laneIndex();
  shared[lane] = 0;
  __syncwarp();
  if (lane == 0) {
    TENSORMAP_FIELD(shared, "global_address", "b64", "l", data);
    TENSORMAP_FIELD(shared, "rank", "b32", "n", 1);
    TENSORMAP_INDEXED(shared, "box_dim", 0, "b32", "r", boxWidth);
    TENSORMAP_INDEXED(shared, "box_dim", 1, "b32", "r", boxHeight);
    TENSORMAP_INDEXED(shared, "global_dim", 0, "b32", "r", width);
    TENSORMAP_INDEXED(shared, "global_dim", 1, "b32", "r", height);
    TENSORMAP_INDEXED(shared, "global_stride", 0, "b64", "l", rowBytes);
    TENSORMAP_INDEXED(shared, "element_stride", 0, "b32", "r", 1);
    TENSORMAP_INDEXED(shared, "element_stride", 1, "b32", "r", 1);
    if (f16)
      TENSORMAP_FIELD(shared, "elemtype", "b32", "n", 6);
    else
      TENSORMAP_FIELD(shared, "elemtype", "b32", "n", 3);
    TENSORMAP_FIELD(shared, "interleave_layout", "b32", "n", 0);
    if (swizzle == 3)
      TENSORMAP_FIELD(shared, "swizzle_mode", "b32", "n", 3);
    else
      TENSORMAP_FIELD(shared, "swizzle_mode", "b32", "n", 0);
    TENSORMAP_FIELD(shared, "fill_mode", "b32", "n", 0);
  }
  __syncwarp();
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], "
               "128;" ::"l"(global),
               "r"(sharedAddress(shared))
               : "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(global) : "memory");
}

/// The accumulator passes through the fence, so that nothing writes it after.
__device__ __forceinline void wgmmaFence(float4 &d) {
  asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
}
__device__ __forceinline void wgmmaCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// The accumulator passes through the wait, so that nothing uses it before.
template <int pending> __device__ __forceinline void wgmmaWait(float4 &d) {
  asm volatile("wgmma.wait_group.sync.aligned %4;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "n"(pending)
               : "memory");
}
/// Descriptor of an operand that is contiguous in k, without swizzle: core matrices of 8 rows of 16 bytes; `along`
/// bytes from one to the next in k, `across` bytes to the next 8 rows.
__device__ __forceinline uint64_t operandDescriptor(const void *shared, unsigned along, unsigned across) {
  return (static_cast<uint64_t>(sharedAddress(shared) & 0x3ffff) >> 4) | static_cast<uint64_t>(along >> 4) << 16 |
         static_cast<uint64_t>(across >> 4) << 32;
}
/// 64x8 += 64x16 * 16x8 of halves by four warps; d is in flight until the wait.
__device__ __forceinline void wgmmaN8(float4 &d, uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(a), "l"(b));
}

#endif // TILEJIT_TEST_SIMULATOR_NVIDIA_H
