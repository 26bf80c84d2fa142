# Finds what is there and says what was found; nothing is downloaded unless DRX_FETCH_KOKKOS asks for it.

if(NOT TARGET Eigen3::Eigen)
  find_package(Eigen3 3.4 QUIET CONFIG)
endif()
if(NOT TARGET Boost::headers)
  find_package(Boost QUIET)
endif()

if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json 3.10 QUIET CONFIG)
endif()

if(DRX_ENABLE_RUN AND NOT TARGET Kokkos::kokkos)
  find_package(Kokkos 4.5 QUIET CONFIG)
  if(NOT Kokkos_FOUND AND DRX_KOKKOS_SOURCE_DIR)
    add_subdirectory(${DRX_KOKKOS_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/kokkos EXCLUDE_FROM_ALL SYSTEM)
  elseif(NOT Kokkos_FOUND AND DRX_FETCH_KOKKOS)
    include(FetchContent)
    FetchContent_Declare(Kokkos SYSTEM
      URL https://github.com/kokkos/kokkos/releases/download/4.5.01/kokkos-4.5.01.tar.gz
      URL_HASH SHA256=52d003ffbbe05f30c89966e4009c017efb1662b02b2b73190670d3418719564c)
    FetchContent_MakeAvailable(Kokkos)
  endif()
endif()
if(DRX_ENABLE_RUN STREQUAL "ON" AND NOT TARGET Kokkos::kokkos)
  message(FATAL_ERROR "drx::run needs Kokkos >= 4.5 and none was found. Set Kokkos_ROOT to an installed one, or "
    "DRX_KOKKOS_SOURCE_DIR to a source tree, or DRX_FETCH_KOKKOS=ON to download it, or DRX_ENABLE_RUN=OFF to do without.")
endif()

if(DRX_ENABLE_RUN AND DRX_ENABLE_MPI AND TARGET Kokkos::kokkos AND NOT TARGET MPI::MPI_CXX)
  if(DRX_ENABLE_MPI STREQUAL "ON")
    find_package(MPI REQUIRED COMPONENTS CXX)
  else()
    find_package(MPI QUIET COMPONENTS CXX)
  endif()
endif()

foreach(dependency IN ITEMS Kokkos::kokkos MPI::MPI_CXX Eigen3::Eigen Boost::headers nlohmann_json::nlohmann_json)
  if(TARGET ${dependency})
    list(APPEND drx_found ${dependency})
  endif()
endforeach()
message(STATUS "drx ${PROJECT_VERSION}: found ${drx_found}")
