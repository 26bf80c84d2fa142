# drx::drx    the core: placements, programs, derivatives, plans. Needs nothing but the compiler.
# drx::run    the core and running it: Kokkos, and MPI where found.
# drx::engines  the core, and workers and shared objects for engines outside the job (Beam, Spark, Flower): nlohmann-json and Boost.CRC; neither Kokkos nor MPI.
# drx::eigen  the core and its Eigen adapter.    drx::hana  the core and its Boost.Hana adapter.

set(DRX_INCLUDE ${PROJECT_SOURCE_DIR}/include)
set(DRX_CORE_FOLDERS meta scalar core tape tracing primitives functions transform algorithms plan generate)
set(DRX_RUN_FOLDERS run device backend)

# Compilers give up on long constant evaluations much earlier than drx's programs need. Where std::sqrt sets errno, no loop with a root
# has vectors (a loop with normal random numbers took five times as long); its results are the same.
set(DRX_OPTIONS_GNU -fno-math-errno -ftemplate-depth=4096 -fconstexpr-ops-limit=1000000000 -fconstexpr-loop-limit=10000000 -fconstexpr-depth=2048)
set(DRX_OPTIONS_Clang -fno-math-errno -ftemplate-depth=4096 -fconstexpr-steps=1000000000 -fconstexpr-depth=2048 -fbracket-depth=4096)
# nvcc evaluates constants twice: in its own front end and in the host compiler (here g++).
list(JOIN DRX_OPTIONS_GNU , host_options)
set(DRX_OPTIONS_NVIDIA -ftemplate-depth=4096 --expt-relaxed-constexpr -Xcudafe=--max_cost_constexpr_call=1000000000
  -Xcudafe=--max_depth_constexpr_call=2048 -Xcompiler=${host_options})

# drx_headers(TARGET PATH...): the headers under include/drx/PATH, verified to compile alone with TARGET.
function(drx_headers target)
  list(TRANSFORM ARGN PREPEND ${DRX_INCLUDE}/drx/)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${ARGN})
  target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS ${DRX_INCLUDE} FILES ${headers})
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
endfunction()

# drx_library(NAME DEPENDENCY...): the target drx::NAME.
function(drx_library name)
  set(target drx_${name})
  if(name STREQUAL "drx")
    set(target drx)
  endif()
  add_library(${target} INTERFACE)
  add_library(drx::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(${target} INTERFACE ${ARGN})
  list(APPEND DRX_LIBRARIES ${name})
  set(DRX_LIBRARIES ${DRX_LIBRARIES} PARENT_SCOPE)
endfunction()

drx_library(drx)
target_compile_features(drx INTERFACE cxx_std_20)
target_compile_options(drx INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${DRX_OPTIONS_GNU}>"
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:${DRX_OPTIONS_Clang}>"
  "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${DRX_OPTIONS_NVIDIA}>")
# Where a processor has vectors of 512 bits, g++ and clang keep to 256 for Intel's; drx's programs take 0.9 of the time with 512, some a
# half. (drxConfig.cmake says the same for installed ones.)
set(DRX_VECTOR_WIDTH 512 CACHE STRING "Bits of the vectors that g++ and clang are to prefer on x86; empty: their choice")
if(DRX_VECTOR_WIDTH AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  target_compile_options(drx INTERFACE
    "$<BUILD_INTERFACE:$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-mprefer-vector-width=${DRX_VECTOR_WIDTH}>>")
endif()
list(TRANSFORM DRX_CORE_FOLDERS APPEND /*.hpp OUTPUT_VARIABLE core_headers)
drx_headers(drx config.hpp drx.hpp algorithms.hpp ${core_headers})

if(TARGET Kokkos::kokkos)
  drx_library(run drx::drx Kokkos::kokkos)
  if("CUDA" IN_LIST Kokkos_DEVICES) # maps are plain constexpr functions, which carry no device marks; nvcc must be told to take them
    set(nvcc_options --extended-lambda --expt-relaxed-constexpr -diag-suppress=20012)
    target_compile_options(drx_run INTERFACE "$<$<NOT:$<CXX_COMPILER_ID:Clang>>:${nvcc_options}>")
  endif()
  if(TARGET MPI::MPI_CXX)
    set(DRX_HAS_MPI ON)
    target_link_libraries(drx_run INTERFACE MPI::MPI_CXX)
    # Without the removed C++ bindings mpi.h takes 0.02 s to compile, not 0.5 s.
    target_compile_definitions(drx_run INTERFACE DRX_HAS_MPI=1 OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  endif()
  list(TRANSFORM DRX_RUN_FOLDERS APPEND /*.hpp OUTPUT_VARIABLE run_headers)
  drx_headers(drx_run run.hpp device.hpp ${run_headers})
endif()

if(TARGET nlohmann_json::nlohmann_json AND TARGET Boost::headers)
  drx_library(engines drx::drx nlohmann_json::nlohmann_json Boost::headers)
  drx_headers(drx_engines engines/*.hpp engines/*.h)
  if(NOT TARGET drx_run) # stages run by these, which then come with no other target
    drx_headers(drx_engines run/*.hpp)
  endif()
endif()

if(TARGET Eigen3::Eigen)
  drx_library(eigen drx::drx Eigen3::Eigen)
  drx_headers(drx_eigen ext/eigen.hpp ext/eigen_scalar.hpp)
endif()
if(TARGET Boost::headers)
  drx_library(hana drx::drx Boost::headers)
  drx_headers(drx_hana ext/hana.hpp)
endif()
