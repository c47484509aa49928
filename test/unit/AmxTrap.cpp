// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// AMX as Intel's Software Developer's Manual has it: volume 1, chapter 18, and the instructions' pages of volume 2. All
// of its instructions have VEX prefixes of three bytes and opcodes of the map 0F38.

#include "AmxTrap.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace tilejit::test {

TargetSpec hostWithAmx() {
  TargetSpec target = hostTarget();
  CpuFacts &facts = target.cpuFacts;
  if (facts.hasAmxBf16 && facts.hasAmxInt8)
    return target;
  facts.hasAmxBf16 = facts.hasAmxInt8 = true;
  for (const char *feature : {"+amx-bf16", "+amx-int8", "+amx-tile"})
    if (std::find(target.features.begin(), target.features.end(), feature) == target.features.end())
      target.features.emplace_back(feature);
  std::sort(target.features.begin(), target.features.end());
  return target;
}

std::string whyNoAmx() {
#if defined(__x86_64__)
  CpuFacts host = hostTarget().cpuFacts;
  return host.hasMasks && host.hasBf16Dot && host.hasInt8Dot ? "" : "this CPU lacks AVX-512 with bf16 and VNNI";
#else
  return "this CPU is no x86";
#endif
}

bool needsAmxTrap(const TargetSpec &target) {
  if (!target.cpuFacts.hasAmxBf16 || !whyNoAmx().empty() || runsOnHost(target).isOk())
    return false;
  TargetSpec without = target;
  std::erase_if(without.features, [](const std::string &name) { return name.find("amx-") != name.npos; });
  return runsOnHost(without).isOk();
}

#if defined(__x86_64__)

namespace {

constexpr int registers = 8, mostRows = 16, mostBytes = 64;

struct Matrix {
  int rows = 0, bytes = 0; ///< Bytes of a row.
  uint8_t data[mostRows][mostBytes];
};
thread_local Matrix matrices[registers];
std::atomic<int64_t> products{0};

[[noreturn]] void refuse(const char *why) {
  std::fprintf(stderr, "AMX: %s\n", why);
  std::abort();
}

template <typename T> T read(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// One instruction at an address, and the registers of the thread that is at it.
class Instruction {
public:
  Instruction(const uint8_t *bytes, greg_t *state) : bytes_(bytes), state_(state) {}

  /// False: it is none of AMX's.
  bool run();
  int length() const { return length_; }

private:
  int vexBit(int byte, int bit) const { return ~bytes_[byte] >> bit & 1; }
  int prefix() const { return bytes_[2] & 3; }       // None, 66, F3, F2.
  int third() const { return ~bytes_[2] >> 3 & 15; } // The register in VEX.vvvv.
  int mod() const { return bytes_[4] >> 6; }
  int reg() const { return bytes_[4] >> 3 & 7; }
  int rm() const { return bytes_[4] & 7; }
  int64_t general(int number) const;
  /// The address of a memory operand, and with it how long the instruction is. `stride`: the index register's share.
  uint8_t *memory(int64_t *stride);
  void configure();
  void move();
  void multiply();

  const uint8_t *bytes_;
  greg_t *state_;
  int length_ = 5;
};

int64_t Instruction::general(int number) const {
  constexpr int places[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return state_[places[number]];
}

uint8_t *Instruction::memory(int64_t *stride) {
  const uint8_t *next = bytes_ + 5;
  int base = rm();
  int64_t address = 0;
  if (base == 4) { // A SIB byte.
    int index = (*next >> 3 & 7) | vexBit(1, 6) << 3;
    int64_t share = index == 4 ? 0 : general(index) * (int64_t{1} << (*next >> 6));
    base = *next++ & 7;
    if (stride)
      *stride = share;
    else
      address += share;
  } else if (stride) {
    refuse("rows without a SIB byte");
  }
  bool hasBase = base != 5 || mod() != 0;
  if (hasBase)
    address += general(base | vexBit(1, 5) << 3);
  bool isRelative = !hasBase && rm() == 5;
  if (mod() == 1) {
    address += static_cast<int8_t>(*next++);
  } else if (mod() == 2 || !hasBase) {
    address += read<int32_t>(next);
    next += 4;
  }
  length_ = static_cast<int>(next - bytes_);
  if (isRelative)
    address += reinterpret_cast<int64_t>(next);
  return reinterpret_cast<uint8_t *>(address);
}

void Instruction::configure() {
  const uint8_t *from = memory(nullptr);
  if (from[0] != 1 || from[1] != 0)
    refuse("a configuration of another palette, or from within an instruction");
  for (int i = 2; i < 64; ++i)
    if ((i < 16 || (i >= 32 && i < 48) || i >= 56) && from[i] != 0)
      refuse("a configuration with bits that are reserved");
  for (int i = 0; i < registers; ++i) {
    Matrix &matrix = matrices[i];
    matrix.bytes = read<uint16_t>(from + 16 + 2 * i);
    matrix.rows = from[48 + i];
    if (matrix.bytes > mostBytes || matrix.rows > mostRows || (matrix.bytes == 0) != (matrix.rows == 0))
      refuse("a configuration of sizes that do not exist");
    std::memset(matrix.data, 0, sizeof matrix.data);
  }
}

void Instruction::move() {
  int64_t stride = 0;
  uint8_t *at = memory(&stride);
  Matrix &matrix = matrices[reg()];
  if (matrix.rows == 0)
    refuse("a register without rows");
  bool isStore = prefix() == 2;
  for (int row = 0; row < matrix.rows; ++row, at += stride)
    if (isStore) {
      std::memcpy(at, matrix.data[row], static_cast<size_t>(matrix.bytes));
    } else {
      std::memset(matrix.data[row], 0, mostBytes);
      std::memcpy(matrix.data[row], at, static_cast<size_t>(matrix.bytes));
    }
}

float flushed(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }

/// bf16 at an address; subnormal numbers are zero.
float bf16At(const uint8_t *at) {
  uint32_t bits = uint32_t{read<uint16_t>(at)} << 16;
  return flushed(read<float>(&bits));
}

/// A sum of f32 and the products of a row and of a column: those at even places and those at odd ones for themselves.
float addPairs(float sum, const Matrix &a, int row, const Matrix &b, int column) {
  float even = 0, odd = 0;
  for (int k = 0; k < b.rows; ++k) {
    even = flushed(std::fma(bf16At(a.data[row] + 4 * k), bf16At(b.data[k] + 4 * column), even));
    odd = flushed(std::fma(bf16At(a.data[row] + 4 * k + 2), bf16At(b.data[k] + 4 * column + 2), odd));
  }
  return flushed(flushed(sum) + flushed(even + odd));
}

int32_t byteAt(const uint8_t *at, bool isSigned) { return isSigned ? static_cast<int8_t>(*at) : *at; }

void Instruction::multiply() {
  Matrix &sum = matrices[reg()];
  const Matrix &a = matrices[rm()], &b = matrices[third()];
  if (third() >= registers || reg() == rm() || reg() == third() || rm() == third())
    refuse("a product whose registers are not three");
  if (a.bytes != 4 * b.rows || sum.rows != a.rows || sum.bytes != b.bytes || sum.rows == 0)
    refuse("a product of sizes that do not fit");
  ++products;
  bool arePairs = bytes_[3] == 0x5c;
  bool isSignedA = prefix() == 2 || prefix() == 3, isSignedB = prefix() == 1 || prefix() == 3;
  for (int row = 0; row < sum.rows; ++row)
    for (int column = 0; column < sum.bytes / 4; ++column) {
      uint8_t *at = sum.data[row] + 4 * column;
      if (arePairs) {
        float result = addPairs(read<float>(at), a, row, b, column);
        std::memcpy(at, &result, sizeof result);
        continue;
      }
      auto result = read<uint32_t>(at);
      for (int k = 0; k < a.bytes; ++k)
        result += static_cast<uint32_t>(byteAt(a.data[row] + k, isSignedA) *
                                        byteAt(b.data[k / 4] + 4 * column + k % 4, isSignedB));
      std::memcpy(at, &result, sizeof result);
    }
}

bool Instruction::run() {
  bool isOfMap = bytes_[0] == 0xc4 && (bytes_[1] & 0x1f) == 2 && (bytes_[2] & 0x84) == 0;
  if (!isOfMap)
    return false;
  bool isMemory = mod() != 3;
  int opcode = bytes_[3], form = prefix();
  if (opcode == 0x49 && form == 0 && isMemory) {
    configure();
  } else if (opcode == 0x49 && form == 0 && bytes_[4] == 0xc0) { // tilerelease
    for (Matrix &matrix : matrices)
      matrix.rows = matrix.bytes = 0;
  } else if (opcode == 0x49 && form == 3 && !isMemory) { // tilezero
    if (matrices[reg()].rows == 0)
      refuse("a register without rows");
    std::memset(matrices[reg()].data, 0, sizeof matrices[reg()].data);
  } else if (opcode == 0x4b && form != 0 && isMemory) {
    move();
  } else if ((opcode == 0x5e || (opcode == 0x5c && form == 2)) && !isMemory) {
    multiply();
  } else {
    return false;
  }
  return true;
}

void handle(int, siginfo_t *, void *context) {
  greg_t *state = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  Instruction instruction(reinterpret_cast<const uint8_t *>(state[REG_RIP]), state);
  if (!instruction.run())
    refuse("an illegal instruction that is none of AMX's");
  state[REG_RIP] += instruction.length();
}

} // namespace

AmxTrap::AmxTrap() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, &before_);
}
AmxTrap::~AmxTrap() { sigaction(SIGILL, &before_, nullptr); }
int64_t trappedProducts() { return products; }

#else

AmxTrap::AmxTrap() = default;
AmxTrap::~AmxTrap() = default;
int64_t trappedProducts() { return 0; }

#endif

} // namespace tilejit::test
