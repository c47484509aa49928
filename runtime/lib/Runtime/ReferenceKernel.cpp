// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What runs where the compile failed and the caller prefers slow results to none.

#include "ContextImpl.h"

namespace tilejit {

Expected<std::shared_ptr<Kernel>> ContextImpl::fallBack(const Source &source, const TargetSpec &target,
                                                        Status failure) {
  return failure;
}

} // namespace tilejit
