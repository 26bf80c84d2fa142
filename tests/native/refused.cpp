// What an executable that plans programs refuses, and the sentence that says why.
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/generate/planner.hpp>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace named {
using vector = drx::array<double, 2>;
struct clients : drx::placement<clients> {};
inline constexpr auto doubled = [](auto x) { return x * 2; };
using Right = drx::program<doubled, vector>;

inline constexpr auto square = [](auto x) { return x * x; };
inline constexpr auto calls_lambda = [](auto x) { return drx::call(square, drx::sum(x)); };
using Lambda = drx::program<calls_lambda, vector>;
}  // namespace named
namespace {
struct hidden : drx::placement<hidden> {};
}  // namespace
namespace named {
inline constexpr auto mean = [](auto x) { return drx::reduce_mean(x); };
using Hidden = drx::program<mean, drx::placed<vector, hidden>>;
}  // namespace named

namespace {
struct outcome {
  int status;
  std::string message;
  bool wrote;
};
outcome planned(std::initializer_list<drx::generate::named_program> programs, std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  std::ostringstream text;
  std::streambuf* const before = std::cerr.rdbuf(text.rdbuf());
  const int status = drx::generate::main(static_cast<int>(argv.size()), argv.data(), programs);
  std::cerr.rdbuf(before);
  return {status, text.str(), arguments.size() > 2 && std::filesystem::exists(arguments[2] + ".hpp")};
}
/// A folder that is there while this lives.
struct folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("drx_refused_" + std::to_string(getpid()));
  folder() { std::filesystem::create_directory(path); }
  ~folder() { std::filesystem::remove_all(path); }
};
template <class P>
auto program(const char* name, std::string (*document)() = nullptr) {
  return drx::generate::program<P>(name, document);
}
}  // namespace

TEST_CASE("programs that no header could name are refused, and nothing is written") {
  const folder f;
  const std::vector<std::string> arguments{"plan", "models.hpp", (f.path / "plans").string(), "2"};
  const auto refused = [&](std::initializer_list<drx::generate::named_program> programs, const std::string& why) {
    const outcome o = planned(programs, arguments);
    CHECK(o.status == 1);
    CHECK(o.message.find(why) != std::string::npos);
    CHECK_FALSE(o.wrote);
  };
  refused({program<named::Lambda>("named::Lambda")}, "named::Lambda: primitive `call` is made of a lambda");
  refused({program<named::Hidden>("named::Hidden")},
          "named::Hidden: placement `hidden` has no name outside of its file");
  refused({program<named::Right>("named::Right"), program<named::Right>("named_Right")},
          "its constants have the name of those of named::Right");
  const outcome right = planned({program<named::Right>("named::Right")}, arguments);
  CHECK(right.status == 0);
  CHECK(right.wrote);
  CHECK(std::filesystem::exists(arguments[2] + "_2.cpp"));
}
TEST_CASE("wrong arguments are refused") {
  const auto right = program<named::Right>("named::Right");
  CHECK(planned({right}, {"plan", "models.hpp"}).status == 2);
  CHECK(planned({right}, {"plan", "models.hpp", "plans", "none"}).status == 2);
  CHECK(planned({right}, {"plan", "models.hpp", "plans", "2x"}).status == 2);
  CHECK(planned({right}, {"plan", "models.hpp", "plans", "0"}).message.starts_with("usage: plan HEADER PLANS SOURCES"));
  const outcome nowhere = planned({right}, {"plan", "models.hpp", "/nowhere/plans", "1"});
  CHECK(nowhere.status == 1);
  CHECK(nowhere.message == "cannot write /nowhere/plans.hpp\n");
}
TEST_CASE("where one file cannot be written, none is changed") {
  const folder f;
  const std::string plans = (f.path / "plans").string();
  std::filesystem::create_directory(plans + "_2.cpp.new");
  const outcome o = planned({program<named::Right>("named::Right")}, {"plan", "models.hpp", plans, "2"});
  CHECK(o.status == 1);
  CHECK(o.message == "cannot write " + plans + "_2.cpp\n");
  CHECK_FALSE(o.wrote);
  for (const char* end : {".hpp.new", "_1.cpp.new", "_1.cpp"}) CHECK_FALSE(std::filesystem::exists(plans + end));
}
TEST_CASE("a document is written where there is a function for it") {
  const folder f;
  const std::string plans = (f.path / "plans").string();
  const auto text = [] { return std::string("the plan"); };
  const std::initializer_list<drx::generate::named_program> two{program<named::Right>("named::Right", text),
                                                                program<named::Right>("named::Other<2>")};
  CHECK(planned(two, {"plan", "models.hpp", plans, "1"}).status == 0);
  std::ifstream document(plans + ".named.Right.plan.json");
  std::string all;
  CHECK(std::getline(document, all));
  CHECK(all == "the plan");
  int documents = 0;
  for (const auto& e : std::filesystem::directory_iterator(f.path)) documents += e.path().extension() == ".json";
  CHECK(documents == 1);
  const outcome alike = planned({program<named::Right>("named::a__", text), program<named::Right>("named::a<>", text)},
                                {"plan", "models.hpp", plans, "1"});
  CHECK(alike.status == 1);
  CHECK(alike.message.find("its document has the name of another program's") != std::string::npos);
}
TEST_CASE("names and numbers as C++ reads them") {
  using namespace drx::generate;
  CHECK(detail::end_of_document("a::b_c<a::d, -2>") == ".a.b_c_a.d___2_.plan.json");
  CHECK(as_written("f<a::g, &(int b::h<2>(double))>") == "f<a::g, &b::h<2>>");
  CHECK(as_written("f<&(drx::o drx::p<>()), double>") == "f<&drx::p<>, double>");
  CHECK(symbol_of(&drx::prim::sin) == "drx::prim::sin");
  CHECK(symbol_of(&drx::placement_of<named::clients>) == "drx::placement_of<named::clients>");
  CHECK(number(0.1) == "0x1.999999999999ap-4");
  CHECK(number(-std::numeric_limits<double>::infinity()) == "-std::numeric_limits<double>::infinity()");
  CHECK(integer(std::numeric_limits<std::int64_t>::min()) == "std::numeric_limits<std::int64_t>::min()");
}
