// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A case for a real chip as a folder of files: what goes into a kernel, what must come out, and how far it may be off.
// Written where the compiler and the reference are, read where only a driver is. The kernel itself, kernel.tjk, is
// `tilec compile`'s.
//
//   case.json        {"inputs": [OPERAND...], "outputs": [OPERAND...]}, in the order of launch arguments;
//                    OPERAND is {"name": "x", "dtype": "bf16", "shape": [4, 128]}
//   kernel.tjk       a package of the operator, for any targets
//   NAME.npy         an input
//   NAME.value.npy   an output in double precision, before it is rounded to its type; i64 for integers and bool
//   NAME.error.npy   f64: how far the arithmetic that the description promises may be off (Reference/Tolerance.h)

#ifndef TILEJIT_TEST_E2E_GPU_CASEFOLDER_H
#define TILEJIT_TEST_E2E_GPU_CASEFOLDER_H

#include "tilejit/Base/Status.h"
#include "tilejit/Reference/HostTensor.h"
#include "tilejit/Reference/Reference.h"

#include <string>
#include <vector>

namespace tilejit::e2e {

/// An input by its name.
struct CaseInput {
  std::string name;
  HostTensor tensor;
};

struct Case {
  std::vector<CaseInput> inputs;
  std::vector<ReferenceTensor> outputs; ///< All rows.
};

/// Writes everything but the package into an existing folder.
Status writeCase(const std::string &folder, const Case &data);
/// Reads it back. InvalidArgument or NotFound names the file that is wrong.
Expected<Case> readCase(const std::string &folder);

/// The package of a case.
std::string packagePath(const std::string &folder);
/// Folders below `folder` that hold a case, by name.
Expected<std::vector<std::string>> listCases(const std::string &folder);

} // namespace tilejit::e2e

#endif // TILEJIT_TEST_E2E_GPU_CASEFOLDER_H
