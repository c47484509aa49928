// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// TILEJIT_VECTOR_CLONES before a function compiles it once for each width of vector registers; the loader picks one.
// For plain loops whose results do not depend on the width. Elsewhere than on x86-64 Linux with glibc it is nothing.

#ifndef TILEJIT_REFERENCE_VECTORS_H
#define TILEJIT_REFERENCE_VECTORS_H

#include <features.h>

// The loader picks before a sanitizer has set itself up.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&              \
    !defined(__SANITIZE_THREAD__)
#define TILEJIT_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TILEJIT_VECTOR_CLONES
#endif

#endif // TILEJIT_REFERENCE_VECTORS_H
