// Custom functions where they are differentiated: by their own rules, or by rules made from what there is.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "core/custom.hpp"
#include "core/op.hpp"

namespace tlaloc::inline v0::autodiff {

/// A custom function that has been run for reverse mode. `pull` takes a cotangent for each result (empty: zero) to a
/// gradient for each input (empty: zero).
struct CustomReverse {
  core::Tensors results;
  std::function<core::Tensors(const core::Tensors& cotangents)> pull;
};
/// `wanted` says whose gradients will be asked for.
CustomReverse reverse(const core::CustomRef& function, const core::Tensors& in, const std::vector<bool>& wanted);

/// The results and their tangents; empty tangents stand for zero, here and there.
core::CustomTangents push_forward(const core::CustomRef& function, const core::Tensors& in,
                                  const core::Tensors& tangents);

/// What a tape keeps of a custom function. It is no operation, which would be plain data: what it needs on the way back
/// are the user's functions and what they kept.
struct CustomNode {
  std::shared_ptr<const std::function<core::Tensors(const core::Tensors& cotangents)>> pull;
};
const core::OpTable& custom_node_table(std::string_view name);

}  // namespace tlaloc::inline v0::autodiff
