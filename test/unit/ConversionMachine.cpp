// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The machine: see the header.

#include "ConversionMachine.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace tilejit::tilegpu::test {

namespace {

using Value = int64_t; ///< The flat number of an element.
constexpr Value kNothing = -1;
using Registers = std::vector<Value>;

struct Cell {
  Value value = kNothing;
  size_t writer = 0; ///< Warp.
};

class Machine {
public:
  Machine(const ConversionPlan &plan, const LinearLayout &from, const LinearLayout &to,
          const ConversionOptions &options)
      : plan_(plan), from_(from), to_(to), options_(options), laneBits_(from.inBits(kLane)),
        lanes_(size_t(1) << laneBits_), threads_(lanes_ << from.inBits(kWarp)) {
    const LinearLayout ordered = from.withIns({kRegister, kLane, kWarp});
    for (size_t t = 0; t < threads_; ++t) {
      Registers all = held(ordered, t);
      source_.emplace_back();
      for (unsigned r : plan.from.kept)
        source_.back().push_back(all[r]);
    }
    result_.assign(threads_, Registers(size_t(1) << plan.to.layout.inBits(kRegister), kNothing));
  }

  std::string run() {
    std::visit([&](const auto &move) { carryOut(move); }, plan_.move);
    const LinearLayout ordered = to_.withIns({kRegister, kLane, kWarp});
    for (size_t t = 0; t < threads_ && error_.empty(); ++t) {
      const Registers wanted = held(ordered, t);
      for (size_t r = 0; r < wanted.size(); ++r)
        if (result_[t][plan_.to.index[r]] != wanted[r])
          fail("thread " + std::to_string(t) + " register " + std::to_string(r) + " has another element");
    }
    return error_;
  }

private:
  void fail(const std::string &text) {
    if (error_.empty())
      error_ = text;
  }

  /// What a thread's registers hold by a layout over register, lane, warp.
  static Registers held(const LinearLayout &ordered, size_t thread) {
    const int bits = ordered.ins().front().bits;
    Registers registers;
    for (uint64_t r = 0; r < uint64_t(1) << bits; ++r)
      registers.push_back(static_cast<Value>(ordered.apply(thread << bits | r)));
    return registers;
  }

  static void select(const std::vector<Select> &selects, size_t thread, Registers &values) {
    for (const Select &s : selects)
      if (gf2::parity(s.threadMask & thread)) {
        Registers old = values;
        for (size_t q = 0; q < values.size(); ++q)
          values[q] = old[q ^ s.exchange];
      }
  }

  // --- In registers
  // ----------------------------------------------------------------------------------------------------

  void carryOut(const NoMove &) { result_ = source_; }

  void carryOut(const RegisterMove &move) {
    for (size_t t = 0; t < threads_; ++t) {
      Registers s = source_[t];
      select(move.selects, t, s);
      for (size_t q = 0; q < result_[t].size(); ++q)
        result_[t][q] = s[move.source[q]];
    }
  }

  void carryOut(const Impossible &move) { fail("impossible: " + move.reason); }

  // --- Shuffles
  // --------------------------------------------------------------------------------------------------------

  void carryOut(const ShuffleMove &move) {
    if (move.elementsPerWord > 1 && move.elementsPerWord * options_.elementBits > 32)
      fail("a word of more than 32 bits");
    // Words are named by a number; their contents are kept aside.
    std::vector<std::vector<Registers>> words(threads_), received(threads_);
    for (size_t t = 0; t < threads_; ++t) {
      std::vector<Registers> packed;
      for (const std::vector<unsigned> &word : move.sourceWords) {
        packed.emplace_back();
        for (unsigned r : word)
          packed.back().push_back(source_[t][r]);
      }
      words[t] = selected(move.before, t, std::move(packed));
      received[t].resize(move.rounds.size());
    }
    int shuffles = 0;
    for (size_t k = 0; k < move.rounds.size(); ++k) {
      const ShuffleRound &round = move.rounds[k];
      shuffles += round.isOwn ? 0 : std::max(1, options_.elementBits / 32);
      for (size_t t = 0; t < threads_; ++t) {
        const uint64_t lane = gf2::combine(move.partner, t) ^ round.laneXor;
        if (lane >= lanes_ || (round.isOwn && lane != t % lanes_))
          return fail("a lane out of place");
        received[t][k] = words[t / lanes_ * lanes_ + lane][round.word];
      }
    }
    if (shuffles != move.shuffles)
      fail("another number of shuffles");
    for (size_t t = 0; t < threads_; ++t) {
      const std::vector<Registers> sorted = selected(move.after, t, received[t]);
      for (size_t k = 0; k < sorted.size(); ++k)
        for (size_t i = 0; i < sorted[k].size(); ++i)
          result_[t][move.resultWords[k][i]] = sorted[k][i];
      select(move.within, t, result_[t]);
    }
  }

  static std::vector<Registers> selected(const std::vector<Select> &selects, size_t thread,
                                         std::vector<Registers> words) {
    Registers order(words.size());
    for (size_t w = 0; w < words.size(); ++w)
      order[w] = static_cast<Value>(w);
    select(selects, thread, order);
    std::vector<Registers> result;
    for (Value w : order)
      result.push_back(words[static_cast<size_t>(w)]);
    return result;
  }

  // --- Memory
  // ----------------------------------------------------------------------------------------------------------

  void carryOut(const SharedMove &move) {
    if (options_.maxBytes != 0 && move.bytes > options_.maxBytes)
      return fail("more memory than allowed");
    for (size_t t = 0; t < threads_; ++t)
      select(move.store.selects, t, source_[t]);
    for (size_t pass = 0; pass < static_cast<size_t>(move.passes); ++pass)
      carryOut(move, pass);
    for (size_t t = 0; t < threads_; ++t)
      select(move.load.selects, t, result_[t]);
    checkWavefronts(move.store, true);
    checkWavefronts(move.load, false);
  }

  void carryOut(const SharedMove &move, size_t pass) {
    std::vector<Cell> memory(move.bytes * 8 / static_cast<uint64_t>(options_.elementBits));
    if (memory.size() != size_t(1) << move.memory.inBits())
      return fail("another number of bytes");
    const auto groups = [&](const MemoryAccess &access) {
      const size_t count = access.groups.size() / static_cast<size_t>(move.passes);
      return std::span(access.groups).subspan(pass * count, count);
    };
    walk(move.store, groups(move.store), source_, [&](Value &value, size_t offset, size_t thread) {
      if (memory[offset].value != kNothing)
        fail("two writers of offset " + std::to_string(offset));
      memory[offset] = {value, thread / lanes_};
      if (pass == 0 && static_cast<Value>(move.memory.apply(offset)) != value)
        fail("memory does not hold what its layout says");
    });
    walk(move.load, groups(move.load), result_, [&](Value &value, size_t offset, size_t thread) {
      if (memory[offset].value == kNothing)
        fail("nobody wrote offset " + std::to_string(offset));
      if (move.withinWarp && memory[offset].writer != thread / lanes_)
        fail("a warp reads what another wrote");
      value = memory[offset].value;
    });
  }

  uint64_t address(const MemoryAccess &access, const AccessGroup &group, size_t thread) const {
    return gf2::combine(access.threadOffset, thread) ^ group.offset;
  }
  bool takesPart(const MemoryAccess &access, size_t thread) const { return (access.writeMask & thread) == 0; }

  /// Calls touch(register, offset, thread) for all that an access moves.
  template <typename Touch>
  void walk(const MemoryAccess &access, std::span<const AccessGroup> groups, std::vector<Registers> &registers,
            const Touch &touch) {
    const bool isMatrix = access.matrices > 0;
    const auto vector = static_cast<size_t>(access.vectorElements);
    for (const AccessGroup &group : groups)
      for (size_t t = 0; t < threads_; ++t) {
        if (!takesPart(access, t))
          continue;
        if (isMatrix) {
          walkMatrix(access, group, t, registers, touch);
          continue;
        }
        const uint64_t start = address(access, group, t);
        if (start % vector != 0 || group.registers.size() != vector)
          return fail("an access is not aligned");
        for (size_t i = 0; i < vector; ++i)
          touch(registers[t][group.registers[i]], start + i, t);
      }
  }

  /// PTX ISA, ldmatrix: lane 8q + r has the address of row r of matrix q.
  template <typename Touch>
  void walkMatrix(const MemoryAccess &access, const AccessGroup &group, size_t t, std::vector<Registers> &registers,
                  const Touch &touch) {
    const size_t warp = t / lanes_ * lanes_, lane = t % lanes_;
    const auto perWord = static_cast<size_t>(32 / options_.elementBits), row = 4 * perWord;
    if (group.registers.size() != perWord * static_cast<size_t>(access.matrices))
      return fail("a matrix access with another number of registers");
    for (size_t q = 0; q < static_cast<size_t>(access.matrices); ++q)
      for (size_t h = 0; h < perWord; ++h) {
        const bool transposed = access.kind == SharedAccess::MatrixLoadTransposed;
        const size_t r = transposed ? 2 * (lane % 4) + h : lane / 4, c = transposed ? lane / 4 : lane % 4 * perWord + h;
        const uint64_t start = address(access, group, warp + 8 * q + r);
        if (start % row != 0)
          return fail("a matrix row is not aligned");
        touch(registers[t][group.registers[q * perWord + h]], start + c, t);
      }
  }

  void checkWavefronts(const MemoryAccess &access, bool isStore) {
    const BankModel &banks = *options_.banks;
    countWavefronts(access, isStore ? banks.store : banks.load, access.wavefronts);
    countWavefronts(access, isStore ? banks.store : banks.loadElse, access.wavefrontsElse);
  }

  /// Counts the wavefronts of warp 0 word by word.
  void countWavefronts(const MemoryAccess &access, const Phases &phases, int64_t expected) {
    const int bytes = access.vectorElements * options_.elementBits / 8;
    const std::span<const uint64_t> stepsOfPhase = phases.ofBytes(bytes);
    const gf2::Vectors steps(stepsOfPhase.begin(), stepsOfPhase.end());
    int64_t wavefronts = 0, ideal = 0;
    std::map<uint64_t, std::vector<size_t>> lanesOfPhase;
    for (size_t lane = 0; lane < lanes_; ++lane) {
      uint64_t least = lane; // The phase, by its lowest lane.
      for (uint64_t i = 0; i < uint64_t(1) << steps.size(); ++i)
        least = std::min(least, lane ^ gf2::combine(steps, i));
      if (access.matrices > 0 ? lane < static_cast<size_t>(8 * access.matrices) : takesPart(access, lane))
        lanesOfPhase[access.matrices > 0 ? lane / 8 : least].push_back(lane);
    }
    for (const AccessGroup &group : access.groups)
      for (const auto &[phase, lanes] : lanesOfPhase) {
        ++ideal;
        wavefronts += passes(access, group, lanes, bytes);
      }
    if (wavefronts != expected || ideal != access.idealWavefronts)
      fail("another number of wavefronts: " + std::to_string(wavefronts) + "/" + std::to_string(ideal));
  }

  int64_t passes(const MemoryAccess &access, const AccessGroup &group, const std::vector<size_t> &lanes,
                 int bytes) const {
    std::map<uint64_t, std::set<uint64_t>> wordsOfBank;
    for (size_t lane : lanes) {
      const uint64_t first = address(access, group, lane) * static_cast<uint64_t>(options_.elementBits) / 8;
      for (uint64_t word = first / 4; word <= (first + static_cast<uint64_t>(bytes) - 1) / 4; ++word)
        wordsOfBank[word % static_cast<uint64_t>(options_.banks->banks)].insert(word);
    }
    size_t most = 0;
    for (const auto &[bank, words] : wordsOfBank)
      most = std::max(most, words.size());
    return static_cast<int64_t>(most);
  }

  const ConversionPlan &plan_;
  const LinearLayout &from_, &to_;
  const ConversionOptions &options_;
  int laneBits_;
  size_t lanes_, threads_;
  std::vector<Registers> source_, result_;
  std::string error_;
};

} // namespace

std::string carryOut(const ConversionPlan &plan, const LinearLayout &from, const LinearLayout &to,
                     const ConversionOptions &options) {
  return Machine(plan, from, to, options).run();
}

} // namespace tilejit::tilegpu::test
