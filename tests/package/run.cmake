# cmake -D build=... -D consumer=... -D scratch=... -D generator=... -D compiler=... -D flags=... -P run.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "exit code ${result}: ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${scratch}")
run("${CMAKE_COMMAND}" --install "${build}" --prefix "${scratch}/installed")
# Moved away from where it was installed, so that a path that was written down does not happen to work.
file(RENAME "${scratch}/installed" "${scratch}/moved")
run("${CMAKE_COMMAND}" -S "${consumer}" -B "${scratch}/build" -G "${generator}" -D CMAKE_BUILD_TYPE=Release -D
    "CMAKE_CXX_COMPILER=${compiler}" -D "CMAKE_CXX_FLAGS=${flags}" -D "CMAKE_PREFIX_PATH=${scratch}/moved")
run("${CMAKE_COMMAND}" --build "${scratch}/build")
run("${scratch}/build/consumer")
message(STATUS "${output}")
# One machine of each family at least, by both models.
foreach(expected IN ITEMS "tpu[^\n]*analytical" "tpu[^\n]*simulated" "vpu[^\n]*analytical" "vpu[^\n]*simulated")
  if(NOT output MATCHES "${expected}[^\n]*: total [1-9][0-9]* cycles")
    message(FATAL_ERROR "the consumer printed no estimate like '${expected}': ${output}")
  endif()
endforeach()
file(REMOVE_RECURSE "${scratch}")
