// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What keeps the library usable in a child after fork(): locks that fork() itself takes, so that the child finds them
// free and what they guard whole, and a number that changes in the child, so that threads and processes which exist in
// the parent only are not waited for. Nothing is registered before the first use.

#ifndef TILEJIT_DEVICE_FORK_H
#define TILEJIT_DEVICE_FORK_H

#include <cstdint>
#include <mutex>

namespace tilejit {

/// How many forks lie between the process that loaded the library and this one.
uint32_t forkGeneration();

/// A mutex for short sections. Never held while another ForkMutex is taken, nor across a call into the host: fork()
/// takes all of them, in no particular order.
class ForkMutex {
public:
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex &) = delete;
  ForkMutex &operator=(const ForkMutex &) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

private:
  friend struct ForkRegistry;
  std::mutex mutex_;
  ForkMutex *next_ = nullptr, *previous_ = nullptr;
};

} // namespace tilejit

#endif // TILEJIT_DEVICE_FORK_H
