# The test install_consumer: installs the library that was built, moves the installed tree, and builds and runs the
# project in this folder against it: with find_package and with pkg-config. As a part of another build the library
# would be compiled again, so there the project is only configured.
#
#   cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DCXX=... -DPKG_CONFIG=... -DGENERATOR=... -P install.cmake

function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUTPUT" "COMMAND")
  list(JOIN arg_COMMAND " " line)
  message(STATUS "${line}")
  execute_process(COMMAND ${arg_COMMAND} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "exited with ${result}\n${output}\n${errors}")
  endif()
  if(arg_OUTPUT)
    set(${arg_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
endfunction()

set(scratch ${BUILD_DIR}/install_consumer)
set(prefix "${scratch}/moved prefix")
file(REMOVE_RECURSE ${scratch})

run(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${scratch}/first)
file(RENAME ${scratch}/first ${prefix})

set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR} -DCMAKE_CXX_COMPILER=${CXX})
run(COMMAND ${configure} -B ${scratch}/find_package "-DCMAKE_PREFIX_PATH=${prefix}")
run(COMMAND ${CMAKE_COMMAND} --build ${scratch}/find_package)
run(COMMAND ${scratch}/find_package/consumer)

file(GLOB_RECURSE pc_file "${prefix}/tlaloc.pc")
cmake_path(GET pc_file PARENT_PATH pc_dir)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
run(COMMAND ${PKG_CONFIG} --cflags --libs tlaloc OUTPUT flags)
run(COMMAND ${PKG_CONFIG} --variable=libdir tlaloc OUTPUT libdir)
# pkg-config quotes as for a shell.
separate_arguments(flags UNIX_COMMAND "${flags}")
separate_arguments(libdir UNIX_COMMAND "${libdir}")
run(COMMAND ${CXX} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/main.cpp -o ${scratch}/plain ${flags} "-Wl,-rpath,${libdir}")
run(COMMAND ${scratch}/plain)

run(COMMAND ${configure} -B ${scratch}/add_subdirectory -DTLALOC_SOURCE_DIR=${SOURCE_DIR})
