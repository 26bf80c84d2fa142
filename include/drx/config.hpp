// drx/config.hpp: the version, the check of the compiler, and markers for host and device and of loops. Every other
// header includes it first.
#pragma once

#define DRX_VERSION_MAJOR 0
#define DRX_VERSION_MINOR 1
#define DRX_VERSION_PATCH 0

#if defined(_MSVC_LANG) ? (_MSVC_LANG < 202002L) : (__cplusplus < 202002L)
#error "drx needs C++20: compile with -std=c++20 (or link the CMake target drx::drx, which asks for it)"
#endif
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "drx needs g++ 12 or newer"
#endif
#if defined(__clang__) && __clang_major__ < 14
#error "drx needs clang 14 or newer"
#endif

// DRX_FN marks code that runs on devices too; DRX_INLINE additionally asks for inlining in hot loops.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define DRX_FN __host__ __device__
#define DRX_INLINE __host__ __device__ __forceinline__
#else
#define DRX_FN
#define DRX_INLINE inline __attribute__((always_inline))
#endif

// A register tile is an array, which stays in registers only if every loop over it is unrolled. (No tile has more than
// 16 rows or packs, and no pack more lanes; g++ takes only a literal here.)
#if defined(__CUDACC__)
#define DRX_UNROLL
#elif defined(__clang__)
#define DRX_UNROLL _Pragma("unroll")
#else
#define DRX_UNROLL _Pragma("GCC unroll 16")
#endif
