// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Threads that take subjects, and what they say when one of them dies.

#include "Sweeper.h"

#include "Launcher.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>
#include <unistd.h>

namespace tilejit::sweep {

namespace {

/// What a thread is launching, for the handler of signals.
struct Running {
  std::atomic<const Launcher *> launcher{nullptr};
  std::array<char, 512> text{};
};
std::array<Running, 8> running;

void say(const std::string &text) { (void)!write(STDERR_FILENO, text.data(), text.size()); }

/// A guard was touched, or worse. Memory may be allocated here, since it is a kernel that was interrupted.
void dieOf(int signal, siginfo_t *info, void *) {
  say("signal " + std::to_string(signal) + " in one of:\n");
  for (const Running &one : running)
    if (const Launcher *launcher = one.launcher) {
      std::string place = launcher->describe(info->si_addr);
      say(std::string("  ") + one.text.data() + (place.empty() ? "" : ": " + place) + "\n");
    }
  _exit(3);
}

void catchSignals() {
  struct sigaction action{};
  action.sa_sigaction = &dieOf;
  action.sa_flags = SA_SIGINFO;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    sigaction(signal, &action, nullptr);
}

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t x = a + 0x9e3779b97f4a7c15 * (b + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t hashOf(std::string_view text) {
  uint64_t hash = 0;
  for (char letter : text)
    hash = mixed(hash, static_cast<unsigned char>(letter));
  return hash;
}

std::string sizesText(const Subject &subject, const std::vector<int64_t> &sizes) {
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? "," : "") + subject.axes[i].name + "=" + std::to_string(sizes[i]);
  return text;
}

/// Sizes from one launch to the next: within as many launches as an axis is long, each of its sizes comes once.
class Sizes {
public:
  Sizes(const Subject &subject, uint64_t seed) : subject_(subject), choose_(seed), orders_(subject.axes.size()) {}

  void next(std::vector<int64_t> &sizes, bool withConstants) {
    for (size_t i = 0; i < orders_.size(); ++i)
      if (!subject_.axes[i].isConstant || withConstants)
        sizes[i] = take(i);
  }

private:
  int64_t take(size_t axis) {
    std::vector<int64_t> &order = orders_[axis];
    if (order.empty()) {
      const Axis &range = subject_.axes[axis];
      order.resize(static_cast<size_t>(range.high - range.low + 1));
      std::iota(order.begin(), order.end(), range.low);
      choose_.shuffle(order);
    }
    int64_t size = order.back();
    order.pop_back();
    return size;
  }

  const Subject &subject_;
  Choice choose_;
  std::vector<std::vector<int64_t>> orders_;
};

/// One thread's work.
class Sweeper {
public:
  Sweeper(Context &context, const SweepOptions &options, Running &place)
      : context_(context), options_(options), place_(place) {}
  ~Sweeper() { place_.launcher = nullptr; }

  /// What is wrong, in lines.
  std::vector<std::string> sweep(const Subject &subject) {
    problems_.clear();
    kernel_.reset();
    uint64_t seed = mixed(options_.seed, hashOf(subject.name));
    std::vector<int64_t> sizes(subject.axes.size());
    if (!options_.sizes.empty())
      launchGiven(subject);
    else if (options_.isFull)
      launchEvery(subject, sizes, 0, seed);
    else
      launchSome(subject, sizes, seed);
    return std::move(problems_);
  }

private:
  static constexpr size_t mostProblems = 5;

  void launchGiven(const Subject &subject) {
    std::vector<int64_t> sizes;
    for (const Axis &axis : subject.axes) {
      std::string text = "," + options_.sizes, key = "," + axis.name + "=";
      size_t at = text.find(key);
      sizes.push_back(at == std::string::npos ? axis.low : std::atoll(text.c_str() + at + key.size()));
    }
    launch(subject, sizes, options_.seed);
  }

  void launchSome(const Subject &subject, std::vector<int64_t> &sizes, uint64_t seed) {
    Sizes order(subject, seed);
    bool isFixed = std::all_of(subject.axes.begin(), subject.axes.end(), [](auto &axis) { return axis.isConstant; });
    int64_t together = isFixed ? 2 : 8;
    for (int64_t i = 0; i < subject.launches * options_.rounds && problems_.size() < mostProblems; ++i) {
      order.next(sizes, i % together == 0);
      launch(subject, sizes, mixed(seed, static_cast<uint64_t>(i)));
    }
  }

  /// All sizes of this axis and those behind it.
  void launchEvery(const Subject &subject, std::vector<int64_t> &sizes, size_t axis, uint64_t seed) {
    if (axis == sizes.size())
      return launch(subject, sizes, seed);
    for (int64_t size = subject.axes[axis].low; size <= subject.axes[axis].high; ++size) {
      if (problems_.size() >= mostProblems)
        return;
      sizes[axis] = size;
      launchEvery(subject, sizes, axis + 1, mixed(seed, static_cast<uint64_t>(size)));
    }
  }

  Status prepare(const Subject &subject, const std::vector<int64_t> &sizes) {
    std::string text = subject.description(sizes);
    if (kernel_ && text == text_)
      return Status::ok();
    kernel_.reset();
    TILEJIT_ASSIGN_OR_RETURN(Source source, parseSource(text, subject.name + ".json"));
    TILEJIT_ASSIGN_OR_RETURN(TargetSpec target, targetOf(subject.target));
    CompileOptions compile;
    compile.config = subject.config;
    compile.noCache = true;
    TILEJIT_ASSIGN_OR_RETURN(kernel_, context_.prepare(source, target, compile));
    description_ = source.description;
    text_ = text;
    return Status::ok();
  }

  void launch(const Subject &subject, const std::vector<int64_t> &sizes, uint64_t seed) {
    std::string words = "SweepTest --only " + subject.name + " --sizes " + sizesText(subject, sizes) + " --seed " +
                        std::to_string(seed);
    std::snprintf(place_.text.data(), place_.text.size(), "%s", words.c_str());
    Status status = prepare(subject, sizes);
    if (!status.isOk()) {
      problems_.push_back(words + ": " + status.pointer() + " " + status.message());
      return;
    }
    Binding binding;
    for (const SymbolicDim &dim : description_->dims)
      for (size_t i = 0; i < sizes.size(); ++i)
        if (subject.axes[i].name == dim.name)
          binding.sizes.push_back(sizes[i]);
    place_.launcher = &launcher_;
    std::string problem = launcher_.launch(*kernel_, *description_, binding, seed);
    place_.launcher = nullptr;
    if (!problem.empty())
      problems_.push_back(words + ": " + problem);
  }

  Context &context_;
  const SweepOptions &options_;
  Running &place_;
  Launcher launcher_;
  std::shared_ptr<Kernel> kernel_;
  std::shared_ptr<const Description> description_;
  std::string text_;
  std::vector<std::string> problems_;
};

void sayDone(size_t done, size_t all, const Subject &subject, const std::vector<std::string> &problems) {
  std::printf("[%zu/%zu] %s %s\n", done, all, problems.empty() ? "ok" : "FAIL", subject.name.c_str());
  for (const std::string &problem : problems)
    std::printf("  %s\n", problem.c_str());
  std::fflush(stdout);
}

} // namespace

std::vector<std::string> sweepAll(Context &context, const std::vector<const Subject *> &subjects,
                                  const SweepOptions &options) {
  catchSignals();
  std::vector<std::string> problems;
  std::mutex lock;
  size_t done = 0;
  std::atomic<size_t> next{0};
  auto work = [&](Running &place) {
    Sweeper sweeper(context, options, place);
    for (size_t i; (i = next++) < subjects.size();) {
      std::vector<std::string> found = sweeper.sweep(*subjects[i]);
      std::lock_guard guard(lock);
      if (options.isLoud)
        sayDone(++done, subjects.size(), *subjects[i], found);
      problems.insert(problems.end(), found.begin(), found.end());
    }
  };
  size_t count = std::min({running.size(), size_t{std::max(1u, std::thread::hardware_concurrency())}, subjects.size()});
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i)
    threads.emplace_back(work, std::ref(running[i]));
  work(running[0]);
  for (std::thread &thread : threads)
    thread.join();
  return problems;
}

} // namespace tilejit::sweep
