// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Passes of lib/Transforms: constructors, options, registration.

#ifndef TILEJIT_TRANSFORMS_PASSES_H
#define TILEJIT_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
namespace arith {
class ArithDialect;
}
namespace math {
class MathDialect;
}
namespace scf {
class SCFDialect;
}
namespace vector {
class VectorDialect;
}
namespace LLVM {
class LLVMDialect;
}
} // namespace mlir

namespace tilejit {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tilejit/Transforms/Passes.h.inc"

} // namespace tilejit

#endif // TILEJIT_TRANSFORMS_PASSES_H
