// SPDX-License-Identifier: BSD-3-Clause
// Lists of types.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace executorch::extension::kernel_util_internal {

template <typename...>
struct false_t : std::false_type {};

template <typename... Types>
struct typelist final {
  static constexpr size_t size = sizeof...(Types);
  typelist() = delete;
};

template <typename List>
struct size;
template <typename... Types>
struct size<typelist<Types...>> : std::integral_constant<size_t, sizeof...(Types)> {};

template <template <typename...> class Template, typename T>
struct is_instantiation_of : std::false_type {};
template <template <typename...> class Template, typename... Args>
struct is_instantiation_of<Template, Template<Args...>> : std::true_type {};
template <template <typename...> class Template, typename T>
using is_instantiation_of_t = typename is_instantiation_of<Template, T>::type;

// The type at a place.
template <size_t index, typename List>
struct element;
template <typename Head, typename... Tail>
struct element<0, typelist<Head, Tail...>> {
  using type = Head;
};
template <size_t index, typename Head, typename... Tail>
struct element<index, typelist<Head, Tail...>> : element<index - 1, typelist<Tail...>> {};
template <size_t index, typename List>
using element_t = typename element<index, List>::type;

// The first type, or a default for an empty list.
template <typename Default, typename List>
struct head_with_default {
  using type = Default;
};
template <typename Default, typename Head, typename... Tail>
struct head_with_default<Default, typelist<Head, Tail...>> {
  using type = Head;
};
template <typename Default, typename List>
using head_with_default_t = typename head_with_default<Default, List>::type;

// The types from `offset` on, as many as there are indices.
template <typename List, size_t offset, typename Indices>
struct take_elements;
template <typename List, size_t offset, size_t... index>
struct take_elements<List, offset, std::index_sequence<index...>> {
  using type = typelist<element_t<offset + index, List>...>;
};

// The list without its first `count` elements; an empty one stays empty.
template <typename List, size_t count>
struct drop_if_nonempty {
  using type = typename take_elements<List, count,
                                      std::make_index_sequence<size<List>::value - count>>::type;
};
template <size_t count>
struct drop_if_nonempty<typelist<>, count> {
  using type = typelist<>;
};
template <typename List, size_t count>
using drop_if_nonempty_t = typename drop_if_nonempty<List, count>::type;

}  // namespace executorch::extension::kernel_util_internal
