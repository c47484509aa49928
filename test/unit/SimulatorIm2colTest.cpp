// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Tensor copies in im2col mode against plain loops over images: pixels in the order of the box's places, channels of
// each, zeros or NaN beyond the image; stores; and what is refused.

#include "SimulatorNvidiaAsync.h"

#include "tilejit/Simulator/TensorMap.h"

namespace tilejit::sim::test {

namespace {

constexpr uint32_t mostBytes = 16384;

/// Images of int32 and the copy of some of their pixels. Sizes: channels, width, (height, (depth,)) images.
struct Pixels {
  std::vector<uint32_t> size;
  std::vector<int32_t> lower, upper, step; ///< Of width, height, depth.
  uint32_t count, channels;
  std::vector<int32_t> at, away; ///< First channel and place; how far each is read from its place.
  bool nanFill = false;
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;

  unsigned rank() const { return static_cast<unsigned>(size.size()); }
  size_t elements() const {
    size_t all = 1;
    for (uint32_t n : size)
      all *= n;
    return all;
  }
  TensorMapInfo info(const void *data) const {
    TensorMapInfo map;
    map.type = TensorMapType::F32;
    map.rank = rank();
    map.address = reinterpret_cast<uint64_t>(data);
    uint64_t stride = 4;
    for (unsigned i = 0; i < rank(); ++i) {
      map.size[i] = size[i];
      stride *= size[i];
      if (i + 1 < rank())
        map.stride[i] = stride;
    }
    map.pixels.count = count;
    map.pixels.channels = channels;
    for (size_t i = 0; i < lower.size(); ++i) {
      map.pixels.lower[i] = lower[i];
      map.pixels.upper[i] = upper[i];
      map.step[i + 1] = static_cast<uint32_t>(step[i]);
    }
    map.nanFill = nanFill;
    map.swizzle = swizzle;
    return map;
  }
  /// Places of the box in one dimension.
  int64_t places(size_t i) const { return (int64_t(size[i + 1]) - 1 + upper[i] - lower[i]) / step[i] + 1; }
  /// Where pixel n is read, in each dimension; the number of the first one counts all places before it.
  std::vector<int64_t> pixel(int64_t n) const {
    int64_t number = at[rank() - 1];
    for (size_t i = lower.size(); i-- > 0;)
      number = number * places(i) + (at[i + 1] - lower[i]) / step[i];
    number += n;
    std::vector<int64_t> place(rank());
    for (size_t i = 0; i < lower.size(); ++i) {
      place[i + 1] = lower[i] + number % places(i) * step[i] + away[i];
      number /= places(i);
    }
    place[rank() - 1] = number;
    return place;
  }
  /// Element of the images that is channel c of pixel n; -1 beyond them.
  int64_t element(int64_t n, int64_t c) const {
    std::vector<int64_t> place = pixel(n);
    place[0] = at[0] + c;
    int64_t index = 0;
    for (unsigned i = rank(); i-- > 0;) {
      if (place[i] < 0 || place[i] >= int64_t(size[i]))
        return -1;
      index = index * size[i] + place[i];
    }
    return index;
  }
  uint32_t bytes() const { return count * channels * 4; }
};

std::string numbers(const std::vector<int32_t> &values, const char *type) {
  std::string text;
  for (int32_t value : values)
    text += std::string(", ") + type + " " + std::to_string(value);
  return text;
}

std::string braced(const std::vector<int32_t> &values) {
  std::string text;
  for (int32_t value : values)
    text += (text.empty() ? "{" : ", ") + std::to_string(value);
  return text + "}";
}

/// One lane loads the pixels, by intrinsic or assembly; all copy shared memory to `out`.
std::string loadText(const Pixels &p, bool assembly) {
  std::string rank = std::to_string(p.rank()), bytes = std::to_string(p.bytes());
  std::string expect = "  %e = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) "
                       "@bar, i32 " +
                       bytes + ")\n";
  std::string call = "  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.im2col." + rank +
                     "d(ptr addrspace(3) @buf, ptr addrspace(3) @bar, ptr %map" + numbers(p.at, "i32") +
                     numbers(p.away, "i16") + ", i64 0, i1 false)\n";
  std::string statement = "  %sb = ptrtoint ptr addrspace(3) @buf to i32\n  %br = ptrtoint ptr addrspace(3) @bar to "
                          "i32\n  call void asm sideeffect \"cp.async.bulk.tensor." +
                          rank + "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [$0], [$1, " +
                          braced(p.at) + "], [$2], " + braced(p.away) + ";\", \"r,l,r\"(i32 %sb, ptr %map, i32 %br)\n";
  return initBarrier(1) + onlyFirst("copy", expect + (assembly ? statement : call)) + waitBarrier(0, "wait") +
         "  br label %copying\ncopying:\n  %i = phi i32 [ %t, %wait.end ], [ %i1, %copying ]\n"
         "  %a = getelementptr i32, ptr addrspace(3) @buf, i32 %i\n  %iw = zext i32 %i to i64\n"
         "  %o = getelementptr i32, ptr addrspace(1) %out, i64 %iw\n  %x = load i32, ptr addrspace(3) %a, align 4\n"
         "  store i32 %x, ptr addrspace(1) %o, align 4\n  %i1 = add i32 %i, 32\n  %more = icmp ult i32 %i1, " +
         std::to_string(p.bytes() / 4) + "\n  br i1 %more, label %copying, label %done\ndone:\n";
}

struct Ran {
  Outcome outcome;
  std::vector<int32_t> out, images;
};

Ran run(const Pixels &p, const std::string &text, size_t outSize, std::function<void(TensorMapInfo &)> change = {}) {
  Machine machine("sm_90a", asyncKernel(text, mostBytes));
  int32_t *images = machine.array(counting(p.elements()), "images"),
          *out = machine.array(std::vector<int32_t>(outSize, -1), "out");
  TensorMapInfo info = p.info(images);
  if (change)
    change(info);
  std::vector<uint8_t> map(tensorMapBytes);
  Status status = encodeTensorMap(info, std::span<uint8_t, tensorMapBytes>(map));
  INFO(status.message());
  REQUIRE(status.isOk());
  Ran ran{machine.run("k", {1, 1, 1}, {32, 1, 1}, images, out, machine.array(map, "map"), 0), {}, {}};
  ran.out.assign(out, out + outSize);
  ran.images.assign(images, images + p.elements());
  return ran;
}

void checkLoad(const Pixels &p) {
  for (bool assembly : {false, true}) {
    Ran ran = run(p, loadText(p, assembly), p.bytes() / 4);
    CHECK(kinds(ran.outcome) == "");
    size_t wrong = 0;
    for (uint32_t n = 0; n < p.count; ++n)
      for (uint32_t c = 0; c < p.channels; ++c) {
        int64_t from = p.element(n, c);
        uint32_t at = (n * p.channels + c) * 4;
        if (p.swizzle == TensorMapSwizzle::Bytes128)
          at ^= (at >> 7 & 7) << 4;
        int32_t outside = p.nanFill ? 0x7fffffff : 0;
        wrong += ran.out[at / 4] != (from < 0 ? outside : static_cast<int32_t>(from) + 1);
      }
    CHECK(wrong == 0);
  }
}

} // namespace

TEST_CASE("im2col: pixels go through the box row by row, and from image to image", "[simulator][tensor]") {
  // A 3x3 filter with a border of one: each of its nine taps.
  for (int32_t x = 0; x < 3; ++x)
    for (int32_t y = 0; y < 3; ++y)
      checkLoad({{8, 9, 5, 3}, {-1, -1}, {-1, -1}, {1, 1}, 40, 4, {0, -1, -1, 0}, {x, y}});
  // From the middle of a row to the next images, and beyond the last one.
  checkLoad({{8, 9, 5, 3}, {-1, -1}, {-1, -1}, {1, 1}, 64, 8, {0, 6, 2, 1}, {2, 1}});
  checkLoad({{8, 9, 5, 3}, {-1, -1}, {-1, -1}, {1, 1}, 128, 4, {4, 3, 1, 2}, {0, 1}});
  // Channels beyond the last one.
  checkLoad({{8, 9, 5, 2}, {0, 0}, {0, 0}, {1, 1}, 16, 8, {4, 2, 1, 0}, {0, 0}});
}

TEST_CASE("im2col: other ranks, strides, fills and swizzles", "[simulator][tensor]") {
  checkLoad({{4, 30, 3}, {-2}, {-2}, {1}, 50, 4, {0, 5, 0}, {4}});
  checkLoad({{4, 7, 5, 4, 2}, {-1, 0, -1}, {0, -1, -2}, {1, 1, 1}, 100, 4, {0, 0, 1, -1, 0}, {1, 0, 2}});
  // Every second place: 5 of 9 columns, 3 of 5 rows; a stride that does not divide.
  checkLoad({{8, 9, 5, 3}, {-1, -1}, {-1, -1}, {2, 2}, 40, 4, {0, -1, -1, 0}, {1, 2}});
  checkLoad({{8, 11, 6, 3}, {-1, -1}, {0, 0}, {3, 2}, 30, 4, {0, 2, 1, 0}, {0, 0}});
  checkLoad({{8, 9, 5, 3}, {-1, -1}, {-1, -1}, {1, 1}, 40, 4, {0, -1, -1, 0}, {0, 0}, true});
  checkLoad(
      {{64, 9, 5, 2}, {-1, -1}, {-1, -1}, {1, 1}, 48, 32, {32, 3, 1, 0}, {2, 2}, false, TensorMapSwizzle::Bytes128});
}

TEST_CASE("im2col: stores leave out what lies beyond the images", "[simulator][tensor]") {
  Pixels p{{4, 5, 4, 2}, {0, 0}, {1, 0}, {1, 1}, 30, 4, {0, 2, 1, 0}, {0, 0}};
  std::string fill = "  br label %fill\nfill:\n  %i = phi i32 [ %t, %0 ], [ %i1, %fill ]\n"
                     "  %a = getelementptr i32, ptr addrspace(3) @buf, i32 %i\n  %v = add i32 %i, 5000\n"
                     "  store i32 %v, ptr addrspace(3) %a, align 4\n  %i1 = add i32 %i, 32\n"
                     "  %more = icmp ult i32 %i1, 120\n  br i1 %more, label %fill, label %filled\nfilled:\n";
  std::string call = "  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.im2col.4d(ptr addrspace(3) @buf, ptr %map" +
                     numbers(p.at, "i32") + ", i64 0, i1 false)\n";
  std::string statement = "  %sb = ptrtoint ptr addrspace(3) @buf to i32\n  call void asm sideeffect "
                          "\"cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [$0, " +
                          braced(p.at) + "], [$1];\", \"l,r\"(ptr %map, i32 %sb)\n";
  std::string end = "  call void @llvm.nvvm.cp.async.bulk.commit.group()\n"
                    "  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)\n";
  for (const std::string &store : {call, statement}) {
    Ran ran = run(p, fill + proxyFence + blockBarrier + onlyFirst("copy", store + end), 4);
    CHECK(kinds(ran.outcome) == "");
    std::vector<int32_t> expected = counting(p.elements());
    for (uint32_t n = 0; n < p.count; ++n)
      for (uint32_t c = 0; c < p.channels; ++c)
        if (int64_t to = p.element(n, c); to >= 0)
          expected[static_cast<size_t>(to)] = static_cast<int32_t>(5000 + n * p.channels + c);
    CHECK(ran.images == expected);
  }
}

TEST_CASE("im2col: misuse", "[simulator][tensor]") {
  const Pixels p{{8, 9, 5, 3}, {-1, -1}, {-1, -1}, {1, 1}, 40, 4, {0, -1, -1, 0}, {0, 0}};
  // A map for the other mode.
  auto makeTile = [](TensorMapInfo &info) {
    info.pixels = {};
    info.box = {4, 4, 1, 1, 1};
  };
  Ran ran = run(p, loadText(p, false), p.bytes() / 4, makeTile);
  CHECK(finds(ran.outcome, ReportKind::Bounds));
  CHECK(ran.outcome.reports[0].message.find("for tile mode, in im2col mode") != std::string::npos);
  // More bytes than were announced.
  CHECK(kinds(run(p, replaced(loadText(p, false), "i32 640", "i32 320"), p.bytes() / 4).outcome) != "");
  auto fault = [&](std::function<void(TensorMapInfo &)> change) {
    TensorMapInfo info = p.info(nullptr);
    change(info);
    std::vector<uint8_t> map(tensorMapBytes);
    return encodeTensorMap(info, std::span<uint8_t, tensorMapBytes>(map)).message();
  };
  CHECK(fault([](TensorMapInfo &info) { info.rank = 2; }).find("rank 2 is not 3 to 5") != std::string::npos);
  CHECK(fault([](TensorMapInfo &info) { info.pixels.count = 1025; }).find("1025 pixels") != std::string::npos);
  CHECK(fault([](TensorMapInfo &info) { info.pixels.channels = 0; }).find("0 channels") != std::string::npos);
  CHECK(fault([](TensorMapInfo &info) {
          info.pixels.lower[1] = -129;
        }).find("corner -129 of dimension 2 is not -128") != std::string::npos);
  CHECK(fault([](TensorMapInfo &info) { info.step[0] = 2; }).find("dimension 0 is not 1") != std::string::npos);
  CHECK(fault([](TensorMapInfo &info) { info.pixels.channels = 3; }).find("12 bytes") != std::string::npos);
  auto refusal = [&](const std::string &from, const std::string &to) {
    Machine machine("sm_90a", asyncKernel(replaced(loadText(p, true), from, to)));
    auto outcome = machine.tryRun("k", {1, 1, 1}, {32, 1, 1}, nullptr, nullptr, nullptr, 0);
    return outcome.isOk() ? std::string() : outcome.status().message();
  };
  CHECK(refusal(".im2col.", ".im2col::w.").find("unsupported mode im2col::w") != std::string::npos);
  CHECK(refusal("{0, 0};", "{0};").find("needs 2 offsets") != std::string::npos);
  CHECK(refusal(", {0, 0};", ";").find("too few operands") != std::string::npos);
}

} // namespace tilejit::sim::test
