// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Status and Expected<T>: how every fallible call of the runtime answers. A status has a code, one line of text for
// people, and where they are known the JSON pointer (or file:line:column) of the fault, a hint and details. Nothing
// here throws; nothing prints.

#ifndef TILEJIT_BASE_STATUS_H
#define TILEJIT_BASE_STATUS_H

#include <cassert>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tilejit {

/// What went wrong, coarse enough for a caller to act on. The C ABI's tilejit_status_t has the same numbers.
enum class StatusCode : int {
  Ok = 0,
  InvalidArgument = 1, ///< A call, option, setting or file that can't be what was meant.
  BadDescription = 2,  ///< A description or tile program that means nothing.
  NotFound = 3,        ///< A file, key, name or entry that does not exist.
  CompileFailed = 4,   ///< The compiler refused or failed.
  DoesNotFit = 5,      ///< The result exceeds a limit of the chip; the message has the numbers.
  TimedOut = 6,        ///< A limit of time ran out.
  NotCached = 7,       ///< Compiling was forbidden and the cache has no entry.
  Unavailable = 8,     ///< No such device, or its driver is missing.
  DeviceFailed = 9,    ///< A device was there and refused.
  WorkerFailed = 10,   ///< The compile worker can't be started or ended without an answer.
  IoError = 11,        ///< Reading or writing failed.
  CheckFailed = 12,    ///< A comparison did not hold: verify, cache verify, doctor.
  OutOfMemory = 13,    ///< Host or device memory ran out.
  Internal = 14,       ///< A broken promise of ours.
};

/// The stable name of a code in JSON output and logs: "bad_description".
std::string_view statusCodeName(StatusCode code);

/// The outcome of a call. Success is one null pointer.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : state_(std::make_shared<State>(State{code, std::move(message), {}, {}, {}})) {
    assert(code != StatusCode::Ok && "an error needs an error code");
  }

  static Status ok() { return {}; }

  bool isOk() const { return !state_; }
  explicit operator bool() const { return isOk(); }
  StatusCode code() const { return state_ ? state_->code : StatusCode::Ok; }
  const std::string &message() const { return state_ ? state_->message : empty(); }
  /// JSON pointer ("/inputs/a/shape") or place in a file ("k.mlir:3:7"); empty where unknown.
  const std::string &pointer() const { return state_ ? state_->pointer : empty(); }
  const std::string &hint() const { return state_ ? state_->hint : empty(); }
  const std::vector<std::string> &details() const;

  /// Copies with one more fact; each is meant for the place where the error is made or passed on.
  Status at(std::string pointer) &&;
  Status withHint(std::string hint) &&;
  Status withDetail(std::string line) &&;
  /// The same error with "context: " before its message.
  Status inContext(std::string_view context) &&;

private:
  struct State {
    StatusCode code;
    std::string message, pointer, hint;
    std::vector<std::string> details;
  };
  static const std::string &empty();
  State &mutableState();
  std::shared_ptr<State> state_;
};

/// A value, or the status that says why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Status status) : state_(std::in_place_index<1>, std::move(status)) {
    assert(!std::get<1>(state_).isOk() && "success needs a value");
  }

  bool isOk() const { return state_.index() == 0; }
  explicit operator bool() const { return isOk(); }
  T &operator*() & { return std::get<0>(state_); }
  const T &operator*() const & { return std::get<0>(state_); }
  T &&operator*() && { return std::get<0>(std::move(state_)); }
  T *operator->() { return &std::get<0>(state_); }
  const T *operator->() const { return &std::get<0>(state_); }
  /// Ok where there is a value.
  Status status() const { return isOk() ? Status() : std::get<1>(state_); }

private:
  std::variant<T, Status> state_;
};

} // namespace tilejit

/// Leaves the function with the status of an expression that failed.
#define TILEJIT_RETURN_IF_ERROR(expr)                                                                                  \
  do {                                                                                                                 \
    if (::tilejit::Status tilejitStatus = (expr); !tilejitStatus.isOk())                                               \
      return tilejitStatus;                                                                                            \
  } while (false)

#define TILEJIT_CONCAT_INNER(a, b) a##b
#define TILEJIT_CONCAT(a, b) TILEJIT_CONCAT_INNER(a, b)
#define TILEJIT_ASSIGN_OR_RETURN_INNER(tmp, lhs, expr)                                                                 \
  auto tmp = (expr);                                                                                                   \
  if (!tmp.isOk())                                                                                                     \
    return tmp.status();                                                                                               \
  lhs = *std::move(tmp)
/// Assigns the value of an Expected, or leaves the function with its status.
#define TILEJIT_ASSIGN_OR_RETURN(lhs, expr)                                                                            \
  TILEJIT_ASSIGN_OR_RETURN_INNER(TILEJIT_CONCAT(tilejitExpected, __LINE__), lhs, expr)

#endif // TILEJIT_BASE_STATUS_H
