# Stan Math, where this machine has it.
include(${CMAKE_CURRENT_LIST_DIR}/../tapes.cmake)
target_include_directories(bench_mlp PRIVATE ${CMAKE_CURRENT_LIST_DIR})
drx_stan_peer(bench_mlp ${CMAKE_CURRENT_LIST_DIR})
# Of the loops behind Eigen's product of a matrix and a vector g++ 12 believes that they may run 2^61 times.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/main.cpp APPEND PROPERTY COMPILE_OPTIONS -Wno-aggressive-loop-optimizations)
endif()
