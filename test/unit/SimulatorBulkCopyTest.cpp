// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bulk copies and bulk tensor copies of sm_90: what they move, against plain loops, and what misuse is called.

#include "SimulatorNvidiaAsync.h"

#include "tilejit/Simulator/TensorMap.h"

#include <cmath>

namespace tilejit::sim::test {

namespace {

const std::string expect = "  %e = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta("
                           "ptr addrspace(3) @bar, i32 BYTES)\n";
const std::string bulkLoad = "  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr addrspace(3) @buf, "
                             "ptr addrspace(3) @bar, ptr addrspace(1) %in, i32 BYTES, i64 0, i1 false)\n";
const std::string bulkStore = "  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1) %out, "
                              "ptr addrspace(3) @buf, i32 256, i64 0, i1 false)\n";
const std::string commit = "  call void @llvm.nvvm.cp.async.bulk.commit.group()\n";
const std::string wait = "  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)\n";
const std::string waitRead = "  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)\n";
const std::string readNeighbour = "  %v = load i32, ptr addrspace(3) %pn, align 4\n"
                                  "  store i32 %v, ptr addrspace(1) %pout, align 4\n";
const std::string storeOwn = "  %x = mul i32 %t, 3\n  store i32 %x, ptr addrspace(3) %ps, align 4\n";

struct Ran {
  Outcome outcome;
  std::vector<int32_t> out;
};

Ran run(const std::string &body, uint32_t threads = 64, uint32_t blocks = 1) {
  Machine machine("sm_90a", asyncKernel(body));
  int32_t *in = machine.array(counting(1024), "in"), *out = machine.array(std::vector<int32_t>(1024, -1), "out");
  Ran ran{machine.run("k", {blocks, 1, 1}, {threads, 1, 1}, in, out, in, 0), {}};
  ran.out.assign(out, out + 256);
  return ran;
}

std::string loading(const std::string &announced, const std::string &moved) {
  return initBarrier(1) + onlyFirst("copy", replaced(expect, "BYTES", announced) + replaced(bulkLoad, "BYTES", moved));
}

} // namespace

TEST_CASE("a bulk load lands with its mbarrier", "[simulator][bulk]") {
  Ran ran = run(loading("256", "256") + waitBarrier(0, "wait") + readNeighbour);
  CHECK(kinds(ran.outcome).empty());
  for (int i = 0; i < 64; ++i)
    CHECK(ran.out[static_cast<size_t>(i)] == (i ^ 33) + 1);
  // The same as assembly.
  std::string assembly = "  %s = ptrtoint ptr addrspace(3) @buf to i32\n  %b = ptrtoint ptr addrspace(3) @bar to i32\n"
                         "  call void asm sideeffect \"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                         "bytes [$0], [$1], $2, [$3];\", \"r,l,r,r\"(i32 %s, ptr addrspace(1) %in, i32 256, i32 %b)\n";
  CHECK(kinds(run(initBarrier(1) + onlyFirst("copy", replaced(expect, "BYTES", "256") + assembly) +
                  waitBarrier(0, "wait") + readNeighbour)
                  .outcome)
            .empty());
}

TEST_CASE("faults of bulk loads are reported", "[simulator][bulk]") {
  CHECK(kinds(run(loading("256", "256") + readNeighbour).outcome) == "async async"); // Read, and left at the end.
  CHECK(kinds(run(loading("256", "256") + waitBarrier(1, "wait") + readNeighbour).outcome) == "async async");
  CHECK(kinds(run(loading("512", "256") + waitBarrier(0, "wait") + readNeighbour).outcome) == "deadlock");
  CHECK(kinds(run(loading("128", "256") + waitBarrier(0, "wait") + readNeighbour).outcome).find("deadlock") !=
        std::string::npos);
  CHECK(kinds(run(loading("256", "252") + waitBarrier(0, "wait")).outcome) == "misaligned deadlock");
  std::string aside = replaced(loading("64", "64"), "ptr addrspace(1) %in, i32", "ptr addrspace(1) %odd, i32");
  CHECK(
      kinds(run("  %odd = getelementptr i8, ptr addrspace(1) %in, i64 8\n" + aside + waitBarrier(0, "wait")).outcome) ==
      "misaligned deadlock");
  CHECK(kinds(run("  %odd = getelementptr i8, ptr addrspace(1) %in, i64 4064\n" + aside + waitBarrier(0, "wait"))
                  .outcome) == "bounds");
  // The mbarrier is initialised by the thread that copies, with neither fence nor barrier in between.
  std::string bare = "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)\n" +
                     replaced(expect, "BYTES", "64") + replaced(bulkLoad, "BYTES", "64") + waitBarrier(0, "wait");
  CHECK(kinds(run(bare, 1).outcome) == "proxy");
  std::string fence = "  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()\n";
  CHECK(kinds(run(replaced(bare, "i32 1)\n", "i32 1)\n" + fence), 1).outcome).empty());
}

TEST_CASE("a load over what warps may still read needs their arrival", "[simulator][bulk]") {
  // Two loads into the same buffer; the second must come after all have read the first.
  std::string reload = onlyFirst("again", replaced(replaced(expect, "BYTES", "256"), "%e ", "%e2 ") +
                                              replaced(bulkLoad, "BYTES", "256"));
  std::string head = loading("256", "256") + waitBarrier(0, "wait") + readNeighbour;
  CHECK(kinds(run(head + blockBarrier + reload + waitBarrier(1, "wait2")).outcome).empty());
  CHECK(finds(run(head + reload + waitBarrier(1, "wait2")).outcome, ReportKind::Race));
}

TEST_CASE("bulk stores read and write at their waits", "[simulator][bulk]") {
  std::string store = storeOwn + proxyFence + blockBarrier;
  SECTION("right") {
    for (const std::string &how : {wait, waitRead}) {
      Ran ran = run(store + onlyFirst("copy", bulkStore + commit + how));
      CHECK(kinds(ran.outcome).empty());
      for (int i = 0; i < 64; ++i)
        CHECK(ran.out[static_cast<size_t>(i)] == 3 * i);
    }
  }
  SECTION("missing waits, commits and fences") {
    CHECK(kinds(run(store + onlyFirst("copy", bulkStore + commit)).outcome) == "async");
    CHECK(kinds(run(store + onlyFirst("copy", bulkStore + wait)).outcome) == "async");
    CHECK(kinds(run(replaced(store, proxyFence, "") + onlyFirst("copy", bulkStore + commit + wait)).outcome) ==
          "proxy");
    CHECK(finds(run(storeOwn + proxyFence + onlyFirst("copy", bulkStore + commit + wait)).outcome, ReportKind::Race));
  }
  SECTION("the source is overwritten while it is read") {
    std::string over = "  store i32 0, ptr addrspace(3) %ps, align 4\n";
    Ran ran = run(store + onlyFirst("copy", bulkStore + commit) + blockBarrier + over + blockBarrier +
                  onlyFirst("late", wait));
    CHECK(kinds(ran.outcome) == "async");
    CHECK(ran.out[5] == 0); // And hardware might give this too.
    CHECK(kinds(run(store + onlyFirst("copy", bulkStore + commit + waitRead) + blockBarrier + over).outcome).empty());
  }
}

TEST_CASE("bulk reductions add to global memory, of all blocks", "[simulator][bulk]") {
  std::string add =
      "  %s = ptrtoint ptr addrspace(3) @buf to i32\n"
      "  call void asm sideeffect \"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [$0], [$1], "
      "$2;\", \"l,r,r\"(ptr addrspace(1) %out, i32 %s, i32 256)\n";
  Ran ran = run(storeOwn + proxyFence + blockBarrier + onlyFirst("copy", add + commit + wait), 64, 7);
  CHECK(kinds(ran.outcome).empty());
  for (int i = 0; i < 64; ++i)
    CHECK(ran.out[static_cast<size_t>(i)] == -1 + 7 * 3 * i);
}

// --- Tensor copies --------------------------------------------------------------------------------------------------

namespace {

/// Element types as bytes: each element is a pattern of its number.
struct Tensor {
  TensorMapInfo info;
  std::vector<uint8_t> bytes;
  uint64_t offset(const std::vector<int64_t> &at) const {
    uint64_t sum = static_cast<uint64_t>(at[0]) * sizeOf(info.type);
    for (unsigned i = 1; i < info.rank; ++i)
      sum += static_cast<uint64_t>(at[i]) * info.stride[i - 1];
    return sum;
  }
};

Tensor makeTensor(TensorMapType type, std::vector<uint64_t> size, std::vector<uint32_t> box, TensorMapSwizzle swizzle) {
  Tensor tensor;
  tensor.info.type = type;
  tensor.info.rank = static_cast<unsigned>(size.size());
  tensor.info.swizzle = swizzle;
  uint64_t stride = sizeOf(type);
  for (unsigned i = 0; i < tensor.info.rank; ++i) {
    tensor.info.size[i] = size[i];
    tensor.info.box[i] = box[i];
    if (i)
      tensor.info.stride[i - 1] = stride = (stride + 15) / 16 * 16;
    stride *= size[i];
  }
  tensor.bytes.resize(stride + 64);
  for (size_t i = 0; i < tensor.bytes.size(); ++i)
    tensor.bytes[i] = static_cast<uint8_t>(i * 37 + i / 256 + 1);
  return tensor;
}

/// Where a byte of the packed box lies, by the table of the swizzle: 16-byte column xor row of 128 bytes, within what
/// the mode repeats over.
uint32_t placeOf(uint32_t at, TensorMapSwizzle swizzle) {
  uint32_t row = at / 128, column = at / 16 % 8, rest = at % 16;
  switch (swizzle) {
  case TensorMapSwizzle::None:
    return at;
  case TensorMapSwizzle::Bytes32:
    column ^= row % 2;
    break;
  case TensorMapSwizzle::Bytes64:
    column ^= row % 4;
    break;
  case TensorMapSwizzle::Bytes128:
    column ^= row % 8;
    break;
  }
  return row * 128 + column * 16 + rest;
}

/// The whole of a packed box, by plain loops.
std::vector<uint8_t> boxOf(const Tensor &tensor, const std::vector<int32_t> &first) {
  const TensorMapInfo &info = tensor.info;
  unsigned bytes = sizeOf(info.type);
  std::vector<uint8_t> box;
  std::vector<int64_t> index(info.rank, 0);
  for (bool more = true; more;) {
    std::vector<int64_t> at(info.rank);
    bool inside = true;
    for (unsigned i = 0; i < info.rank; ++i) {
      at[i] = first[i] + index[i] * info.step[i];
      inside &= at[i] >= 0 && at[i] < static_cast<int64_t>(info.size[i]);
    }
    for (unsigned b = 0; b < bytes; ++b)
      box.push_back(inside ? tensor.bytes[tensor.offset(at) + b]
                           : static_cast<uint8_t>((info.nanFill ? 0x7fffffff : 0) >> (8 * (b + 4 - bytes))));
    more = false;
    for (unsigned i = 0; i < info.rank && !more; ++i) {
      index[i] += 1;
      more = index[i] * info.step[i] < info.box[i];
      if (!more)
        index[i] = 0;
    }
  }
  return box;
}

std::string coordinates(const std::vector<int32_t> &first) {
  std::string text;
  for (int32_t c : first)
    text += ", i32 " + std::to_string(c);
  return text;
}

/// Loads the box and copies shared memory to `out` as it lies.
std::string tensorLoad(const std::vector<int32_t> &first, size_t bytes) {
  std::string rank = std::to_string(first.size());
  return initBarrier(1) +
         onlyFirst("copy", replaced(expect, "BYTES", std::to_string(bytes)) +
                               "  %c = addrspacecast ptr addrspace(3) @buf to ptr\n"
                               "  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile." +
                               rank + "d(ptr addrspace(3) @buf, ptr addrspace(3) @bar, ptr %map" + coordinates(first) +
                               ", i64 0, i1 false)\n") +
         waitBarrier(0, "wait") +
         "  br label %copying\ncopying:\n  %i = phi i32 [ %t, %wait.end ], [ %i1, %copying ]\n"
         "  %a = getelementptr i32, ptr addrspace(3) @buf, i32 %i\n  %iw = zext i32 %i to i64\n"
         "  %o = getelementptr i32, ptr addrspace(1) %out, i64 %iw\n  %x = load i32, ptr addrspace(3) %a, align 4\n"
         "  store i32 %x, ptr addrspace(1) %o, align 4\n  %i1 = add i32 %i, 32\n  %more = icmp ult i32 %i1, " +
         std::to_string(bytes / 4) + "\n  br i1 %more, label %copying, label %done\ndone:\n";
}

struct Loaded {
  Outcome outcome;
  std::vector<uint8_t> shared;
};

Loaded load(Tensor tensor, const std::vector<int32_t> &first, size_t boxBytes, size_t missing = 0) {
  Machine machine("sm_90a", asyncKernel(tensorLoad(first, boxBytes), 16384));
  std::vector<uint8_t> there(tensor.bytes.begin(), tensor.bytes.end() - static_cast<ptrdiff_t>(missing));
  uint8_t *data = machine.array(there, "tensor"), *out = machine.output<uint8_t>(boxBytes, "out");
  tensor.info.address = reinterpret_cast<uint64_t>(data);
  std::vector<uint8_t> map(tensorMapBytes);
  Status status = encodeTensorMap(tensor.info, std::span<uint8_t, tensorMapBytes>(map));
  INFO(status.message());
  REQUIRE(status.isOk());
  Loaded loaded{machine.run("k", {1, 1, 1}, {32, 1, 1}, data, out, machine.array(map, "map"), 0), {}};
  loaded.shared.assign(out, out + boxBytes);
  return loaded;
}

void checkLoad(const Tensor &tensor, const std::vector<int32_t> &first) {
  std::vector<uint8_t> box = boxOf(tensor, first);
  Loaded loaded = load(tensor, first, box.size());
  CHECK(kinds(loaded.outcome).empty());
  size_t wrong = 0;
  for (uint32_t i = 0; i < box.size(); ++i)
    wrong += loaded.shared[placeOf(i, tensor.info.swizzle)] != box[i];
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("boxes of all ranks, types and swizzles arrive as they should", "[simulator][tensor]") {
  using T = TensorMapType;
  using S = TensorMapSwizzle;
  checkLoad(makeTensor(T::S32, {100}, {64}, S::None), {20});
  checkLoad(makeTensor(T::S32, {100}, {64}, S::None), {80});
  checkLoad(makeTensor(T::U8, {90}, {128}, S::None), {-10});
  for (S swizzle : {S::None, S::Bytes32, S::Bytes64, S::Bytes128}) {
    uint32_t row = swizzle == S::None ? 128 : 16u << static_cast<unsigned>(swizzle);
    checkLoad(makeTensor(T::F16, {200, 33}, {row / 2, 24}, swizzle), {8, 4});
    checkLoad(makeTensor(T::F16, {200, 33}, {row / 2, 24}, swizzle), {190, 20});
    checkLoad(makeTensor(T::F64, {40, 33}, {row / 8, 16}, swizzle), {-3, -5});
  }
  checkLoad(makeTensor(T::F32, {20, 7, 9}, {8, 4, 3}, S::Bytes32), {16, 5, 7});
  checkLoad(makeTensor(T::BF16, {20, 7, 9, 3}, {16, 2, 3, 2}, S::Bytes32), {4, 6, -1, 2});
  checkLoad(makeTensor(T::U16, {20, 3, 4, 3, 5}, {8, 2, 3, 2, 2}, S::None), {4, 2, 1, 2, 4});
}

TEST_CASE("boxes with element strides, and with NaN beyond the edge", "[simulator][tensor]") {
  Tensor tensor = makeTensor(TensorMapType::F32, {100, 40}, {31, 12}, TensorMapSwizzle::None);
  tensor.info.step = {2, 3, 1, 1, 1};
  checkLoad(tensor, {3, 5});
  checkLoad(tensor, {77, 33});
  Tensor edge = makeTensor(TensorMapType::F32, {30, 10}, {16, 4}, TensorMapSwizzle::Bytes64);
  edge.info.nanFill = true;
  checkLoad(edge, {20, 8});
}

TEST_CASE("faults of tensor copies are reported", "[simulator][tensor]") {
  Tensor tensor = makeTensor(TensorMapType::F32, {64, 16}, {32, 8}, TensorMapSwizzle::Bytes128);
  CHECK(kinds(load(tensor, {0, 0}, 1024).outcome).empty());
  CHECK(kinds(load(tensor, {32, 8}, 1024, 128).outcome) == "bounds");       // The map is larger than the allocation.
  CHECK(kinds(load(tensor, {0, 0, 0}, 1024).outcome) == "bounds deadlock"); // Another rank.
  CHECK(kinds(load(tensor, {0, 0}, 1040).outcome) == "deadlock");           // Other bytes than announced.
  std::vector<uint8_t> bytes(tensorMapBytes);
  std::span<uint8_t, tensorMapBytes> image(bytes);
  tensor.info.stride[0] = 100;
  CHECK(encodeTensorMap(tensor.info, image).message() ==
        "tensor map: stride 100 of dimension 1 is not a multiple of 16 below 2^40");
  tensor.info.stride[0] = 256;
  tensor.info.box[0] = 64;
  CHECK(encodeTensorMap(tensor.info, image).message() ==
        "tensor map: a row of the box has 256 bytes, more than the swizzle's 128");
  tensor.info.box[0] = 300;
  CHECK(encodeTensorMap(tensor.info, image).message() == "tensor map: box size 300 of dimension 0 is not 1 to 256");
  std::string gather = "  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.scatter4.2d(ptr addrspace(3) @buf, ptr "
                       "%map, i32 0, i32 0, i32 0, i32 0, i32 0, i64 0, i1 false)\n";
  Machine machine("sm_90a", asyncKernel(gather));
  int32_t *in = machine.array(counting(64));
  auto outcome = machine.tryRun("k", {1, 1, 1}, {32, 1, 1}, in, in, in, 0);
  REQUIRE_FALSE(outcome.isOk());
  CHECK(outcome.status().message().find("unsupported mode scatter4") != std::string::npos);
}

namespace {

/// A map of the int matrix `in`, 32 wide and 16 high, made on the device in %map (in `in` at 512 ints), in steps.
std::string makeMap(const std::string &fence) {
  std::string text =
      "  %m = getelementptr i32, ptr addrspace(3) @buf, i32 %t\n"
      "  store i32 0, ptr addrspace(3) %m, align 4\n" +
      std::string(warpBarrier) +
      "  br i1 %first, label %fill, label %filled\nfill:\n"
      "  %base = ptrtoint ptr addrspace(1) %out to i64\n"
      "  %b = ptrtoint ptr addrspace(3) @buf to i32\n"
      "  call void asm sideeffect \"tensormap.replace.tile.global_address.shared::cta.b1024.b64 [$0], $1;\", "
      "\"r,l\"(i32 %b, i64 %base)\n"
      "  call void asm sideeffect \"tensormap.replace.tile.rank.shared::cta.b1024.b32 [$0], 0x1;\", \"r\"(i32 %b)\n";
  auto set = [&](const std::string &field, int index, int value, const std::string &bits = "32") {
    text += "  call void asm sideeffect \"tensormap.replace.tile." + field + ".shared::cta.b1024.b" + bits + " [$0], " +
            (index < 0 ? "" : std::to_string(index) + ", ") + "$1;\", \"r," + (bits == "64" ? "l" : "r") +
            "\"(i32 %b, i" + bits + " " + std::to_string(value) + ")\n";
  };
  set("box_dim", 0, 8), set("box_dim", 1, 4);
  set("global_dim", 0, 32), set("global_dim", 1, 15);
  set("global_stride", 0, 128, "64");
  set("element_stride", 0, 1), set("element_stride", 1, 1);
  text += "  call void @llvm.nvvm.tensormap.replace.elemtype.p3(ptr addrspace(3) @buf, i32 3)\n"
          "  call void @llvm.nvvm.tensormap.replace.swizzle.mode.p3(ptr addrspace(3) @buf, i32 1)\n"
          "  br label %filled\nfilled:\n" +
          std::string(warpBarrier) +
          "  %b2 = ptrtoint ptr addrspace(3) @buf to i32\n"
          "  call void asm sideeffect \"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
          "aligned [$0], [$1], 128;\", \"l,r\"(ptr %map, i32 %b2)\n" +
          fence;
  return text;
}

const std::string mapFence = "  call void @llvm.nvvm.fence.proxy.tensormap_generic.acquire.gpu(ptr %map, i32 128)\n";

/// Lane t writes t to place t of a box of 8 x 4 behind the map, with 32-byte swizzle, and stores it at (28, 13).
std::string storeBox(const std::string &kind) {
  return "  %row = lshr i32 %t, 5\n  %half = lshr i32 %t, 2\n"
         "  %place = getelementptr i8, ptr addrspace(3) @buf, i32 1024\n"
         "  %q = getelementptr i32, ptr addrspace(3) %place, i32 %t\n"
         "  %value = add i32 %t, 100\n  store i32 %value, ptr addrspace(3) %q, align 4\n" +
         std::string(proxyFence) + warpBarrier +
         onlyFirst("copy", "  call void @llvm.nvvm.cp.async.bulk.tensor." + kind +
                               ".tile.2d(ptr addrspace(3) %place, ptr %map, i32 28, i32 13, i64 0, i1 false)\n" +
                               commit + wait);
}

} // namespace

TEST_CASE("tensor maps made on the device carry stores and reductions", "[simulator][tensor]") {
  for (const std::string kind : {"s2g", "reduce.add", "reduce.max", "reduce.xor"}) {
    Machine machine("sm_90a", asyncKernel(makeMap(mapFence) + storeBox(kind)));
    int32_t *in = machine.array(counting(64), "in"), *out = machine.array(std::vector<int32_t>(512, 7), "out");
    int32_t *map = machine.output<int32_t>(32, "map");
    Outcome outcome = machine.run("k", {1, 1, 1}, {32, 1, 1}, in, out, map, 0);
    CHECK(kinds(outcome).empty());
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 32; ++x) {
        int wanted = 7;
        // The box reaches past both edges. All of it is one row of 128 bytes: the swizzle leaves it as it is.
        if (x >= 28 && y >= 13 && y < 15) {
          int stored = 100 + (y - 13) * 8 + (x - 28);
          wanted = kind == "s2g"          ? stored
                   : kind == "reduce.add" ? stored + 7
                   : kind == "reduce.max" ? stored
                                          : stored ^ 7;
        }
        CHECK(out[y * 32 + x] == wanted);
      }
  }
}

TEST_CASE("faults around tensor maps made on the device are reported", "[simulator][tensor]") {
  auto reports = [](const std::string &body) {
    Machine machine("sm_90a", asyncKernel(body));
    int32_t *in = machine.array(counting(64), "in"), *out = machine.array(std::vector<int32_t>(512, 7), "out");
    int32_t *map = machine.output<int32_t>(32, "map");
    return kinds(machine.run("k", {1, 1, 1}, {32, 1, 1}, in, out, map, 0));
  };
  CHECK(reports(makeMap(mapFence) + storeBox("s2g")).empty());
  CHECK(reports(makeMap("") + storeBox("s2g")) == "proxy");
  CHECK(reports(makeMap(mapFence) + replaced(storeBox("s2g"), proxyFence, "")) == "proxy");
  std::string incomplete = makeMap(mapFence);
  size_t from = incomplete.find("  call void asm sideeffect \"tensormap.replace.tile.global_stride");
  incomplete.erase(from, incomplete.find('\n', from) + 1 - from);
  CHECK(reports(incomplete + storeBox("s2g")) == "bounds");
  CHECK(reports(replaced(makeMap(mapFence), "i64 128", "i64 120") + storeBox("s2g")) == "misaligned");
  CHECK(reports(replaced(makeMap(mapFence) + storeBox("s2g"), wait, "")) == "async");
}

} // namespace tilejit::sim::test
