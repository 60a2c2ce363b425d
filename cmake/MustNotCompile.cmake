# Checks that a source file does not compile, for the reason it states.
#
#   cmake -DSOURCE=file.cpp -DCOMMAND="c++;-std=c++20;..." -P MustNotCompile.cmake
#
# The first line of the file is `// expect: some text`; the compiler must refuse the file with a message that contains
# that text. With TLALOC_TEST_CONTROL defined the file must compile, or the refusal would prove nothing.

file(STRINGS ${SOURCE} first_line LIMIT_COUNT 1)
if(NOT first_line MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE}: the first line is not `// expect: some text`")
endif()
set(expected "${CMAKE_MATCH_1}")

execute_process(COMMAND ${COMMAND} -DTLALOC_TEST_CONTROL ${SOURCE} RESULT_VARIABLE result
                OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile with TLALOC_TEST_CONTROL either:\n${output}")
endif()

execute_process(COMMAND ${COMMAND} ${SOURCE} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles")
endif()
string(FIND "${output}" "${expected}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "${SOURCE} is refused without saying `${expected}`:\n${output}")
endif()
