// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Two hashes for two purposes: checksum() (XXH3, 128 bits) finds damage and is as fast as memory; Digest (BLAKE2b, 256
// bits) names things so that nobody can make two of one name. KeyHasher feeds the second with typed, length-prefixed
// fields, so that no two different lists of fields give the same bytes.

#ifndef TILEJIT_BASE_HASH_H
#define TILEJIT_BASE_HASH_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilejit {

/// 128 bits against damage, not against malice.
struct Checksum {
  uint64_t low = 0, high = 0;

  bool operator==(const Checksum &) const = default;
};
Checksum checksum(std::string_view bytes);

/// 256 bits of BLAKE2b.
struct Digest {
  std::array<uint8_t, 32> bytes{};

  /// 64 lower-case hexadecimal digits.
  std::string hex() const;
  bool operator==(const Digest &) const = default;
};
Digest digest(std::string_view bytes);
/// Whether a text is 64 lower-case hexadecimal digits.
bool isDigestText(std::string_view text);

/// Collects named fields and hashes their encoding: type, length and bytes of each name and value, in order.
class KeyHasher {
public:
  KeyHasher &add(std::string_view name, std::string_view text);
  KeyHasher &add(std::string_view name, int64_t number);

  Digest finish() const { return digest(bytes_); }

private:
  std::string bytes_;
};

} // namespace tilejit

#endif // TILEJIT_BASE_HASH_H
