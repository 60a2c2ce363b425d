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
  if constexpr (count == 1) { auto& [a] = object; return use(a); }
  if constexpr (count == 2) { auto& [a, b] = object; return use(a, b); }
  if constexpr (count == 3) { auto& [a, b, c] = object; return use(a, b, c); }
  if constexpr (count == 4) { auto& [a, b, c, d] = object; return use(a, b, c, d); }
  if constexpr (count == 5) { auto& [a, b, c, d, e] = object; return use(a, b, c, d, e); }
  if constexpr (count == 6) { auto& [a, b, c, d, e, f] = object; return use(a, b, c, d, e, f); }
  if constexpr (count == 7) { auto& [a, b, c, d, e, f, g] = object; return use(a, b, c, d, e, f, g); }
  if constexpr (count == 8) { auto& [a, b, c, d, e, f, g, h] = object; return use(a, b, c, d, e, f, g, h); }
  if constexpr (count == 9) { auto& [a, b, c, d, e, f, g, h, i] = object; return use(a, b, c, d, e, f, g, h, i); }
  if constexpr (count == 10) { auto& [a, b, c, d, e, f, g, h, i, j] = object; return use(a, b, c, d, e, f, g, h, i, j);
    }
  if constexpr (count == 11) { auto& [a, b, c, d, e, f, g, h, i, j, k] = object; return use(a, b, c, d, e, f, g, h, i,
    j, k); }
  if constexpr (count == 12) { auto& [a, b, c, d, e, f, g, h, i, j, k, l] = object; return use(a, b, c, d, e, f, g, h,
    i, j, k, l); }
  if constexpr (count == 13) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = object; return use(a, b, c, d, e, f, g,
    h, i, j, k, l, m); }
  if constexpr (count == 14) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = object; return use(a, b, c, d, e, f,
    g, h, i, j, k, l, m, n); }
  if constexpr (count == 15) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = object; return use(a, b, c, d, e,
    f, g, h, i, j, k, l, m, n, o); }
  if constexpr (count == 16) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = object; return use(a, b, c, d,
    e, f, g, h, i, j, k, l, m, n, o, p); }
  if constexpr (count == 17) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = object; return use(a, b, c,
    d, e, f, g, h, i, j, k, l, m, n, o, p, q); }
  if constexpr (count == 18) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = object; return use(a, b,
    c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r); }
  if constexpr (count == 19) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = object; return use(a,
    b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s); }
  if constexpr (count == 20) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = object; return
    use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t); }
  if constexpr (count == 21) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = object; return
    use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u); }
  if constexpr (count == 22) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = object; return
    use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v); }
  if constexpr (count == 23) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = object;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w); }
  if constexpr (count == 24) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = object;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x); }
  if constexpr (count == 25) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y] =
    object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y); }
  if constexpr (count == 26) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z] =
    object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z); }
  if constexpr (count == 27) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A] =
    object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A); }
  if constexpr (count == 28) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B); }
  if constexpr (count == 29) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C); }
  if constexpr (count == 30) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C,
    D); }
  if constexpr (count == 31) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B,
    C, D, E); }
  if constexpr (count == 32) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E, F] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E, F); }
  if constexpr (count == 33) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E, F, G] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z,
    A, B, C, D, E, F, G); }
  if constexpr (count == 34) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E, F, G, H] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y,
    z, A, B, C, D, E, F, G, H); }
  if constexpr (count == 35) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E, F, G, H, I] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x,
    y, z, A, B, C, D, E, F, G, H, I); }
  if constexpr (count == 36) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E, F, G, H, I, J] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w,
    x, y, z, A, B, C, D, E, F, G, H, I, J); }
  if constexpr (count == 37) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E, F, G, H, I, J, K] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v,
    w, x, y, z, A, B, C, D, E, F, G, H, I, J, K); }
  if constexpr (count == 38) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E, F, G, H, I, J, K, L] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u,
    v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L); }
  if constexpr (count == 39) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E, F, G, H, I, J, K, L, M] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t,
    u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M); }
  if constexpr (count == 40) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A,
    B, C, D, E, F, G, H, I, J, K, L, M, N] = object; return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s,
    t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N); }
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
