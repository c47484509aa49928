// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A team of threads, each with a mailbox of its own, so that a region wakes only the threads it wants and waits only
// for those.

#include "ThreadPool.h"

#include "tilejit/Device/Fork.h"

#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace tilejit::cpu {

namespace {

/// About 20 microseconds: longer than the gap between two launches of a busy loop, shorter than anyone notices.
constexpr int spinRounds = 400;

inline void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until `value` is no longer `old`.
void waitForChange(const std::atomic<uint32_t> &value, uint32_t old) {
  for (int round = 0; round < spinRounds; ++round) {
    if (value.load(std::memory_order_acquire) != old)
      return;
    pauseBriefly();
  }
  while (value.load(std::memory_order_acquire) == old)
    value.wait(old, std::memory_order_acquire);
}

struct alignas(64) Mailbox {
  std::atomic<uint32_t> ticket{0}; ///< Grows by one for each region that this thread takes part in.
  std::thread thread;
};

} // namespace

struct ThreadPool::Team {
  uint32_t generation = forkGeneration();
  std::atomic<bool> busy{false};
  std::vector<std::unique_ptr<Mailbox>> mailboxes; ///< Of thread 1 and up.
  bool stopping = false;

  // The region that runs. Written before the tickets grow, read after.
  Executor::Task task = nullptr;
  void *data = nullptr;
  alignas(64) std::atomic<uint32_t> pending{0};

  void serve(Mailbox &mailbox, int64_t index) {
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
    for (int round = 0; round < spinRounds; ++round) {
      if (pending.load(std::memory_order_acquire) == 0)
        return;
      pauseBriefly();
    }
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
  auto fresh = std::make_unique<Team>();
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
