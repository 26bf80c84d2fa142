// drx/engines/server.hpp: answers the requests of an engine, however they arrive: worker.hpp has them from a pipe,
// shared_object.hpp from the process that it is in.
// Tested by tests/unit/engines/worker.cpp and tests/unit/engines/shared_object.cpp.
#pragma once

#include <drx/engines/frames.hpp>
#include <drx/engines/mapped_file.hpp>
#include <drx/engines/plan_json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drx::engines::detail {

/// A program that is served, with its document.
struct served_entry {
  std::string name;
  nlohmann::ordered_json plan;
  std::unique_ptr<served_program> program;

  template <MapReduceForm P>
  static served_entry of() {
    return {std::string(meta::type_name<P>()), plan_json<P>(),
            std::make_unique<served_program>(served_facts_of<P>::value)};
  }
};

/// Answers requests. A wrong one throws, with a sentence that names the value.
class server {
 public:
  explicit server(std::vector<served_entry> programs) : programs_(std::move(programs)) {}

  [[nodiscard]] nlohmann::ordered_json list() const {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const served_entry& p : programs_) all.push_back({{"number", all.size()}, {"name", p.name}, {"plan", p.plan}});
    return all;
  }
  packet answer(const packet& request) {
    const std::string what = text(request, "do");
    if (what == "programs") return {{{"programs", list()}}, {}};
    if (what == "map") return map(request);
    if (what == "combine") return combine(request);
    if (what == "root") return root(request);
    if (what == "finish") return finish(request);
    throw std::invalid_argument(
        "drx: a worker does \"programs\", \"map\", \"combine\", \"root\" and \"finish\"; asked for is \"" + what +
        "\"");
  }

 private:
  using json = nlohmann::ordered_json;

  static const json& at(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (found == object.end()) throw std::invalid_argument(std::string("drx: a request without \"") + key + "\"");
    return *found;
  }
  static std::int64_t number(const json& object, const char* key) {
    const json& x = at(object, key);
    if (!x.is_number_integer())
      throw std::invalid_argument(std::string("drx: a request's \"") + key + "\" is " + x.dump() +
                                  ", which is no integer");
    if (x.is_number_unsigned() && x.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
      throw std::invalid_argument(std::string("drx: a request's \"") + key + "\" is " + x.dump() +
                                  ", which has more than 64 bits with its sign");
    return x.get<std::int64_t>();
  }
  static std::string text(const json& object, const char* key) {
    const json& x = at(object, key);
    if (!x.is_string())
      throw std::invalid_argument(std::string("drx: a request's \"") + key + "\" is " + x.dump() +
                                  ", which is no text");
    return x.get<std::string>();
  }
  static std::string text(const packet& p, const char* key) { return text(p.head, key); }
  static const json& array(const json& object, const char* key) {
    const json& x = at(object, key);
    if (!x.is_array())
      throw std::invalid_argument(std::string("drx: a request's \"") + key + "\" is " + x.dump() +
                                  ", which is no list");
    return x;
  }

  /// The program of a request, which says by which plan it goes.
  served_entry& program_of(const packet& request) {
    const std::int64_t n = number(request.head, "program");
    if (n < 0 || static_cast<std::size_t>(n) >= programs_.size())
      throw std::invalid_argument(error::sentence({"drx: program ", n, " of a worker that serves ", programs_.size()}));
    served_entry& p = programs_[static_cast<std::size_t>(n)];
    const std::string hash = text(request, "plan"), own = p.plan["hash"].get<std::string>();
    if (hash != own)
      throw std::invalid_argument("drx: the request goes by plan " + hash + ", but program " + std::to_string(n) +
                                  " of this executable has plan " + own);
    return p;
  }
  /// A part of the request's bytes, which begins at blob number `from`.
  static std::span<const bytes> blobs(const packet& request, std::size_t from, std::size_t count) {
    if (from > request.blobs.size() || count > request.blobs.size() - from)
      throw std::invalid_argument(
          error::sentence({"drx: a request with ", request.blobs.size(), " blobs needs ", from + count}));
    return std::span(request.blobs).subspan(from, count);
  }
  static std::vector<member_range> members_of(const packet& request) {
    const json& x = at(request.head, "members");
    std::vector<member_range> all;
    if (!x.is_object())
      throw std::invalid_argument("drx: a request's \"members\" is " + x.dump() + ", which is no object");
    for (const auto& [name, n] : x.items()) all.push_back({name, number(x, name.c_str()), 0, 0});
    return all;
  }
  /// Binds the arguments, which are the first blobs; returns the roots, which are the next ones.
  std::span<const bytes> bind(served_entry& p, const packet& request) {
    std::size_t leaves = 0;
    for (const run::input_facts& x : p.program->facts().inputs) leaves += !x.placed;
    const std::int64_t roots = number(request.head, "roots");
    if (roots < 0) throw std::invalid_argument(error::sentence({"drx: a request with ", roots, " roots"}));
    std::vector<std::span<const std::byte>> arguments;
    for (const bytes& b : blobs(request, 0, leaves)) arguments.emplace_back(b);
    p.program->bind(arguments, members_of(request));
    return blobs(request, leaves, static_cast<std::size_t>(roots));
  }

  packet map(const packet& request) {
    served_entry& p = program_of(request);
    const std::span<const bytes> roots = bind(p, request);
    const int stage = p.program->finish(roots).stage;
    if (stage < 0) throw std::invalid_argument(error::sentence({"drx: no stage follows ", roots.size(), " roots"}));
    const std::string placement = p.plan["stages"][static_cast<std::size_t>(stage)]["placement"];
    std::int64_t total = 0;
    for (const member_range& m : members_of(request))
      if (m.placement == placement) total = m.total;
    std::vector<partial> parts;
    for (const json& range : array(request.head, "partitions")) {
      const member_range members{placement, total, number(range, "first"), number(range, "count")};
      std::vector<mapped_file> files;
      std::vector<std::span<const std::byte>> values;
      std::size_t leaf = 0;
      const json& given = array(range, "leaves");
      files.reserve(given.size());
      for (const run::input_facts& x : p.program->facts().inputs) {
        if (!x.placed || p.program->facts().placements[static_cast<std::size_t>(x.placement)].info->name != placement)
          continue;
        if (leaf >= given.size())
          throw std::invalid_argument(error::sentence({"drx: a partition with ", given.size(), " leaves of members of ",
                                                       placement, "; the program takes more"}));
        const json& from = given[leaf++];
        files.emplace_back(text(from, "path"));
        values.push_back(files.back().members(abstract_value(x.type, x.part), number(from, "offset"), members.count));
      }
      if (leaf != given.size())
        throw std::invalid_argument(error::sentence({"drx: a partition with ", given.size(), " leaves of members of ",
                                                     placement, "; the program takes ", leaf}));
      parts.push_back(p.program->map(roots, members, values));
    }
    return answer_of(stage, p.program->combine(stage, parts));
  }
  static packet answer_of(int stage, partial x) {
    packet r;
    r.head["stage"] = stage;
    r.head["nodes"] = json::array();
    for (const run::node& n : x.nodes) r.head["nodes"].push_back({n.level, n.position});
    r.blobs.push_back(std::move(x.data));
    return r;
  }
  /// The partials of a request: the nodes of each in "partials", their bytes in the blobs.
  static std::vector<partial> partials_of(const packet& request) {
    std::vector<partial> parts;
    const json& lists = array(request.head, "partials");
    for (const json& nodes : lists) {
      partial x;
      const auto wrong = [&] { return std::invalid_argument("drx: a partial's nodes are " + nodes.dump()); };
      if (!nodes.is_array()) throw wrong();
      for (const json& n : nodes) {
        if (!n.is_array() || n.size() != 2 || !n[0].is_number_integer() || !n[1].is_number_integer()) throw wrong();
        constexpr std::int64_t most = 1000;  // (what is too much for a level is refused with a sentence)
        x.nodes.push_back(
            {static_cast<int>(std::clamp<std::int64_t>(n[0].get<std::int64_t>(), -1, most)), n[1].get<std::int64_t>()});
      }
      x.data = blobs(request, parts.size(), 1)[0];
      parts.push_back(std::move(x));
    }
    return parts;
  }
  packet combine(const packet& request) {
    served_entry& p = program_of(request);
    const int stage = stage_of(request);
    return answer_of(stage, p.program->combine(stage, partials_of(request)));
  }
  packet root(const packet& request) {
    served_entry& p = program_of(request);
    packet r;
    r.blobs.push_back(p.program->root(stage_of(request), partials_of(request), number(request.head, "count")));
    return r;
  }
  static int stage_of(const packet& request) {
    constexpr std::int64_t most = 1 << 20;
    return static_cast<int>(std::clamp<std::int64_t>(number(request.head, "stage"), -1, most));
  }
  packet finish(const packet& request) {
    served_entry& p = program_of(request);
    served_program::progress at = p.program->finish(bind(p, request));
    packet r;
    r.head["stage"] = at.stage < 0 ? json() : json(at.stage);
    r.blobs = std::move(at.results);
    return r;
  }

  std::vector<served_entry> programs_;
};

/// A server of these programs.
template <MapReduceForm... P>
server server_of() {
  std::vector<served_entry> programs;
  (programs.push_back(served_entry::of<P>()), ...);
  return server(std::move(programs));
}

}  // namespace drx::engines::detail
