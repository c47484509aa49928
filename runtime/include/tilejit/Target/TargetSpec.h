// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What a chip is, as one value, parsed once from a name ("native", "x86-64-v4", "neoverse-v2", "sm_90a", "gfx942").
// Facts about known chips are rows of data (lib/Target/*.cpp). Nothing outside this folder looks into target names.

#ifndef TILEJIT_TARGET_TARGETSPEC_H
#define TILEJIT_TARGET_TARGETSPEC_H

#include "tilejit/Base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

enum class TargetKind : uint8_t { Cpu, Nvidia, Amd };
enum class CpuArch : uint8_t { X86_64, AArch64, RiscV64 };

/// Operations on whole vectors that a core starts in one cycle. Sources: the optimisation guides of AMD, Intel and Arm;
/// products of bf16 pairs by measurement.
struct CpuPorts {
  int fma = 2;      ///< Multiply-adds.
  int loads = 2;    ///< Loads that hit the first-level cache.
  int bf16Dots = 1; ///< Products of bf16 pairs, where there are any.
};

/// What the CPU back end's choices rest on. For `native` read from this machine, else from the row of the CPU.
struct CpuFacts {
  CpuArch arch = CpuArch::X86_64;
  int vectorBits = 128;     ///< Width of the vectors to emit.
  int vectorRegisters = 16; ///< Registers of that width.
  bool hasFma = false;
  bool hasMasks = false;      ///< Masked loads and stores cost no more than plain ones (AVX-512, SVE, RVV).
  bool hasF16Convert = false; ///< f16 <-> f32 in hardware.
  bool hasBf16Dot = false;    ///< Products of bf16 pairs accumulated in f32.
  bool hasInt8Dot = false;    ///< Products of 8-bit quadruples accumulated in i32.
  bool hasAmxBf16 = false;    ///< The same in matrix registers (AMX), of bf16
  bool hasAmxInt8 = false;    ///< and of 8-bit integers.
  CpuPorts ports;
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 1 << 20;
  int64_t l3Bytes = 8 << 20; ///< 0: none.

  /// Whether x86 products of bf16 pairs beat multiply-adds of the same numbers made wide, two for each.
  bool prefersBf16Dot() const {
    return hasBf16Dot && arch == CpuArch::X86_64 && (hasAmxBf16 || 2 * ports.bf16Dots > ports.fma);
  }
};

/// What the GPU back ends' choices and refusals rest on; from the row of the chip. Sizes are of one streaming
/// multiprocessor (compute unit, on RDNA a work-group processor) unless they say otherwise.
struct GpuFacts {
  int generation = 0;           ///< NVIDIA: 10 x compute capability (90); AMD: the gfx number, hexadecimal (0x942).
  int warpLanes = 32;           ///< Lanes that execute together (wavefront).
  int maxBlockThreads = 1024;   ///< Threads of a block (work-group).
  int maxUnitThreads = 2048;    ///< Threads that are resident at once.
  int maxUnitBlocks = 32;       ///< Blocks that are resident at once.
  int registersPerUnit = 65536; ///< 32-bit vector registers, all lanes counted.
  int maxThreadRegisters = 255; ///< 32-bit vector registers of one thread.
  int registerGranule = 8;      ///< A thread gets a multiple of so many.
  int64_t maxBlockShared = 48 << 10;                   ///< On-chip memory that one block may use, opt-in included.
  int64_t unitShared = 64 << 10;                       ///< On-chip memory for all resident blocks.
  bool hasBf16 = false;                                ///< f32 to bf16 conversion in hardware.
  bool hasAsyncCopy = false;                           ///< Copies from global to on-chip memory past the registers.
  bool hasDot2 = false;                                ///< f32 += f16 pair times f16 pair.
  bool hasDot4 = false;                                ///< i32 += four products of 8-bit integers.
  bool hasPackedF32 = false;                           ///< Sums and products of pairs of f32 in one instruction.
  bool hasAtomicAddF32 = true, hasAtomicAddF64 = true; ///< Global memory, in hardware.
};

/// A target. Two equal keyTexts compile to the same code.
struct TargetSpec {
  TargetKind kind = TargetKind::Cpu;
  std::string name;                  ///< As asked for: "native", "x86-64-v4".
  std::string triple;                ///< LLVM's.
  std::string cpu;                   ///< LLVM's -mcpu.
  std::vector<std::string> features; ///< LLVM's -mattr, sorted: "+avx512f", "-amx-tile"; beyond what `cpu` implies.
  CpuFacts cpuFacts;                 ///< Of Cpu targets.
  GpuFacts gpuFacts;                 ///< Of the others.
  bool simulated = false;            ///< `sim:NAME`: runs on the simulator; compiled for NAME, bitcode included.
  std::string description;           ///< One line for `tilec targets`.

  bool isCpu() const { return kind == TargetKind::Cpu; }
  bool isGpu() const { return kind != TargetKind::Cpu; }
  /// Everything that changes code, for cache keys: triple, cpu, features, facts. Never the name: `native` and the same
  /// machine spelled out are one target, `sim:sm_80` and `sm_80` as well.
  std::string keyText() const;
  /// Name of the architecture's folder in the cache: [A-Za-z0-9_.-], long feature lists as a hash.
  std::string folderName() const;
};

/// Parses a target's name, `cpu` standing for `native`; of a GPU with the settings of LLVM's spelling
/// ("gfx90a:sramecc+:xnack-"); "sim:" before it where the simulator knows it. InvalidArgument for an unknown one, with
/// near names as hint.
Expected<TargetSpec> parseTarget(std::string_view text);
/// This machine, read once a call from CPUID (or the kernel's hwcaps) and sysfs.
TargetSpec hostTarget();
/// Whether code for `target` runs on this machine's processor; where not, the status names the missing features
/// (DoesNotFit), or says that it is a GPU (Unavailable).
Status runsOnHost(const TargetSpec &target);
/// One-line text form of a target, for requests to the worker, and back.
std::string encodeTarget(const TargetSpec &target);
Expected<TargetSpec> decodeTarget(std::string_view text);
/// All named targets, `native` first, then CPUs, GPUs, and the simulated ones.
std::span<const TargetSpec> knownTargets();
/// The name that stands for a keyText: a known target's, or LLVM's spelling of it; where there is none, the text itself
/// in short.
std::string targetNameOf(std::string_view keyText);

} // namespace tilejit

#endif // TILEJIT_TARGET_TARGETSPEC_H
