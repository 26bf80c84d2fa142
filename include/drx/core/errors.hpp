// drx/core/errors.hpp: every misuse has a type, whose name is the sentence that the compiler prints.
//
// A misuse selects a deleted overload whose defaulted template parameter `Why` names one of these types: g++ and clang
// print the deleted line with the fix in its comment, nvcc prints the name.
#pragma once

#include <drx/config.hpp>

#include <stdexcept>
#include <type_traits>

namespace drx::error {

/// The base of all: a value of such a type stands for a misuse that was reported already, so that one mistake gives one
/// error.
struct reported {
  template <class... X>
  constexpr reported operator()(const X&...) const {
    return {};
  }  // in place of a pullback
};

/// True for such types, and for structures that contain one (drx/core/structure.hpp).
template <class T>
inline constexpr bool is_reported = std::is_base_of_v<reported, T>;
template <class T>
concept Reported = is_reported<std::remove_cvref_t<T>>;
template <class... T>
concept AnyReported = (Reported<T> || ...);

struct placed_and_unplaced_values_do_not_mix : reported {};
struct values_of_two_placements_do_not_mix : reported {};
struct element_types_differ : reported {};
struct shapes_do_not_broadcast : reported {};
struct a_literal_does_not_fit_the_element_type : reported {};
struct needs_floating_values : reported {};
struct needs_integer_values : reported {};
struct needs_boolean_values : reported {};
struct needs_numbers : reported {};
struct needs_a_random_key : reported {};
struct structures_differ : reported {};
struct map_needs_placed_arguments : reported {};
struct map_over_two_placements : reported {};
struct broadcast_needs_an_unplaced_value : reported {};
struct reduce_needs_a_placed_value : reported {};
struct array_operation_on_a_placed_value : reported {};
struct array_operation_on_a_structure : reported {};
struct function_of_numbers_on_an_array : reported {};
struct a_function_of_numbers_has_no_numbers_of_16_bits : reported {};
struct placed_results_would_outlive_their_program : reported {};
struct wrong_rank : reported {};
struct inner_extents_differ : reported {};
struct matrix_is_not_square : reported {};
struct window_exceeds_the_padded_input : reported {};
struct options_do_not_fit_the_spatial_axes : reported {};
struct axis_out_of_range : reported {};
struct axis_does_not_divide : reported {};
struct axis_has_more_than_one_element : reported {};
struct wrong_number_of_repetitions : reported {};
struct not_more_elements_than_ddof : reported {};
struct not_an_einsum_specification : reported {};
struct more_than_eight_axes : reported {};
struct matrix_has_more_columns_than_rows : reported {};
struct number_of_elements_differs : reported {};
struct extents_differ : reported {};
struct slice_out_of_range : reported {};
struct loop_body_changes_the_type_of_its_carry : reported {};
struct loop_has_more_steps_than_an_int32_counts : reported {};
struct condition_is_not_one_bool : reported {};
template <class Then, class Otherwise>
struct branches_return_different_types : reported {};
struct grad_needs_a_scalar_result : reported {};
struct grad_needs_floating_arguments : reported {};
struct batch_axes_do_not_fit_the_structure : reported {};
struct nothing_is_batched : reported {};
struct jacobian_needs_arrays : reported {};
struct custom_rule_returns_another_type : reported {};
struct branch_on_a_traced_value : reported {};
struct numbers_alone_have_no_element_type : reported {};
struct axes_and_extents_are_template_arguments : reported {};
struct placed_value_where_an_unplaced_one_is_declared : reported {};
struct traced_lambda_captures_a_runtime_value : reported {};
struct structure_members_must_be_arrays : reported {};
struct not_a_value_of_drx : reported {};
struct struct_is_not_adapted : reported {};
struct not_a_program : reported {};
struct no_pass_has_this_name : reported {};
struct function_does_not_take_these_arguments : reported {};
struct function_of_a_call_does_not_take_these_numbers : reported {};
struct wrong_number_of_arguments : reported {};
struct argument_is_not_the_input_of_the_program : reported {};
struct reduce_the_inner_placement_first : reported {};

/// The result of a function such as grad(f) for arguments that it does not take. No compiler has reported it yet, as
/// with function_does_not_take_these_arguments.
template <class Why>
struct refused : reported {};
template <class R>
inline constexpr bool is_unsaid = std::is_same_v<R, function_does_not_take_these_arguments>;
template <class Why>
inline constexpr bool is_unsaid<refused<Why>> = true;

// A mistake in a statement, such as `if (x > y)`, does not change the type of a function, so that no type shows that
// the compiler has complained; what fails after it, fails because of it. The deleted function that was called leaves a
// note instead: `noted<Why>` as a default template argument defines a friend, whose presence `Noted` tests.
#if defined(__NVCC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1301
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class Why>
struct note {
  friend constexpr auto read(note);
};
template <class Why>
struct leave_note {
  friend constexpr auto read(note<Why>) { return true; }
};
#if defined(__NVCC__)
#pragma nv_diagnostic pop
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
template <class Why>
inline constexpr int noted = sizeof(leave_note<Why>);
template <class Why, class AskedBy>  // (each AskedBy asks once: the answer changes)
concept NotedAs = requires { read(note<std::enable_if_t<!std::is_void_v<AskedBy>, Why>>{}); };
template <class AskedBy>
concept Noted =
    NotedAs<branch_on_a_traced_value, AskedBy> || NotedAs<placed_value_where_an_unplaced_one_is_declared, AskedBy>;

/// Whether R, which a traced function F returned for arguments X, comes from a std::sin(x) that was reported.
template <class R, class F, class... X>
inline constexpr bool is_number_of_std = false;
template <class F, class... X>
inline constexpr bool is_number_of_std<long double, F, X...> =
    NotedAs<function_of_numbers_on_an_array, note<void(F, X...)>>;

/// Called while recording, where a collective's axis is unknown: compilers name this function, which is no constant
/// expression, and the axis.
template <class Axis>
void no_map_pmap_or_vmap_around_this_has_the_axis() {
  throw std::logic_error("drx: no map, pmap or vmap around this has the axis");
}

/// Thrown when array code runs outside a program. (Under trace it never runs.)
class not_traced : public std::logic_error {
 public:
  not_traced()
      : std::logic_error(
            "drx: this operation runs inside a program; compile one and call it (elementwise ones of arrays compute outside too)") {
  }
};

}  // namespace drx::error
