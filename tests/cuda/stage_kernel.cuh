// A stage as one CUDA kernel, a block of threads for each team.
#pragma once

#include <drx/device/launch.hpp>
#include <drx/drx.hpp>

namespace kernels {
struct thread_block {
  [[nodiscard]] __device__ int lane() const { return static_cast<int>(threadIdx.x); }
  [[nodiscard]] __device__ int lanes() const { return static_cast<int>(blockDim.x); }
  __device__ void barrier() const { __syncthreads(); }
};

/// The first stage of a program at the top.
template <class Program>
struct first_stage {
  using C = drx::run::code_of<Program>;
  static constexpr int entry = [] {
    int e = 0;
    while (C::tape.entries[e].prim != &drx::prim::stage) ++e;
    return e;
  }();
  using type = drx::run::stage_facts<C, entry>;
};

template <class Program>
__global__ void __launch_bounds__(128) members(drx::device::stage_launch<typename first_stage<Program>::type> work) {
  extern __shared__ std::byte workspace[];
  work(thread_block{}, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x), workspace);
}
template <class Program>
__global__ void __launch_bounds__(128) nodes(drx::device::fold_launch<typename first_stage<Program>::type> work) {
  extern __shared__ std::byte workspace[];
  work(thread_block{}, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x), workspace);
}
}  // namespace kernels

#define KERNELS_OF(...)                                                                                   \
  template __global__ void kernels::members<__VA_ARGS__>(                                                \
      drx::device::stage_launch<typename kernels::first_stage<__VA_ARGS__>::type>);                      \
  template __global__ void kernels::nodes<__VA_ARGS__>(                                                  \
      drx::device::fold_launch<typename kernels::first_stage<__VA_ARGS__>::type>);
