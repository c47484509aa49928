// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// .npy files: what is written is read back, what NumPy writes is understood, what pretends is refused.

#include "tilejit/Base/Float.h"
#include "tilejit/Reference/Npy.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilejit;
namespace fs = std::filesystem;

namespace {

/// A folder that lives as long as a test.
struct Scratch {
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "tilejit-npy-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Scratch() { fs::remove_all(path); }
  std::string file(const std::string &name) const { return (path / name).string(); }
  std::string put(const std::string &name, const std::string &content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }
  fs::path path;
};

std::string raw(const std::string &dictionary, int version = 1) {
  std::string text = dictionary + "\n", header("\x93NUMPY", 6);
  header += static_cast<char>(version);
  header += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    header += static_cast<char>(text.size() >> 8 * i & 0xff);
  return header + text;
}

std::string dictionary(const std::string &descr, const std::string &shape, const std::string &order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

template <typename T> std::string bytesOf(std::initializer_list<T> values) {
  std::string bytes;
  for (T value : values)
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  return bytes;
}

HostTensor counting(DType dtype, std::vector<int64_t> shape) {
  HostTensor tensor = *HostTensor::allocate(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    storeDouble(tensor.element(i), dtype, static_cast<double>(i % 7));
  return tensor;
}

} // namespace

TEST_CASE("every type and rank survives a file") {
  Scratch scratch;
  for (DType dtype : allDTypes())
    for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {5}, {3, 4}, {2, 0, 3}, {2, 3, 1, 5}}) {
      INFO(dtypeName(dtype) << " " << tensorShapeText(shape));
      HostTensor tensor = counting(dtype, shape);
      REQUIRE(writeNpy(scratch.file("x.npy"), tensor).isOk());
      Expected<HostTensor> back = readNpy(scratch.file("x.npy"), dtype, shape);
      REQUIRE(back.isOk());
      CHECK(back->shape() == shape);
      CHECK(std::equal(back->bytes().begin(), back->bytes().end(), tensor.bytes().begin(), tensor.bytes().end()));
      CHECK(readNpyHeader(scratch.file("x.npy"))->shape == shape);
      CHECK(readNpyHeader(scratch.file("x.npy"))->dataOffset % 64 == 0);
    }
  CHECK(std::distance(fs::directory_iterator(scratch.path), {}) == 1); // No temporary file stays.
}

TEST_CASE("Fortran order becomes row-major") {
  Scratch scratch;
  std::string two = scratch.put("f", raw(dictionary("<f4", "(2, 3)", "True")) + bytesOf<float>({0, 3, 1, 4, 2, 5}));
  HostTensor tensor = *readNpy(two, DType::F32);
  for (int64_t i = 0; i < 6; ++i)
    CHECK(loadAsDouble(tensor.element(i), DType::F32) == static_cast<double>(i));

  // Element (i, j, k, l) of shape (2, 3, 4, 5) holds its row-major place.
  std::string data;
  for (int l = 0; l < 5; ++l)
    for (int k = 0; k < 4; ++k)
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 2; ++i)
          data += bytesOf<int16_t>({static_cast<int16_t>(((i * 3 + j) * 4 + k) * 5 + l)});
  tensor = *readNpy(scratch.put("g", raw(dictionary("<i2", "(2, 3, 4, 5)", "True")) + data), DType::I16);
  for (int64_t i = 0; i < 120; ++i)
    CHECK(loadAsInteger(tensor.element(i), DType::I16) == i);
}

TEST_CASE("versions 2 and 3 and odd but legal headers are read") {
  Scratch scratch;
  std::string data = bytesOf<float>({1, 2, 3});
  for (int version : {1, 2, 3})
    CHECK(readNpy(scratch.put("v", raw(dictionary("<f4", "(3,)"), version) + data), DType::F32).isOk());
  for (const char *text : {"{\"shape\":(3,),\"descr\":\"<f4\",\"fortran_order\":False}",
                           "{'descr': '=f4', 'fortran_order': True, 'shape': (3L,), }     ",
                           "{ 'fortran_order' : False , 'shape' : ( 3 , ) , 'descr' : 'f4' }"})
    CHECK(readNpy(scratch.put("v", raw(text) + data), DType::F32).isOk());
}

TEST_CASE("spellings of the types that NumPy lacks") {
  Scratch scratch;
  for (const char *descr : {"<V2", "|V2", "<u2", "u2"})
    CHECK(readNpy(scratch.put("b", raw(dictionary(descr, "(1,)")) + bytesOf<uint16_t>({0x3f80})), DType::BF16).isOk());
  for (const char *descr : {"<V1", "|V1", "|u1", "<f1"})
    CHECK(readNpy(scratch.put("b", raw(dictionary(descr, "(1,)")) + "x"), DType::F8E5M2).isOk());
  CHECK_FALSE(readNpy(scratch.put("b", raw(dictionary("<f1", "(1,)")) + "x"), DType::F8E4M3FN).isOk());
  CHECK_FALSE(readNpy(scratch.put("b", raw(dictionary(">V2", "(1,)")) + "xx"), DType::BF16).isOk());
  CHECK(readNpy(scratch.put("b", raw(dictionary(">i1", "(1,)")) + "x"), DType::I8).isOk());
  CHECK(npySpelling(DType::BF16) == "<V2");
  CHECK(npySpelling(DType::F8E5M2) == "<f1");
  CHECK(npySpelling(DType::F8E4M3FN) == "<V1");
  for (DType dtype : allDTypes())
    CHECK(npySpellingFits(npySpelling(dtype), dtype));
}

TEST_CASE("narrow elements get one spelling in memory") {
  Scratch scratch;
  HostTensor tensor = *readNpy(scratch.put("i", raw(dictionary("|V1", "(2,)")) + "\x0f\x07"), DType::I4);
  CHECK(loadAsInteger(tensor.element(0), DType::I4) == -1);
  CHECK(loadAsInteger(tensor.element(1), DType::I4) == 7);
  Expected<HostTensor> wide = readNpy(scratch.put("i", raw(dictionary("|i1", "(2,)")) + "\x07\x64"), DType::I4);
  REQUIRE_FALSE(wide.isOk());
  CHECK_THAT(wide.status().message(), Catch::Contains("element 1 is 100, expected -8 to 7"));
  tensor = *readNpy(scratch.put("t", raw(dictionary("|b1", "(3,)")) + std::string("\x00\x01\x80", 3)), DType::Bool);
  CHECK(static_cast<int>(*tensor.element(2)) == 1);
}

TEST_CASE("a shape or dtype that does not fit is refused with both") {
  Scratch scratch;
  std::string path = scratch.put("s", raw(dictionary("<f4", "(5, 6)")) + std::string(120, '\0'));
  std::vector<int64_t> wanted{4, 6};
  Status status = readNpy(path, DType::F32, wanted).status();
  CHECK(status.code() == StatusCode::InvalidArgument);
  CHECK_THAT(status.message(), Catch::Contains(path) && Catch::Contains("(5, 6)") && Catch::Contains("(4, 6)"));
  CHECK_THAT(readNpy(path, DType::I32).status().message(), Catch::Contains("'<f4'") && Catch::Contains("'<i4'"));
}

TEST_CASE("files that pretend are refused in one line that names them") {
  Scratch scratch;
  std::string data(96, '\0'), good = raw(dictionary("<f4", "(4, 6)"));
  std::vector<std::string> contents = {
      "",
      "hello world, this is text",
      good.substr(0, 6),
      good.substr(0, 9),
      good.substr(0, 40),
      good,
      good + data.substr(1),
      good + data + "x",
      raw(dictionary("<f4", "(4, 6)"), 9) + data,
      std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + good,
      raw(dictionary("<f8", "(4, 6)")) + data + data,
      raw(dictionary(">f4", "(4, 6)")) + data,
      raw(dictionary("|O", "(4, 6)")) + data,
      raw(dictionary("<U4", "(4, 6)")) + data,
      raw(dictionary("|V4", "(4, 6)")) + data,
      raw(dictionary("<f4", "(-4, 6)")) + data,
      raw(dictionary("<f4", "(4 6)")) + data,
      raw(dictionary("<f4", "(24)")) + data,
      raw(dictionary("<f4", "[4, 6]")) + data,
      raw(dictionary("<f4", "(4.0, 6)")) + data,
      raw(dictionary("<f4", "(1000000000, 1000000000)")) + data,
      raw(dictionary("<f4", "(8589934592, 8589934592)")) + data,
      raw(dictionary("<f4", "(99999999999999999999999999, 6)")) + data,
      raw(dictionary("<f4", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,4,6)")) + data,
      raw(dictionary("<f4", "(4, 6)", "7")) + data,
      raw("__import__('os').system('true')") + data,
      raw(std::string(20000, '(') + std::string(20000, ')')) + data,
      raw("{'descr': '<f4', 'fortran_order': False, }") + data,
      raw("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4, 6), }") + data,
      raw("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 6), 'x': 1}") + data,
      raw("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (4, 6), }") + data,
      raw(dictionary("<f4", "(4, 6)") + " + 1") + data,
      raw("{'descr': '<f4\\x41', 'fortran_order': False, 'shape': (4, 6), }") + data,
  };
  for (const std::string &content : contents) {
    std::string path = scratch.put("hostile.npy", content);
    Status status = readNpy(path, DType::F32).status();
    INFO(content.substr(0, 100));
    CHECK(status.code() == StatusCode::InvalidArgument);
    CHECK_THAT(status.message(), Catch::Contains(path) && !Catch::Contains("\n"));
    CHECK(status.message().size() < 400 + path.size());
  }
}

TEST_CASE("any single flipped or missing byte of a header is harmless") {
  Scratch scratch;
  std::string good = raw(dictionary("<f4", "(4, 6)"));
  for (size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = good;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      (void)parseNpyHeader(changed);
      (void)parseNpyHeader(std::string_view(changed).substr(0, i));
    }
}

TEST_CASE("paths that are no files are refused without waiting") {
  Scratch scratch;
  CHECK(readNpy(scratch.file("absent.npy"), DType::F32).status().code() == StatusCode::NotFound);
  CHECK_FALSE(readNpy(scratch.path.string(), DType::F32).isOk());
  CHECK_FALSE(readNpy("/dev/zero", DType::F32).isOk());
  REQUIRE(::mkfifo(scratch.file("pipe").c_str(), 0600) == 0);
  CHECK_FALSE(readNpy(scratch.file("pipe"), DType::F32).isOk());
}

TEST_CASE("an output that can't be written is refused beforehand") {
  Scratch scratch;
  CHECK(checkWritable(scratch.file("new.npy")).isOk());
  CHECK(checkWritable("/dev/null").isOk());
  CHECK(checkWritable("relative.npy").isOk());
  for (const std::string &path : {std::string(), scratch.path.string(), scratch.file("absent/x.npy"),
                                  scratch.file("absent/"), scratch.put("file", "") + "/x.npy"}) {
    INFO(path);
    CHECK(checkWritable(path).code() == StatusCode::InvalidArgument);
    CHECK_FALSE(writeNpy(path, counting(DType::F32, {2})).isOk());
  }
  CHECK(writeNpy("/dev/null", counting(DType::F32, {2})).isOk());
}

TEST_CASE("a symbolic link to an output stays a link") {
  Scratch scratch;
  scratch.put("real.npy", "old");
  fs::create_symlink(scratch.file("real.npy"), scratch.file("link.npy"));
  REQUIRE(writeNpy(scratch.file("link.npy"), counting(DType::F32, {2})).isOk());
  CHECK(fs::is_symlink(scratch.file("link.npy")));
  CHECK(readNpy(scratch.file("real.npy"), DType::F32).isOk());
}

TEST_CASE("tensors are aligned and refuse what is too large") {
  for (int64_t n : {0, 1, 63, 64, 65}) {
    HostTensor tensor = *HostTensor::allocate(DType::I8, {n});
    REQUIRE(tensor.data());
    CHECK(reinterpret_cast<uintptr_t>(tensor.data()) % HostTensor::alignment == 0);
  }
  CHECK_FALSE(HostTensor::allocate(DType::F32, {-1}).isOk());
  CHECK_FALSE(HostTensor::allocate(DType::F32, {int64_t{1} << 40, int64_t{1} << 40}).isOk());
  CHECK(HostTensor::allocate(DType::F32, {int64_t{1} << 40, 0, int64_t{1} << 40}).isOk());
  HostTensor tensor = *HostTensor::allocate(DType::F64, {2, 3, 4});
  CHECK(tensor.strides() == std::vector<int64_t>{12, 4, 1});
  CHECK(tensor.sizeInBytes() == 192);
}
