// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Wall time of a compile's stages, in the order in which they ran.

#ifndef TILEJIT_DRIVER_STAGES_H
#define TILEJIT_DRIVER_STAGES_H

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tilejit {

/// A stopwatch that is always in one stage: begin() ends the one before. A name that comes again is added up.
class Stages {
public:
  void begin(std::string name) {
    end();
    current_ = std::move(name);
    start_ = Clock::now();
  }

  void end() {
    if (current_.empty())
      return;
    double ms = std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
    for (auto &[name, sum] : times_)
      if (name == current_) {
        sum += ms;
        current_.clear();
        return;
      }
    times_.emplace_back(std::move(current_), ms);
    current_.clear();
  }

  /// Name and milliseconds of every stage that has ended.
  const std::vector<std::pair<std::string, double>> &times() const { return times_; }

private:
  using Clock = std::chrono::steady_clock;
  std::string current_;
  Clock::time_point start_;
  std::vector<std::pair<std::string, double>> times_;
};

} // namespace tilejit

#endif // TILEJIT_DRIVER_STAGES_H
