# Peers that differentiate scalar code of C++: a target gets a folder's adolc.cpp and sacado.cpp where the machine has these
# libraries (Debian: libadolc-dev; libtrilinos-sacado-dev, libtrilinos-teuchos-dev, libtrilinos-kokkos-dev).
include_guard()

function(drx_peer target file definition)
  target_sources(${target} PRIVATE ${file})
  target_compile_definitions(${target} PRIVATE ${definition})
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-w") # the peer's headers warn
endfunction()

function(drx_tape_peers target folder)
  find_path(DRX_ADOLC_INCLUDE adolc/adolc.h)
  find_library(DRX_ADOLC_LIBRARY adolc)
  if(DRX_ADOLC_INCLUDE AND DRX_ADOLC_LIBRARY)
    drx_peer(${target} ${folder}/adolc.cpp DRX_BENCH_ADOLC)
    target_include_directories(${target} SYSTEM PRIVATE ${DRX_ADOLC_INCLUDE})
    target_link_libraries(${target} PRIVATE ${DRX_ADOLC_LIBRARY})
  endif()
  find_path(DRX_SACADO_INCLUDE Sacado_trad.hpp PATH_SUFFIXES trilinos)
  find_library(DRX_SACADO_LIBRARY NAMES trilinos_sacado sacado)
  # Its headers want Kokkos' macros, Teuchos and MPI.
  if(DRX_SACADO_INCLUDE AND DRX_SACADO_LIBRARY AND TARGET MPI::MPI_CXX AND EXISTS ${DRX_SACADO_INCLUDE}/Kokkos_Macros.hpp)
    drx_peer(${target} ${folder}/sacado.cpp DRX_BENCH_SACADO)
    set_property(SOURCE ${folder}/sacado.cpp APPEND PROPERTY INCLUDE_DIRECTORIES ${DRX_SACADO_INCLUDE})
    target_link_libraries(${target} PRIVATE ${DRX_SACADO_LIBRARY} MPI::MPI_CXX)
    foreach(part teuchoscomm teuchosparameterlist teuchoscore)
      find_library(DRX_${part}_LIBRARY NAMES trilinos_${part} ${part})
      if(DRX_${part}_LIBRARY)
        target_link_libraries(${target} PRIVATE ${DRX_${part}_LIBRARY})
      endif()
    endforeach()
  endif()
endfunction()
