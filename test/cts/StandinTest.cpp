// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What can go wrong with a vendor's driver, played by the stand-ins: each call failing, no device, little memory, code
// for other chips, captures, peers, forks. Whatever happens, there is a status and the driver is not misused.

#include "Standin.h"
#include "CapturedErrors.h"
#include "Trial.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace tilejit;
using namespace tilejit::cts;

namespace {

const DeviceKind bothKinds[] = {DeviceKind::Cuda, DeviceKind::Hip};

std::unique_ptr<Device> deviceOf(const Standin &standin, const GpuDeviceOptions &options = {}) {
  auto made = standin.make(options);
  INFO(made.status().message());
  REQUIRE(made.isOk());
  return *std::move(made);
}

bool contains(const std::string &text, const std::string &part) { return text.find(part) != text.npos; }

/// Uses all of a device; gives the first failure.
Status useEverything(const Standin &standin) {
  TILEJIT_ASSIGN_OR_RETURN(std::shared_ptr<gpu::GpuDriver> driver, standin.open());
  TILEJIT_RETURN_IF_ERROR(countDevices(*driver).status());
  TILEJIT_ASSIGN_OR_RETURN(std::unique_ptr<Device> peer, makeGpuDevice(driver, {0, 0, 1}));
  TILEJIT_ASSIGN_OR_RETURN(std::unique_ptr<Device> device, makeGpuDevice(driver, {1, 1, 1}));
  // Destroyed in the reverse order; what a failing call leaves over is the failing call's.
  Status first;
  auto note = [&first](Status status) {
    if (first.isOk() && !status.isOk())
      first = status;
    return status.isOk();
  };
  note(device->enablePeer(*peer));
  if (device->freeBytes() == 0)
    note(Status(StatusCode::DeviceFailed, "free memory is not told"));
  auto managed = device->allocateManaged(100);
  note(managed.status());
  device->release(managed ? *managed : nullptr);
  auto stream = device->createStream();
  auto one = device->createEvent(), other = device->createEvent();
  auto memory = device->allocate(4000), copy = device->allocate(4000);
  if (note(stream.status()) && note(one.status()) && note(other.status()) && note(memory.status()) &&
      note(copy.status())) {
    std::string text(4000, 'x');
    note(device->record(*one, *stream));
    note(device->copyToDevice(*memory, text.data(), 4000));
    note(device->copyToDeviceAsync(*memory, text.data(), 4000, *stream));
    note(device->copyOnDevice(*copy, *memory, 4000, *stream));
    note(device->copyToHostAsync(text.data(), *copy, 4000, *stream));
    note(device->copyToHost(text.data(), *copy, 4000));
    note(device->record(*other, *stream));
    note(device->wait(*stream, *other));
    note(device->synchronizeStream(*stream));
    note(device->hasHappened(*other).status());
    note(device->millisecondsBetween(*one, *other).status());
    Code code = standin.code(stagedRules());
    if (standin.kind == DeviceKind::Cuda) // HIP asks for no leave, so that its stand-in gives none.
      code.manifest.gpu.kernels[0].sharedBytes = 100 << 10;
    if (auto module = device->load(code.manifest, code.views()); note(module.status())) {
      note(device->occupancy(**module).status());
      auto at = reinterpret_cast<int64_t>(*memory);
      int64_t slots[] = {at, 64, 1, at + 400, 64, 1, at + 800, 64, 1};
      LaunchArguments arguments;
      arguments.slots = slots;
      LaunchOutcome outcome;
      note(device->launch(**module, arguments, outcome));
      Code saying = standin.code(sayRules());
      if (auto say = device->load(saying.manifest, saying.views()); note(say.status())) {
        test::CapturedErrors errors;
        note(device->launch(**say, arguments, outcome));
      }
    }
    note(device->synchronize());
  }
  for (auto *event : {&one, &other})
    device->destroyEvent(event->isOk() ? **event : nullptr);
  device->destroyStream(stream ? *stream : nullptr);
  for (auto *block : {&memory, &copy})
    device->release(block->isOk() ? **block : nullptr);
  return first;
}

/// What the tables have.
std::vector<std::string> symbolsOf(DeviceKind kind) {
  if (kind == DeviceKind::Cuda)
    return {
#define NEEDED(symbol, parameters) #symbol,
#define OPTIONAL(symbol, parameters)
#include "devices/cuda/Symbols.def"
#undef NEEDED
#undef OPTIONAL
    };
  return {
#define NEEDED(symbol, result, parameters) #symbol,
#define OPTIONAL(symbol, result, parameters)
#include "devices/hip/Symbols.def"
#undef NEEDED
#undef OPTIONAL
  };
}

/// Calls whose failure nobody can do anything about.
bool isEnding(const std::string &symbol) {
  for (const char *word : {"Free", "Destroy", "Unload", "PopCurrent", "GetError", "IsCapturing"})
    if (contains(symbol, word))
      return true;
  return false;
}

} // namespace

TEST_CASE("everything a device can do is done without misuse, and nothing is left over", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    Status status = useEverything(standin);
    INFO(status.message());
    CHECK(status.isOk());
    CHECK(standin.misuse() == "");
    CHECK(standin.living() == 0);
    CHECK(standin.contexts() == 0);
  }
}

TEST_CASE("each call of the driver may fail: there is a status, and no misuse", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    for (const std::string &symbol : symbolsOf(kind)) {
      if (contains(symbol, "PopCurrent"))
        continue; // Then the thread keeps the context, which nobody can help.
      INFO(symbol);
      {
        Variable fail("TILEJIT_STANDIN_FAIL", symbol + "=1");
        Status status = useEverything(standin);
        CHECK(status.isOk() == isEnding(symbol));
        if (!status.isOk())
          CHECK_FALSE(status.message().empty());
      }
      CHECK(standin.misuse() == "");
    }
  }
}

TEST_CASE("a driver without devices says so", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    Variable none("TILEJIT_STANDIN_DEVICES", "0");
    auto opened = standin.open();
    CHECK(opened.status().code() == StatusCode::Unavailable);
    CHECK(contains(opened.status().message(), "sees no device"));
    CHECK_FALSE(opened.status().hint().empty());
  }
}

TEST_CASE("code for other chips is refused, and both are named", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    auto device = deviceOf(standin);
    Code foreign = standin.code(addRules());
    foreign.bytes[0].replace(foreign.bytes[0].find(standin.arch()), standin.arch().size(), "other");
    foreign.manifest.target = "sm_75";
    Status refused = device->load(foreign.manifest, foreign.views()).status();
    CHECK(refused.code() == StatusCode::DoesNotFit);
    INFO(refused.message());
    CHECK(contains(refused.message(), standin.arch()));
    CHECK(contains(refused.message(), "sm_75"));
    CHECK(contains(refused.hint(), standin.arch()));
    CHECK(standin.misuse() == "");
  }
}

TEST_CASE("an old driver is told from a bad module", "[cts][standin]") {
  Standin standin(DeviceKind::Cuda);
  auto device = deviceOf(standin);
  Code code = standin.code(addRules());
  Variable fail("TILEJIT_STANDIN_FAIL", "cuModuleLoadDataEx=222");
  Status refused = device->load(code.manifest, code.views()).status();
  CHECK(refused.code() == StatusCode::Unavailable);
  CHECK(contains(refused.hint(), "update the NVIDIA driver"));
  CHECK(standin.misuse() == "");
}

TEST_CASE("PTX is taken where the machine code does not fit", "[cts][standin]") {
  Standin standin(DeviceKind::Cuda);
  auto device = deviceOf(standin);
  Code code = standin.code(addRules());
  code.bytes[0].replace(code.bytes[0].find("sm_90"), 5, "sm_75");
  code.kinds.insert(code.kinds.begin(), abi::PayloadKind::Ptx);
  std::string parameters;
  for (int i = 0; i < 13; ++i)
    parameters += std::string(i ? "," : "") + ".param .u64 add_param_" + std::to_string(i);
  code.bytes.insert(code.bytes.begin(), ".version 8.0\n.target sm_80\n.visible .entry add(" + parameters + ") {}\n");
  auto module = load(*device, code);
  Trial trial(*device, 100);
  LaunchOutcome outcome;
  REQUIRE(device->launch(*module, trial.arguments(), outcome).isOk());
  CHECK(trial.isRight(1));
}

TEST_CASE("memory that runs out is given up where it is kept, asked for again, and then explained", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    Variable little("TILEJIT_STANDIN_MEMORY", "1000000");
    auto device = deviceOf(standin);
    auto module = load(*device, standin.code(stagedRules()));
    {
      Trial trial(*device, 10'000);
      LaunchOutcome outcome;
      REQUIRE(device->launch(*module, trial.arguments(), outcome).isOk()); // Keeps 40,000 bytes of workspace.
      REQUIRE(device->synchronize().isOk());
    }
    {
      Buffer most(*device, 970'000);
    }
    Status refused = device->allocate(2'000'000, "operand a").status();
    CHECK(refused.code() == StatusCode::OutOfMemory);
    INFO(refused.message());
    CHECK(contains(refused.message(), "operand a"));
    CHECK(contains(refused.message(), "2000000 bytes"));
    CHECK(contains(refused.hint(), "lower"));
    CHECK(standin.misuse() == "");
  }
}

TEST_CASE("an allocation past memory_fraction is refused with both numbers", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    Variable devices("TILEJIT_STANDIN_DEVICES", "4"), memory("TILEJIT_STANDIN_MEMORY", "8000000");
    auto device = deviceOf(standin, {3, 3, 0.25});
    Buffer half(*device, 1'000'000);
    Status refused = device->allocate(1'500'000).status();
    CHECK(refused.code() == StatusCode::OutOfMemory);
    CHECK(contains(refused.message(), "1500000 bytes"));
    CHECK(contains(refused.message(), "2000000 of 8000000"));
    CHECK(contains(refused.hint(), "memory_fraction"));
    CHECK(device->allocate(100).isOk());
    standin.misuse();
  }
}

TEST_CASE("a graph capture is not disturbed", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    auto device = deviceOf(standin);
    auto add = load(*device, standin.code(addRules())), staged = load(*device, standin.code(stagedRules()));
    auto stream = device->createStream();
    REQUIRE(stream.isOk());
    Trial trial(*device, 100);
    Buffer workspace(*device, 400);
    LaunchArguments arguments = trial.arguments();
    arguments.stream = *stream;
    standin.capture(*stream, true);
    CHECK(device->isCapturing(*stream));
    LaunchOutcome outcome;
    CHECK(device->launch(*add, arguments, outcome).isOk());
    Status refused = device->launch(*staged, arguments, outcome);
    CHECK(refused.code() == StatusCode::Unavailable);
    CHECK(contains(refused.message(), "400 bytes"));
    arguments.workspace = workspace.get();
    arguments.workspaceBytes = 400;
    CHECK(device->launch(*staged, arguments, outcome).isOk()); // Not waited for, so that assertions stay unread.
    CHECK(standin.misuse() == "");
    standin.capture(*stream, false);
    CHECK_FALSE(device->isCapturing(*stream));
    device->destroyStream(*stream);
  }
}

TEST_CASE("a kernel that prints is not launched into a capture", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    auto device = deviceOf(standin);
    auto say = load(*device, standin.code(sayRules()));
    auto stream = device->createStream();
    REQUIRE(stream.isOk());
    Trial trial(*device, 100);
    LaunchArguments arguments = trial.arguments();
    arguments.stream = *stream;
    standin.capture(*stream, true);
    LaunchOutcome outcome;
    Status refused = device->launch(*say, arguments, outcome);
    CHECK(refused.code() == StatusCode::Unavailable);
    CHECK(contains(refused.message(), "tile.print"));
    CHECK_FALSE(refused.hint().empty());
    standin.capture(*stream, false);
    CHECK(standin.misuse() == "");
    device->destroyStream(*stream);
  }
}

TEST_CASE("where there is no memory for what a kernel prints, it is not loaded", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    Variable little("TILEJIT_STANDIN_MEMORY", "1000000");
    auto device = deviceOf(standin);
    Code code = standin.code(sayRules());
    Status refused = device->load(code.manifest, code.views()).status();
    CHECK(refused.code() == StatusCode::OutOfMemory);
    INFO(refused.message());
    CHECK(contains(refused.message(), "what the kernel prints"));
    CHECK(standin.misuse() == "");
  }
}

TEST_CASE("lines beyond the buffer are counted in one line", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    auto device = deviceOf(standin);
    auto say = load(*device, standin.code(sayRules()));
    Trial trial(*device, 64 * 22'000);
    LaunchOutcome outcome;
    test::CapturedErrors errors;
    REQUIRE(device->launch(*say, trial.arguments(), outcome).isOk());
    std::string text = errors.take();
    // 1 MiB has room for 43689 records, two for each line.
    CHECK(std::count(text.begin(), text.end(), '\n') == 21'845);
    CHECK(contains(text, "\nat 21843 1397953\n"));
    CHECK(contains(text, "\ntile.print: no room for 156 more lines in the "));
    CHECK(standin.misuse() == "");
  }
}

TEST_CASE("peers, managed memory and occupancy", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    Variable devices("TILEJIT_STANDIN_DEVICES", "4");
    auto driver = standin.open();
    REQUIRE(driver.isOk());
    CHECK(*countDevices(**driver) == 4);
    auto two = makeGpuDevice(*driver, {2, 0, 1}), three = makeGpuDevice(*driver, {3, 1, 1}),
         zero = makeGpuDevice(*driver, {0, 2, 1});
    CHECK(*(*two)->reaches(**three));
    CHECK_FALSE(*(*zero)->reaches(**three));
    CHECK((*two)->enablePeer(**three).isOk());
    CHECK((*two)->enablePeer(**three).isOk()); // Again: it is there already.
    CHECK((*two)->enablePeer(**zero).code() == StatusCode::Unavailable);
    CHECK((*two)->properties().bus == (kind == DeviceKind::Cuda ? "0000:12:00.0" : "0000:22:00.0"));
    auto managed = (*two)->allocateManaged(1000);
    REQUIRE(managed.isOk());
    (*two)->release(*managed);
    auto module = load(**two, standin.code(addRules()));
    auto occupancy = (*two)->occupancy(*module);
    REQUIRE(occupancy.isOk());
    CHECK(occupancy->blocksPerUnit == 16);
    CHECK(occupancy->ofUnitThreads == 0.5);
    CHECK(occupancy->registers == 40);
    CHECK(standin.misuse() == "");
  }
}

TEST_CASE("a child after fork() is told that it can't use the device", "[cts][standin]") {
  for (DeviceKind kind : bothKinds) {
    Standin standin(kind);
    auto device = deviceOf(standin);
    pid_t child = fork();
    if (child == 0) {
      bool refused = device->allocate(100).status().code() == StatusCode::Unavailable &&
                     device->synchronize().code() == StatusCode::Unavailable;
      _exit(refused ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    CHECK(device->synchronize().isOk());
  }
}
