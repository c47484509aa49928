// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Single flight: of many processes that want one kernel, one compiles. Only an economy; whoever gets no lock in time
// compiles too, and nothing breaks. Lock files are never removed: there is a bounded number of them.

#include "CacheParts.h"

#include "tilejit/Base/Hash.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>

namespace tilejit {

CacheFlight::~CacheFlight() {
  // Not by closing alone: a child that was forked meanwhile shares the lock through its copy of the descriptor.
  if (file_.isOpen())
    system_->lock(file_.get(), LOCK_UN);
}

std::string Cache::lockFolder() {
  // flock over a network promises little, so there the locks are in a folder of this machine.
  std::string beside = joinPath(stateFolder(), "locks");
  if (!isOnNetwork(system_, realRoot_) && makeDirectories(system_, beside, 0700) == 0)
    return beside;
  std::string local = "/tmp/tilejit-" + std::to_string(system_.userId());
  FileInfo info;
  if (makeDirectories(system_, local, 0700) != 0 || system_.stat(local, false, info) != 0 ||
      !whyUntrusted(info, system_.userId()).empty() || isOnNetwork(system_, local))
    return {};
  local = joinPath(local, "locks");
  return makeDirectories(system_, local, 0700) == 0 ? local : "";
}

CacheFlight Cache::beginFlight(std::string_view key, int64_t timeoutNs) {
  if (!enabled_ || realRoot_.empty())
    return {};
  std::string folder = lockFolder();
  if (folder.empty())
    return {};
  // Keys share 4096 locks: two that meet are compiled one after the other, which is right as well.
  std::string slot = KeyHasher().add("root", realRoot_).add("key", key).finish().hex().substr(0, 3);
  FileHandle file(system_, system_.open(joinPath(folder, slot + ".lock"), O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  if (!file.isOpen()) {
    ++counting_->errors;
    return {};
  }
  int64_t end = system_.monotonicNanoseconds() + timeoutNs;
  for (int64_t wait = 500'000;; wait = std::min<int64_t>(wait * 2, 10'000'000)) {
    int error = system_.lock(file.get(), LOCK_EX | LOCK_NB);
    if (error == 0)
      return CacheFlight(system_, std::move(file));
    if (error != -EWOULDBLOCK && error != -EINTR) {
      ++counting_->errors;
      return {};
    }
    int64_t left = end - system_.monotonicNanoseconds();
    if (left <= 0)
      return {};
    system_.pause(std::min(wait, left));
  }
}

Expected<Cache::Found> Cache::findOrCompile(const KeyMaterial &material, int64_t timeoutNs,
                                            const std::function<Expected<CachedKernel>()> &compile) {
  CacheLookup first = lookup(material);
  if (first.isHit())
    return Found{*std::move(first.kernel), true, {}};
  CacheFlight flight = beginFlight(cacheKey(material), timeoutNs);
  if (isEnabled() && isUsable())
    if (CacheLookup second = lookup(material, Look::AfterWait); second.isHit())
      return Found{*std::move(second.kernel), true, {}};
  TILEJIT_ASSIGN_OR_RETURN(CachedKernel kernel, compile());
  publish(kernel);
  return Found{std::move(kernel), false, std::move(first.missReason)};
}

} // namespace tilejit
