# drx_add_programs(TARGET target HEADER header PROGRAMS program... [SOURCES n]): while `target` is built, an executable traces and
# plans the programs, types that the header defines; they are then not traced again in each file that runs them. Their tapes
# and plans are a generated header, which every C++ source of the target includes first; their steps are compiled in n generated
# sources, at once with the others (one for each core if n is not given).
#     drx_add_programs(TARGET fit HEADER models.hpp PROGRAMS models::Fit models::Loss)
# The header defines the programs' functions (inline constexpr) and placements in a namespace, and runs none of the programs.
function(drx_add_programs)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;HEADER;SOURCES" "PROGRAMS")
  foreach(word IN ITEMS TARGET HEADER PROGRAMS)
    if(NOT arg_${word})
      message(FATAL_ERROR "drx_add_programs: no ${word}")
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "drx_add_programs: what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT TARGET ${arg_TARGET})
    message(FATAL_ERROR "drx_add_programs: there is no target ${arg_TARGET}")
  endif()
  cmake_path(ABSOLUTE_PATH arg_HEADER)
  if(NOT EXISTS ${arg_HEADER})
    message(FATAL_ERROR "drx_add_programs: there is no header ${arg_HEADER}")
  endif()
  if(NOT DEFINED arg_SOURCES)
    cmake_host_system_information(RESULT arg_SOURCES QUERY NUMBER_OF_LOGICAL_CORES)
  endif()
  if(NOT arg_SOURCES MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "drx_add_programs: SOURCES ${arg_SOURCES} is no number of sources")
  endif()

  cmake_path(GET arg_HEADER STEM stem)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_plans)
  set(planner ${arg_TARGET}_plans_${stem})
  set(list)
  foreach(program IN LISTS arg_PROGRAMS)
    string(APPEND list "\n    drx::generate::program<${program}>(\"${program}\"),")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/${stem}_planner.cpp @ONLY CONTENT "#include \"${arg_HEADER}\"

#include <drx/generate/planner.hpp>

int main(int argc, char** argv) {
  return drx::generate::main(argc, argv, {${list}
  });
}
")
  add_executable(${planner} ${folder}/${stem}_planner.cpp)
  set_target_properties(${planner} PROPERTIES ENABLE_EXPORTS ON CXX_VISIBILITY_PRESET default) # names are looked up by address
  target_compile_definitions(${planner} PRIVATE DRX_NATIVE_TRACING $<TARGET_PROPERTY:${arg_TARGET},COMPILE_DEFINITIONS>)
  target_include_directories(${planner} PRIVATE $<TARGET_PROPERTY:${arg_TARGET},INCLUDE_DIRECTORIES>)
  target_compile_options(${planner} PRIVATE $<FILTER:$<TARGET_PROPERTY:${arg_TARGET},COMPILE_OPTIONS>,EXCLUDE,_plans\\.hpp> -O0 -w) # the target itself shows warnings
  target_link_options(${planner} PRIVATE $<TARGET_PROPERTY:${arg_TARGET},LINK_OPTIONS>)
  find_package(Threads REQUIRED)
  target_link_libraries(${planner} PRIVATE drx::drx Threads::Threads ${CMAKE_DL_LIBS})

  set(plans ${folder}/${stem}_plans)
  set(sources)
  foreach(i RANGE 1 ${arg_SOURCES})
    list(APPEND sources ${plans}_${i}.cpp)
  endforeach()
  add_custom_command(OUTPUT ${plans}.hpp ${sources} COMMAND ${planner} ${arg_HEADER} ${plans} ${arg_SOURCES}
    DEPENDS ${planner} VERBATIM COMMENT "Planning the programs of ${stem}")
  target_sources(${arg_TARGET} PRIVATE ${sources} ${plans}.hpp)
  target_compile_options(${arg_TARGET} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${plans}.hpp>")
endfunction()
