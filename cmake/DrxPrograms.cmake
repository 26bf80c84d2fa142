# What tests, examples and benchmarks share. None of it reaches users of the library.

add_library(drx_own INTERFACE)
target_compile_options(drx_own INTERFACE -Wall -Wextra -Wconversion -Wshadow
  $<$<BOOL:${DRX_WERROR}>:-Werror> $<$<BOOL:${DRX_NATIVE}>:-march=native>)
if(DRX_SANITIZE)
  list(JOIN DRX_SANITIZE , sanitizers)
  target_compile_options(drx_own INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(drx_own INTERFACE -fsanitize=${sanitizers})
endif()

# drx_note(OUT FILE KEY): the words after `// KEY:` in the first lines of FILE, as a list.
function(drx_note out file key)
  file(STRINGS ${file} line REGEX "^// ${key}:" LIMIT_COUNT 1)
  string(REGEX REPLACE "^// ${key}: *" "" words "${line}")
  separate_arguments(words)
  set(${out} "${words}" PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()

# drx_test(NAME [TIMEOUT s] [PROCESSORS n] [LABELS l...] [RANKS n] COMMAND c...): every test gets a time limit, and
# an environment in which MPI programs run on few cores.
function(drx_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;PROCESSORS;RANKS" "LABELS;COMMAND")
  set(environment OMP_NUM_THREADS=1 OMP_PROC_BIND=false ASAN_OPTIONS=detect_leaks=0 # Open MPI leaks at exit
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 # else ranks share one core, and spin on it
    OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe) # Open MPI 4, then 5
  if(arg_RANKS)
    list(PREPEND arg_COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${arg_RANKS} ${MPIEXEC_PREFLAGS})
    list(APPEND environment DRX_TEST_RANKS=${arg_RANKS})
    set(arg_PROCESSORS ${arg_RANKS})
  endif()
  execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(user STREQUAL "0")
    list(APPEND environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
  endif()
  foreach(default IN ITEMS "TIMEOUT 120" "PROCESSORS 1")
    string(REPLACE " " ";" default "${default}")
    list(GET default 0 key)
    if(NOT arg_${key})
      list(GET default 1 arg_${key})
    endif()
  endforeach()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS}
    LABELS "${arg_LABELS}")
endfunction()
