// Rows of the products and of the losses.
#include "tests/op_table.hpp"

namespace op_table {
namespace {

Reference einsum(const std::string& how) {
  return [=](const ref::Arrays& x) { return ref::Arrays{ref::einsum(how, x[0], x[1])}; };
}

Row matmul_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "matmul", .types = Types::numbers, .promotes = true};
  const Function call = [](const Tensors& x) { return Tensors{matmul(x[0], x[1])}; };
  const auto add_case = [&](const std::string& label, const Shape& a, const Shape& c, const Shape& result,
                            const Reference& reference) {
    row.cases.push_back({label, {real(a), real(c)}, call, reference, {result}});
  };
  add_case("matrices", {2, 3}, {3, 4}, {2, 4}, einsum("ij,jk->ik"));
  add_case("vectors", {4}, {4}, {}, einsum("i,i->"));
  add_case("matrix_vector", {2, 3}, {3}, {2}, einsum("ij,j->i"));
  add_case("vector_matrix", {3}, {3, 2}, {2}, einsum("j,jk->k"));
  add_case("batched", {2, 2, 3}, {2, 3, 2}, {2, 2, 2}, einsum("bij,bjk->bik"));
  add_case("batched_left", {2, 2, 3}, {3, 2}, {2, 2, 2}, einsum("bij,jk->bik"));
  add_case("batched_right", {2, 3}, {2, 3, 4}, {2, 2, 4}, einsum("ij,bjk->bik"));
  add_case("batched_vector", {2, 2, 3}, {3}, {2, 2}, einsum("bij,j->bi"));
  add_case("vector_batched", {3}, {2, 3, 2}, {2, 2}, einsum("j,bjk->bk"));
  add_case("batch_stretches", {2, 1, 2, 3}, {3, 3, 2}, {2, 3, 2, 2}, [](const ref::Arrays& x) {
    return ref::Arrays{ref::einsum("bcij,cjk->bcik", ref::broadcast_to(x[0], {2, 3, 2, 3}), x[1])};
  });
  add_case("named", {b(2), f(3)}, {f(3), h(2)}, {b(2), h(2)}, einsum("ij,jk->ik"));
  add_case("named_batch", {b(2), 2, f(3)}, {2, f(3), h(2)}, {b(2), 2, h(2)}, einsum("bij,bjk->bik"));
  add_case("extent_1", {1, 1}, {1, 1}, {1, 1}, einsum("ij,jk->ik"));
  add_case("over_nothing", {2, 0}, {0, 3}, {2, 3}, einsum("ij,jk->ik"));
  add_case("no_rows", {0, 3}, {3, 2}, {0, 2}, einsum("ij,jk->ik"));
  add_case("no_batch", {0, 2, 3}, {3, 2}, {0, 2, 2}, einsum("bij,jk->bik"));
  add_case("rank_6", {1, 2, 1, 2, 1, 2}, {2, 1, 2, 2, 2}, {1, 2, 1, 2, 1, 2}, [](const ref::Arrays& x) {
    return ref::Arrays{ref::einsum("abcdij,abcdjk->abcdik", x[0], ref::broadcast_to(x[1], {1, 2, 1, 2, 2, 2}))};
  });
  add_case("large", {33, 40}, {40, 37}, {33, 37}, einsum("ij,jk->ik"));
  row.cases.back().large = true;
  row.errors = {{"extents", {some({2, 3}), some({2, 3})}, call, Fault::shape},
                {"rank_0_left", {some({}), some({2})}, call, Fault::shape},
                {"rank_0_right", {some({2}), some({})}, call, Fault::shape},
                {"names_contract", {some({b(2), f(3)}), some({h(3), 2})}, call, Fault::axis},
                {"batch_extents", {some({2, 2, 3}), some({3, 3, 2})}, call, Fault::shape},
                {"batch_names", {some({b(2), 2, 3}), some({h(2), 3, 2})}, call, Fault::axis},
                {"name_twice", {some({b(2), f(3)}), some({f(3), b(2)})}, call, Fault::axis},
                {"floats_mix", {some({2, 2}), some({2, 2}, DType::f64)}, call, Fault::dtype},
                {"empty_left", {Tensor(), some({2})}, call, Fault::value},
                {"empty_right", {some({2}), Tensor()}, call, Fault::value}};
  return row;
}

Row dot_row() {
  const auto [b, f, h] = axes();
  const Axis g{"g"};
  Row row{.name = "dot", .types = Types::numbers, .promotes = true};
  const auto over = [](Axis axis) { return [=](const Tensors& x) { return Tensors{dot(x[0], x[1], axis)}; }; };
  const auto over_all = [](const std::vector<Axis>& list) {
    return [=](const Tensors& x) { return Tensors{dot(x[0], x[1], list)}; };
  };
  const auto add_case = [&](const std::string& label, const Shape& a, const Shape& c, const Function& call,
                            const Shape& result, const std::string& how) {
    row.cases.push_back({label, {real(a), real(c)}, call, einsum(how), {result}});
  };
  add_case("last_axes", {b(2), f(3)}, {h(2), f(3)}, over(f), {b(2), h(2)}, "bf,hf->bh");
  add_case("first_axes", {f(3), b(2)}, {f(3), h(2)}, over(f), {b(2), h(2)}, "fb,fh->bh");
  add_case("vectors", {f(4)}, {f(4)}, over(f), {}, "f,f->");
  add_case("shared_is_batch", {f(3), b(2), h(2)}, {b(2), f(3)}, over(f), {b(2), h(2)}, "fbh,bf->bh");
  add_case("shared_in_other_order", {b(2), h(3), f(2)}, {h(3), f(2), g(2), b(2)}, over(f), {b(2), h(3), g(2)},
           "bhf,hfgb->bhg");
  add_case("two", {f(3), b(2), h(2)}, {h(2), g(2), f(3)}, over_all({f, h}), {b(2), g(2)}, "fbh,hgf->bg");
  add_case("three", {f(3), b(2), h(2)}, {b(2), h(2), f(3), g(2)}, over_all({h, f, b}), {g(2)}, "fbh,bhfg->g");
  add_case("none", {b(2), f(3)}, {f(3), h(2)}, over_all({}), {f(3), b(2), h(2)}, "bf,fh->fbh");
  add_case("unnamed_remain", {2, f(3)}, {f(3), 2}, over(f), {2, 2}, "bf,fh->bh");
  add_case("over_nothing", {b(2), f(0)}, {f(0), h(2)}, over(f), {b(2), h(2)}, "bf,fh->bh");
  add_case("extent_1", {b(1), f(1)}, {f(1)}, over(f), {b(1)}, "bf,f->b");
  row.errors = {{"not_in_both", {some({b(2), f(3)}), some({h(3)})}, over(f), Fault::axis},
                {"no_name", {some({2}), some({2})}, over(Axis::none), Fault::axis},
                {"extents", {some({f(3)}), some({f(2)})}, over(f), Fault::shape},
                {"batch_extents", {some({f(3), b(2)}), some({f(3), b(4)})}, over(f), Fault::shape},
                {"floats_mix", {some({f(2)}), some({f(2)}, DType::f64)}, over(f), Fault::dtype},
                {"empty_tensor", {some({f(2)}), Tensor()}, over(f), Fault::value}};
  return row;
}

Row outer_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "outer", .types = Types::numbers, .promotes = true};
  const Function call = [](const Tensors& x) { return Tensors{outer(x[0], x[1])}; };
  const auto add_case = [&](const std::string& label, const Shape& a, const Shape& c, const Shape& result,
                            const std::string& how) {
    row.cases.push_back({label, {real(a), real(c)}, call, einsum(how), {result}});
  };
  add_case("vectors", {2}, {3}, {2, 3}, "i,j->ij");
  add_case("rank_0", {}, {}, {}, ",->");
  add_case("rank_0_left", {}, {3}, {3}, ",j->j");
  add_case("matrices", {2, 3}, {3, 2}, {2, 3, 3, 2}, "ij,kl->ijkl");
  add_case("named", {b(2), f(2)}, {h(3)}, {b(2), f(2), h(3)}, "ij,k->ijk");
  add_case("empty", {0}, {2}, {0, 2}, "i,j->ij");
  row.errors = {{"name_twice", {some({b(2)}), some({b(2)})}, call, Fault::axis},
                {"floats_mix", {some({2}), some({2}, DType::f64)}, call, Fault::dtype},
                {"empty_tensor", {Tensor(), some({2})}, call, Fault::value}};
  return row;
}

/// -sum(labels * log_softmax(logits)) along an axis of operands of one shape.
ref::Array weighted(const ref::Array& logits, const ref::Array& labels, std::size_t axis) {
  const ref::Array terms = ref::elementwise({ref::along(logits, axis, ref::log_softmax), labels},
                                            [](const double* x) { return -x[0] * x[1]; });
  return ref::reduce(terms, {axis}, false, ref::sum);
}

ref::Array one_hot(const ref::Array& indices, std::int64_t classes) {
  ref::Index extents = indices.extents;
  extents.push_back(classes);
  return ref::make(extents, [&](const ref::Index& position) {
    const ref::Index row(position.begin(), position.end() - 1);
    return indices[row] == static_cast<double>(position.back()) ? 1.0 : 0.0;
  });
}

Row cross_entropy_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "cross_entropy"};
  const Function call = [](const Tensors& x) { return Tensors{cross_entropy(x[0], x[1])}; };
  const auto along = [](AxisRef axis) {
    return [=](const Tensors& x) { return Tensors{cross_entropy(x[0], x[1], axis)}; };
  };
  const auto add_weights = [&](const std::string& label, const Shape& shape, const Function& how, std::size_t axis,
                               const Shape& result) {
    row.cases.push_back({label,
                         {real(shape), real(shape)},
                         how,
                         [=](const ref::Arrays& x) { return ref::Arrays{weighted(x[0], x[1], axis)}; },
                         {result}});
  };
  const auto add_classes = [&](const std::string& label, const Shape& shape, const Function& how, std::size_t axis,
                               const Shape& result) {
    const auto classes = shape[static_cast<int>(axis)].extent();
    row.cases.push_back({label,
                         {real(shape), index(result, static_cast<double>(classes))},
                         how,
                         [=](const ref::Arrays& x) {
                           std::vector<std::size_t> order;
                           for (std::size_t d = 0; d < x[0].extents.size(); ++d)
                             if (d != axis) order.push_back(d);
                           order.push_back(axis);
                           return ref::Arrays{
                               weighted(ref::permute(x[0], order), one_hot(x[1], classes), order.size() - 1)};
                         },
                         {result}});
  };
  add_weights("weights", {2, 4}, call, 1, {2});
  add_weights("weights_vector", {4}, call, 0, {});
  add_weights("weights_first", {4, 2}, along(0), 0, {2});
  add_weights("weights_middle", {2, 3, 2}, along(1), 1, {2, 2});
  add_weights("weights_named", {b(2), f(3)}, along(f), 1, {b(2)});
  add_weights("weights_first_named", {f(3), b(2)}, along(f), 0, {b(2)});
  add_weights("weights_one_class", {3, 1}, call, 1, {3});
  add_weights("weights_no_rows", {0, 3}, call, 1, {0});
  add_weights("weights_rank_6", {1, 2, 1, 2, 1, 2}, call, 5, {1, 2, 1, 2, 1});
  add_weights("weights_large", {70, 65}, call, 1, {70});
  row.cases.back().large = true;
  row.cases.push_back({"weights_by_name",
                       {real({b(2), f(3)}), real({f(3), b(2)})},
                       along(f),
                       [](const ref::Arrays& x) {
                         return ref::Arrays{weighted(x[0], ref::permute(x[1], {1, 0}), 1)};
                       },
                       {{b(2)}}});
  row.cases.push_back({"weights_stretch",
                       {real({2, 3}), real({1, 3})},
                       call,
                       [](const ref::Arrays& x) {
                         return ref::Arrays{weighted(x[0], ref::broadcast_to(x[1], {2, 3}), 1)};
                       },
                       {{2}}});
  row.cases.push_back({"classes_stretch",
                       {real({2, 3}), index({1}, 3)},
                       call,
                       [](const ref::Arrays& x) {
                         return ref::Arrays{weighted(x[0], ref::broadcast_to(one_hot(x[1], 3), {2, 3}), 1)};
                       },
                       {{2}}});
  add_classes("classes", {3, 4}, call, 1, {3});
  add_classes("classes_vector", {4}, call, 0, {});
  add_classes("classes_first", {4, 2}, along(0), 0, {2});
  add_classes("classes_middle", {2, 3, 2}, along(-2), 1, {2, 2});
  add_classes("classes_named", {b(2), f(3)}, along(f), 1, {b(2)});
  add_classes("classes_one_class", {3, 1}, call, 1, {3});
  add_classes("classes_no_rows", {0, 3}, call, 1, {0});
  add_classes("classes_large", {70, 65}, call, 1, {70});
  row.cases.back().large = true;
  const Tensor beyond = tensor<std::int64_t>({0, 3});
  const Tensor before = tensor<std::int64_t>({0, -1});
  row.errors = {{"label_extents", {some({2, 3}), some({2, 2})}, call, Fault::shape},
                {"more_label_rows", {some({1, 3}), some({2, 3})}, call, Fault::shape},
                {"label_rank", {some({2, 3}), some({3})}, call, Fault::shape},
                {"class_rows", {some({2, 3}), some({3}, DType::i64)}, call, Fault::shape},
                {"more_class_rows", {some({1, 3}), some({2}, DType::i64)}, call, Fault::shape},
                {"class_too_large", {some({2, 3}), beyond}, call, Fault::value},
                {"class_negative", {some({2, 3}), before}, call, Fault::value},
                {"bool_classes", {some({2, 3}), some({2}, DType::boolean)}, call, Fault::dtype},
                {"label_names", {some({b(2), f(3)}), some({h(2), f(3)})}, call, Fault::axis},
                {"no_such_axis", {some({b(2), f(3)}), some({b(2), f(3)})}, along(h), Fault::axis},
                {"rank_0", {some({}), some({})}, call, Fault::axis},
                {"floats_mix", {some({2}), some({2}, DType::f64)}, call, Fault::dtype},
                {"empty_tensor", {some({2}), Tensor()}, call, Fault::value}};
  return row;
}

}  // namespace

std::vector<Row> product_rows() { return {matmul_row(), dot_row(), outer_row(), cross_entropy_row()}; }

}  // namespace op_table
