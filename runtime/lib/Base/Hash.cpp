// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Hashes by xxhash (inlined) and libsodium.

#include "tilejit/Base/Hash.h"

#include "tilejit/Base/Bytes.h"

#define XXH_INLINE_ALL
#include <sodium/crypto_generichash_blake2b.h>
#include <xxhash.h>

#include <algorithm>

namespace tilejit {

Checksum checksum(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

Digest digest(std::string_view bytes) {
  Digest result;
  // Needs no sodium_init(): that only picks a faster variant, and would be global state. It can't fail for this length.
  crypto_generichash_blake2b(result.bytes.data(), result.bytes.size(),
                             reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(), nullptr, 0);
  return result;
}

std::string Digest::hex() const {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

bool isDigestText(std::string_view text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

KeyHasher &KeyHasher::add(std::string_view name, std::string_view text) {
  bytes_ += ByteWriter().u8('t').text(name).text(text).result();
  return *this;
}

KeyHasher &KeyHasher::add(std::string_view name, int64_t number) {
  bytes_ += ByteWriter().u8('i').text(name).i64(number).result();
  return *this;
}

} // namespace tilejit
