// The members of an aggregate: how many there are, and the way to each of them.
//
// C++20 neither counts members nor binds them to a pack, so the counts are written out in two tables: `fits` asks
// whether N members can be initialized, bind_members binds them when there are N. `{}` never elides an inner brace and
// never calls a converting constructor, so arrays count as one and optionals are no riddle. Anything stands only for
// members that `{}` cannot initialize, and for those before them.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace tlaloc::inline v0::core {

inline constexpr int max_members = 40;

template <class... T>
struct Types {};

struct Anything {
  template <class U>
  operator U() const;
};

/// Converts to the proper bases of Derived only.
template <class Derived>
struct AnyBaseOf {
  template <class U>
    requires(std::is_base_of_v<U, Derived> && !std::same_as<U, Derived>)
  operator U() const;
};

// The tables; one line per count, as far as it goes.
// clang-format off

/// Whether T takes an initializer of each type in First, and `count` more.
template <int count, class T, class... First>
consteval bool fits() {
  if constexpr (count == 0) return requires { T{First{}...}; };
  if constexpr (count == 1) return requires { T{First{}..., {}}; };
  if constexpr (count == 2) return requires { T{First{}..., {}, {}}; };
  if constexpr (count == 3) return requires { T{First{}..., {}, {}, {}}; };
  if constexpr (count == 4) return requires { T{First{}..., {}, {}, {}, {}}; };
  if constexpr (count == 5) return requires { T{First{}..., {}, {}, {}, {}, {}}; };
  if constexpr (count == 6) return requires { T{First{}..., {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 7) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 8) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 9) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 10) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 11) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 12) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 13) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 14) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 15) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}}; };
  if constexpr (count == 16) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}}; };
  if constexpr (count == 17) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}}; };
  if constexpr (count == 18) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}}; };
  if constexpr (count == 19) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}}; };
  if constexpr (count == 20) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}}; };
  if constexpr (count == 21) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 22) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 23) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 24) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 25) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 26) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 27) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 28) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 29) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 30) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 31) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 32) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 33) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 34) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 35) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 36) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 37) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 38) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 39) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count == 40) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  if constexpr (count > max_members) return requires { T{First{}..., {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
}

/// The result of use(member...), for an object of `count` members.
template <int count, class T, class Use>
constexpr auto bind_members(T& object, Use use) {
  if constexpr (count == 0) return use();
  if constexpr (count == 1) { auto& [m1] = object; return use(m1); }
  if constexpr (count == 2) { auto& [m1, m2] = object; return use(m1, m2); }
  if constexpr (count == 3) { auto& [m1, m2, m3] = object; return use(m1, m2, m3); }
  if constexpr (count == 4) { auto& [m1, m2, m3, m4] = object; return use(m1, m2, m3, m4); }
  if constexpr (count == 5) { auto& [m1, m2, m3, m4, m5] = object; return use(m1, m2, m3, m4, m5); }
  if constexpr (count == 6) { auto& [m1, m2, m3, m4, m5, m6] = object; return use(m1, m2, m3, m4, m5, m6); }
  if constexpr (count == 7) { auto& [m1, m2, m3, m4, m5, m6, m7] = object; return use(m1, m2, m3, m4, m5, m6, m7); }
  if constexpr (count == 8) { auto& [m1, m2, m3, m4, m5, m6, m7, m8] = object; return use(m1, m2, m3, m4, m5, m6, m7,
    m8); }
  if constexpr (count == 9) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9] = object; return use(m1, m2, m3, m4, m5, m6,
    m7, m8, m9); }
  if constexpr (count == 10) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = object; return use(m1, m2, m3, m4,
    m5, m6, m7, m8, m9, m10); }
  if constexpr (count == 11) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = object; return use(m1, m2, m3,
    m4, m5, m6, m7, m8, m9, m10, m11); }
  if constexpr (count == 12) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = object; return use(m1, m2,
    m3, m4, m5, m6, m7, m8, m9, m10, m11, m12); }
  if constexpr (count == 13) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = object; return use(m1,
    m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13); }
  if constexpr (count == 14) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = object; return
    use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14); }
  if constexpr (count == 15) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = object;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15); }
  if constexpr (count == 16) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = object;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16); }
  if constexpr (count == 17) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] =
    object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17); }
  if constexpr (count == 18) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18]
    = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18); }
  if constexpr (count == 19) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19); }
  if constexpr (count == 20) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20); }
  if constexpr (count == 21) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17,
    m18, m19, m20, m21); }
  if constexpr (count == 22) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16,
    m17, m18, m19, m20, m21, m22); }
  if constexpr (count == 23) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15,
    m16, m17, m18, m19, m20, m21, m22, m23); }
  if constexpr (count == 24) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14,
    m15, m16, m17, m18, m19, m20, m21, m22, m23, m24); }
  if constexpr (count == 25) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13,
    m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25); }
  if constexpr (count == 26) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12,
    m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26); }
  if constexpr (count == 27) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11,
    m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27); }
  if constexpr (count == 28) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10,
    m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28); }
  if constexpr (count == 29) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9,
    m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29); }
  if constexpr (count == 30) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30] = object; return use(m1, m2, m3, m4, m5, m6, m7, m8,
    m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30); }
  if constexpr (count == 31) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31] = object; return use(m1, m2, m3, m4, m5, m6, m7,
    m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30,
    m31); }
  if constexpr (count == 32) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32] = object; return use(m1, m2, m3, m4, m5, m6,
    m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29,
    m30, m31, m32); }
  if constexpr (count == 33) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33] = object; return use(m1, m2, m3, m4,
    m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28,
    m29, m30, m31, m32, m33); }
  if constexpr (count == 34) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34] = object; return use(m1, m2, m3,
    m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27,
    m28, m29, m30, m31, m32, m33, m34); }
  if constexpr (count == 35) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35] = object; return use(m1, m2,
    m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26,
    m27, m28, m29, m30, m31, m32, m33, m34, m35); }
  if constexpr (count == 36) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36] = object; return use(m1,
    m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25,
    m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36); }
  if constexpr (count == 37) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37] = object; return
    use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24,
    m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37); }
  if constexpr (count == 38) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38] = object;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22,
    m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38); }
  if constexpr (count == 39) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39] = object;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22,
    m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39); }
  if constexpr (count == 40) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
    m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39, m40] =
    object; return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21,
    m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39, m40); }
}

// clang-format on

/// The largest N in [known, beyond) that fits after First, if `known` fits.
template <class T, int known, int beyond, class... First>
consteval int largest_fit() {
  if constexpr (beyond - known == 1) {
    return known;
  } else {
    constexpr int middle = (known + beyond) / 2;
    if constexpr (fits<middle, T, First...>())
      return largest_fit<T, middle, beyond, First...>();
    else
      return largest_fit<T, known, middle, First...>();
  }
}

/// The number of members of an aggregate: max_members + 1 if there are more, -1 if they cannot be counted.
template <class T, class... First>
consteval int count_members() {
  if constexpr (sizeof...(First) > max_members) {
    return -1;
  } else if constexpr (fits<0, T, First...>()) {
    // Anything may have stood for an element of an array; in parentheses it must stand for a member.
    if constexpr (sizeof...(First) > 1)
      if constexpr (!requires { T(First{}...); }) return -1;
    constexpr int count = static_cast<int>(sizeof...(First)) + largest_fit<T, 0, max_members + 2, First...>();
    return count > max_members ? max_members + 1 : count;
  } else {
    return count_members<T, First..., Anything>();
  }
}

/// Whether an aggregate has a base class: the first thing that its initializer list initializes.
template <class T, class... Rest>
consteval bool has_base() {
  if constexpr (fits<0, T>() || fits<0, T, Anything, Rest...>())
    return fits<0, T, AnyBaseOf<T>, Rest...>();
  else if constexpr (sizeof...(Rest) < max_members)
    return has_base<T, Rest..., Anything>();
  else
    return false;
}

struct NamesTypes {
  template <class... M>
  constexpr Types<M...> operator()(M&...) const {
    return {};
  }
};

/// The types of the members of an aggregate of N members. Those of a const T are const, unless they are references.
template <class T, int N>
using MemberTypes = decltype(bind_members<N>(std::declval<T&>(), NamesTypes{}));

}  // namespace tlaloc::inline v0::core
