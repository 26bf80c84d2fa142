// drx/functions/einsum.hpp: sums of products, written by the letters of axes. They become reshapes, transposes, sums,
// matrix products and, if no summed letter is in two operands, elementwise products.
#pragma once

#include <drx/primitives/catalogue.hpp>

#include <drx/meta/names.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {

namespace detail {
enum class einsum_fault : std::int8_t { none, specification, rank, extents, axes };

/// The axes of operands and result. Each letter is a label; the axes of `...` are -1, -2 and so on from the last one.
struct einsum_form {
  vec<vec<int>> in;
  vec<int> out;
  vec<int> labels;            // all labels,
  vec<std::int64_t> extents;  // and their extents
  einsum_fault fault;

  constexpr einsum_form(const char* text, const vec<shape>& shapes) : fault(parse(text, shapes)) {}
  [[nodiscard]] constexpr std::int64_t extent(int label) const { return extents[labels.find(label)]; }
  [[nodiscard]] constexpr shape extents_of(const vec<int>& some) const {
    shape s;
    for (int label : some) s.push_back(extent(label));
    return s;
  }
  [[nodiscard]] constexpr shape result() const { return extents_of(out); }
  /// The labels that are needed after the product of operands up to `last`.
  [[nodiscard]] constexpr vec<int> kept_after(int last) const {
    vec<int> kept = out;
    for (int k = last + 1; k < in.size(); ++k) kept.append(in[k]);
    return kept;
  }

 private:
  constexpr einsum_fault parse(const char* text, const vec<shape>& shapes) {
    constexpr auto wrong = einsum_fault::specification;
    int longest = 0;  // over all `...`
    bool dots = false;
    for (int k = 0; k < shapes.size(); ++k) {
      if (k > 0 && *text++ != ',') return wrong;
      vec<int> names;
      int before_dots = -1;
      if (!read(text, names, before_dots)) return wrong;
      const int behind = shapes[k].rank - names.size();
      if (behind < 0 || (before_dots < 0 && behind > 0)) return einsum_fault::rank;
      in.push_back(with_dots(names, before_dots, behind));
      dots = dots || before_dots >= 0;
      if (behind > longest) longest = behind;
    }
    const bool result = text[0] == '-' && text[1] == '>';
    if (result) {
      text += 2;
      vec<int> names;
      int before_dots = -1;
      if (!read(text, names, before_dots) || (before_dots >= 0) != dots) return wrong;
      out = with_dots(names, before_dots, longest);
    }
    if (*text != 0) return wrong;
    for (int k = 0; k < in.size(); ++k)
      for (int i = 0; i < in[k].size(); ++i)
        if (!unify(in[k][i], shapes[k][i])) return einsum_fault::extents;
    if (!result) implied(longest);
    for (int i = 0; i < out.size(); ++i)
      for (int k = 0; k <= i; ++k)
        if (labels.find(out[i]) < 0 || (k < i && out[k] == out[i])) return wrong;
    return too_many_axes() ? einsum_fault::axes : einsum_fault::none;
  }
  /// Reads letters, and how many of them come before `...`, up to a comma, an arrow or the end; returns false at any
  /// other character.
  static constexpr bool read(const char*& text, vec<int>& names, int& before_dots) {
    for (;; ++text) {
      if (*text == ' ') continue;
      if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')) {
        names.push_back(*text);
      } else if (text[0] == '.' && text[1] == '.' && text[2] == '.' && before_dots < 0) {
        before_dots = names.size();
        text += 2;
      } else {
        return *text == ',' || *text == '-' || *text == 0;
      }
    }
  }
  static constexpr vec<int> with_dots(const vec<int>& names, int before_dots, int axes) {
    vec<int> all;
    for (int i = 0; i <= names.size(); ++i) {
      for (int k = axes; i == before_dots && k > 0; --k) all.push_back(-k);
      if (i < names.size()) all.push_back(names[i]);
    }
    return all;
  }
  constexpr bool unify(int label, std::int64_t n) {
    const int k = labels.find(label);
    if (k < 0) {
      labels.push_back(label);
      extents.push_back(n);
      return true;
    }
    if (label < 0 && extents[k] == 1) extents[k] = n;
    return extents[k] == n || (label < 0 && n == 1);
  }
  /// The result's axes when none are given: the axes of `...`, then the letters that occur once, in the alphabet's
  /// order.
  constexpr void implied(int longest) {
    for (int k = longest; k > 0; --k) out.push_back(-k);
    for (int letter = 'A'; letter <= 'z'; ++letter) {
      int times = 0;
      for (const auto& operand : in)
        for (int label : operand) times += label == letter;
      if (times == 1) out.push_back(letter);
    }
  }
  /// Whether the result, or an intermediate one, has too many axes.
  [[nodiscard]] constexpr bool too_many_axes() const {
    vec<int> product = in[0];
    for (int k = 1; k < in.size(); ++k) {
      vec<int> all = product, kept;
      all.append(in[k]);
      for (int label : all)
        if (kept_after(k).find(label) >= 0 && kept.find(label) < 0) kept.push_back(label);
      if (kept.size() > shape::max_rank) return true;
      product = kept;
    }
    return out.size() > shape::max_rank;
  }
};

struct einsum_value {
  int id = -1;
  vec<int> labels;
};
/// Writes an einsum, operand by operand from the left.
struct einsum_writer {
  builder& b;
  const einsum_form form;

  constexpr int write(const vec<int>& operands) {
    einsum_value product = prepared(operands[0], 0, vec<int>{});
    for (int k = 1; k < operands.size(); ++k)
      product = times(product, prepared(operands[k], k, product.labels), form.kept_after(k));
    return ordered(product, form.out).id;
  }

 private:
  static constexpr vec<int> joined(const vec<int>& x, const vec<int>& y) {
    vec<int> both = x;
    both.append(y);
    return both;
  }
  constexpr einsum_value ordered(const einsum_value& x, const vec<int>& order) {
    vec<std::int64_t> p;
    for (int label : order) p.push_back(x.labels.find(label));
    return {emit::transpose(b, x.id, p), order};
  }
  /// Operand k with each label once, and only those labels that are in the product so far, in the result or in a later
  /// operand.
  constexpr einsum_value prepared(int id, int k, const vec<int>& before) {
    einsum_value x{id, form.in[k]};
    for (int i = x.labels.size() - 1; i >= 0; --i)  // `...` of extent 1 is broadcast
      if (x.labels[i] < 0 && b.shape(x.id)[i] != form.extent(x.labels[i])) x = without(x, i);
    for (int i = 0; i < x.labels.size(); ++i)
      for (int j = i + 1; j < x.labels.size(); ++j)
        if (x.labels[i] == x.labels[j]) {
          x = diagonal(x, i, j);
          i = j = -1;
          break;
        }
    const vec<int> kept = joined(before, form.kept_after(k));
    return summed(x, kept);
  }
  constexpr einsum_value without(const einsum_value& x, int axis) {
    return {emit::reshape(b, x.id, without_axis(b.shape(x.id), axis)), without_label(x.labels, axis)};
  }
  static constexpr vec<int> without_label(const vec<int>& labels, int axis) {
    vec<int> rest;
    for (int i = 0; i < labels.size(); ++i)
      if (i != axis) rest.push_back(labels[i]);
    return rest;
  }
  /// Axes i < j as one, after the others.
  constexpr einsum_value diagonal(const einsum_value& x, int i, int j) {
    vec<std::int64_t> p;
    vec<int> labels;
    shape row;
    for (int k = 0; k < x.labels.size(); ++k)
      if (k != i && k != j) {
        p.push_back(k);
        labels.push_back(x.labels[k]);
        row.push_back(b.shape(x.id)[k]);
      }
    p.push_back(i);
    p.push_back(j);
    const std::int64_t n = b.shape(x.id)[i];
    row.push_back(n * n);
    vec<std::int64_t> start(row.rank, 0), stop, stride(row.rank, 1);
    for (int k = 0; k < row.rank; ++k) stop.push_back(row[k]);
    stop[row.rank - 1] = n == 0 ? 0 : (n - 1) * (n + 1) + 1;
    stride[row.rank - 1] = n + 1;
    labels.push_back(x.labels[i]);
    return {emit::slice(b, emit::reshape(b, emit::transpose(b, x.id, p), row), start, stop, stride), labels};
  }
  constexpr einsum_value summed(const einsum_value& x, const vec<int>& kept) {
    vec<std::int64_t> axes;
    vec<int> labels;
    for (int i = 0; i < x.labels.size(); ++i) {
      if (kept.find(x.labels[i]) >= 0)
        labels.push_back(x.labels[i]);
      else
        axes.push_back(i);
    }
    return {emit::sum(b, x.id, axes), labels};
  }
  /// x with the axes `all`; axes that it lacks are repeated from extent 1.
  constexpr int spread(const einsum_value& x, const vec<int>& all) {
    vec<int> own;
    shape s;
    for (int label : all) {
      const bool has = x.labels.find(label) >= 0;
      if (has) own.push_back(label);
      s.push_back(has ? form.extent(label) : 1);
    }
    return emit::broadcast_to(b, emit::reshape(b, ordered(x, own).id, s), form.extents_of(all));
  }
  constexpr einsum_value times(const einsum_value& x, const einsum_value& y, const vec<int>& kept) {
    vec<int> batch, left, inner, right;
    for (int label : x.labels) {
      if (y.labels.find(label) < 0)
        left.push_back(label);
      else if (kept.find(label) >= 0)
        batch.push_back(label);
      else
        inner.push_back(label);
    }
    for (int label : y.labels)
      if (x.labels.find(label) < 0) right.push_back(label);
    const vec<int> result = joined(joined(batch, left), right);
    const bool rows = left.empty() && right.empty() && !batch.empty();
    if (inner.empty() || rows) {
      const vec<int> all = joined(result, inner);
      const int of_x = spread(x, all), of_y = spread(y, all);
      return summed({emit::mul(b, of_x, of_y), all}, result);
    }
    bool turned_x = false, turned_y = false;
    const int p = matrices(x, batch, left, inner, turned_x), q = matrices(y, batch, inner, right, turned_y);
    return {emit::reshape(b, emit::matmul(b, p, q, turned_x, turned_y), form.extents_of(result)), result};
  }
  /// x as matrices of rows and columns, or transposed if its axes have that order.
  constexpr int matrices(const einsum_value& x, const vec<int>& batch, const vec<int>& rows, const vec<int>& columns,
                         bool& turned) {
    const vec<int> straight = joined(joined(batch, rows), columns), other = joined(joined(batch, columns), rows);
    turned = x.labels == other && !(x.labels == straight);
    const std::int64_t m = form.extents_of(rows).size(), n = form.extents_of(columns).size();
    shape s;
    if (!batch.empty()) s.push_back(form.extents_of(batch).size());
    s.push_back(turned ? n : m);
    s.push_back(turned ? m : n);
    return emit::reshape(b, ordered(x, turned ? other : straight).id, s);
  }
};

template <meta::literal Letters, class... A>
struct einsum_of {
  using first = std::tuple_element_t<0, std::tuple<A...>>;
  static constexpr einsum_form form() { return {Letters.text, vec<shape>{A::shape...}}; }
  static constexpr auto misuse() {
    if constexpr ((Placed<A> || ...)) {
      return error::array_operation_on_a_placed_value{};
    } else if constexpr (!(Array<A> && ...)) {
      return error::not_a_value_of_drx{};
    } else if constexpr (!(NumberArray<A> && ...)) {
      return error::needs_numbers{};
    } else if constexpr (!(std::is_same_v<typename A::value_type, typename first::value_type> && ...)) {
      return error::element_types_differ{};
    } else {
      constexpr einsum_fault fault = form().fault;
      if constexpr (fault == einsum_fault::specification) {
        return error::not_an_einsum_specification{};
      } else if constexpr (fault == einsum_fault::rank) {
        return error::wrong_rank{};
      } else if constexpr (fault == einsum_fault::extents) {
        return error::extents_differ{};
      } else if constexpr (fault == einsum_fault::axes) {
        return error::more_than_eight_axes{};
      } else {
        return no_misuse{};
      }
    }
  }
  static constexpr shape value = [] {
    if constexpr (std::is_same_v<decltype(misuse()), no_misuse>) {
      return form().result();
    } else {
      return shape{};
    }
  }();
};
template <class A, class B>
concept OuterFactors =
    NumberArray<A> && NumberArray<B> && std::is_same_v<typename A::value_type, typename B::value_type>;
template <meta::literal Letters, class... A>
concept Contractible = std::is_same_v<decltype(einsum_of<Letters, A...>::misuse()), no_misuse>;
}  // namespace detail

/// The sum of products that the letters describe, as in NumPy. Each operand has a letter for each axis; a letter that
/// is missing in the result is summed over, and a letter that occurs twice in an operand means its diagonal. `...` are
/// further axes, which broadcast. Without `->` the result has the letters that occur once, in the alphabet's order. It
/// takes any number of arrays of one element type, not bool; products are formed from left to right, and no
/// intermediate result may have more than eight axes. einsum<"ij,jk->ik">(a, b), einsum<"bij,bij->b">(x, y),
/// einsum<"ii">(a)
template <meta::literal Letters, class... A>
  requires(sizeof...(A) > 0 && detail::Contractible<Letters, A...>)
constexpr auto einsum(const A&... x) {
  using S = detail::einsum_of<Letters, A...>;
  tracing_builder& b = detail::tape_of(detail::ref_of(x)...);
  const int id = detail::einsum_writer{b, S::form()}.write(
      {emit::resolve(b, detail::ref_of(x), {dtype_of<typename A::value_type>, A::shape})...});
  return array_of<typename S::first::value_type, S>(detail::at(b, id));
}
template <meta::literal Letters, class... A, class Why = decltype(detail::einsum_of<Letters, A...>::misuse())>
  requires(sizeof...(A) > 0 && ((Array<A> || Placed<A>) && ...) && !detail::Contractible<Letters, A...>)
Why einsum(const A&...) = delete;  // drx: einsum<"ij,jk->ik">(a, b): a letter for each axis, of one extent wherever it stands; numbers of one element type; of placed values in a map
template <meta::literal Letters, class... X>
  requires error::AnyReported<X...>
error::reported einsum(const X&...);

/// All products of an element of x and one of y, both taken as vectors: the shape is [x's size, y's size].
template <class A, class B>
  requires detail::OuterFactors<A, B>
constexpr auto outer(const A& x, const B& y) {
  return reshape<A::size, 1>(x) * reshape<1, B::size>(y);
}
template <class A, class B,
          class Why = std::conditional_t<Placed<A> || Placed<B>, error::array_operation_on_a_placed_value,
                                         error::element_types_differ>>
  requires((Array<A> || Placed<A>) && (Array<B> || Placed<B>) && !detail::OuterFactors<A, B>)
Why outer(const A&, const B&) = delete;  // drx: of arrays of numbers of one element type; of placed values in a map

DRX_SILENT(outer)

}  // namespace drx
