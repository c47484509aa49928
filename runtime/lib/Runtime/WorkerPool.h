// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The worker processes of one context: started when there is something to compile, kept for the next time, each with
// one compile at a time. Callers beyond their number wait.

#ifndef TILEJIT_LIB_RUNTIME_WORKERPOOL_H
#define TILEJIT_LIB_RUNTIME_WORKERPOOL_H

#include "WorkerClient.h"

#include "tilejit/Base/Log.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tilejit {

class WorkerPool {
public:
  WorkerPool(WorkerOptions options, int64_t maxWorkers, Logger logger)
      : options_(std::move(options)), maxWorkers_(maxWorkers), logger_(std::move(logger)) {}

  /// A worker for one caller; goes back to the pool, or ends where it isn't usable any more, when the lease does.
  class Lease {
  public:
    Lease(WorkerPool &pool, std::unique_ptr<WorkerClient> client) : pool_(&pool), client_(std::move(client)) {}
    Lease(Lease &&other) noexcept = default;
    Lease &operator=(Lease &&) = delete;
    ~Lease() {
      if (client_)
        pool_->giveBack(std::move(client_));
    }
    WorkerClient *operator->() { return client_.get(); }

  private:
    WorkerPool *pool_;
    std::unique_ptr<WorkerClient> client_;
  };
  Expected<Lease> lease();

  const WorkerOptions &options() const { return options_; }
  int64_t starts() const { return starts_.load(std::memory_order_relaxed); }
  int64_t deaths() const { return deaths_.load(std::memory_order_relaxed); }
  void countDeath() { deaths_.fetch_add(1, std::memory_order_relaxed); }

private:
  void giveBack(std::unique_ptr<WorkerClient> client);

  const WorkerOptions options_;
  const int64_t maxWorkers_;
  const Logger logger_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<WorkerClient>> idle_;
  int64_t leased_ = 0;
  std::atomic<int64_t> starts_{0}, deaths_{0};
};

} // namespace tilejit

#endif // TILEJIT_LIB_RUNTIME_WORKERPOOL_H
