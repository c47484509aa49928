// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// MLIR's diagnostics as one Status.

#ifndef TILEJIT_LIB_DRIVER_DIAGNOSTICS_H
#define TILEJIT_LIB_DRIVER_DIAGNOSTICS_H

#include "tilejit/Base/Status.h"

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace tilejit {

/// Collects the diagnostics of a context while it lives; the first error counts, its notes become details.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);

  /// The status of what failed. `subject` names the operator or file in the message.
  Status status(StatusCode code, std::string_view subject) const;

private:
  mlir::ScopedDiagnosticHandler handler_;
  std::string message_, place_;
  std::vector<std::string> notes_;
};

/// "k.mlir:3:7", "/epilogue/1"; empty where nothing is known.
std::string placeText(mlir::Location location);

} // namespace tilejit

#endif // TILEJIT_LIB_DRIVER_DIAGNOSTICS_H
