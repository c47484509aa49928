// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Formats what kernels print. Memory is looked at without the checks of an access: a bad pointer is shown as such.

#include "core/PrintHandlers.h"

#include "core/Block.h"
#include "core/Pointers.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace tilejit::sim {

namespace {

constexpr size_t longestString = 4096;

/// Where `size` bytes at a generic address lie in host memory; null where nothing is.
const uint8_t *lookUp(Warp &warp, unsigned lane, uint64_t address, uint32_t size) {
  Block &block = *warp.block;
  Space space = spaceOf(address);
  uint64_t within = address - windowOf(space);
  bool valid = space == Space::Shared  ? block.shared.holds(within, size)
               : space == Space::Local ? within + size <= block.program().localBytes
                                       : block.launch().memory->find(address, size) != nullptr;
  return valid ? block.at(warp, space, lane, within) : nullptr;
}

std::string readString(Warp &warp, unsigned lane, uint64_t address) {
  std::string text;
  for (; text.size() < longestString; ++address) {
    const uint8_t *byte = lookUp(warp, lane, address, 1);
    if (!byte)
      return text.empty() ? "(bad pointer)" : text;
    if (!*byte)
      break;
    text += static_cast<char>(*byte);
  }
  return text;
}

/// A conversion of a format: "%-8.3lld" is "%-8.3" and 'd', with 8 bytes.
struct Specification {
  std::string flags;
  char conversion = 0;
  bool isLong = false;
  unsigned stars = 0;
};

/// Reads a conversion behind its percent sign; `at` is moved past it.
Specification readSpecification(const std::string &format, size_t &at) {
  Specification result;
  result.flags = "%";
  for (; at < format.size(); ++at) {
    char c = format[at];
    if (std::strchr("-+ #0123456789.*", c)) {
      result.flags += c;
      result.stars += c == '*';
    } else if (c == 'l' || c == 'j' || c == 'z' || c == 't') {
      result.isLong = true;
    } else if (c != 'h' && c != 'L') {
      break;
    }
  }
  if (at < format.size())
    result.conversion = format[at++];
  return result;
}

template <class T> std::string print(const std::string &format, T value) {
  char buffer[512];
  int length = std::snprintf(buffer, sizeof buffer, format.c_str(), value);
  return std::string(buffer, static_cast<size_t>(std::clamp(length, 0, int(sizeof buffer) - 1)));
}

/// Where values come from: `isLong` 8 bytes, else 4; doubles and pointers are long.
using NextValue = std::function<uint64_t(bool isLong)>;

std::string formatMessage(Warp &warp, unsigned lane, const std::string &format, const NextValue &next, int &count) {
  std::string text;
  for (size_t at = 0; at < format.size();) {
    char c = format[at++];
    if (c != '%') {
      text += c;
      continue;
    }
    Specification spec = readSpecification(format, at);
    if (spec.conversion == '%') {
      text += '%';
      continue;
    }
    for (; spec.stars; --spec.stars, ++count) {
      auto width = static_cast<int32_t>(next(false));
      spec.flags.replace(spec.flags.find('*'), 1, std::to_string(width));
    }
    ++count;
    std::string flags = spec.flags;
    if (std::strchr("fFeEgGaA", spec.conversion)) {
      uint64_t bits = next(true);
      double value;
      std::memcpy(&value, &bits, 8);
      text += print(flags + spec.conversion, value);
    } else if (spec.conversion == 's') {
      text += print(flags + 's', readString(warp, lane, next(true)).c_str());
    } else if (spec.conversion == 'p') {
      text += print(std::string("%p"), reinterpret_cast<void *>(next(true)));
    } else if (spec.conversion == 'c') {
      text += print(flags + 'c', static_cast<int>(next(false)));
    } else if (std::strchr("diuxXo", spec.conversion) && spec.conversion) {
      uint64_t bits = next(spec.isLong);
      bool isSigned = spec.conversion == 'd' || spec.conversion == 'i';
      if (isSigned)
        text += print(flags + "lld", spec.isLong ? static_cast<long long>(bits) : static_cast<int32_t>(bits));
      else
        text += print(flags + "ll" + spec.conversion,
                      static_cast<unsigned long long>(spec.isLong ? bits : static_cast<uint32_t>(bits)));
    } else {
      text += flags + spec.conversion;
    }
  }
  return text;
}

template <unsigned W> void printPacked(Warp &warp, const Op &op) {
  const uint64_t *format = warp.reg<uint64_t>(op.a), *values = warp.reg<uint64_t>(op.b);
  auto *result = warp.reg<int32_t>(op.d);
  forEachLane(warp.mask, [&](unsigned l) {
    uint64_t at = values[l];
    int count = 0;
    NextValue next = [&](bool isLong) {
      uint32_t size = isLong ? 8 : 4;
      at = (at + size - 1) / size * size;
      const uint8_t *bytes = lookUp(warp, l, at, size);
      uint64_t value = 0;
      if (bytes)
        std::memcpy(&value, bytes, size);
      at += size;
      return value;
    };
    warp.block->printed += formatMessage(warp, l, readString(warp, l, format[l]), next, count);
    result[l] = count;
  });
}

/// HIP's message: the first string is the format; later ones are its %s.
struct Message {
  std::optional<std::string> format;
  struct Value {
    bool isString;
    uint64_t bits;
    std::string text;
  };
  std::vector<Value> values;
};

/// Messages that are being put together, of all launches: descriptors are their numbers, so that a wrong one does no
/// harm.
class Messages {
public:
  uint64_t open() {
    std::lock_guard lock(mutex_);
    open_[++last_];
    return last_;
  }
  /// Takes a message out; an unknown one is empty.
  Message take(uint64_t descriptor) {
    std::lock_guard lock(mutex_);
    auto found = open_.find(descriptor);
    if (found == open_.end())
      return {};
    Message message = std::move(found->second);
    open_.erase(found);
    return message;
  }
  void put(uint64_t descriptor, Message message) {
    std::lock_guard lock(mutex_);
    open_[descriptor] = std::move(message);
  }

private:
  std::mutex mutex_;
  std::map<uint64_t, Message> open_;
  uint64_t last_ = 0;
};
Messages &messages() {
  static Messages all;
  return all;
}

/// Keeps a message for its next piece, or prints it when `last` says so.
uint64_t goOn(Warp &warp, unsigned lane, uint64_t descriptor, Message message, bool last) {
  if (!last) {
    messages().put(descriptor, std::move(message));
    return descriptor;
  }
  size_t at = 0;
  int count = 0;
  std::string format = message.format.value_or(""), pieces;
  // Strings were copied into the message: they are put into the format before the numbers are.
  for (size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      pieces += format[i++];
      continue;
    }
    size_t begin = i++;
    Specification spec = readSpecification(format, i);
    bool known = at < message.values.size();
    if (spec.conversion == 's' && known && message.values[at].isString) {
      for (char c : print(spec.flags + 's', message.values[at].text.c_str()))
        pieces += c == '%' ? std::string("%%") : std::string(1, c);
      message.values.erase(message.values.begin() + static_cast<ptrdiff_t>(at));
      continue;
    }
    pieces += format.substr(begin, i - begin);
    at += spec.conversion != '%' ? 1 + spec.stars : 0;
  }
  size_t used = 0;
  NextValue next = [&](bool) { return used < message.values.size() ? message.values[used++].bits : 0; };
  warp.block->printed += formatMessage(warp, lane, pieces, next, count);
  return 0;
}

template <unsigned W> void printBegin(Warp &warp, const Op &op) {
  auto *d = warp.reg<uint64_t>(op.d);
  forEachLane(warp.mask, [&](unsigned l) { d[l] = messages().open(); });
}

template <unsigned W> void printString(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const uint64_t *descriptor = warp.reg<uint64_t>(x.in[0]), *address = warp.reg<uint64_t>(x.in[1]);
  const uint64_t *length = warp.reg<uint64_t>(x.in[2]);
  const uint32_t *last = warp.reg<uint32_t>(x.in[3]);
  auto *d = warp.reg<uint64_t>(x.out[0]);
  forEachLane(warp.mask, [&](unsigned l) {
    Message message = messages().take(descriptor[l]);
    std::string text = readString(warp, l, address[l]).substr(0, length[l]);
    if (!message.format)
      message.format = text;
    else
      message.values.push_back({true, 0, text});
    d[l] = goOn(warp, l, descriptor[l], std::move(message), last[l]);
  });
}

template <unsigned W> void printValues(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  const uint64_t *descriptor = warp.reg<uint64_t>(x.in[0]);
  const uint32_t *count = warp.reg<uint32_t>(x.in[1]), *last = warp.reg<uint32_t>(x.in.back());
  auto *d = warp.reg<uint64_t>(x.out[0]);
  forEachLane(warp.mask, [&](unsigned l) {
    Message message = messages().take(descriptor[l]);
    for (size_t i = 0; i < count[l] && 2 + i + 1 < x.in.size(); ++i)
      message.values.push_back({false, warp.reg<uint64_t>(x.in[2 + i])[l], {}});
    d[l] = goOn(warp, l, descriptor[l], std::move(message), last[l]);
  });
}

template <unsigned W> void assertFail(Warp &warp, const Op &op) {
  const OpOperands &x = *op.x;
  unsigned lane = firstLane(warp.mask);
  std::string strings[3] = {"assertion", "", ""}, line;
  unsigned found = 0;
  for (size_t i = 0; i < x.in.size(); ++i) {
    if (x.inKinds[i] == Kind::Pointer && found < 3)
      strings[found++] = readString(warp, lane, warp.reg<uint64_t>(x.in[i])[lane]);
    else if (x.inKinds[i] == Kind::I32 && line.empty())
      line = std::to_string(warp.reg<uint32_t>(x.in[i])[lane]);
  }
  std::string place = strings[1].empty() ? "" : " at " + strings[1] + (line.empty() ? "" : ":" + line);
  warp.block->report(ReportKind::Assert, op.site, warp, lane,
                     "assertion failed: " + strings[0] + place + (strings[2].empty() ? "" : " in " + strings[2]) + ",",
                     "the kernel found its own condition violated");
  warp.block->trap(warp);
}

} // namespace

#define TILEJIT_BOTH(name) (width == 64 ? &name<64> : &name<32>)
Handler printPackedHandler(unsigned width) { return TILEJIT_BOTH(printPacked); }
Handler printBeginHandler(unsigned width) { return TILEJIT_BOTH(printBegin); }
Handler printStringHandler(unsigned width) { return TILEJIT_BOTH(printString); }
Handler printValuesHandler(unsigned width) { return TILEJIT_BOTH(printValues); }
Handler assertHandler(unsigned width) { return TILEJIT_BOTH(assertFail); }
#undef TILEJIT_BOTH

} // namespace tilejit::sim
