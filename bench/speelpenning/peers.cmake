# Peers of C++, where this machine has them.
include(${CMAKE_CURRENT_LIST_DIR}/../tapes.cmake)
target_include_directories(bench_speelpenning PRIVATE ${CMAKE_CURRENT_LIST_DIR})
drx_tape_peers(bench_speelpenning ${CMAKE_CURRENT_LIST_DIR})
