// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A team of threads, each with a mailbox of its own, so that a region wakes only the threads it wants and waits only
// for those.

#include "ThreadPool.h"

#include "HostThreads.h"

#include "tilejit/Device/Fork.h"

#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

namespace tilejit::cpu {

namespace {

using Clock = std::chrono::steady_clock;

/// For so long a waiting thread keeps its processor to itself: longer than the gap between two launches of a busy loop.
constexpr std::chrono::microseconds quietSpin{20};
/// So long an idle thread looks for the next region before it sleeps. Waking a sleeper costs 50 microseconds and more
/// on a virtual machine, and a loop of launches in an interpreted language leaves gaps of tens.
constexpr std::chrono::microseconds idleSpin{200};
/// So long the caller of a region waits awake for the others, whose work is cut to end when its own does.
constexpr std::chrono::microseconds joinSpin{2000};

inline void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until done() or for `limit`; gives whether it is done. By the clock, since a pause takes 10 to 140 cycles on
/// different processors; after quietSpin others that want the processor (threads of OpenMP, say) get it in between.
template <typename Done> bool spin(Done done, std::chrono::microseconds limit) {
  constexpr int pausesPerLook = 32;
  auto started = Clock::now();
  for (;;) {
    for (int i = 0; i < pausesPerLook; ++i) {
      if (done())
        return true;
      pauseBriefly();
    }
    auto waited = Clock::now() - started;
    if (waited > limit)
      return false;
    if (waited > quietSpin)
      std::this_thread::yield();
  }
}

/// Waits until `value` is no longer `old`.
void waitForChange(const std::atomic<uint32_t> &value, uint32_t old) {
  if (spin([&] { return value.load(std::memory_order_acquire) != old; }, idleSpin))
    return;
  while (value.load(std::memory_order_acquire) == old)
    value.wait(old, std::memory_order_acquire);
}

struct alignas(64) Mailbox {
  std::atomic<uint32_t> ticket{0}; ///< Grows by one for each region that this thread takes part in.
  std::thread thread;
};

} // namespace

struct ThreadPool::Team {
  explicit Team(const std::vector<int> &processors) : processors(processors) {}

  const std::vector<int> &processors; ///< The pool's.
  uint32_t generation = forkGeneration();
  std::atomic<bool> busy{false};
  std::vector<std::unique_ptr<Mailbox>> mailboxes; ///< Of thread 1 and up.
  bool stopping = false;

  // The region that runs. Written before the tickets grow, read after.
  Executor::Task task = nullptr;
  void *data = nullptr;
  alignas(64) std::atomic<uint32_t> pending{0};

  void serve(Mailbox &mailbox, int64_t index) {
    // A processor that was taken from the process since then is no reason to fail: the thread runs elsewhere.
    if (!processors.empty())
      bindThread(processors[static_cast<size_t>(index) % processors.size()]);
    for (uint32_t seen = 0;; ++seen) {
      waitForChange(mailbox.ticket, seen);
      if (stopping)
        return;
      task(data, index);
      if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1)
        pending.notify_one();
    }
  }

  /// Starts what is missing; false where the system refuses.
  bool grow(int64_t count) {
    while (static_cast<int64_t>(mailboxes.size()) + 1 < count) {
      mailboxes.push_back(std::make_unique<Mailbox>());
      Mailbox &mailbox = *mailboxes.back();
      int64_t index = static_cast<int64_t>(mailboxes.size());
      try {
        mailbox.thread = std::thread([this, &mailbox, index] { serve(mailbox, index); });
      } catch (const std::system_error &) {
        mailboxes.pop_back();
        return false;
      }
    }
    return true;
  }

  void post(int64_t index) {
    Mailbox &mailbox = *mailboxes[static_cast<size_t>(index - 1)];
    mailbox.ticket.fetch_add(1, std::memory_order_release);
    mailbox.ticket.notify_one();
  }

  void awaitAll() {
    if (spin([&] { return pending.load(std::memory_order_acquire) == 0; }, joinSpin))
      return;
    for (uint32_t left; (left = pending.load(std::memory_order_acquire)) != 0;)
      pending.wait(left, std::memory_order_acquire);
  }

  void stop() {
    stopping = true;
    for (size_t i = 0; i < mailboxes.size(); ++i)
      post(static_cast<int64_t>(i) + 1);
    for (auto &mailbox : mailboxes)
      mailbox->thread.join();
  }
};

ThreadPool::~ThreadPool() {
  Team *team = team_.load();
  // A team of the parent has no threads here, and a std::thread without one must not be destroyed: it stays.
  if (!team || team->generation != forkGeneration())
    return;
  team->stop();
  delete team;
}

/// The team of this process, made on first use.
ThreadPool::Team *ThreadPool::team() {
  Team *current = team_.load(std::memory_order_acquire);
  if (current && current->generation == forkGeneration())
    return current;
  auto fresh = std::make_unique<Team>(processors_);
  if (team_.compare_exchange_strong(current, fresh.get(), std::memory_order_acq_rel))
    return fresh.release();
  return current;
}

bool ThreadPool::run(int64_t count, Executor::Task task, void *data) {
  Team &team = *this->team();
  if (team.busy.exchange(true, std::memory_order_acquire))
    return false;
  bool started = team.grow(count);
  if (started) {
    team.task = task;
    team.data = data;
    team.pending.store(static_cast<uint32_t>(count - 1), std::memory_order_relaxed);
    for (int64_t index = 1; index < count; ++index)
      team.post(index);
    task(data, 0);
    team.awaitAll();
  }
  team.busy.store(false, std::memory_order_release);
  return started;
}

} // namespace tilejit::cpu
