// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The sweep: kernels of all families on ragged sizes, between guards. By default a sample, by a seed that is printed;
// --subjects N of each family, or all with 0. --only TEXT keeps those whose name has the text, --part I --parts N every
// N-th, --sizes m=1,n=2 one launch of each, which is how a failure is repeated. --full takes all combinations of sizes,
// --progress prints a line for each subject, --subject-names the names of all.

#include "Launcher.h"
#include "Sweeper.h"

#include <csignal>
#include <cstdio>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

using namespace tilejit;
using namespace tilejit::sweep;

namespace {

SweepOptions options;
std::string only;
int64_t subjectCount = -1, part = 1, parts = 1;

std::shared_ptr<Context> makeContext() {
  ContextOptions contextOptions;
  for (auto [id, text] : {std::pair(SettingId::Cache, "off"), {SettingId::Worker, TILEJIT_SWEEP_WORKER}}) {
    Status status = contextOptions.settings.set(id, text, SettingOrigin::CommandLine, "the sweep");
    INFO(status.message());
    REQUIRE(status.isOk());
  }
  Expected<std::shared_ptr<Context>> context = Context::create(std::move(contextOptions));
  REQUIRE(context.isOk());
  return *context;
}

std::vector<const Subject *> chosen(const std::vector<Subject> &all, int64_t count) {
  std::vector<const Subject *> subjects;
  std::map<std::string, bool> runsHere;
  int64_t number = 0;
  for (const Subject &subject : all) {
    if (++number % parts != part % parts)
      continue;
    auto [entry, isNew] = runsHere.try_emplace(subject.target, false);
    if (isNew)
      entry->second = targetOf(subject.target).isOk();
    if (entry->second && subject.name.find(only) != std::string::npos)
      subjects.push_back(&subject);
  }
  if (count == 0)
    return subjects;
  Choice choose(options.seed);
  choose.shuffle(subjects);
  subjects.resize(std::min(subjects.size(), static_cast<size_t>(count)));
  return subjects;
}

/// `count`: of a sample that nobody asked for.
void sweepFamily(const std::vector<Subject> &all, int64_t count) {
  INFO("seed " << options.seed);
  bool isSample = only.empty() && parts == 1;
  std::vector<const Subject *> subjects = chosen(all, subjectCount >= 0 ? subjectCount : isSample ? count : 0);
  std::shared_ptr<Context> context = makeContext();
  for (const std::string &problem : sweepAll(*context, subjects, options))
    FAIL_CHECK(problem);
}

} // namespace

TEST_CASE("what lies around an operand is watched", "[sweep]") {
  GuardedMemory memory;
  for (Placement placement : {Placement::AtEnd, Placement::AtBegin, Placement::Inside})
    for (int64_t bytes : {0, 1, 12, 4096, 70000}) {
      std::byte *block = memory.place(bytes, placement, 4, 8);
      CHECK(reinterpret_cast<uintptr_t>(block) % 4 == 0);
      memory.fillWithNoise(1);
      memory.remember();
      CHECK(memory.changes().empty());
      if (placement != Placement::AtBegin) {
        block[-1] ^= std::byte{1};
        CHECK(memory.changes() == "1 bytes changed, the first byte -1 of its " + std::to_string(bytes));
        block[-1] ^= std::byte{1};
      }
      if (placement != Placement::AtEnd) {
        block[bytes + 2] ^= std::byte{1};
        CHECK(memory.changes() == "1 bytes changed, the first byte 2 behind its " + std::to_string(bytes));
        block[bytes + 2] ^= std::byte{1};
      }
      if (bytes == 0)
        continue;
      block[bytes - 1] ^= std::byte{1};
      CHECK(!memory.changes().empty());
      memory.allow(block + bytes - 1, 1);
      CHECK(memory.changes().empty());
    }
}

TEST_CASE("who leaves an operand at a guard dies", "[sweep]") {
  GuardedMemory memory;
  for (Placement placement : {Placement::AtEnd, Placement::AtBegin}) {
    const volatile std::byte *block = memory.place(4096 + 12, placement, 4, 0);
    const volatile std::byte *outside = placement == Placement::AtEnd ? block + 4096 + 12 : block - 1;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      signal(SIGSEGV, SIG_DFL);
      _exit(std::to_integer<int>(*outside) & 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
  }
}

TEST_CASE("products are right on ragged sizes between guards", "[sweep]") { sweepFamily(matmulSubjects(), 60); }
TEST_CASE("attention is right on ragged sizes between guards", "[sweep]") { sweepFamily(attentionSubjects(), 20); }
TEST_CASE("operators of rows are right on ragged sizes between guards", "[sweep]") { sweepFamily(rowSubjects(), 40); }
TEST_CASE("operators of elements are right on ragged sizes between guards", "[sweep]") {
  sweepFamily(elementSubjects(), 60);
}

int main(int count, char **words) {
  Catch::Session session;
  options.seed = 20261203; // One sample for all runs of the tests; the long run brings seeds of its own.
  bool isList = false;
  using Catch::clara::Opt;
  session.cli(session.cli() | Opt(options.seed, "seed")["--seed"]("seed of the sample and its data") |
              Opt(subjectCount, "number")["--subjects"]("subjects of each family; 0: all") |
              Opt(only, "text")["--only"]("subjects whose name has the text") |
              Opt(part, "number")["--part"]("a part of the subjects, from 1 on") |
              Opt(parts, "number")["--parts"]("of so many") |
              Opt(options.sizes, "sizes")["--sizes"]("one launch of each: m=1,n=2") |
              Opt(options.rounds, "number")["--rounds"]("how often to go through the sizes") |
              Opt(options.isFull)["--full"]("all combinations of sizes") |
              Opt(options.isLoud)["--progress"]("a line for each subject") |
              Opt(isList)["--subject-names"]("print the names of all subjects and stop"));
  int refused = session.applyCommandLine(count, words);
  if (!refused && isList) {
    for (const Subject &subject : allSubjects())
      std::puts(subject.name.c_str());
    return 0;
  }
  return refused ? refused : session.run();
}
