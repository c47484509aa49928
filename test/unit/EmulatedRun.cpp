// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The payload and the launch go to the emulated program as files; results come back in the second.

#include "EmulatedRun.h"

#include "TestSystem.h"

#include "emulated/Image.h"

#include "tilejit/Base/File.h"
#include "tilejit/Target/TargetSpec.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace tilejit::test {

namespace {

/// What an emulator calls a CPU with the instructions of the target and, where it matters, its length of vectors.
struct Machine {
  CpuArch arch;
  const char *cpu, *program, *model;
};

constexpr Machine machines[] = {
    {CpuArch::AArch64, "generic", "aarch64", "cortex-a57"},
    {CpuArch::AArch64, "cortex-a76", "aarch64", "cortex-a76"},
    {CpuArch::AArch64, "neoverse-n1", "aarch64", "neoverse-n1"},
    {CpuArch::AArch64, "", "aarch64", "max"},
    {CpuArch::RiscV64, "sifive-x280", "riscv64",
     "rv64,v=true,vext_spec=v1.0,vlen=512,elen=64,zba=true,zbb=true,Zfh=true"},
    {CpuArch::RiscV64, "", "riscv64", "rv64,v=true,vext_spec=v1.0,vlen=128,elen=64"},
};

const Machine *machineOf(const TargetSpec &target) {
  for (const Machine &machine : machines)
    if (target.isCpu() && machine.arch == target.cpuFacts.arch && (!*machine.cpu || machine.cpu == target.cpu))
      return &machine;
  return nullptr;
}

std::string runnerOf(const Machine &machine) { return TILEJIT_RUNNERS "/runner-" + std::string(machine.program); }

constexpr size_t lineBytes = 64;

size_t rounded(size_t bytes) { return (bytes + lineBytes - 1) / lineBytes * lineBytes; }

} // namespace

std::string whyNotEmulated(const TargetSpec &target) {
  const Machine *machine = machineOf(target);
  if (!machine)
    return "no emulator is known for " + target.keyText();
  if (access(runnerOf(*machine).c_str(), X_OK) == 0)
    return "";
  return "no clang++-22 or qemu-" + std::string(machine->program) + " was found when this was configured";
}

bool stopsEmulator(const std::string &payload, const TargetSpec &target) {
  if (target.cpuFacts.arch != CpuArch::RiscV64)
    return false;
  // Encodings: RISC-V "V" Vector Extension 1.0, sections 10.1 and 13.17 to 13.19 (VFUNARY0, by its field vs1).
  for (size_t at = 0; at + 4 <= payload.size(); at += 2) {
    uint32_t word;
    std::memcpy(&word, payload.data() + at, 4);
    bool isUnary = (word & 0x7f) == 0x57 && (word >> 12 & 7) == 1 && word >> 26 == 0x12;
    uint32_t kind = word >> 15 & 0x1f;
    bool isTowardZero = (kind & 7) == 6 || (kind & 7) == 7, isToOdd = kind == 0x15;
    if (isUnary && (isTowardZero || isToOdd))
      return true;
  }
  return false;
}

RunOutcome runEmulated(const std::string &payload, const TargetSpec &target, std::span<RunOperand> operands) {
  const Machine *machine = machineOf(target);
  REQUIRE(machine);
  EmulatedLaunch launch;
  std::string memory(rounded(sizeof launch), '\0');
  for (const RunOperand &operand : operands) {
    REQUIRE(launch.slotCount + 1 + static_cast<int64_t>(operand.sizesAndStrides.size()) <= mostSlots);
    launch.isAddress[launch.slotCount] = true;
    launch.slots[launch.slotCount++] = static_cast<int64_t>(memory.size());
    for (int64_t number : operand.sizesAndStrides)
      launch.slots[launch.slotCount++] = number;
    memory.append(operand.bytes, static_cast<size_t>(operand.byteCount));
    memory.resize(rounded(memory.size()));
  }
  std::memcpy(memory.data(), &launch, sizeof launch);
  TempFolder folder;
  const std::string kernel = folder / "kernel", shared = folder / "launch";
  REQUIRE(writeFileAtomically(realSystem(), kernel, payload, 0600).isOk());
  REQUIRE(writeFileAtomically(realSystem(), shared, memory, 0600).isOk());
  std::string command = "qemu-" + std::string(machine->program) + " -cpu " + machine->model + " " + runnerOf(*machine) +
                        " " + kernel + " " + shared;
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
  Expected<std::string> back = readFile(realSystem(), shared);
  REQUIRE(back.isOk());
  std::memcpy(&launch, back->data(), sizeof launch);
  REQUIRE(launch.ran == 1);
  int64_t slot = 0;
  for (RunOperand &operand : operands) {
    std::memcpy(operand.bytes, back->data() + launch.slots[slot], static_cast<size_t>(operand.byteCount));
    slot += 1 + static_cast<int64_t>(operand.sizesAndStrides.size());
  }
  return {launch.failedAssertion, {}};
}

} // namespace tilejit::test
