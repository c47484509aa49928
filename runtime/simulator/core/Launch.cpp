// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Rounds of blocks.

#include "core/Launch.h"

#include "core/GlobalShadow.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace tilejit::sim {

namespace {

constexpr uint64_t mostResidentBytes = 1ull << 30;
// Rounds in which blocks only look at each other before that is called a deadlock.
constexpr unsigned patience = 4000;

} // namespace

/// What one host thread owns.
struct LaunchRunner::Worker {
  std::vector<Counters> sites;
  std::vector<BlockCount> blocks;
  std::vector<std::unique_ptr<Block>> idle; ///< To be used again.
};

/// A block in a round.
struct LaunchRunner::Item {
  uint64_t number = 0;
  std::unique_ptr<Block> block; ///< Given back for another block as soon as this one is done.
  RunState state = RunState::Parked;
  uint64_t progress = 0;
  Reports reports; ///< Of this round.
  std::string printed;
};

LaunchRunner::LaunchRunner(const LaunchState &launch, HostThreads &hostThreads)
    : launch_(launch), threads_(hostThreads) {
  uint64_t blocks = launch.clusters.clusters();
  uint64_t threads = launch.options.threads > 0 ? static_cast<uint64_t>(launch.options.threads)
                                                : std::max(1u, std::thread::hardware_concurrency());
  threads = std::max<uint64_t>(1, std::min(threads, blocks));
  for (uint64_t i = 0; i < threads; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->sites.resize(launch.program->numSites);
    worker->blocks.resize(launch.program->blocks.size());
    workers_.push_back(std::move(worker));
  }
}

LaunchRunner::~LaunchRunner() = default;

uint64_t LaunchRunner::residentLimit() const {
  const Program &p = *launch_.program;
  uint64_t together = launch_.clusters.blocks(), warps = together * launch_.warps;
  uint64_t perBlock = together * launch_.sharedBytes * (1 + 5 * (1 + warps) / p.sharedGranule) +
                      warps * (p.registerBytes + uint64_t(p.localBytes) * p.width * 2) + (16 << 10);
  return std::clamp<uint64_t>(mostResidentBytes / perBlock, 16, 2048);
}

void LaunchRunner::run(Outcome &outcome) {
  uint64_t blocks = launch_.clusters.clusters(), started = 0, limit = residentLimit();
  std::vector<Item> items;
  unsigned idle = 0;
  bool abandoned = false;
  while ((started < blocks || !items.empty()) && !abandoned) {
    while (items.size() < limit && started < blocks)
      items.emplace_back().number = started++;
    uint64_t before = started;
    for (const Item &item : items)
      before += item.progress;
    runRound(items);
    uint64_t after = started;
    size_t parked = 0;
    std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) { return a.number < b.number; });
    for (Item &item : items) {
      abandoned |= item.state == RunState::Abandoned;
      reports_.merge(item.reports, item.number);
      if (!item.printed.empty())
        printed_.emplace_back(item.number, std::move(item.printed));
      after += item.progress;
      if (item.state == RunState::Parked)
        ++parked;
    }
    bool finished = parked != items.size();
    std::erase_if(items, [](const Item &item) { return item.state != RunState::Parked; });
    actInWorld(items);
    idle = finished || before != after ? 0 : idle + 1;
    if (idle > patience) {
      for (Item &item : items) {
        item.block->reportStuck(true);
        reports_.merge(item.block->reports, item.number);
      }
      break;
    }
  }
  finish(outcome);
}

void LaunchRunner::runRound(std::vector<Item> &items) {
  std::atomic<size_t> next{0};
  auto work = [&](Worker &worker) {
    for (size_t i; (i = next.fetch_add(1)) < items.size();) {
      Item &item = items[i];
      if (!item.block) {
        if (worker.idle.empty())
          worker.idle.push_back(std::make_unique<Block>());
        item.block = std::move(worker.idle.back());
        worker.idle.pop_back();
        item.block->start(launch_, item.number, worker.sites.data(), worker.blocks.data());
      } else {
        item.block->counters = worker.sites.data();
        item.block->blockCounts = worker.blocks.data();
      }
      item.state = item.block->run();
      item.progress = item.block->progress;
      item.reports = std::exchange(item.block->reports, {});
      item.printed = std::exchange(item.block->printed, {});
      if (launch_.globalShadow)
        launch_.globalShadow->settle(i, *item.block, item.state != RunState::Parked, item.reports);
      if (item.state == RunState::Done)
        worker.idle.push_back(std::move(item.block));
    }
  };
  if (launch_.globalShadow)
    launch_.globalShadow->beginRound(items.size());
  threads_.run(std::min(workers_.size(), items.size()), [&](size_t w) { work(*workers_[w]); });
}

/// Lets the blocks that wait do what others can see, one after the other.
void LaunchRunner::actInWorld(std::vector<Item> &items) {
  std::vector<Block *> order;
  for (Item &item : items)
    order.push_back(item.block.get());
  if (launch_.options.scheduleSeed)
    for (size_t i = order.size(); i > 1; --i) {
      turns_ = turns_ * 6364136223846793005ull + launch_.options.scheduleSeed;
      std::swap(order[i - 1], order[(turns_ >> 33) % i]);
    }
  for (Block *block : order) {
    block->counters = workers_[0]->sites.data();
    block->blockCounts = workers_[0]->blocks.data();
    block->actInWorld();
  }
}

void LaunchRunner::finish(Outcome &outcome) {
  const Program &program = *launch_.program;
  std::vector<Counters> sites(program.numSites);
  std::vector<BlockCount> counts(program.blocks.size());
  for (const auto &worker : workers_) {
    for (size_t i = 0; i < sites.size(); ++i)
      sites[i] += worker->sites[i];
    for (size_t i = 0; i < counts.size(); ++i) {
      counts[i].executions += worker->blocks[i].executions;
      counts[i].lanes += worker->blocks[i].lanes;
      counts[i].divergent += worker->blocks[i].divergent;
    }
  }
  for (size_t b = 0; b < counts.size(); ++b)
    for (uint32_t i = 0; i < program.blocks[b].instructions; ++i) {
      Counters &site = sites[program.blocks[b].firstSite + i];
      site.instructions += counts[b].executions;
      site.threadInstructions += counts[b].lanes;
      site.divergentInstructions += counts[b].divergent;
    }
  for (const Counters &site : sites)
    outcome.counters += site;
  outcome.reports = reports_.list();
  for (Report &report : outcome.reports) {
    report.site = program.siteText(report.siteIndex);
    report.location = program.siteLocation(report.siteIndex);
    if (report.otherSiteIndex != noSite) {
      report.otherSite = program.siteText(report.otherSiteIndex);
      report.otherLocation = program.siteLocation(report.otherSiteIndex);
    }
  }
  std::stable_sort(printed_.begin(), printed_.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const auto &[number, text] : printed_)
    outcome.printed += text;
  if (!launch_.options.siteCounters)
    return;
  for (const BasicBlock &block : program.blocks)
    for (uint32_t i = 0; i < block.instructions; ++i) {
      uint32_t site = block.firstSite + i;
      outcome.sites.push_back(
          {program.siteText(site), program.siteLocation(site), block.name, launch_.request->kernel, sites[site]});
    }
}

} // namespace tilejit::sim
