// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Threads of the host.

#include "core/HostThreads.h"

namespace tilejit::sim {

HostThreads::~HostThreads() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread &thread : threads_)
    thread.join();
}

void HostThreads::run(size_t count, const std::function<void(size_t)> &work) {
  if (count <= 1)
    return work(0);
  {
    std::lock_guard lock(mutex_);
    while (threads_.size() + 1 < count)
      threads_.emplace_back([this] { help(); });
    work_ = &work;
    next_ = 1;
    count_ = count;
  }
  begin_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  work_ = nullptr;
  end_.wait(lock, [&] { return active_ == 0; });
}

void HostThreads::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stop_ || (work_ && next_ < count_); });
    if (stop_)
      return;
    const std::function<void(size_t)> &work = *work_;
    size_t number = next_++;
    ++active_;
    lock.unlock();
    work(number);
    lock.lock();
    if (--active_ == 0)
      end_.notify_one();
  }
}

} // namespace tilejit::sim
