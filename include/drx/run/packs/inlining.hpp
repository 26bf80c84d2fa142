// drx/run/packs/inlining.hpp: what loops, and functions over register tiles, are marked with.
#pragma once

#include <drx/config.hpp>

// Functions of packs are inlined, and not made for devices: nvcc has no vectors in device code, where gemm is the plain
// loop.
#define DRX_HOST_INLINE inline __attribute__((always_inline))

// Register tiles are arrays, which stay in registers only where every loop over them is unrolled. (No tile has more than
// 16 rows or packs, and no pack more lanes; g++ takes only a literal here.)
#if defined(__CUDACC__)
#define DRX_UNROLL
#elif defined(__clang__)
#define DRX_UNROLL _Pragma("unroll")
#else
#define DRX_UNROLL _Pragma("GCC unroll 16")
#endif

// A loop whose steps do not depend on each other. (clang vectorises by itself, and warns of loops that it was told to and cannot)
#if defined(__GNUC__) && !defined(__clang__)
#define DRX_INDEPENDENT_STEPS _Pragma("GCC ivdep")
#else
#define DRX_INDEPENDENT_STEPS
#endif
