// The requests of a call of the two programs, for the tests of shared objects.
#pragma once

#include "two_programs.hpp"

#include <drx/engines/frames.hpp>
#include <drx/engines/plan_json.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace two_programs {
using drx::engines::bytes;
using drx::engines::packet;
using json = nlohmann::ordered_json;

inline constexpr int members = 37;

inline bytes text(const std::string& s) {
  const auto* from = reinterpret_cast<const std::byte*>(s.data());
  return {from, from + s.size()};
}
inline std::string text(const bytes& b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }
inline bytes raw(double x) { return text({reinterpret_cast<const char*>(&x), sizeof x}); }

/// The members' values, in a file.
struct values {
  std::string path = "/tmp/drx_shared_object_XXXXXX";
  values() {
    const int descriptor = ::mkstemp(path.data());
    if (descriptor < 0) throw std::runtime_error("cannot make " + path);
    for (int i = 0; i < members; ++i) drx::engines::detail::write_all(descriptor, raw(std::cos(i)));
    ::close(descriptor);
  }
  ~values() { std::remove(path.c_str()); }
};

template <class P = Twice>
json request(const std::string& what, int number = 1) {
  return {{"do", what},
          {"program", number},
          {"plan", drx::plan_json<P>()["hash"]},
          {"members", {{"rows", members}}},
          {"roots", 0}};
}

/// A call of a program in pieces, with the bytes of its argument: all requests and their answers.
template <class P = Twice, class Ask>
std::vector<std::pair<bytes, bytes>> call(const std::string& path, const bytes& w, Ask ask, int number = 1) {
  std::vector<std::pair<bytes, bytes>> all;
  const auto get = [&](packet p) {
    all.emplace_back(drx::engines::payload_of(std::move(p)), bytes{});
    all.back().second = ask(all.back().first);
    return drx::engines::packet_of(all.back().second);
  };
  get({{{"do", "programs"}}, {}});
  std::vector<bytes> leaves{w};
  for (int roots = 0;; ++roots) {
    json finish = request<P>("finish", number), map = request<P>("map", number), join = request<P>("combine", number),
         root = request<P>("root", number);
    finish["roots"] = map["roots"] = roots;
    const packet at = get({finish, leaves});
    if (at.head["stage"].is_null()) break;
    packet both{join, {}};
    both.head["stage"] = root["stage"] = at.head["stage"];
    both.head["partials"] = json::array();
    for (const auto& [first, count] : {std::pair{20, members - 20}, {0, 20}}) {
      map["partitions"] = {{{"first", first}, {"count", count}, {"leaves", {{{"path", path}, {"offset", first}}}}}};
      const packet part = get({map, leaves});
      both.head["partials"].push_back(part.head["nodes"]);
      both.blobs.push_back(part.blobs.at(0));
    }
    const packet joined = get(both);
    root["count"] = members;
    root["partials"] = json::array({joined.head["nodes"]});
    leaves.push_back(get({root, joined.blobs}).blobs.at(0));
  }
  return all;
}

}  // namespace two_programs
