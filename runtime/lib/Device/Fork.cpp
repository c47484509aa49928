// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The list of fork-aware locks. The handlers belong to this library's handle, so that dlclose() takes them away.

#include "tilejit/Device/Fork.h"

#include <atomic>
#include <pthread.h>

namespace tilejit {

struct ForkRegistry {
  static void add(ForkMutex &lock);
  static void remove(ForkMutex &lock);
  static void prepare();
  static void release();
  static void childAfterFork();
};

namespace {

// Constant-initialised: loading the library runs none of our code.
constinit std::mutex registryMutex;
constinit ForkMutex *firstLock = nullptr;
constinit std::atomic<uint32_t> generation{0};
constinit std::once_flag registered;

void registerOnce() {
  std::call_once(registered,
                 [] { pthread_atfork(&ForkRegistry::prepare, &ForkRegistry::release, &ForkRegistry::childAfterFork); });
}

} // namespace

void ForkRegistry::add(ForkMutex &lock) {
  std::lock_guard guard(registryMutex);
  lock.next_ = firstLock;
  if (firstLock)
    firstLock->previous_ = &lock;
  firstLock = &lock;
}

void ForkRegistry::remove(ForkMutex &lock) {
  std::lock_guard guard(registryMutex);
  (lock.previous_ ? lock.previous_->next_ : firstLock) = lock.next_;
  if (lock.next_)
    lock.next_->previous_ = lock.previous_;
}

void ForkRegistry::prepare() {
  registryMutex.lock();
  for (ForkMutex *lock = firstLock; lock; lock = lock->next_)
    lock->mutex_.lock();
}

void ForkRegistry::release() {
  for (ForkMutex *lock = firstLock; lock; lock = lock->next_)
    lock->mutex_.unlock();
  registryMutex.unlock();
}

void ForkRegistry::childAfterFork() {
  generation.fetch_add(1, std::memory_order_relaxed);
  release();
}

uint32_t forkGeneration() {
  registerOnce();
  return generation.load(std::memory_order_relaxed);
}

ForkMutex::ForkMutex() {
  registerOnce();
  ForkRegistry::add(*this);
}

ForkMutex::~ForkMutex() { ForkRegistry::remove(*this); }

} // namespace tilejit
