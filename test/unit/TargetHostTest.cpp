// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Host detection, on made-up processors and on the real one.

#include "HostCpu.h"

#include <catch2/catch.hpp>

#include <map>
#include <utility>

using namespace tilejit;
using namespace tilejit::target;

namespace {

/// A processor with AVX-512, made of the bits that a test names.
struct MadeUpCpu : CpuidSource {
  std::map<std::pair<uint32_t, uint32_t>, CpuidLeaf> leaves;
  uint64_t state = 0xe7;

  MadeUpCpu() {
    leaves[{0, 0}] = {0x20, 0x756e6547, 0x6c65746e, 0x49656e69};
    leaves[{1, 0}] = {0x000c06f2, 0, 0xffffffff, 0};
    leaves[{7, 0}] = {1, 0xffffffff, 0xffffffff, 0xffffffff};
    leaves[{7, 1}] = {0xffffffff, 0, 0, 0};
    leaves[{0x80000000, 0}] = {0x80000008, 0, 0, 0};
    leaves[{0x80000001, 0}] = {0, 0, 0xffffffff & ~(1u << 6), 0};
  }
  CpuidLeaf leaf(uint32_t leaf, uint32_t subleaf) const override {
    auto found = leaves.find({leaf, subleaf});
    return found == leaves.end() ? CpuidLeaf() : found->second;
  }
  uint64_t xcr0() const override { return state; }
};

} // namespace

TEST_CASE("features need the operating system's support") {
  MadeUpCpu cpu;
  FeatureSet all = x86Features(cpu);
  CHECK(contains(all, featureSet(Avx512F, Avx512Bf16, Avx512Fp16, AvxVnni, Fma, Sse42)));
  CHECK_FALSE(contains(all, featureSet(Sse4a)));
  CHECK((all & featureSet(AmxTile, AmxBf16, AmxInt8)) == 0);
  cpu.state = 0x200e7; // Configurations of matrix registers without their contents.
  CHECK(x86Features(cpu) == all);
  cpu.state = 0x600e7;
  FeatureSet matrices = x86Features(cpu);
  CHECK(matrices == (all | featureSet(AmxTile, AmxBf16, AmxInt8)));
  CpuFacts facts;
  setFeatureFacts(facts, matrices);
  CHECK((facts.hasAmxBf16 && facts.hasAmxInt8));
  setFeatureFacts(facts, all);
  CHECK_FALSE((facts.hasAmxBf16 || facts.hasAmxInt8));
  cpu.state = 0x07; // ymm only
  FeatureSet ymm = x86Features(cpu);
  CHECK(contains(ymm, featureSet(Avx2, Fma, F16c, AvxVnni)));
  CHECK_FALSE(contains(ymm, featureSet(Avx512F)));
  cpu.state = 0x03;
  CHECK_FALSE(contains(x86Features(cpu), featureSet(Avx)));
  cpu.state = 0xe7;
  cpu.leaves[{1, 0}].ecx &= ~(1u << 27); // no OSXSAVE
  FeatureSet sse = x86Features(cpu);
  CHECK_FALSE(contains(sse, featureSet(Avx)));
  CHECK(contains(sse, featureSet(Sse42, Bmi2)));
}

TEST_CASE("leaves beyond the last one are not believed") {
  MadeUpCpu cpu;
  cpu.leaves[{0, 0}].eax = 1;
  CHECK_FALSE(contains(x86Features(cpu), featureSet(Avx2)));
  MadeUpCpu noSubleaf;
  noSubleaf.leaves[{7, 0}].eax = 0;
  CHECK_FALSE(contains(x86Features(noSubleaf), featureSet(Avx512Bf16)));
}

TEST_CASE("models find their row, unknown ones their level") {
  MadeUpCpu cpu;
  CHECK(x86RowFor(x86Model(cpu), x86Features(cpu)).name == "sapphirerapids");
  using Vendor = X86Model::Vendor;
  FeatureSet level3 = findRow("x86-64-v3")->features;
  CHECK(x86RowFor({Vendor::Amd, 0x19, 0x61}, level3).name == "znver4");
  CHECK(x86RowFor({Vendor::Amd, 0x19, 0x21}, level3).name == "znver3");
  CHECK(x86RowFor({Vendor::Amd, 0x17, 0x31}, level3).name == "znver2");
  CHECK(x86RowFor({Vendor::Amd, 0x1a, 0x44}, level3).name == "znver5");
  CHECK(x86RowFor({Vendor::Other, 6, 1}, level3).name == "x86-64-v3");
  CHECK(x86RowFor({Vendor::Intel, 6, 0xff}, 0).name == "x86-64");
}

TEST_CASE("cache sizes from CPUID") {
  MadeUpCpu cpu;
  auto entry = [](uint32_t kind, uint32_t level, uint32_t ways, uint32_t sets) {
    return CpuidLeaf{kind | level << 5, (ways - 1) << 22 | 63, sets - 1, 0};
  };
  cpu.leaves[{4, 0}] = entry(1, 1, 12, 64);
  cpu.leaves[{4, 1}] = entry(2, 1, 8, 64);
  cpu.leaves[{4, 2}] = entry(3, 2, 16, 2048);
  CacheSizes sizes = cachesFromCpuid(cpu, x86Model(cpu));
  CHECK(sizes[0] == 48 << 10);
  CHECK(sizes[1] == 2 << 20);
  CHECK(sizes[2] == 0);
}

TEST_CASE("feature changes describe the way from one set to another") {
  FeatureSet from = featureSet(Avx, Avx2, Fma), to = featureSet(Avx, Avx512F);
  auto changes = featureChanges(CpuArch::X86_64, from, to);
  CHECK(changes == std::vector<std::string>{"+avx512f", "-avx2", "-fma"});
  CHECK(applyFeatures(CpuArch::X86_64, from, changes) == to);
  std::vector<std::string> unsignedName = {"avx2"};
  CHECK_FALSE(applyFeatures(CpuArch::X86_64, from, unsignedName));
}

TEST_CASE("the host is the same twice and runs its own code") {
  TargetSpec host = hostTarget();
  CHECK(host.keyText() == hostTarget().keyText());
  CHECK(runsOnHost(host));
  TargetSpec greedy = host;
  CpuArch other = host.cpuFacts.arch == CpuArch::X86_64 ? CpuArch::AArch64 : CpuArch::X86_64;
  greedy.cpuFacts.arch = other;
  CHECK(runsOnHost(greedy).code() == StatusCode::DoesNotFit);
}

#if defined(__x86_64__)
TEST_CASE("what the host lacks is named") {
  CHECK(runsOnHost(*parseTarget("x86-64")));
  TargetSpec zen = *parseTarget("znver4"), intel = *parseTarget("sapphirerapids");
  // No processor has both AMD's sse4a and avx512fp16.
  zen.features = {"+avx512fp16"};
  Status status = runsOnHost(zen);
  CHECK(status.code() == StatusCode::DoesNotFit);
  CHECK(status.message().find("lacks: ") != std::string::npos);
}
#endif
