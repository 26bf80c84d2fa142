// The plan of a program as a document.
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/engines/plan_json.hpp>

namespace {
struct rows : drx::placement<rows> {};
using row = std::tuple<drx::array<double, 3>, double>;
using weights = drx::array<double, 3>;
constexpr auto error_of = [](auto w, auto r) { return drx::square(drx::dot(w, std::get<0>(r)) - std::get<1>(r)); };
constexpr auto loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(error_of, drx::broadcast<rows>(w), data));
};
constexpr auto same_loss = [](auto weights_of_all, auto all) { return loss(weights_of_all, all); };
constexpr auto fit = [](auto w, auto rate, auto data) {
  return drx::fori_loop<7>(w, [=](auto v) { return v - rate * drx::grad(loss)(v, data); });
};
using Loss = drx::program<loss, weights, drx::placed<row, rows>>;
using SameLoss = drx::program<same_loss, weights, drx::placed<row, rows>>;
using Fit = drx::program<fit, weights, double, drx::placed<row, rows>>;
}  // namespace

TEST_CASE("the document of a program with one stage") {
  const auto plan = drx::plan_json<Loss>();
  CHECK(plan["drx_plan"] == 1);
  CHECK(plan["inputs"].size() == 3);
  CHECK(plan["inputs"][0]["type"] == "f64");
  CHECK(plan["inputs"][0]["shape"] == std::vector<int>{3});
  CHECK(plan["inputs"][0]["placement"].empty());
  CHECK(plan["inputs"][2]["argument"] == 1);
  CHECK(plan["inputs"][2]["leaf"] == 1);
  CHECK(plan["inputs"][2]["placement"] == std::vector<std::string>{"rows"});
  CHECK(plan["outputs"].size() == 1);
  CHECK(plan["placements"][0]["name"] == "rows");
  REQUIRE(plan["stages"].size() == 1);
  const auto& stage = plan["stages"][0];
  CHECK(stage["runs"] == 1);
  CHECK(stage["broadcast"]["bytes"] == 24);
  CHECK(stage["map"]["bytes"] == 32);
  CHECK(stage["map"]["operations"] == 3 + 3 + 2);  // two for each term of the dot product, a difference, a square
  CHECK(stage["combine"]["bytes"] == 8);
  CHECK(stage["combine"]["results"][0]["fold"] == "mean");
  CHECK(stage["combine"]["results"][0]["associative"] == true);
  CHECK(stage["map"]["tape"].get<std::string>().find("matmul") != std::string::npos);
  CHECK(plan["map_reduce_form"] == true);
  CHECK(plan["hash"].get<std::string>().size() == 16);
}

TEST_CASE("programs with the same tape have the same document, others another hash") {
  CHECK(drx::plan_json<Loss>() == drx::plan_json<SameLoss>());
  CHECK(drx::plan_json<Loss>()["hash"] != drx::plan_json<Fit>()["hash"]);
}

TEST_CASE("a stage in a loop runs as often as the loop") {
  const auto plan = drx::plan_json<Fit>();
  REQUIRE(plan["stages"].size() == 1);
  CHECK(plan["stages"][0]["runs"] == 7);
  CHECK(plan["stages"][0]["combine"]["bytes"] == 24);
  CHECK(plan["map_reduce_form"] == true);
}
