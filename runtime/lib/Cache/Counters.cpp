// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Counters that outlive their process: records of five numbers, appended, so that writers need no lock.

#include "CacheParts.h"

#include "tilejit/Base/Bytes.h"

#include <fcntl.h>
#include <sys/file.h>

namespace tilejit {
namespace {

constexpr size_t recordBytes = 40;
constexpr int64_t compactFrom = 64 << 10;

std::string encodeRecord(const CacheCounters &counters) {
  ByteWriter out;
  out.i64(counters.hits).i64(counters.misses).i64(counters.quarantined).i64(counters.published).i64(counters.errors);
  return std::move(out).result();
}

CacheCounters sumOf(std::string_view bytes) {
  CacheCounters sum;
  for (; bytes.size() >= recordBytes; bytes.remove_prefix(recordBytes)) {
    ByteReader in(bytes);
    for (int64_t *counter : {&sum.hits, &sum.misses, &sum.quarantined, &sum.published, &sum.errors})
      *counter = static_cast<int64_t>(static_cast<uint64_t>(*counter) + in.u64());
  }
  return sum;
}

} // namespace

CacheCounters CounterFile::read() const {
  CacheCounters sum;
  return readAll(sum) ? sum : CacheCounters();
}

bool CounterFile::readAll(CacheCounters &sum) const {
  FileHandle file(system_, system_.open(path_, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0));
  std::string bytes;
  if (!file.isOpen() || tilejit::readAll(system_, file.get(), 16 * compactFrom, bytes) < 0)
    return false;
  sum = sumOf(bytes);
  return true;
}

void CounterFile::add(const CacheCounters &counted) {
  FileHandle file(system_, system_.open(path_, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file.isOpen())
    return;
  std::string record = encodeRecord(counted);
  FileInfo info;
  if (system_.write(file.get(), record.data(), record.size()) < 0 || system_.stat(file.get(), info) != 0)
    return;
  if (info.isRegular() && info.size > compactFrom)
    compact(file.get());
}

void CounterFile::compact(int fd) {
  // One at a time. What is appended to the old file between reading and renaming is lost; these are statistics.
  if (system_.lock(fd, LOCK_EX | LOCK_NB) != 0)
    return;
  FileInfo mine, named;
  if (system_.stat(fd, mine) == 0 && system_.stat(path_, false, named) == 0 && mine.inode == named.inode)
    if (CacheCounters sum; readAll(sum))
      replaceFile(system_, path_, encodeRecord(sum), 0600, false);
  system_.lock(fd, LOCK_UN);
}

CacheCounters Cache::counters() const {
  return {counting_->hits, counting_->misses, counting_->quarantined, counting_->published, counting_->errors};
}

void Cache::flushCounters() {
  if (realRoot_.empty())
    return;
  Counting &c = *counting_;
  c.sinceFlush = 0;
  std::array<std::atomic<int64_t> *, 5> live = {&c.hits, &c.misses, &c.quarantined, &c.published, &c.errors};
  std::array<int64_t, 5> delta;
  bool any = false;
  for (size_t i = 0; i < live.size(); ++i) {
    int64_t now = *live[i];
    delta[i] = now - c.flushed[i].exchange(now);
    any |= delta[i] != 0;
  }
  if (!any)
    return;
  CounterFile file(system_, joinPath(stateFolder(), "counters"));
  if (makeDirectories(system_, stateFolder(), 0700) == 0)
    file.add({delta[0], delta[1], delta[2], delta[3], delta[4]});
}

} // namespace tilejit
