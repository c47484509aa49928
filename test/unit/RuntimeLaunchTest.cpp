// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Launch arguments: every fault has its own message; legal odd ones pass.

#include "RuntimeFixture.h"

using namespace tilejit;
using namespace tilejit::test;

namespace {

struct Prepared {
  Folder folder;
  std::shared_ptr<Context> context = makeContext(fakeSettings(folder / "cache"));
  std::shared_ptr<Kernel> kernel;

  explicit Prepared(const Source &source = addition()) {
    auto made = context->prepare(source, native(*context));
    INFO(made.status().message());
    REQUIRE(made.isOk());
    kernel = *made;
  }
  Status launch(const DLTensor &a, const DLTensor &b, const DLTensor &c, const LaunchOptions &options = {}) {
    const DLTensor *tensors[] = {&a, &b, &c};
    return kernel->launch(tensors, options);
  }
};

void checkRefused(const Status &status, const std::string &part) {
  INFO(status.message());
  CHECK(status.code() == StatusCode::InvalidArgument);
  CHECK(status.message().find(part) != std::string::npos);
}

} // namespace

TEST_CASE("launch arguments are checked one by one", "[runtime]") {
  Prepared prepared;
  Tensor a(8), b(8), c(8), shorter(7);
  REQUIRE(prepared.launch(a.tensor, b.tensor, c.tensor).isOk());
  const DLTensor *two[] = {&a.tensor, &b.tensor};
  checkRefused(prepared.kernel->launch(two), "2 tensors, expected 3");
  const DLTensor *withNull[] = {&a.tensor, nullptr, &c.tensor};
  checkRefused(prepared.kernel->launch(withNull), "\"b\" is null");

  DLTensor odd = b.tensor;
  odd.device.device_type = kDLCUDA;
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "device type 2, expected 1");
  odd = b.tensor;
  odd.dtype = {kDLFloat, 16, 1};
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "has dtype f16, expected f32");
  odd.dtype = {kDLFloat, 32, 4};
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "4 lanes");
  odd = b.tensor;
  odd.ndim = 2;
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "has rank 2, expected 1");
  odd = b.tensor;
  odd.shape = nullptr;
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "has no shape");
  checkRefused(prepared.launch(a.tensor, shorter.tensor, c.tensor), "has shape [7], expected [n = 8]");
  int64_t tooLong[] = {100001}, negative[] = {-1}, two1[] = {2};
  odd = a.tensor;
  odd.shape = tooLong;
  checkRefused(prepared.launch(odd, b.tensor, c.tensor), "\"n\" may be 0 to 100000");
  odd.shape = negative;
  checkRefused(prepared.launch(odd, b.tensor, c.tensor), "has shape [-1]");
  odd = b.tensor;
  odd.strides = two1;
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "has strides [2] for shape [8]");
  odd = b.tensor;
  odd.data = nullptr;
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "has no data");
  odd = b.tensor;
  odd.byte_offset = 2;
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "no multiple of 4 bytes");
  LaunchOptions options;
  options.workspace = reinterpret_cast<void *>(uintptr_t{8});
  checkRefused(prepared.launch(a.tensor, b.tensor, c.tensor, options), "workspace is not aligned");
  CHECK(prepared.context->counters().launchFailures == 14);
}

TEST_CASE("odd but legal tensors run", "[runtime]") {
  Prepared prepared;
  Tensor a(8), b(8), c(8);
  DLTensor noStrides = a.tensor;
  noStrides.strides = nullptr;
  CHECK(prepared.launch(noStrides, b.tensor, c.tensor).isOk());
  CHECK(c.values[7] == 14);

  DLTensor views[3];
  int64_t four[] = {4};
  const Tensor *whole[] = {&a, &b, &c};
  for (int i = 0; i < 3; ++i) {
    views[i] = whole[i]->tensor;
    views[i].shape = four;
    views[i].byte_offset = 16;
  }
  c.values.assign(8, 0);
  CHECK(prepared.launch(views[0], views[1], views[2]).isOk());
  CHECK(c.values == std::vector<float>{0, 0, 0, 0, 8, 10, 12, 14});

  int64_t none[] = {0}, strange[] = {12345};
  DLTensor empty = a.tensor;
  empty.data = nullptr;
  empty.shape = none;
  empty.strides = strange;
  CHECK(prepared.launch(empty, empty, empty).isOk());

  int64_t one[] = {1};
  for (int i = 0; i < 3; ++i) {
    views[i].shape = one;
    views[i].strides = strange;
  }
  CHECK(prepared.launch(views[0], views[1], views[2]).isOk());
}

TEST_CASE("static sizes are checked", "[runtime]") {
  Prepared prepared(addition("8"));
  Tensor a(8), b(8), c(8), d(9);
  CHECK(prepared.launch(a.tensor, b.tensor, c.tensor).isOk());
  checkRefused(prepared.launch(a.tensor, d.tensor, c.tensor), "has shape [9], expected [8]");
}

TEST_CASE("a failed assertion comes with its message and place", "[runtime]") {
  Prepared prepared;
  Tensor a(5000, 666), b(5000), c(5000);
  Status status = prepared.launch(a.tensor, b.tensor, c.tensor);
  CHECK(status.code() == StatusCode::CheckFailed);
  CHECK(status.message().find("must not begin with 666 at kernel.mlir:3:5") != std::string::npos);
  CHECK(runAddition(*prepared.kernel, 5000).isOk());
}

TEST_CASE("a tile file is checked by its manifest and needs a grid", "[runtime]") {
  auto source = parseSource("// a kernel\nmodule {}\n", "kernel.mlir");
  REQUIRE(source.isOk());
  REQUIRE(source->isTile());
  Prepared prepared(*source);
  alignas(64) float a[8] = {1}, b[8] = {2}, c[8] = {};
  int64_t shape[] = {7};
  DLTensor x{a, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0}, y = x, z = x;
  y.data = b;
  z.data = c;
  checkRefused(prepared.launch(x, y, z), "a grid has to be given");
  LaunchOptions options;
  options.grid = {1, 1, 1};
  CHECK(prepared.launch(x, y, z, options).isOk());
  CHECK(c[0] == 6);
  x.byte_offset = 4;
  checkRefused(prepared.launch(x, y, z, options), "\"x0\" lies at an address that is no multiple of 16 bytes");
  options.grid = {1, -1, 1};
  x.byte_offset = 0;
  checkRefused(prepared.launch(x, y, z, options), "negative count -1");
}

TEST_CASE("the caller may bring the workspace", "[runtime]") {
  Prepared prepared;
  Tensor a(8), b(8), c(8);
  const DLTensor *tensors[] = {&a.tensor, &b.tensor, &c.tensor};
  auto bytes = prepared.kernel->workspaceBytes(tensors);
  REQUIRE(bytes.isOk());
  CHECK(*bytes == 128);
  alignas(64) char workspace[128] = {};
  LaunchOptions options;
  options.workspace = workspace;
  options.workspaceBytes = sizeof workspace;
  CHECK(prepared.kernel->launch(tensors, options).isOk());
  CHECK(workspace[0] == 1);
  CHECK(*prepared.kernel->packedBytes(1) == 0);
  CHECK_FALSE(prepared.kernel->packedBytes(3).isOk());
}

TEST_CASE("a constant operand is packed once", "[runtime]") {
  Prepared prepared(addition("8", "a + b", /*isConstant=*/true));
  Kernel &kernel = *prepared.kernel;
  Tensor a(8, 1), b(8, 10), c(8);
  auto isSum = [&] {
    for (size_t i = 0; i < 8; ++i)
      CHECK(c.values[i] == static_cast<float>(11 + 2 * i));
    std::fill(c.values.begin(), c.values.end(), 0.0f);
  };
  CHECK(*kernel.packedBytes(0) == 0);
  REQUIRE(*kernel.packedBytes(1) == 32);
  alignas(64) unsigned char memory[64] = {};
  int64_t bytes = 32;
  DLTensor packed{memory, {kDLCPU, 0}, 1, {kDLUInt, 8, 1}, &bytes, nullptr, 0};

  CHECK(prepared.launch(a.tensor, b.tensor, c.tensor).isOk());
  isSum();
  REQUIRE(kernel.pack(1, b.tensor, packed).isOk());
  std::fill(b.values.begin(), b.values.end(), -1.0f); // Nobody reads it any more.
  CHECK(prepared.launch(a.tensor, packed, c.tensor).isOk());
  isSum();
  const DLTensor *plain[] = {&a.tensor, &b.tensor, &c.tensor}, *ready[] = {&a.tensor, &packed, &c.tensor};
  CHECK(*kernel.workspaceBytes(plain) == 32);
  CHECK(*kernel.workspaceBytes(ready) == 0);

  checkRefused(kernel.pack(0, a.tensor, packed), "\"a\" has no packed form");
  checkRefused(kernel.pack(3, a.tensor, packed), "no operand 3");
  Tensor shorter(7);
  checkRefused(kernel.pack(1, shorter.tensor, packed), "has shape [7], expected [8]");
  DLTensor odd = b.tensor;
  odd.dtype = {kDLFloat, 16, 1};
  checkRefused(kernel.pack(1, odd, packed), "has dtype f16, expected f32");
  odd = packed;
  bytes = 31;
  checkRefused(kernel.pack(1, b.tensor, odd), "is packed in 31 bytes, expected 32");
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "is packed in 31 bytes, expected 32");
  bytes = 32;
  odd.byte_offset = 8;
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "no multiple of 64 bytes");
  odd = packed;
  odd.data = nullptr;
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "\"b\" has no data");
  odd = packed;
  odd.device.device_type = kDLCUDA;
  checkRefused(prepared.launch(a.tensor, odd, c.tensor), "device type 2, expected 1");
  odd.device.device_type = kDLCPU;
  checkRefused(prepared.launch(odd, b.tensor, c.tensor), "\"a\" has dtype u8, expected f32");
}

TEST_CASE("DLPack types map both ways", "[runtime]") {
  for (DType dtype : allDTypes()) {
    auto back = fromDlpackType(toDlpackType(dtype));
    REQUIRE(back.has_value());
    CHECK(*back == dtype);
  }
  CHECK_FALSE(fromDlpackType({kDLComplex, 64, 1}).has_value());
}
