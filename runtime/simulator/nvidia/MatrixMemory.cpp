// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Handlers of matrix loads and stores. Every row or run is an access of the lane that names it, checked and counted as
// the memory sees it.

#include "nvidia/MatrixMemory.h"

#include "core/Block.h"
#include "core/Pointers.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#ifdef __AVX512BW__
#include <immintrin.h>
#endif

namespace tilejit::sim {

namespace {

constexpr unsigned width = 32;
constexpr unsigned rowBytes = 16, rowsOfMatrix = 8, matrixBytes = rowBytes * rowsOfMatrix;
constexpr uint8_t untouched = 0xbd;

/// Element h of lane (g, t) is row 2t + h, column g.
constexpr unsigned transposedIndex(unsigned element) {
  unsigned lane = element / 2, half = element % 2;
  return (lane % 4 * 2 + half) * 8 + lane / 4;
}

struct alignas(64) TransposedIndices {
  uint16_t of[64];
};
constexpr TransposedIndices transposedIndices = [] {
  TransposedIndices indices{};
  for (unsigned i = 0; i < 64; ++i)
    indices.of[i] = static_cast<uint16_t>(transposedIndex(i));
  return indices;
}();

/// The eight rows of a matrix are a register's lanes one after another; this turns them around.
void transpose(const uint8_t *from, uint8_t *to) {
#ifdef __AVX512BW__
  __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 64);
  const auto *indices = reinterpret_cast<const __m512i *>(transposedIndices.of);
  __m512i first = _mm512_permutex2var_epi16(low, _mm512_load_si512(indices), high);
  __m512i second = _mm512_permutex2var_epi16(low, _mm512_load_si512(indices + 1), high);
  _mm512_storeu_si512(to, first);
  _mm512_storeu_si512(to + 64, second);
#else
  uint16_t source[64], result[64];
  std::memcpy(source, from, sizeof source);
  for (unsigned i = 0; i < 64; ++i)
    result[i] = source[transposedIndices.of[i]];
  std::memcpy(to, result, sizeof result);
#endif
}

/// Calls f(addresses in shared memory, lanes) for the lanes that give addresses; others are reported.
template <class F> void forSharedRows(Warp &warp, const Op &op, LaneMask lanes, F f) {
  auto space = static_cast<unsigned>(op.imm >> matrixSpaceShift);
  forEachSpace<width>(warp, warp.reg<uint64_t>(op.a), space, [&](Space where, const uint64_t *address, LaneMask part) {
    part &= lanes;
    if (!part)
      return;
    if (where == Space::Shared)
      return f(address, part);
    warp.block->reportAt(
        ReportKind::Bounds, op.site, warp, firstLane(part), where, address[firstLane(part)],
        "the row of a matrix, which must lie in shared memory, lies elsewhere:", "give an address of shared memory");
  });
}

Access rowAccess(const Op &op, bool write) {
  Access access;
  access.size = rowBytes;
  access.alignment = rowBytes;
  access.site = op.site;
  access.write = write;
  return access;
}

} // namespace

void loadMatrices(Warp &warp, const Op &op) {
  if (!meetWarp(warp, op))
    return;
  const OpOperands &x = *op.x;
  alignas(64) uint8_t rows[width * rowBytes];
  LaneMask lanes = lanesBelow(static_cast<unsigned>(x.out.size()) * rowsOfMatrix) & warp.mask, ok = 0;
  forSharedRows(warp, op, lanes, [&](const uint64_t *address, LaneMask part) {
    LaneMask good = warp.block->access(warp, Space::Shared, address, part, rowAccess(op, false));
    const uint8_t *base = warp.block->shared.data();
    forEachLane(good, [&](unsigned l) { std::memcpy(rows + l * rowBytes, base + address[l], rowBytes); });
    ok |= good;
  });
  if (ok != lanesBelow(static_cast<unsigned>(x.out.size()) * rowsOfMatrix))
    for (unsigned l = 0; l < width; ++l)
      if (!(ok >> l & 1))
        std::memset(rows + l * rowBytes, untouched, rowBytes);
  for (size_t i = 0; i < x.out.size(); ++i) {
    uint8_t *matrix = rows + i * matrixBytes;
    if (op.imm & matrixTransposed)
      transpose(matrix, matrix);
    uint32_t words[width];
    std::memcpy(words, matrix, sizeof words);
    blend<width>(warp.reg<uint32_t>(x.out[i]), words, warp.mask);
  }
}

void storeMatrices(Warp &warp, const Op &op) {
  if (!meetWarp(warp, op))
    return;
  const OpOperands &x = *op.x;
  alignas(64) uint8_t rows[width * rowBytes] = {};
  for (size_t i = 0; i < x.in.size(); ++i) {
    uint8_t *matrix = rows + i * matrixBytes;
    std::memcpy(matrix, warp.registers + x.in[i], matrixBytes);
    if (op.imm & matrixTransposed)
      transpose(matrix, matrix);
  }
  LaneMask lanes = lanesBelow(static_cast<unsigned>(x.in.size()) * rowsOfMatrix) & warp.mask;
  forSharedRows(warp, op, lanes, [&](const uint64_t *address, LaneMask part) {
    LaneMask good = warp.block->access(warp, Space::Shared, address, part, rowAccess(op, true), rows);
    uint8_t *base = warp.block->shared.data();
    forEachLane(good, [&](unsigned l) { std::memcpy(base + address[l], rows + l * rowBytes, rowBytes); });
  });
}

void transposeMatrix(Warp &warp, const Op &op) {
  if (!meetWarp(warp, op))
    return;
  uint32_t words[width];
  transpose(warp.registers + op.a, reinterpret_cast<uint8_t *>(words));
  blend<width>(warp.reg<uint32_t>(op.d), words, warp.mask);
}

// --- Fragments ------------------------------------------------------------------------------------------------------

namespace {

WmmaAccess makeAccess(const MmaRow &row, char which, MmaType type, unsigned registerBytes, bool rowMajor, bool store) {
  WmmaAccess result;
  result.operand = mmaOperand(row, which, type, registerBytes);
  const MmaOperand &operand = result.operand;
  result.bits = mmaBits(type);
  result.strideBits = type == MmaType::B1 ? 1 : result.bits;
  result.store = store;
  auto lineOf = [&](size_t i) {
    return rowMajor ? operand.place[i] / operand.columns : operand.place[i] % operand.columns;
  };
  auto columnOf = [&](size_t i) {
    return rowMajor ? operand.place[i] % operand.columns : operand.place[i] / operand.columns;
  };
  // The longest run that all lanes have, up to 16 bytes.
  for (unsigned run = 2; run <= operand.elements && run * result.bits <= 128; run *= 2) {
    bool together = true;
    for (unsigned e = 0; e < operand.elements; ++e)
      for (unsigned l = 0; l < width; ++l) {
        size_t first = size_t(e / run * run) * width + l, own = size_t(e) * width + l;
        together &= lineOf(own) == lineOf(first) && columnOf(own) == columnOf(first) + e % run;
      }
    if (!together)
      break;
    result.run = run;
  }
  result.runBytes = std::max(1u, result.run * result.bits / 8);
  for (unsigned e = 0; e < operand.elements; e += result.run)
    for (unsigned l = 0; l < width; ++l) {
      result.line.push_back(static_cast<uint16_t>(lineOf(size_t(e) * width + l)));
      result.column.push_back(static_cast<uint16_t>(columnOf(size_t(e) * width + l)));
    }
  return result;
}

/// Copies element bytes of a lane between its registers and a buffer in order of elements.
void moveElements(Warp &warp, const MmaOperand &operand, const std::vector<Reg> &regs, unsigned lane, uint8_t *buffer,
                  bool toBuffer) {
  unsigned bytes = operand.perRegister * mmaBits(operand.type) / 8;
  for (unsigned r = 0; r < operand.registers; ++r) {
    uint8_t *reg = warp.registers + regs[r] + size_t(lane) * bytes, *at = buffer + size_t(r) * bytes;
    std::memcpy(toBuffer ? at : reg, toBuffer ? reg : at, bytes);
  }
}

/// A fragment must begin at a multiple of 32 bytes and its lines be multiples of 16 bytes apart.
void checkFragment(Warp &warp, const Op &op, const WmmaAccess &access) {
  const uint64_t *pointer = warp.reg<uint64_t>(op.a);
  const uint32_t *stride = warp.reg<uint32_t>(op.b);
  unsigned first = firstLane(warp.mask);
  LaneMask others =
      lanesWhere<width>([&](unsigned l) { return pointer[l] != pointer[first] || stride[l] != stride[first]; }) &
      warp.mask;
  Block &block = *warp.block;
  if (others && block.checks(Check::Divergence))
    block.report(ReportKind::Divergence, op.site, warp, firstLane(others),
                 "a matrix with different addresses or strides in the lanes of a warp loaded or stored");
  uint64_t lineBytes = uint64_t(stride[first]) * access.strideBits / 8;
  bool wrong = pointer[first] % 32 != 0 || lineBytes % 16 != 0;
  if (wrong && block.checks(Check::Alignment))
    block.report(ReportKind::Misaligned, op.site, warp, first,
                 "a matrix at a multiple of " + std::to_string(pointer[first] & -pointer[first]) +
                     " bytes with lines " + std::to_string(lineBytes) + " bytes apart accessed",
                 "wmma wants 32-byte aligned matrices whose lines are multiples of 16 bytes apart");
}

} // namespace

const WmmaAccess &wmmaAccess(const MmaRow &row, char which, MmaType type, unsigned registerBytes, bool rowMajor,
                             bool store) {
  using Key = std::tuple<const MmaRow *, char, MmaType, unsigned, bool, bool>;
  static std::mutex mutex;
  static std::map<Key, std::unique_ptr<WmmaAccess>> made;
  std::lock_guard lock(mutex);
  std::unique_ptr<WmmaAccess> &access = made[Key(&row, which, type, registerBytes, rowMajor, store)];
  if (!access)
    access = std::make_unique<WmmaAccess>(makeAccess(row, which, type, registerBytes, rowMajor, store));
  return *access;
}

void accessFragment(Warp &warp, const Op &op) {
  if (!meetWarp(warp, op))
    return;
  const OpOperands &x = *op.x;
  const auto &fragment = *static_cast<const WmmaAccess *>(x.table);
  const MmaOperand &operand = fragment.operand;
  checkFragment(warp, op, fragment);
  constexpr unsigned most = 64; // Bytes of a lane.
  alignas(64) uint8_t buffer[width][most];
  const std::vector<Reg> &regs = fragment.store ? x.in : x.out;
  if (fragment.store)
    forEachLane(warp.mask, [&](unsigned l) { moveElements(warp, operand, regs, l, buffer[l], true); });
  Access access;
  access.size = access.alignment = fragment.runBytes;
  access.site = op.site;
  access.write = fragment.store;
  const uint32_t *stride = warp.reg<uint32_t>(op.b);
  auto runs = static_cast<unsigned>(fragment.line.size() / width);
  for (unsigned i = 0; i < runs; ++i) {
    alignas(64) uint64_t pointer[width];
    uint8_t data[width * 16];
    for (unsigned l = 0; l < width; ++l) {
      uint64_t line = fragment.line[i * width + l], column = fragment.column[i * width + l];
      uint64_t bits = line * stride[l] * fragment.strideBits + column * fragment.bits;
      pointer[l] = warp.reg<uint64_t>(op.a)[l] + bits / 8;
      if (fragment.store)
        std::memcpy(data + l * fragment.runBytes, buffer[l] + i * fragment.runBytes, fragment.runBytes);
    }
    forEachSpace<width>(
        warp, pointer, static_cast<unsigned>(op.imm), [&](Space space, const uint64_t *address, LaneMask lanes) {
          LaneMask ok = warp.block->access(warp, space, address, lanes, access, fragment.store ? data : nullptr);
          forEachLane(lanes, [&](unsigned l) {
            uint8_t *own = buffer[l] + i * fragment.runBytes;
            if (!(ok >> l & 1))
              std::memset(own, untouched, fragment.runBytes);
            else if (uint8_t *memory = warp.block->at(warp, space, l, address[l]); fragment.store)
              std::memcpy(memory, own, fragment.runBytes);
            else
              std::memcpy(own, memory, fragment.runBytes);
          });
        });
  }
  if (!fragment.store)
    forEachLane(warp.mask, [&](unsigned l) { moveElements(warp, operand, regs, l, buffer[l], false); });
}

} // namespace tilejit::sim
