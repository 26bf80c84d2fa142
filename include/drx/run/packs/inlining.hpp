// drx/run/packs/inlining.hpp: attributes of functions over packs and of loops: inlining, independence of iterations.
// Tested by tests/unit/run/gemm.cpp.
#pragma once

#include <drx/config.hpp>

// Functions over packs are inlined, and not compiled for devices: nvcc has no vectors in device code, where gemm is the
// plain loop.
#define DRX_HOST_INLINE inline __attribute__((always_inline))

// Marks a loop whose iterations are independent. (clang vectorises by itself, and warns if it cannot vectorise a marked
// loop.)
#if defined(__GNUC__) && !defined(__clang__)
#define DRX_INDEPENDENT_STEPS _Pragma("GCC ivdep")
// And one that may be as short as a vector: g++ would unroll it before it looks for vectors, and find none.
#define DRX_INDEPENDENT_VECTORS _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define DRX_INDEPENDENT_STEPS
#define DRX_INDEPENDENT_VECTORS
#endif
