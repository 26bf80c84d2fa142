// Structures: how tuples, pairs and arrays of values fall into leaves.
#include <drx/drx.hpp>

#include <array>
#include <concepts>
#include <string>
#include <tuple>
#include <utility>

namespace {

struct clients : drx::placement<clients> {};
struct pupils : drx::placement<pupils> {};
using v3 = drx::array<float, 3>;
using scalar = drx::array<float>;

static_assert(drx::Structured<float> && drx::Structured<bool> && drx::Structured<v3>);
static_assert(drx::Structured<std::tuple<v3, std::pair<int, double>>> && drx::Structured<std::array<v3, 2>> &&
              drx::Structured<std::tuple<>>);
static_assert(!drx::Structured<std::string> && !drx::Structured<float*> &&
              !drx::Structured<std::tuple<v3, std::string>> && !drx::Structured<void>);

using model = std::tuple<v3, std::array<std::pair<float, v3>, 2>>;
static_assert(drx::leaf_count<model> == 5);
static_assert(std::same_as<drx::canonical_t<model>, std::tuple<v3, std::array<std::pair<scalar, v3>, 2>>>);
static_assert(std::same_as<drx::host_t<model>, model>);
static_assert(std::same_as<drx::traced_t<float>, scalar> && std::same_as<drx::host_t<scalar>, float>);
static_assert(drx::all_floating<model> && !drx::all_floating<std::tuple<v3, int>>);

constexpr drx::leaf_types<model> types;
static_assert(types[0].shape == drx::make_shape(3) && types[1].shape.rank == 0 && types[4].shape == drx::make_shape(3));
static_assert(types[0].type == drx::dtype::float32);

using nested = drx::placed<drx::placed<model, pupils>, clients>;
constexpr drx::leaf_types<nested> placed_types;
static_assert(drx::leaf_count<nested> == 5 && placed_types[0].depth == 2);
static_assert(placed_types[0].placements[0] == &drx::placement_of<clients>);
static_assert(placed_types[0].placements[1] == &drx::placement_of<pupils>);

// Compared by the last axis.
static_assert(drx::broadcastable(drx::make_shape(3, 1), drx::make_shape(4)) &&
              !drx::broadcastable(drx::make_shape(3), drx::make_shape(4)));
static_assert(drx::broadcast_shapes(drx::make_shape(3, 1), drx::make_shape(2, 1, 4)) == drx::make_shape(2, 3, 4));

// What a function returns, what it does not take, and what was complained about already are three things.
constexpr auto two = [](auto x, auto) { return x; };
using drx::detail::call_result_t;
static_assert(std::same_as<call_result_t<decltype(two), v3, scalar>, v3>);
static_assert(std::same_as<call_result_t<decltype(two), v3>, drx::error::function_does_not_take_these_arguments>);
static_assert(drx::error::Reported<std::tuple<v3, drx::error::wrong_rank>> && !drx::error::Reported<model>);

}  // namespace
