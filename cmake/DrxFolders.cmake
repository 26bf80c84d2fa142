# What tests, examples and benchmarks share. None of it reaches users of the library.

# g++ takes 20 to 60 % longer where it collects its garbage: constant evaluation leaves so much of it, in pieces of
# so many sizes, that each allocation then searches a long list. Where there is memory, it is left alone.
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY) # in MiB
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR memory "${memory} / ${cores}")
set(drx_without_collection "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND memory GREATER 8000)
  set(drx_without_collection --param=ggc-min-heapsize=6000000) # in KiB
endif()

add_library(drx_own INTERFACE)
target_compile_options(drx_own INTERFACE ${drx_without_collection})
target_compile_options(drx_own INTERFACE -Wall -Wextra -Wconversion -Wshadow
  $<$<BOOL:${DRX_WERROR}>:-Werror> $<$<BOOL:${DRX_NATIVE}>:-march=native>
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> # ccache asks for it where headers are precompiled
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-maybe-uninitialized>") # g++ 12: false for "a" + string, and in its own AVX-512 header
if(DRX_SANITIZE)
  list(JOIN DRX_SANITIZE , sanitizers)
  target_compile_options(drx_own INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1
    # with these three, g++ 12 no longer takes `&f != nullptr` for a constant, and no program is traced
    $<$<CXX_COMPILER_ID:GNU>:-fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute>)
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
  set(environment OMP_NUM_THREADS=1 OMP_PROC_BIND=false DRX_SOURCE_DIR=${PROJECT_SOURCE_DIR}
    ASAN_OPTIONS=detect_leaks=0 # Open MPI leaks at exit
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 # else ranks share one core, and spin on it
    OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe) # Open MPI 4, then 5
  if(arg_RANKS)
    list(PREPEND arg_COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${arg_RANKS} ${MPIEXEC_PREFLAGS})
    list(APPEND environment DRX_TEST_RANKS=${arg_RANKS})
    set(arg_PROCESSORS ${arg_RANKS})
    if(NOT arg_TIMEOUT)
      set(arg_TIMEOUT 240) # a rank that waits for one that left waits forever
    endif()
  endif()
  execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(user STREQUAL "0")
    list(APPEND environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
  endif()
  foreach(default IN ITEMS "TIMEOUT 600" "PROCESSORS 1")
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

# drx_add_folders(): each folder here with a main.cpp becomes a program of the folder's name. First lines of main.cpp
# such as `// ranks: 1 2` and `// args: --rounds 2` make it a test with these numbers of ranks and arguments; `// programs: a::b a::c` of
# the header with the folder's name are planned by an executable (drx_add_programs). Its other
# sources are a library, ${name}_parts, which unit tests link too, but shared_object.cpp is a shared object, ${name}.so, beside the program; the folder common is a library of all programs. A check.py
# is a test too: it is called with the program and the words that start mpirun, to which a number of ranks is added. So is an
# expected.json, of numbers that common/check.py compares.
function(drx_add_folders)
  if(NOT TARGET drx::run)
    message(STATUS "drx: no Kokkos, so nothing is built in ${CMAKE_CURRENT_SOURCE_DIR}")
    return()
  endif()
  find_package(fmt REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(ZLIB REQUIRED)
  find_library(DRX_LIBZIP zip REQUIRED)
  file(GLOB folders LIST_DIRECTORIES true *)
  foreach(folder IN LISTS folders)
    cmake_path(GET folder FILENAME name)
    set(main ${folder}/main.cpp)
    file(GLOB parts CONFIGURE_DEPENDS ${folder}/*.cpp)
    set(shared_object ${folder}/shared_object.cpp)
    list(REMOVE_ITEM parts ${main} ${shared_object})
    set(libraries drx_own drx::run fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json ZLIB::ZLIB ${DRX_LIBZIP})
    if(TARGET drx::hana)
      list(APPEND libraries drx::hana)
    endif()
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/common AND NOT name STREQUAL "common")
      list(PREPEND libraries common_parts)
    endif()
    if(parts)
      add_library(${name}_parts STATIC ${parts})
      target_link_libraries(${name}_parts PUBLIC ${libraries})
      set(libraries ${name}_parts)
      set_property(GLOBAL APPEND PROPERTY drx_parts ${name}_parts)
    endif()
    if(EXISTS ${main})
      add_executable(${name} ${main})
      target_link_libraries(${name} PRIVATE ${libraries})
      drx_note(programs ${main} programs)
      if(programs)
        drx_add_programs(TARGET ${name} HEADER ${folder}/${name}.hpp PROGRAMS ${programs})
      endif()
      # A sanitizer must be in the process before what it watches is loaded.
      if(EXISTS ${shared_object} AND TARGET drx::engines AND NOT DRX_SANITIZE)
        add_library(${name}_shared MODULE ${shared_object})
        target_link_libraries(${name}_shared PRIVATE drx_own drx::engines)
        set_target_properties(${name}_shared PROPERTIES PREFIX "" OUTPUT_NAME ${name} SUFFIX .so
          CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
        add_dependencies(${name} ${name}_shared)
      endif()
      drx_note(ranks ${main} ranks)
      drx_note(args ${main} args)
      if(DRX_BUILD_TESTS AND DRX_HAS_MPI)
        foreach(n IN LISTS ranks)
          drx_test(example.${name}.${n} RANKS ${n} LABELS example COMMAND $<TARGET_FILE:${name}> ${args})
        endforeach()
        find_package(Python3 REQUIRED COMPONENTS Interpreter)
        set(launcher ${MPIEXEC_EXECUTABLE} ${MPIEXEC_PREFLAGS} ${MPIEXEC_NUMPROC_FLAG})
        if(EXISTS ${folder}/check.py)
          drx_test(example.${name}.check PROCESSORS 2 LABELS example TIMEOUT 900
            COMMAND ${Python3_EXECUTABLE} ${folder}/check.py $<TARGET_FILE:${name}> ${launcher})
        endif()
        if(EXISTS ${folder}/expected.json)
          drx_test(example.${name}.numbers PROCESSORS 2 LABELS example TIMEOUT 300
            COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/common/check.py ${folder}/expected.json $<TARGET_FILE:${name}> ${launcher})
        endif()
      endif()
    endif()
  endforeach()
endfunction()
