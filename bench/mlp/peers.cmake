# Stan Math, where this machine has it.
include(${CMAKE_CURRENT_LIST_DIR}/../tapes.cmake)
target_include_directories(bench_mlp PRIVATE ${CMAKE_CURRENT_LIST_DIR})
drx_stan_peer(bench_mlp ${CMAKE_CURRENT_LIST_DIR})
