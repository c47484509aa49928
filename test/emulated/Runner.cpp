// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// runner KERNEL LAUNCH: loads a CPU payload and launches it once on the memory in the file LAUNCH (Image.h). A program
// without any library, so that a compiler and a linker for the chip are all that it needs; user-mode emulators run it.
// Scratch memory is filled with a pattern, and tasks run from the last to the first: neither may matter.
// Exit code 1: a file that can't be read or mapped; 2: a payload without the functions of a kernel.

#include "Image.h"

#include "tilejit/ABI/KernelABI.h"

using namespace tilejit;

extern "C" void *memset(void *to, int value, unsigned long bytes) {
  for (unsigned long i = 0; i < bytes; ++i)
    static_cast<volatile char *>(to)[i] = static_cast<char>(value);
  return to;
}

extern "C" void *memcpy(void *to, const void *from, unsigned long bytes) {
  for (unsigned long i = 0; i < bytes; ++i)
    static_cast<volatile char *>(to)[i] = static_cast<const char *>(from)[i];
  return to;
}

namespace {

// ---- System calls: AArch64 and RISC-V number them alike ----

enum Call : long { OpenAt = 56, SeekTo = 62, Exit = 93, MapMemory = 222 };

long call(Call number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__aarch64__)
  register long n asm("x8") = number, r0 asm("x0") = a, r1 asm("x1") = b, r2 asm("x2") = c, r3 asm("x3") = d,
                  r4 asm("x4") = e, r5 asm("x5") = f;
  asm volatile("svc 0" : "+r"(r0) : "r"(n), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
#elif defined(__riscv)
  register long n asm("a7") = number, r0 asm("a0") = a, r1 asm("a1") = b, r2 asm("a2") = c, r3 asm("a3") = d,
                  r4 asm("a4") = e, r5 asm("a5") = f;
  asm volatile("ecall" : "+r"(r0) : "r"(n), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
#endif
  return r0;
}

[[noreturn]] void leave(int code) {
  for (;;)
    call(Exit, code);
}

constexpr long readable = 1, writable = 2, executable = 4;
constexpr long shared = 1, owned = 2, anonymous = 0x20;

char *map(long bytes, long protection, long kind, long file = -1) {
  long address = call(MapMemory, 0, bytes, protection, kind, file, 0);
  if (address < 0 && address > -4096)
    leave(1);
  return reinterpret_cast<char *>(address);
}

/// A whole file in memory; what is written to a shared one reaches the file.
char *mapFile(const char *path, bool isShared) {
  constexpr long here = -100, readWrite = 2, fromEnd = 2;
  long file = call(OpenAt, here, reinterpret_cast<long>(path), readWrite);
  long bytes = file < 0 ? -1 : call(SeekTo, file, 0, fromEnd);
  if (bytes <= 0)
    leave(1);
  return map(bytes, readable | writable, isShared ? shared : owned, file);
}

/// Memory that holds nothing yet: a pattern that no result survives.
char *scratch(int64_t bytes) {
  char *memory = map(bytes + 4096, readable | writable, owned | anonymous);
  memset(memory, 0xa5, static_cast<unsigned long>(bytes));
  return memory;
}

// ---- The payload: tables of ELF, as far as a payload has them ----

struct FileHeader {
  char identity[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, segments, sections;
  uint32_t flags;
  uint16_t size, segmentSize, segmentCount, sectionSize, sectionCount, names;
};
struct Segment {
  uint32_t type, flags;
  uint64_t offset, address, physical, fileBytes, bytes, align;
};
struct Dynamic {
  int64_t tag;
  uint64_t value;
};
struct Symbol {
  uint32_t name;
  unsigned char info, other;
  uint16_t section;
  uint64_t address, size;
};
struct Relocation {
  uint64_t place, info;
  int64_t addend;
};

constexpr uint32_t loaded = 1, dynamic = 2;
constexpr int64_t stringsTag = 5, symbolsTag = 6, relocationsTag = 7, relocationBytesTag = 8, hashTag = 0x6ffffef5;
#if defined(__aarch64__)
constexpr uint32_t relative = 1027;
#else
constexpr uint32_t relative = 3;
#endif

bool same(const char *one, const char *other) {
  while (*one && *one == *other)
    ++one, ++other;
  return *one == *other;
}

class Payload {
public:
  explicit Payload(const char *file) {
    auto &header = *reinterpret_cast<const FileHeader *>(file);
    auto *segments = reinterpret_cast<const Segment *>(file + header.segments);
    uint64_t end = 0;
    for (int i = 0; i < header.segmentCount; ++i)
      if (uint64_t last = segments[i].address + segments[i].bytes; segments[i].type == loaded && last > end)
        end = last;
    base_ = map(static_cast<long>(end), readable | writable | executable, owned | anonymous);
    for (int i = 0; i < header.segmentCount; ++i)
      if (segments[i].type == loaded)
        memcpy(base_ + segments[i].address, file + segments[i].offset, segments[i].fileBytes);
    for (int i = 0; i < header.segmentCount; ++i)
      if (segments[i].type == dynamic)
        table_ = reinterpret_cast<const Dynamic *>(base_ + segments[i].address);
    relocate();
  }

  /// The function of that name; symbols end where the table after them begins.
  template <typename Function> Function find(const char *name) const {
    auto *symbols = reinterpret_cast<const Symbol *>(base_ + entry(symbolsTag));
    auto *end = reinterpret_cast<const Symbol *>(base_ + entry(hashTag));
    for (const Symbol *symbol = symbols; symbol + 1 <= end; ++symbol)
      if (same(base_ + entry(stringsTag) + symbol->name, name))
        return reinterpret_cast<Function>(base_ + symbol->address);
    leave(2);
  }

private:
  uint64_t entry(int64_t tag) const {
    for (const Dynamic *at = table_; at && at->tag != 0; ++at)
      if (at->tag == tag)
        return at->value;
    return 0;
  }

  void relocate() {
    auto *at = reinterpret_cast<const Relocation *>(base_ + entry(relocationsTag));
    for (auto *end = at + entry(relocationBytesTag) / sizeof(Relocation); at != end; ++at) {
      if (static_cast<uint32_t>(at->info) != relative)
        leave(2);
      *reinterpret_cast<char **>(base_ + at->place) = base_ + at->addend;
    }
  }

  char *base_ = nullptr;
  const Dynamic *table_ = nullptr;
};

/// One phase after the other; 1 + the number of a failed assertion, or 0.
int64_t launch(const Payload &payload, const int64_t *slots) {
  auto plan = payload.find<abi::CpuPlanFunction>(abi::cpuPlanSymbol);
  auto run = payload.find<abi::CpuRunFunction>(abi::cpuRunSymbol);
  abi::CpuPlan chosen;
  plan(slots, /*threads=*/3, nullptr, &chosen);
  char *together = scratch(chosen.sharedScratchBytes);
  for (int64_t phase = 0; phase < chosen.phases; ++phase)
    for (int64_t end = chosen.tasks[phase]; end > 0;) {
      int64_t begin = end > 3 ? end - 3 : 0;
      int64_t failed = run(slots, nullptr, &chosen, phase, begin, end, together, scratch(chosen.threadScratchBytes));
      if (failed != 0)
        return failed;
      end = begin;
    }
  return 0;
}

} // namespace

extern "C" [[noreturn]] void runMain(char **stack) {
  // The stack of a new process: number of arguments, then the arguments.
  if (reinterpret_cast<long>(stack[0]) != 3)
    leave(1);
  Payload payload(mapFile(stack[2], /*isShared=*/false));
  char *memory = mapFile(stack[3], /*isShared=*/true);
  auto &wanted = *reinterpret_cast<test::EmulatedLaunch *>(memory);
  int64_t slots[test::mostSlots] = {};
  for (int64_t i = 0; i < wanted.slotCount; ++i)
    slots[i] = wanted.slots[i] + (wanted.isAddress[i] ? reinterpret_cast<int64_t>(memory) : 0);
  wanted.failedAssertion = launch(payload, slots) - 1;
  wanted.ran = 1;
  leave(0);
}

#if defined(__aarch64__)
asm(".globl _start\n_start: mov x0, sp\n bl runMain\n");
#else
asm(".globl _start\n_start: mv a0, sp\n call runMain\n");
#endif
