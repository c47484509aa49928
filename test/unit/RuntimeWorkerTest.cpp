// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Whatever a worker does, the caller gets a status with the reason, a reproducer, and a working next compile.

#include "RuntimeFixture.h"

#include "tilejit/Description/Parse.h"
#include "tilejit/Runtime/WorkerProtocol.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tilejit;
using namespace tilejit::test;

namespace {

struct Case {
  Folder folder;
  LogLines log;
  Settings settings = fakeSettings(folder / "cache");
  std::shared_ptr<Context> context;

  Context &start() {
    context = makeContext(settings, log.logger());
    return *context;
  }
  Status compile(Trouble trouble = NoTrouble) {
    return context->compile(addition(), native(*context), asking(trouble)).status();
  }
};

std::string detailOf(const Status &status, const std::string &prefix) {
  for (const std::string &line : status.details())
    if (line.starts_with(prefix))
      return line.substr(prefix.size());
  return {};
}

void checkFails(const Status &status, StatusCode code, const std::string &part) {
  INFO(status.message());
  CHECK(status.code() == code);
  CHECK(status.message().find(part) != std::string::npos);
}

} // namespace

TEST_CASE("a crash of the compiler is a status, and the next compile works", "[runtime]") {
  Case test;
  test.start();
  Status status = test.compile(Crash);
  checkFails(status, StatusCode::WorkerFailed, "worker");
  CHECK(status.message().find("signal 6") != std::string::npos);
  CHECK(status.message().find("elementwise") != std::string::npos);
  CHECK(status.message().find("Stack dump") == std::string::npos);
  CHECK(test.log.count("a pretended crash") == 1);

  std::string path = detailOf(status, "reproducer: ");
  REQUIRE_FALSE(path.empty());
  auto text = readFile(realSystem(), path);
  REQUIRE(text.isOk());
  CHECK(text->find("--config bn=60001") != std::string::npos);
  auto again = parseSource(*text, path);
  INFO(again.status().message());
  REQUIRE(again.isOk());
  CHECK(canonicalJson(*again->description) == canonicalJson(*addition().description));

  CHECK(test.compile().isOk());
  CHECK(test.context->counters().workerDeaths == 1);
  CHECK(test.context->counters().workerStarts == 2);
  CHECK(test.context->counters().compileFailures == 1);
}

TEST_CASE("what killed a worker is not tried again at once", "[runtime]") {
  Case test;
  test.start();
  REQUIRE_FALSE(test.compile(Crash).isOk());
  checkFails(test.compile(Crash), StatusCode::WorkerFailed, "not compiled again");
  CHECK(test.context->counters().workerDeaths == 1);
  test.start(); // Another process would see the same folder.
  checkFails(test.compile(Crash), StatusCode::WorkerFailed, "signal 6");
  CHECK(test.context->counters().workerStarts == 0);
  CHECK(test.compile().isOk());
}

TEST_CASE("other ends of a worker", "[runtime]") {
  Case test;
  set(test.settings, SettingId::CompileTimeout, "2s");
  test.start();
  checkFails(test.compile(Exit), StatusCode::WorkerFailed, "exit code 3");
  checkFails(test.compile(Garbage), StatusCode::WorkerFailed, "can't be read");
  checkFails(test.compile(Silent), StatusCode::WorkerFailed, "no answer");
  checkFails(test.compile(Hang), StatusCode::TimedOut, "within 2 seconds");
  checkFails(test.compile(Spin), StatusCode::TimedOut, "2 ");
  CHECK(test.compile(Chatter).isOk());
  CHECK(test.compile().isOk());
}

TEST_CASE("a compile that takes too much memory", "[runtime]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::printf("SKIP: a compile that takes too much memory: a worker with a sanitizer has no limit\n");
#else
  Case test;
  set(test.settings, SettingId::CompileMemory, "4G");
  test.start();
  checkFails(test.compile(Greedy), StatusCode::WorkerFailed, "out of memory");
  CHECK(test.compile().isOk());
#endif
}

TEST_CASE("a refusal is a compile failure and leaves the worker alive", "[runtime]") {
  Case test;
  test.start();
  Status status = test.compile(Refuse);
  checkFails(status, StatusCode::CompileFailed, "pretended refusal");
  CHECK(status.pointer() == "/outputs/c");
  CHECK_FALSE(detailOf(status, "reproducer: ").empty());
  CHECK(test.compile().isOk());
  CHECK(test.context->counters().workerStarts == 1);
  CHECK(test.context->counters().workerDeaths == 0);
}

TEST_CASE("a payload that the device refuses is an error, not a crash", "[runtime]") {
  Case test;
  Context &context = test.start();
  CompileOptions options = asking(DamagedPayload);
  CHECK(context.prepare(addition(), native(context), options).status().code() == StatusCode::DeviceFailed);
  // Found in the cache it is put aside once and compiled anew.
  CHECK(context.prepare(addition(), native(context), options).status().code() == StatusCode::DeviceFailed);
  CHECK(context.counters().compiles == 2);
}

TEST_CASE("workers that can't be started", "[runtime]") {
  struct {
    const char *program, *part;
  } cases[] = {{"/bin/false", "exit code 1 before it answered"},
               {"/bin/true", "exit code 0 before it answered"},
               {"/no/such/worker", "No such file"},
               {"/etc/passwd", "ermission denied"}};
  for (const auto &[program, part] : cases) {
    Case test;
    set(test.settings, SettingId::Worker, program);
    test.start();
    INFO(program);
    checkFails(test.compile(), StatusCode::WorkerFailed, part);
    checkFails(test.compile(), StatusCode::WorkerFailed, "worker");
    CompileOptions options;
    options.noCompile = true;
    CHECK(test.context->prepare(addition(), native(*test.context), options).status().code() == StatusCode::NotCached);
  }
}

TEST_CASE("a missing compiler library is named with the places looked at", "[runtime]") {
  Case test;
  Folder empty;
  std::filesystem::copy_file(TILEJIT_TEST_WORKER, empty / "tilejit-worker");
  set(test.settings, SettingId::Worker, empty / "tilejit-worker");
  set(test.settings, SettingId::Home, empty / "home");
  test.start();
  Status status = test.compile();
  checkFails(status, StatusCode::WorkerFailed, "found no libtilejit-compiler.so");
  CHECK(detailOf(status, "looked for ").find("home/lib/libtilejit-compiler.so") != std::string::npos);
}

TEST_CASE("kill -9 of a worker in mid-compile is a status, and the next compile works", "[runtime]") {
  Case test;
  std::string fifo = test.folder / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  REQUIRE(setenv("TILEJIT_TEST_FIFO", fifo.c_str(), 1) == 0);
  test.start();
  CompileOptions options = asking(Hang);
  Status status;
  // Open at both ends: whoever writes does not wait, and a compile that ends too early wakes this thread as well.
  int begun = open(fifo.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(begun >= 0);
  std::thread compiling([&] {
    status = test.context->compile(addition(), native(*test.context), options).status();
    CHECK(write(begun, "e", 1) == 1);
  });
  char byte = 0;
  CHECK(read(begun, &byte, 1) == 1);
  if (byte != 'b') {
    compiling.join();
    FAIL("the compile ended before it began: " << status.message());
  }
  std::string line;
  {
    std::lock_guard lock(test.log.mutex);
    for (const std::string &text : test.log.lines)
      if (text.find("started a compile worker") != text.npos)
        line = text;
  }
  REQUIRE(line.find("pid=") != line.npos);
  CHECK(kill(std::stoi(line.substr(line.find("pid=") + 4)), SIGKILL) == 0);
  compiling.join();
  close(begun);
  unsetenv("TILEJIT_TEST_FIFO");
  checkFails(status, StatusCode::WorkerFailed, "signal 9");
  CHECK(test.compile().isOk());
  // Nobody knows who sent the signal: the same compile may be tried at once.
  CHECK(std::filesystem::exists(test.folder / "cache"));
  CHECK_FALSE(std::filesystem::exists(test.context->cache().stateFolder() + "/crashes"));
}

TEST_CASE("an idle worker that was killed is replaced without a failure", "[runtime]") {
  Case test;
  test.start();
  REQUIRE(test.compile().isOk());
  std::string line;
  for (const std::string &text : test.log.lines)
    if (text.find("pid=") != text.npos)
      line = text;
  pid_t pid = std::stoi(line.substr(line.find("pid=") + 4));
  REQUIRE(kill(pid, SIGKILL) == 0);
  // Its end is visible once its state is Z; nobody but the library may collect it.
  siginfo_t info;
  REQUIRE(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0);
  CHECK(test.compile(Refuse).code() == StatusCode::CompileFailed);
  CHECK(test.context->counters().workerStarts == 2);
}

TEST_CASE("a replaced toolchain is a miss", "[runtime]") {
  Case test;
  std::filesystem::create_directories(test.folder / "home/lib");
  for (const char *name : {"libtilejit-compiler.so", "fake-kernel.so"})
    std::filesystem::copy_file(std::string(TILEJIT_TEST_HOME) + "/lib/" + name,
                               test.folder / "home/lib" + ("/" + std::string(name)));
  set(test.settings, SettingId::Home, test.folder / "home");
  Context &first = test.start();
  auto kernel = first.compile(addition(), native(first));
  REQUIRE(kernel.isOk());
  std::string key = kernel->report.key;
  // Another build of the library: the same code with another build id.
  std::string path = test.folder / "home/lib/libtilejit-compiler.so";
  auto bytes = readFile(realSystem(), path);
  REQUIRE(bytes.isOk());
  size_t note = bytes->find(std::string("GNU\0", 4), 0);
  REQUIRE(note != std::string::npos);
  for (size_t at = note; at != std::string::npos; at = bytes->find(std::string("GNU\0", 4), at + 4))
    if (at >= 8 && (*bytes)[at - 4] == 3)
      (*bytes)[at + 4] ^= 0x55;
  REQUIRE(writeFileAtomically(realSystem(), path, *bytes, 0755).isOk());
  Context &second = test.start();
  auto again = second.compile(addition(), native(second));
  INFO(again.status().message());
  REQUIRE(again.isOk());
  CHECK(again->report.key != key);
  CHECK(again->report.cache == CacheUse::Miss);
}

TEST_CASE("messages that are none are garbage", "[runtime]") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  MessageChannel channel(ends[0]), peer(ends[1]);
  using Result = MessageChannel::Result;
  WorkerMessage message;
  REQUIRE(peer.send(MessageKind::Compile, 7, "payload") == Result::Done);
  REQUIRE(channel.receive(message, 100) == Result::Done);
  CHECK(message.kind == MessageKind::Compile);
  CHECK(message.flags == 7);
  CHECK(message.payload == "payload");
  REQUIRE(peer.send(MessageKind::Compile, 0, "longer than allowed") == Result::Done);
  CHECK(channel.receive(message, 5) == Result::Garbage);
  char rest[19];
  REQUIRE(recv(ends[0], rest, sizeof rest, MSG_WAITALL) == sizeof rest);
  REQUIRE(peer.send(static_cast<MessageKind>(99), 0, "") == Result::Done);
  CHECK(channel.receive(message, 5) == Result::Garbage);
  REQUIRE(send(ends[1], "HTTP/1.1 400 Bad Request\r\n", 26, 0) == 26);
  CHECK(channel.receive(message, 5) == Result::Garbage);
  close(ends[1]);
  while (channel.receive(message, 5) == Result::Garbage)
    ;
  CHECK(channel.receive(message, 5) == Result::Closed);
  CHECK(channel.send(MessageKind::Hello, 0, "") == Result::Closed); // Without SIGPIPE.
  close(ends[0]);
}
