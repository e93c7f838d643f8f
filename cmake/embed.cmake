# SPDX-License-Identifier: Apache-2.0
# embed_files(target file...): makes the files' text available as rushlight::embedded_file(path) (types/embedded.h).
# The generated source holds string literals of at most 8 kB a piece, within every compiler's limit.
function(embed_files target)
  set(output ${CMAKE_BINARY_DIR}/generated/embedded_files.cc)
  set(inputs ${ARGN})
  list(TRANSFORM inputs PREPEND ${CMAKE_SOURCE_DIR}/)
  string(REPLACE ";" "," names "${ARGN}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DROOT=${CMAKE_SOURCE_DIR} "-DFILES=${names}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    DEPENDS ${inputs} ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
