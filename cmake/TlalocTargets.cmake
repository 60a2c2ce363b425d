# The settings that targets of this project share. They are functions on targets, not global flags, so that a project
# which adds this one with add_subdirectory keeps its own.

# The language, the warnings, hidden visibility and the sanitizers.
function(tlaloc_defaults target)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow)
  # g++ 12 sees overlapping copies in every `"text" + std::string` that it inlines; later ones do not.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(TLALOC_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  tlaloc_sanitize(${target})
endfunction()

# The instruction set. Never a part of the interface: programs that use the library choose their own.
function(tlaloc_for_arch target)
  if(TLALOC_ARCH)
    target_compile_options(${target} PRIVATE -march=${TLALOC_ARCH})
  endif()
endfunction()

function(tlaloc_sanitize target)
  if(TLALOC_SANITIZE)
    set(flags -fsanitize=${TLALOC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PRIVATE ${flags})
    # Under its sanitizers g++ warns of variables that only its own checks read, in the standard library's headers too.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
  endif()
endfunction()
