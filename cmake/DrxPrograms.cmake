# drx_add_programs(TARGET target HEADER header PROGRAMS program... [SOURCES n] [PLANS]): while `target` is built, an executable traces and
# plans the programs, types that the header defines; they are then not traced again in each file that runs them. Their tapes
# and plans are a generated header, which every C++ source of the target includes first; their steps are compiled in n generated
# sources, at once with the others (one for each core if n is not given).
#     drx_add_programs(TARGET fit HEADER models.hpp PROGRAMS models::Fit models::Loss)
# With PLANS each program's plan as a document (docs/plan.schema.json) is left beside the target's file: that of models::Fit is
# fit.models.Fit.plan.json. It takes the target drx::engines; the executable traces the program, and nothing is evaluated in constants.
# The header defines the programs' functions (inline constexpr) and placements in a namespace, and runs none of the programs.
function(drx_add_programs)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PLANS" "TARGET;HEADER;SOURCES" "PROGRAMS")
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
  get_target_property(type ${arg_TARGET} TYPE)
  if(arg_PLANS AND NOT TARGET drx::engines)
    message(FATAL_ERROR "drx_add_programs: PLANS needs the target drx::engines (find_package(drx COMPONENTS engines); nlohmann-json and Boost)")
  endif()
  if(arg_PLANS AND type STREQUAL "OBJECT_LIBRARY")
    message(FATAL_ERROR "drx_add_programs: PLANS, but the object library ${arg_TARGET} has no file to leave them beside")
  endif()

  cmake_path(GET arg_HEADER STEM stem)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_plans)
  set(planner ${arg_TARGET}_plans_${stem})
  set(plans ${folder}/${stem}_plans)
  set(list)
  set(documents)
  set(document_header)
  if(arg_PLANS)
    set(document_header "#include <drx/engines/plan_json.hpp>\n")
  endif()
  foreach(program IN LISTS arg_PROGRAMS)
    if(arg_PLANS)
      string(APPEND list "\n    drx::generate::program<${program}>(\"${program}\", drx::plan_text<${program}>),")
      string(REPLACE "::" "." name "${program}") # as end_of_document in drx/generate/planned_program.hpp
      string(REGEX REPLACE "[^A-Za-z0-9_.]" "_" name "${name}")
      list(APPEND documents ${name}.plan.json)
    else()
      string(APPEND list "\n    drx::generate::program<${program}>(\"${program}\"),")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/${stem}_planner.cpp @ONLY CONTENT "#include \"${arg_HEADER}\"

${document_header}#include <drx/generate/planner.hpp>

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
  if(arg_PLANS)
    target_link_libraries(${planner} PRIVATE drx::engines)
  endif()

  set(sources)
  foreach(i RANGE 1 ${arg_SOURCES})
    list(APPEND sources ${plans}_${i}.cpp)
  endforeach()
  set(written ${documents})
  list(TRANSFORM written PREPEND ${plans}.)
  add_custom_command(OUTPUT ${plans}.hpp ${sources} ${written} COMMAND ${planner} ${arg_HEADER} ${plans} ${arg_SOURCES}
    DEPENDS ${planner} VERBATIM COMMENT "Planning the programs of ${stem}")
  target_sources(${arg_TARGET} PRIVATE ${sources} ${plans}.hpp)
  foreach(document IN LISTS documents)
    add_custom_command(TARGET ${arg_TARGET} POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -E copy ${plans}.${document} $<TARGET_FILE_DIR:${arg_TARGET}>/${arg_TARGET}.${document})
  endforeach()
  target_compile_options(${arg_TARGET} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${plans}.hpp>")
endfunction()
