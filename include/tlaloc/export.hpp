// What every public header needs first: which symbols leave the shared library, and the library's version.
//
// The library hides everything by default; TLALOC_API marks what a program may link against. The inline namespace
// `v0` is part of every mangled name, so two incompatible versions never resolve to each other's symbols.
#pragma once

#define TLALOC_API __attribute__((visibility("default")))

namespace tlaloc::inline v0 {

inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;

}  // namespace tlaloc::inline v0
