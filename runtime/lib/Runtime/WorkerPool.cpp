// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Leasing workers. No lock is held while one starts, compiles or ends.

#include "WorkerPool.h"

#include <string>

namespace tilejit {

Expected<WorkerPool::Lease> WorkerPool::lease() {
  std::unique_ptr<WorkerClient> client;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return leased_ < maxWorkers_; });
    ++leased_;
    if (!idle_.empty()) {
      client = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (client && client->isUsable())
    return Lease(*this, std::move(client));
  if (client) {
    // It died while nobody asked it anything: no reason to fail this caller.
    countDeath();
    logger_.info("worker", "an idle compile worker has ended; starting another");
    client.reset();
  }
  auto started = WorkerClient::start(options_);
  if (!started) {
    giveBack(nullptr);
    return started.status();
  }
  starts_.fetch_add(1, std::memory_order_relaxed);
  logger_.debug("worker", "started a compile worker",
                {{"program", options_.program}, {"pid", std::to_string((*started)->pid())}});
  return Lease(*this, *std::move(started));
}

void WorkerPool::giveBack(std::unique_ptr<WorkerClient> client) {
  if (client && !client->isUsable())
    client.reset();
  std::lock_guard lock(mutex_);
  --leased_;
  if (client)
    idle_.push_back(std::move(client));
  changed_.notify_one();
}

} // namespace tilejit
