// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Places: a file's line and column as they are, the name that a generator gave as a JSON pointer.

#include "Diagnostics.h"

#include "tilejit/Base/Text.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace tilejit {

std::string placeText(Location location) {
  std::string place;
  location->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part)) {
      place = file.getFilename().str();
      if (file.getLine() > 0) // A file without content has no lines.
        place += ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
      return WalkResult::interrupt();
    }
    if (auto name = dyn_cast<NameLoc>(part)) {
      place = "/" + name.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return place;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context)
    : handler_(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !message_.empty())
          return success();
        message_ = diagnostic.str();
        place_ = placeText(diagnostic.getLocation());
        for (Diagnostic &note : diagnostic.getNotes()) {
          std::string at = placeText(note.getLocation());
          notes_.push_back("note: " + shorten(note.str(), 200) + (at.empty() ? "" : " (" + at + ")"));
        }
        return success();
      }) {}

Status DiagnosticCollector::status(StatusCode code, std::string_view subject) const {
  std::string text = message_.empty() ? std::string("failed without a reason") : shorten(message_, 300);
  // The name of a file is part of the place already.
  bool isNamed = !subject.empty() && place_.starts_with(subject);
  Status status(code, (isNamed ? "" : std::string(subject) + ": ") + text);
  if (!place_.empty())
    status = std::move(status).at(place_);
  for (const std::string &note : notes_)
    status = std::move(status).withDetail(note);
  return status;
}

} // namespace tilejit
