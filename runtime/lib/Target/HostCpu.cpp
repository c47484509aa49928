// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Detection for the architecture this file is built for: CPUID and XGETBV, or the kernel's hwcaps.

#include "HostCpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)
#include <sys/auxv.h>
#endif

namespace tilejit::target {

#if defined(__x86_64__)

namespace {

class Processor : public CpuidSource {
public:
  CpuidLeaf leaf(uint32_t leaf, uint32_t subleaf) const override {
    CpuidLeaf result;
    __cpuid_count(leaf, subleaf, result.eax, result.ebx, result.ecx, result.edx);
    return result;
  }
  uint64_t xcr0() const override {
    uint32_t low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    uint64_t saved = uint64_t{high} << 32 | low;
    return mayUseMatrixRegisters(saved) ? saved : saved & ~matrixRegisters;
  }

private:
  static constexpr int matrixRegistersBit = 18;
  static constexpr uint64_t matrixRegisters = uint64_t{1} << matrixRegistersBit;

  /// Linux keeps them for a process that has asked, for all its threads from then on.
  static bool mayUseMatrixRegisters(uint64_t saved) {
    constexpr int requestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
    return (saved & matrixRegisters) && syscall(SYS_arch_prctl, requestPermission, matrixRegistersBit) == 0;
  }
};

} // namespace

HostCpu detectHostCpu() {
  Processor processor;
  HostCpu host{CpuArch::X86_64, x86Features(processor)};
  host.row = &x86RowFor(x86Model(processor), host.features);
  return host;
}

CacheSizes hostCaches(System &system) {
  CacheSizes sizes = cachesFromSysfs(system);
  Processor processor;
  CacheSizes fallback = cachesFromCpuid(processor, x86Model(processor));
  // One source for all levels: sysfs knows which levels are absent.
  return sizes[0] ? sizes : fallback;
}

#elif defined(__aarch64__)

HostCpu detectHostCpu() {
  // Bits of AT_HWCAP and AT_HWCAP2, as the kernel documents them.
  uint64_t first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  HostCpu host{CpuArch::AArch64};
  auto add = [&](bool present, ArmFeature feature) { host.features |= present ? featureSet(feature) : 0; };
  add(first >> 8 & 1, Lse);
  add((first >> 9 & 1) && (first >> 10 & 1), FullFp16);
  add(first >> 20 & 1, DotProd);
  add(first >> 22 & 1, Sve);
  add(second >> 1 & 1, Sve2);
  add(second >> 13 & 1, I8mm);
  add(second >> 14 & 1, Bf16);
  host.row = findRow("armv8-a");
  return host;
}

CacheSizes hostCaches(System &system) { return cachesFromSysfs(system); }

#elif defined(__riscv) && __riscv_xlen == 64

HostCpu detectHostCpu() {
  HostCpu host{CpuArch::RiscV64};
  if (getauxval(AT_HWCAP) >> ('v' - 'a') & 1) {
    uint64_t bytes = 0;
    asm volatile("csrr %0, 0xc22" : "=r"(bytes)); // vlenb
    host.features = featureSet(RvV);
    if (bytes >= 32)
      host.features |= featureSet(Zvl256b);
    if (bytes >= 64)
      host.features |= featureSet(Zvl512b);
  }
  host.row = findRow("rv64gcv");
  return host;
}

CacheSizes hostCaches(System &system) { return cachesFromSysfs(system); }

#else

HostCpu detectHostCpu() { return {CpuArch::X86_64, 0, findRow("x86-64"), false}; }
CacheSizes hostCaches(System &system) { return cachesFromSysfs(system); }

#endif

} // namespace tilejit::target
