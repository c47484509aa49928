// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Status: the parts that need no inlining. Copies share their state; adding a fact to a shared state copies it first.

#include "tilejit/Base/Status.h"

namespace tilejit {

std::string_view statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid_argument";
  case StatusCode::BadDescription:
    return "bad_description";
  case StatusCode::NotFound:
    return "not_found";
  case StatusCode::CompileFailed:
    return "compile_failed";
  case StatusCode::DoesNotFit:
    return "does_not_fit";
  case StatusCode::TimedOut:
    return "timed_out";
  case StatusCode::NotCached:
    return "not_cached";
  case StatusCode::Unavailable:
    return "unavailable";
  case StatusCode::DeviceFailed:
    return "device_failed";
  case StatusCode::WorkerFailed:
    return "worker_failed";
  case StatusCode::IoError:
    return "io_error";
  case StatusCode::CheckFailed:
    return "check_failed";
  case StatusCode::OutOfMemory:
    return "out_of_memory";
  case StatusCode::Internal:
    return "internal";
  }
  return "internal";
}

const std::string &Status::empty() {
  static const std::string *const text = new std::string();
  return *text;
}

const std::vector<std::string> &Status::details() const {
  static const std::vector<std::string> *const none = new std::vector<std::string>();
  return state_ ? state_->details : *none;
}

Status::State &Status::mutableState() {
  assert(state_ && "success carries no facts");
  if (state_.use_count() > 1)
    state_ = std::make_shared<State>(*state_);
  return *state_;
}

Status Status::at(std::string pointer) && {
  mutableState().pointer = std::move(pointer);
  return std::move(*this);
}

Status Status::withHint(std::string hint) && {
  mutableState().hint = std::move(hint);
  return std::move(*this);
}

Status Status::withDetail(std::string line) && {
  mutableState().details.push_back(std::move(line));
  return std::move(*this);
}

Status Status::inContext(std::string_view context) && {
  State &state = mutableState();
  state.message = std::string(context) + ": " + state.message;
  return std::move(*this);
}

} // namespace tilejit
