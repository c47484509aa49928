// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bytes, hashes and small text helpers.

#include "tilejit/Base/Bytes.h"
#include "tilejit/Base/Hash.h"
#include "tilejit/Base/Text.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace tilejit;

TEST_CASE("bytes are little-endian and come back", "[bytes]") {
  ByteWriter out;
  out.u8(1).u32(0x04030201).u64(0x0807060504030201).i64(-2).f64(-0.0).text("abc");
  CHECK(out.result().substr(1, 4) == "\x01\x02\x03\x04");
  ByteReader in(out.result());
  CHECK(in.u8() == 1);
  CHECK(in.u32() == 0x04030201);
  CHECK(in.u64() == 0x0807060504030201);
  CHECK(in.i64() == -2);
  CHECK(std::signbit(in.f64()));
  CHECK(in.text() == "abc");
  CHECK(in.finished());
  CHECK(in.u8() == 0);
  CHECK(in.failed());
}

TEST_CASE("a reader never trusts a length", "[bytes]") {
  std::string huge = ByteWriter().u64(std::numeric_limits<uint64_t>::max()).bytes("abc").result();
  ByteReader text(huge);
  CHECK(text.text().empty());
  CHECK(text.failed());
  std::string many = ByteWriter().u32(0xFFFFFFFF).bytes("abc").result();
  ByteReader count(many);
  CHECK(count.count(1) == 0);
  CHECK(count.failed());
  CHECK_FALSE(count.finished());
}

TEST_CASE("digests have the values of their definitions", "[hash]") {
  CHECK(digest("abc").hex() == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  CHECK(digest("").hex() == "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  CHECK(checksum("") == Checksum{0x6001c324468d497f, 0x99aa06d3014798d8});
  CHECK(isDigestText(digest("x").hex()));
  CHECK_FALSE(isDigestText(digest("x").hex() + "0"));
  CHECK_FALSE(isDigestText(std::string(64, 'A')));
}

TEST_CASE("no two lists of fields hash alike by moving text between them", "[hash]") {
  auto hex = [](const KeyHasher &hasher) { return hasher.finish().hex(); };
  CHECK(hex(KeyHasher().add("a", "bc")) != hex(KeyHasher().add("ab", "c")));
  CHECK(hex(KeyHasher().add("a", "b").add("c", "d")) != hex(KeyHasher().add("a", "bcd")));
  CHECK(hex(KeyHasher().add("a", "1")) != hex(KeyHasher().add("a", int64_t{1})));
  CHECK(hex(KeyHasher().add("a", "b").add("c", "d")) != hex(KeyHasher().add("c", "d").add("a", "b")));
  CHECK(hex(KeyHasher().add("a", "b")) == hex(KeyHasher().add("a", "b")));
}

TEST_CASE("text is shortened to one line", "[text]") {
  CHECK(shorten("short") == "short");
  CHECK(shorten("two\nlines") == "two\\x0alines");
  for (size_t length : {81, 1000, 1'000'000}) {
    std::string text = shorten(std::string(length, 'a') + "z");
    CHECK(text.size() == 80);
    CHECK(text.ends_with("z"));
  }
  // Three-byte characters are not cut in two.
  std::string wide;
  for (int i = 0; i < 100; ++i)
    wide += "\xE6\xB1\x89";
  std::string cut = shorten(wide);
  CHECK(cut.size() <= 80);
  CHECK(quoteJson(cut).find("\xEF\xBF\xBD") == std::string::npos);
}

TEST_CASE("JSON strings are valid whatever is in them", "[text]") {
  CHECK(quoteJson("a\"b\\c\n\x01") == "\"a\\\"b\\\\c\\n\\u0001\"");
  CHECK(quoteJson("\xE6\xB1\x89") == "\"\xE6\xB1\x89\"");
  CHECK(quoteJson("\xFF") == "\"\xEF\xBF\xBD\"");
  CHECK(quoteJson("\xED\xA0\x80") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST_CASE("numbers, sizes and durations", "[text]") {
  CHECK(parseInteger("-12") == -12);
  for (const char *bad : {"", " 1", "1 ", "0x1", "1.0", "+1", "99999999999999999999"})
    CHECK_FALSE(parseInteger(bad));
  CHECK(parseSize("10G") == int64_t{10} << 30);
  CHECK(parseSize("64kiB") == 64 << 10);
  CHECK(parseSize("100") == 100);
  for (const char *bad : {"", "G", "-1", "1.5G", "9999999999T", "1X", "B"})
    CHECK_FALSE(parseSize(bad));
  CHECK(parseDuration("30d") == 30 * 86400);
  CHECK(parseDuration("90") == 90);
  for (const char *bad : {"", "d", "-1d", "1y", "9999999999999999w"})
    CHECK_FALSE(parseDuration(bad));
  CHECK(formatSize(1536) == "1.5 KiB");
  CHECK(formatSize(7) == "7 bytes");
}

TEST_CASE("mistyped names find their neighbours", "[text]") {
  std::vector<std::string_view> known = {"cache_dir", "target", "log_level"};
  CHECK(nearestName("cache_dri", known) == "cache_dir");
  CHECK(nearestName("tagret", known) == "target");
  CHECK(nearestName("something else", known).empty());
}
