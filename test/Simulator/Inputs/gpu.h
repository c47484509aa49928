// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The little of CUDA and HIP that the kernels of these tests need, in terms of clang's builtins: one spelling for NVPTX
// and AMDGPU, so that one source tests both. No vendor header, no device library; single-source host code is not
// supported. Inputs are small integers of `sample`, so that sums and products are exact in any order and type.

#ifndef TILEJIT_TEST_SIMULATOR_GPU_H
#define TILEJIT_TEST_SIMULATOR_GPU_H

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline __attribute__((noinline))
#define __forceinline inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define KERNEL extern "C" __global__ void

using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using int8_t = signed char;
using int64_t = long;
using half = _Float16;
using bf16 = __bf16;

using half2 = half __attribute__((ext_vector_type(2)));
using half4 = half __attribute__((ext_vector_type(4)));
using half8 = half __attribute__((ext_vector_type(8)));
using half16 = half __attribute__((ext_vector_type(16)));
using bf16x4 = bf16 __attribute__((ext_vector_type(4)));
using float2 = float __attribute__((ext_vector_type(2)));
using float4 = float __attribute__((ext_vector_type(4)));
using float8 = float __attribute__((ext_vector_type(8)));
using float16 = float __attribute__((ext_vector_type(16)));
using int2 = int __attribute__((ext_vector_type(2)));
using int4 = int __attribute__((ext_vector_type(4)));
using uint2 = uint32_t __attribute__((ext_vector_type(2)));
using uint4 = uint32_t __attribute__((ext_vector_type(4)));

#define LOCAL_SPACE __attribute__((address_space(3)))
#define GLOBAL_SPACE __attribute__((address_space(1)))

#ifdef __NVPTX__
#include "nvidia.h"
#else
#include "amd.h"
#endif

// --- Ids that both have, in the shape that CUDA gives them -----------------------------------------------------------

struct ThreadIdx {
  __declspec(property(get = getX)) unsigned x;
  __declspec(property(get = getY)) unsigned y;
  __declspec(property(get = getZ)) unsigned z;
  __device__ __forceinline unsigned getX() const { return threadIndexX(); }
  __device__ __forceinline unsigned getY() const { return threadIndexY(); }
  __device__ __forceinline unsigned getZ() const { return threadIndexZ(); }
};
struct BlockIdx {
  __declspec(property(get = getX)) unsigned x;
  __declspec(property(get = getY)) unsigned y;
  __declspec(property(get = getZ)) unsigned z;
  __device__ __forceinline unsigned getX() const { return blockIndexX(); }
  __device__ __forceinline unsigned getY() const { return blockIndexY(); }
  __device__ __forceinline unsigned getZ() const { return blockIndexZ(); }
};
struct BlockDim {
  __declspec(property(get = getX)) unsigned x;
  __declspec(property(get = getY)) unsigned y;
  __declspec(property(get = getZ)) unsigned z;
  __device__ __forceinline unsigned getX() const { return blockSizeX(); }
  __device__ __forceinline unsigned getY() const { return blockSizeY(); }
  __device__ __forceinline unsigned getZ() const { return blockSizeZ(); }
};
struct GridDim {
  __declspec(property(get = getX)) unsigned x;
  __declspec(property(get = getY)) unsigned y;
  __declspec(property(get = getZ)) unsigned z;
  __device__ __forceinline unsigned getX() const { return gridSizeX(); }
  __device__ __forceinline unsigned getY() const { return gridSizeY(); }
  __device__ __forceinline unsigned getZ() const { return gridSizeZ(); }
};
extern const __device__ __attribute__((weak)) ThreadIdx threadIdx;
extern const __device__ __attribute__((weak)) BlockIdx blockIdx;
extern const __device__ __attribute__((weak)) BlockDim blockDim;
extern const __device__ __attribute__((weak)) GridDim gridDim;

__device__ __forceinline unsigned globalThread() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline unsigned globalThreads() { return gridDim.x * blockDim.x; }

// --- Atomics and fences ----------------------------------------------------------------------------------------------

#define SCOPE_BLOCK __MEMORY_SCOPE_WRKGRP
#define SCOPE_DEVICE __MEMORY_SCOPE_DEVICE
#define RELAXED __ATOMIC_RELAXED
#define ACQUIRE __ATOMIC_ACQUIRE
#define RELEASE __ATOMIC_RELEASE
#define ACQ_REL __ATOMIC_ACQ_REL

template <class T> __device__ __forceinline T atomicAdd(T *where, T value) {
  return __scoped_atomic_fetch_add(where, value, RELAXED, SCOPE_DEVICE);
}
template <class T> __device__ __forceinline T atomicMax(T *where, T value) {
  return __scoped_atomic_fetch_max(where, value, RELAXED, SCOPE_DEVICE);
}
template <class T> __device__ __forceinline T atomicExchange(T *where, T value) {
  return __scoped_atomic_exchange_n(where, value, RELAXED, SCOPE_DEVICE);
}
/// What was there before.
template <class T> __device__ __forceinline T atomicCas(T *where, T expected, T value) {
  __scoped_atomic_compare_exchange_n(where, &expected, value, false, RELAXED, RELAXED, SCOPE_DEVICE);
  return expected;
}
template <class T> __device__ __forceinline T loadRelaxed(T *where) {
  return __scoped_atomic_load_n(where, RELAXED, SCOPE_DEVICE);
}
template <class T> __device__ __forceinline T loadAcquire(T *where) {
  return __scoped_atomic_load_n(where, ACQUIRE, SCOPE_DEVICE);
}
template <class T> __device__ __forceinline void storeRelaxed(T *where, T value) {
  __scoped_atomic_store_n(where, value, RELAXED, SCOPE_DEVICE);
}
template <class T> __device__ __forceinline void storeRelease(T *where, T value) {
  __scoped_atomic_store_n(where, value, RELEASE, SCOPE_DEVICE);
}

// --- Lanes -----------------------------------------------------------------------------------------------------------

__device__ __forceinline float shuffleDown(float value, unsigned by) {
  return __builtin_bit_cast(float, shuffleDown(__builtin_bit_cast(int, value), by));
}
__device__ __forceinline float shuffleXor(float value, unsigned by) {
  return __builtin_bit_cast(float, shuffleXor(__builtin_bit_cast(int, value), by));
}

// --- Faults ---------------------------------------------------------------------------------------------------------

/// Whether a file of Faults is compiled with its fault.
#ifdef FAULT
constexpr bool fault = true;
#else
constexpr bool fault = false;
#endif

// --- Data and checks -------------------------------------------------------------------------------------------------

/// An integer of [-8, 8), well mixed.
__device__ __forceinline int sample(unsigned index, unsigned salt) {
  unsigned x = index * 2654435761u + salt * 40503u + 12345u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return static_cast<int>(x & 15) - 8;
}

/// The check kernels' only way to fail: a trap, which the simulator reports and which a chip turns into an error.
__device__ __forceinline void expect(bool right) {
  if (!right)
    __builtin_trap();
}

/// Uses a value, so that the optimiser keeps what reads it.
__device__ __forceinline void keep(int value) { asm volatile("" ::"r"(value)); }

/// What the twin expects. The fault only reads the same, so that its report stands without that of a trap.
__device__ __forceinline void check(bool right) {
  if (fault)
    keep(right);
  else
    expect(right);
}

#endif // TILEJIT_TEST_SIMULATOR_GPU_H
