// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The C header from C++17, with all warnings.

#include "tilejit-c/tilejit.h"

static_assert(sizeof(DLTensor) == 48, "DLPack's layout");

int main() { return tilejit_abi_version() == TILEJIT_ABI_VERSION ? 0 : 1; }
