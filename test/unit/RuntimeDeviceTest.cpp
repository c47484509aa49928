// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The CPU device: phases and tasks over its own threads and over a host's, memory, threads and forks.

#include "RuntimeFixture.h"
#include "ThreadPool.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tilejit;
using namespace tilejit::test;

namespace {

struct Region {
  std::atomic<int64_t> calls{0}, indices{0};

  static void task(void *self, int64_t index) {
    static_cast<Region *>(self)->calls.fetch_add(1);
    static_cast<Region *>(self)->indices.fetch_or(int64_t{1} << index);
  }
};

/// One that has ended may still be listed for a moment: only upper bounds can be checked.
size_t threadsOfProcess() {
  size_t count = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

std::shared_ptr<LoadedModule> loadFakeKernel(Device &device) {
  auto bytes = readFile(realSystem(), std::string(TILEJIT_TEST_HOME) + "/lib/fake-kernel.so");
  REQUIRE(bytes.isOk());
  PayloadView payload{abi::PayloadKind::Elf, *bytes};
  auto module = device.load({}, {&payload, 1});
  INFO(module.status().message());
  REQUIRE(module.isOk());
  return *module;
}

/// c = a + b (doubled with a grid) on a device.
bool add(Device &device, const LoadedModule &module, int64_t count, bool grid, LaunchOutcome &outcome) {
  std::vector<float> a(static_cast<size_t>(count), 1), b(a.size(), 2), c(a.size(), 0);
  auto address = [](auto &vector) { return reinterpret_cast<int64_t>(vector.data()); };
  int64_t slots[] = {address(a), count, 1, address(b), count, 1, address(c), count, 1}, counts[] = {1, 1, 1};
  LaunchArguments arguments;
  arguments.slots = slots;
  arguments.grid = grid ? counts : nullptr;
  if (!device.launch(module, arguments, outcome).isOk() || outcome.failedAssertion != -1)
    return false;
  return c == std::vector<float>(a.size(), grid ? 6.0f : 3.0f);
}

} // namespace

TEST_CASE("a pool runs regions of every size, and starts no thread before", "[runtime]") {
  size_t before = threadsOfProcess();
  cpu::ThreadPool pool(4);
  CHECK(threadsOfProcess() <= before);
  for (int64_t count : {1, 4, 2, 3, 4, 1})
    for (int round = 0; round < 100; ++round) {
      Region region;
      REQUIRE(pool.run(count, &Region::task, &region));
      REQUIRE(region.calls == count);
      REQUIRE(region.indices == (int64_t{1} << count) - 1);
    }
  CHECK(threadsOfProcess() <= before + 3);
}

TEST_CASE("threads of a pool are bound to their processors, the caller is not", "[runtime]") {
  std::vector<int> usable = usableProcessors();
  REQUIRE_FALSE(usable.empty());
  std::vector<int> processors = {usable.back(), usable.front()};
  cpu::ThreadPool pool(4, processors);
  struct Seen {
    std::vector<int> allowed[4];
    static void task(void *self, int64_t index) { static_cast<Seen *>(self)->allowed[index] = usableProcessors(); }
  } seen;
  REQUIRE(pool.run(4, &Seen::task, &seen));
  CHECK(seen.allowed[0] == usable);
  for (int index : {1, 2, 3})
    CHECK(seen.allowed[index] == std::vector<int>{processors[static_cast<size_t>(index) % 2]});
}

TEST_CASE("a device has a thread for each processor it is given", "[runtime]") {
  int first = usableProcessors().front();
  CHECK(makeCpuDevice({0, {}, {first, first, first}})->properties().computeUnits == 3);
  CHECK(makeCpuDevice({2, {}, {first}})->properties().computeUnits == 2);
}

TEST_CASE("launches give the same whatever the threads, tasks and phases", "[runtime]") {
  int64_t threads = GENERATE(1, 2, 3, 8);
  auto device = makeCpuDevice({threads, {}, {}});
  auto module = loadFakeKernel(*device);
  for (int round = 0; round < 3; ++round)
    for (int64_t count : {0, 1, 63, 64, 65, 640, 10'000, 99'999})
      for (bool grid : {false, true}) {
        LaunchOutcome outcome;
        INFO("count " << count << " grid " << grid);
        REQUIRE(add(*device, *module, count, grid, outcome));
        CHECK(outcome.path == (grid ? 1 : 0));
        CHECK(outcome.tasks == (count + 63) / 64 * (grid ? 2 : 1));
        CHECK(outcome.threads <= threads);
      }
}

TEST_CASE("work of one task starts no thread", "[runtime]") {
  size_t before = threadsOfProcess();
  auto device = makeCpuDevice({8, {}, {}});
  auto module = loadFakeKernel(*device);
  LaunchOutcome outcome;
  CHECK(add(*device, *module, 64, false, outcome));
  CHECK(threadsOfProcess() <= before);
}

TEST_CASE("a host's pool is used where it is given", "[runtime]") {
  struct Host {
    std::atomic<int> regions{0};
    static void run(void *user, int64_t count, Executor::Task task, void *data) {
      ++static_cast<Host *>(user)->regions;
      std::vector<std::thread> threads;
      for (int64_t i = 0; i < count; ++i)
        threads.emplace_back(task, data, i);
      for (std::thread &thread : threads)
        thread.join();
    }
  } host;
  auto device = makeCpuDevice({0, {&Host::run, &host, 3}, {}});
  auto module = loadFakeKernel(*device);
  LaunchOutcome outcome;
  CHECK(add(*device, *module, 50'000, true, outcome));
  CHECK(host.regions == 2);
  CHECK(outcome.threads == 3);
  CHECK(device->properties().computeUnits == 3);
}

TEST_CASE("launches from many threads at once are right", "[runtime]") {
  auto device = makeCpuDevice({4, {}, {}});
  auto module = loadFakeKernel(*device);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 100; ++round) {
        LaunchOutcome outcome;
        wrong += !add(*device, *module, 100 * t + 37 * round, round % 2, outcome);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("threads of a parent are not waited for in a child", "[runtime]") {
#ifdef __SANITIZE_THREAD__
  std::printf(
      "SKIP: threads of a parent are not waited for in a child: ThreadSanitizer knows no thread after a fork\n");
#else
  auto device = makeCpuDevice({4, {}, {}});
  auto module = loadFakeKernel(*device);
  LaunchOutcome outcome;
  REQUIRE(add(*device, *module, 10'000, false, outcome));
  pid_t child = fork();
  if (child == 0) {
    bool good = add(*device, *module, 10'000, true, outcome) && add(*device, *module, 99'999, false, outcome);
    device.reset();
    _exit(good ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(add(*device, *module, 10'000, false, outcome));
#endif
}

TEST_CASE("device memory", "[runtime]") {
  auto device = makeCpuDevice({1, {}, {}});
  for (int64_t bytes : {0, 1, 64, 1'000'000}) {
    auto memory = device->allocate(bytes);
    REQUIRE(memory.isOk());
    CHECK(reinterpret_cast<uintptr_t>(*memory) % 64 == 0);
    std::string text(static_cast<size_t>(bytes), 'x'), back(text.size(), ' ');
    CHECK(device->copyToDevice(*memory, text.data(), bytes).isOk());
    CHECK(device->copyToHost(back.data(), *memory, bytes).isOk());
    CHECK(back == text);
    device->release(*memory);
  }
  CHECK(device->allocate(-1).status().code() == StatusCode::InvalidArgument);
  CHECK_FALSE(device->allocate(INT64_MAX).isOk());
  CHECK_FALSE(device->copyToHost(nullptr, nullptr, -1).isOk());
  CHECK(device->properties().memoryBytes > 0);
  CHECK_FALSE(device->properties().name.empty());
  CHECK(usableThreads() >= 1);
}
