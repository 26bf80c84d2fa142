// drx/run/compiled.hpp: a program made ready to run: its workspaces are laid out, calls allocate nothing.
#pragma once

#include <drx/plan/fingerprint.hpp>
#include <drx/run/partitions.hpp>
#include <drx/run/stage.hpp>

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace drx {

/// The number of members of a placement that no argument of the program tells.
struct member_count {
  const placement_info* placement;
  std::int64_t count;
};
template <class P>
  requires(Placement<P>)
constexpr member_count members(std::int64_t n) {
  return {&placement_of<P>, n};
}

struct compile_options {
  reduction_order order = reduction_order::tree;
  std::vector<member_count> members = {};
};

namespace detail {
template <class R>
inline constexpr bool is_partitions = false;
template <class S, class P>
inline constexpr bool is_partitions<partitions<S, P>> = true;
template <class R>
inline constexpr bool is_tuple = false;
template <class... X>
inline constexpr bool is_tuple<std::tuple<X...>> = true;
}  // namespace detail

/// A program on an executor and a communicator. Call it as the function that it was written as, with host values:
/// numbers, arrays, structures, drx::partitions. Unplaced arguments must be the same on every rank. Placed results lie
/// in this object and are valid until the next call.
template <class Program>
class compiled {
  using C = run::code<Program>;
  using inputs = typename Program::inputs;

 public:
  using result = host_t<typename Program::result>;

  compiled(executor& e, communicator& c, compile_options options = {}) : options_(std::move(options)) {
    runtime_.executor = &e;
    runtime_.communicator = &c;
    runtime_.order = options_.order;
    for (const member_count& m : options_.members)
      if (m.count < 0) throw std::invalid_argument("drx: compile_options::members: " + std::to_string(m.count) + " of " + std::string(m.placement->name));
    constexpr std::int64_t print = plan::fingerprint(C::tape);
    c.require_equal(print, "drx::compile: the program");
    constexpr auto stages = static_cast<std::size_t>(C::tape.sizes.entries) + 1;
    runtime_.gathered.resize(stages);
    runtime_.bytes.resize(static_cast<std::size_t>(c.size()));
    runtime_.offsets.resize(static_cast<std::size_t>(c.size()));
    runtime_.threads.resize(static_cast<std::size_t>(e.concurrency()));
    for (auto& t : runtime_.threads) {
      constexpr std::size_t frames = run::frames_of_thread<C>;
      t.workspace.grow(static_cast<std::size_t>(thread_bytes()));
      t.slots.resize(frames * static_cast<std::size_t>(C::plan.slots) + 1);
      t.at.resize(frames * static_cast<std::size_t>(C::placements.count) + 1);
      t.nodes.resize(stages);
      t.collected.resize(static_cast<std::size_t>(C::tape.sizes.values) + 1);
    }
    server_.grow(static_cast<std::size_t>(C::plan.server_bytes) + 1);
    slots_.resize(static_cast<std::size_t>(C::plan.slots) + 1);
    at_.resize(static_cast<std::size_t>(C::placements.count) + 1);
    members_.resize(static_cast<std::size_t>(C::placements.count) + 1);
    for (int p = 0; p < C::placements.count; ++p)
      call_names_.push_back("the number of " + std::string(C::placements.placement[p]->name) + " in a call of program " + std::to_string(print % 100000));
    runtime_.collected.resize(static_cast<std::size_t>(C::tape.sizes.values) + 1);
  }
  compiled(compiled&&) noexcept = default;
  compiled& operator=(compiled&&) noexcept = default;

  /// Bytes of workspace: for the unplaced values, and for each thread. Neither depends on the number of members.
  static constexpr std::int64_t server_bytes() { return C::plan.server_bytes; }
  static constexpr std::int64_t thread_bytes() { return run::frames_of_thread<C> * C::plan.thread_bytes; }

  template <class... A>
    requires(sizeof...(A) == std::tuple_size_v<inputs>)
  result operator()(const A&... arguments) {
    result r{};
    call(r, arguments...);
    return r;
  }
  /// The same into a result that the caller holds.
  template <class... A>
  void call(result& r, const A&... arguments) {
    std::fill(members_.begin(), members_.end(), run::membership{});
    int slot = 0;
    arguments_.clear();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (bind<std::tuple_element_t<I, inputs>>(arguments, slot, static_cast<int>(I)), ...);
    }(std::make_index_sequence<sizeof...(A)>{});
    known_counts();
    agree_over_ranks();
    prepare_shards();
    run::frame f;
    f.server = server_.data();
    f.slots = slots_.data();
    f.members = members_.data();
    f.at = at_.data();
    f.runtime = &runtime_;
    f.thread = runtime_.threads[0].workspace.data();
    provide_collected(f);
    int out = 0;
    if constexpr (direct_slots.any || passed_on.any) bind_results(r, out);
    run::run_region<C, 0>(f);
    if constexpr (passed_on.any) keep_inputs();
    out = 0;
    extract(r, f, out);
  }

 private:
  // ---- arguments ----

  /// By input: the bytes of one member.
  static constexpr auto input_bytes = [] {
    struct {
      std::int64_t of[C::tape.regions[0].inputs.count + 1] = {};
    } r;
    for (int i = 0; i < C::tape.regions[0].inputs.count; ++i) r.of[i] = C::bytes(C::input(0, i));
    return r;
  }();
  template <class I, class A>
  void bind(const A& a, int& slot, int number) {
    if constexpr (Placed<I>) {
      bind_placed<I>(a, slot, number);
    } else if constexpr (Structured<A>) {
      static_assert(leaf_count<A> == leaf_count<I>, "drx: an argument is of another structure than the program's input");
      constexpr leaf_types<I> types;
      int k = 0;
      structure<A>::visit(a, [&](const auto* p, const shape& s) {
        using T = std::remove_cvref_t<decltype(*p)>;
        if (dtype_of<T> != types[k].type || s.size() != types[k].shape.size())
          throw std::invalid_argument("drx: argument " + std::to_string(number) + ", leaf " + std::to_string(k) + " is " +
                                      show(abstract_value(dtype_of<T>, s)) + "; the program takes " + show(types[k]));
        ++k;
        take(slot, reinterpret_cast<std::byte*>(const_cast<T*>(p)), s.size() * static_cast<std::int64_t>(sizeof(T)));
      });
    } else {  // contiguous memory: std::span, std::vector, Kokkos::View
      static_assert(leaf_count<I> == 1 && requires { a.data(); a.size(); }, "drx: an argument is neither the program's input nor contiguous memory");
      constexpr leaf_types<I> types;
      using T = std::remove_cvref_t<decltype(*a.data())>;
      static_assert(dtype_of<T> == types[0].type, "drx: an argument's element type is not the program's");
      if (static_cast<std::int64_t>(a.size()) != types[0].shape.size())
        throw std::invalid_argument("drx: argument " + std::to_string(number) + " has " + std::to_string(a.size()) +
                                    " elements; the program takes " + show(types[0]));
      take(slot, reinterpret_cast<std::byte*>(const_cast<T*>(a.data())), types[0].shape.size() * static_cast<std::int64_t>(sizeof(T)));
    }
  }
  template <class I, class S, class P>
  void bind_placed(const partitions<S, P>& a, int& slot, int number) {
    static_assert(std::is_same_v<canonical_t<I>, placed<S, P>>, "drx: a placed argument is not of the program's type");
    const std::string name = "argument " + std::to_string(number);
    check_layout<canonical_t<I>>(a, slot, name);
    run::membership m;
    m.total = a.total() * a.shards();
    m.first = a.first();
    m.local = a.local();
    m.boundaries = a.boundaries().data();
    m.storage = a.storage();
    agree(C::placements.index(&placement_of<P>), m, name);
    bind_nested<S>(a, 0, name);
    std::int64_t elements = a.elements();
    for (std::int64_t i = 0; a.storage() && i < a.local(); ++i) elements = std::max(elements, a.storage()[i] + 1);
    for (int i = 0; i < leaf_count<I>; ++i) take(slot, a.leaf(i), elements * input_bytes.of[slot]);
  }
  void take(int& slot, std::byte* data, std::int64_t bytes) {
    slots_[static_cast<std::size_t>(slot++)] = data;
    if constexpr (direct_slots.any) arguments_.push_back({data, static_cast<std::size_t>(bytes)});
  }
  /// Members come in as many shards, and split, as the program takes them.
  template <class I, class S, class P>
  static void check_layout(const partitions<S, P>& a, int slot, const std::string& name) {
    constexpr std::int64_t shards = shards_of(&placement_of<P>);
    if (a.shards() != shards)
      throw std::invalid_argument("drx: " + name + " has its " + std::string(placement_of<P>.name) + " in " + std::to_string(a.shards()) +
                                  " shards; the program takes them in " + std::to_string(shards) + (shards > 1 ? " (drx::place_sharded)" : ""));
    constexpr leaf_types<I> types;
    run::unroll<C::tape.regions[0].inputs.count>([&]<int V>(std::integral_constant<int, V>) {
      if (V < slot || V >= slot + leaf_count<I>) return;
      constexpr shape part = C::tape.values[C::input(0, V)].shape;  // (a copy: see plan/fingerprint.hpp)
      const int axis = split_axis(types[V - slot].shape, part);
      if (axis != a.split_axis(V - slot))
        throw std::invalid_argument("drx: " + name + ", leaf " + std::to_string(V - slot) + " is split along axis " + std::to_string(a.split_axis(V - slot)) +
                                    " (-1: whole); the program takes it along " + std::to_string(axis));
    });
  }
  static constexpr std::int64_t shards_of(const placement_info* p) { return C::mesh.count > 0 && C::mesh.members == p ? C::mesh.count : 1; }
  /// The axis along which `part` is shorter; -1: none.
  static constexpr int split_axis(const shape& whole, const shape& part) {
    for (int k = 0; k < whole.rank; ++k)
      if (whole[k] != part[k]) return k;
    return -1;
  }
  template <class S, class A>
  void bind_nested(const A& a, int level, const std::string& name) {
    if constexpr (Placed<S>) {
      run::membership m;
      m.offsets = a.offsets(level).data();
      m.local = static_cast<std::int64_t>(a.offsets(level).size()) - 1;
      m.total = a.offsets(level).back();
      agree(C::placements.index(&placement_of<typename S::placement>), m, name);
      bind_nested<typename S::member>(a, level + 1, name);
    }
  }
  /// All arguments placed at one placement must agree on its members.
  void agree(int p, const run::membership& m, std::string_view name) {
    if (p < 0) return;  // the program does not use it
    run::membership& known = members_[static_cast<std::size_t>(p)];
    const auto placement = [p] { return std::string(C::placements.placement[p]->name); };  // (a call that is right allocates nothing)
    if (known.total < 0) {
      known = m;
      return;
    }
    if (known.total != m.total)
      throw std::invalid_argument("drx: " + std::string(name) + " has " + std::to_string(m.total) + " members of " + placement() +
                                  "; an earlier argument has " + std::to_string(known.total));
    if ((m.storage || known.storage) && m.local == known.local)
      for (std::int64_t i = 0; i < m.local; ++i)
        if ((m.storage ? m.storage[i] : i) != (known.storage ? known.storage[i] : i))
          throw std::invalid_argument("drx: " + std::string(name) + " is another subset of " + placement() + " than an earlier argument");
    if (m.boundaries && known.boundaries)
      for (int r = 0; r <= runtime_.communicator->size(); ++r)
        if (m.boundaries[r] != known.boundaries[r])
          throw std::invalid_argument("drx: " + std::string(name) + " lies on the ranks in other blocks of " + placement() + " than an earlier argument");
    if (m.offsets && known.offsets && m.offsets != known.offsets)
      for (std::int64_t i = 0; i <= m.local; ++i)
        if (m.offsets[i] != known.offsets[i])
          throw std::invalid_argument("drx: " + std::string(name) + " has other numbers of " + placement() + " per member than an earlier argument");
  }
  /// How many members a placement has (at each member of its parent), by what the program or its options say.
  void has_members(int p, std::int64_t count, std::string_view name) {
    const auto at = static_cast<std::size_t>(p);
    if (boundaries_.empty()) boundaries_.resize(members_.size());
    auto& list = boundaries_[at];
    run::membership m;
    if (C::placements.parent[p] < 0) {
      const std::int64_t shards = shards_of(C::placements.placement[p]);
      if (list.empty()) list = blocks_of_shards(count / shards, shards, runtime_.communicator->size());
      const auto rank = static_cast<std::size_t>(runtime_.communicator->rank());
      m.total = count;
      m.first = list[rank];
      m.local = list[rank + 1] - list[rank];
      m.boundaries = list.data();
    } else {
      const run::membership& parent = members_[static_cast<std::size_t>(C::placements.parent[p])];
      std::int64_t parents = parent.offsets ? parent.total : parent.local;
      if (parent.storage)
        for (std::int64_t i = 0; i < parent.local; ++i) parents = std::max(parents, parent.storage[i] + 1);
      if (static_cast<std::int64_t>(list.size()) != parents + 1) {
        list.resize(static_cast<std::size_t>(parents) + 1);
        for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::int64_t>(i) * count;
      }
      m.offsets = list.data();
      m.local = parents;
      m.total = list.back();
    }
    agree(p, m, name);
  }
  void known_counts() {
    for (const auto& c : options_.members) {
      const int p = C::placements.index(c.placement);
      if (p < 0 || C::placements.parent[p] >= 0) continue;
      if (boundaries_.empty()) boundaries_.resize(members_.size());
      auto& b = boundaries_[static_cast<std::size_t>(p)];
      const std::int64_t shards = shards_of(c.placement);
      if (b.empty()) b = blocks_of_shards(c.count, shards, runtime_.communicator->size());
      run::membership m;
      const auto rank = static_cast<std::size_t>(runtime_.communicator->rank());
      m.total = c.count * shards;
      m.first = b[rank];
      m.local = b[rank + 1] - b[rank];
      m.boundaries = b.data();
      agree(p, m, "compile_options::members");
    }
    run::for_each_stage<C>([&]<int E>(std::integral_constant<int, E>) {
      if constexpr (C::tape.entries[E].number >= 0)
        has_members(C::placements.index(C::tape.entries[E].placement), static_cast<std::int64_t>(C::tape.entries[E].number),
                    "the program, which distributes or gathers an array,");
    });
    known_nested_counts();
    for (int p = 0; p < C::placements.count; ++p)
      if (members_[static_cast<std::size_t>(p)].total < 0)
        throw std::invalid_argument("drx: no argument tells how many members " + std::string(C::placements.placement[p]->name) +
                                    " has; compile with {.members = {drx::members<" + std::string(C::placements.placement[p]->name) + ">(n)}}");
  }

  /// Of a placement in another: how many each member of that has.
  void known_nested_counts() {
    for (int depth = 1; depth < C::placements.count; ++depth)  // parents are known before
      for (const auto& c : options_.members) {
        const int p = C::placements.index(c.placement), parent = p < 0 ? -1 : C::placements.parent[p];
        if (parent < 0 || members_[static_cast<std::size_t>(parent)].total < 0) continue;
        const run::membership& m = members_[static_cast<std::size_t>(p)];
        if (m.total < 0) has_members(p, c.count, "compile_options::members");
        for (std::int64_t i = 0; i < m.local; ++i)
          if (const std::int64_t n = m.offsets[i + 1] - m.offsets[i]; n != c.count)
            throw std::invalid_argument("drx: compile_options::members: " + std::to_string(c.count) + " of " + std::string(c.placement->name) + " at each member of " +
                                        std::string(C::placements.placement[parent]->name) + "; the arguments, or the program, have " + std::to_string(n));
      }
  }

  /// Ranks that call with other numbers of members must not meet in a collective. (DRX_CHECK=0 leaves this out.)
  void agree_over_ranks() {
    if (runtime_.communicator->size() == 1 || !runtime_.communicator->checks_calls()) return;
    for (int p = 0; p < C::placements.count; ++p)
      if (C::placements.parent[p] < 0) runtime_.communicator->require_equal(members_[static_cast<std::size_t>(p)].total, call_names_[static_cast<std::size_t>(p)].c_str());
  }

  void prepare_shards() {
    if constexpr (C::mesh.count > 0) {
      const auto& m = members_[static_cast<std::size_t>(C::placements.index(C::mesh.members))];
      if (m.total == 0)  // what loops carry in parts would be lost
        throw std::invalid_argument("drx: a program with layouts needs members of " + std::string(C::mesh.members->name) + ", and there are none");
      runtime_.shards.prepare(*runtime_.communicator, m.boundaries, C::mesh.count);
      runtime_.columns.prepare(*runtime_.communicator, m.boundaries, C::mesh.count);
    }
  }

  // ---- placed values that are held whole ----

  static void provide_collected(const run::frame& f) {  // of every stage over a placement at the top, in loops too
    run::for_each_stage<C>([&]<int E>(std::integral_constant<int, E>) {
      if constexpr (C::placements.parent[C::placements.index(C::tape.entries[E].placement)] < 0)
        run::unroll<C::tape.entries[E].results.count>([&]<int I>(std::integral_constant<int, I>) {
          constexpr int v = C::result(E, I);
          if constexpr (C::tape.values[v].depth > 0) f.slots[C::plan.where[v].offset] = run::placed_buffer<C, v>(f);
        });
    });
  }

  // ---- results ----

  /// By output: the slot of one that a stage writes where the caller wants it, else -1.
  static constexpr auto direct_slots = [] {
    struct {
      std::int64_t slot[C::tape.regions[0].outputs.count + 1] = {};
      bool any = false;
    } r;
    for (int i = 0; i < C::tape.regions[0].outputs.count; ++i) {
      const int v = C::root(C::output(0, i));
      const bool direct = C::tape.values[v].depth == 0 && C::definition(v) >= 0 && C::plan.where[v].space == plan::space::slot;
      r.slot[i] = direct ? C::plan.where[C::output(0, i)].offset : -1;
      r.any = r.any || direct;
    }
    return r;
  }();
  template <class R>
  void bind_results(R& r, int& out) {
    if constexpr (detail::is_partitions<R>) {
      out += leaf_count<typename R::member>;
    } else if constexpr (detail::is_tuple<R>) {
      std::apply([&](auto&... part) { (bind_results(part, out), ...); }, r);
    } else if constexpr (requires { r.first; r.second; }) {
      bind_results(r.first, out);
      bind_results(r.second, out);
    } else {
      structure<R>::visit(r, [&](auto* p, const shape& s) {
        if constexpr (passed_on.any) {
          results_.resize(static_cast<std::size_t>(C::tape.regions[0].outputs.count));
          results_[static_cast<std::size_t>(out)] = {reinterpret_cast<std::byte*>(p), static_cast<std::size_t>(s.size()) * sizeof(*p)};
        }
        if (direct_slots.slot[out] >= 0) bind_result(out, reinterpret_cast<std::byte*>(p), s.size() * static_cast<std::int64_t>(sizeof(*p)));
        ++out;
      });
    }
  }
  /// The caller's memory; where an argument lies there too, memory of our own.
  void bind_result(int out, std::byte* data, std::int64_t bytes) {
    for (const auto& a : arguments_)
      if (overlap(a, {data, static_cast<std::size_t>(bytes)})) {
        data = own_result(out, bytes);
        break;
      }
    slots_[static_cast<std::size_t>(direct_slots.slot[out])] = data;
  }
  static bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
    return std::less<>{}(b.data(), a.data() + a.size()) && std::less<>{}(a.data(), b.data() + b.size());
  }
  std::byte* own_result(int out, std::int64_t bytes) {
    own_results_.resize(static_cast<std::size_t>(C::tape.regions[0].outputs.count));
    buffer& own = own_results_[static_cast<std::size_t>(out)];
    own.grow(static_cast<std::size_t>(bytes));
    return own.data();
  }
  /// By output: whether it is an input.
  static constexpr auto passed_on = [] {
    struct {
      bool of[C::tape.regions[0].outputs.count + 1] = {};
      bool any = false;
    } r;
    if (C::tape.regions[0].outputs.count < 2) return r;
    for (int i = 0; i < C::tape.regions[0].outputs.count; ++i) {
      const int v = C::root(C::output(0, i));
      r.of[i] = C::tape.values[v].depth == 0 && C::definition(v) < 0;
      r.any = r.any || r.of[i];
    }
    return r;
  }();
  /// Copies inputs that are outputs, where another result is about to be written over them.
  void keep_inputs() {
    run::unroll<C::tape.regions[0].outputs.count>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (passed_on.of[I]) {
        std::byte*& input = slots_[static_cast<std::size_t>(C::plan.where[C::output(0, I)].offset)];
        constexpr std::int64_t bytes = C::bytes(C::output(0, I));
        const std::span<const std::byte> in{input, static_cast<std::size_t>(bytes)};
        bool overwritten = false;
        for (std::size_t k = 0; k < results_.size(); ++k) overwritten = overwritten || (k != static_cast<std::size_t>(I) && overlap(in, results_[k]));
        if (!overwritten) return;
        input = own_result(I, bytes);
        std::copy(in.begin(), in.end(), input);
      }
    });
  }
  template <class R>
  void extract(R& r, const run::frame& f, int& out) {
    if constexpr (detail::is_partitions<R>) {
      extract_placed(r, out);
    } else if constexpr (detail::is_tuple<R>) {
      std::apply([&](auto&... part) { (extract(part, f, out), ...); }, r);
    } else if constexpr (requires { r.first; r.second; }) {
      extract(r.first, f, out);
      extract(r.second, f, out);
    } else {
      structure<R>::visit(r, [&](auto* p, const shape& s) {
        const std::byte* from = output_address(f, out++);
        if (from != reinterpret_cast<const std::byte*>(p)) std::memcpy(p, from, static_cast<std::size_t>(s.size()) * sizeof(*p));
      });
    }
  }
  template <class S, class P>
  void extract_placed(partitions<S, P>& r, int& out) {
    const auto& m = members_[static_cast<std::size_t>(C::placements.index(&placement_of<P>))];
    if (m.storage && Placed<S>) throw std::invalid_argument("drx: a result nested in a subset of " + std::string(placement_of<P>.name));
    std::vector<std::byte*> data;
    run::frame f;
    f.slots = slots_.data();
    std::vector<int> axes;
    constexpr leaf_types<S> types;
    for (int i = 0; i < leaf_count<S>; ++i) {
      axes.push_back(output_axis(types[i].shape, out));
      data.push_back(const_cast<std::byte*>(output_address(f, out++)));
    }
    std::vector<std::vector<std::int64_t>> offsets;
    nested_offsets<S>(offsets, m.local);
    r = partitions<S, P>({m.boundaries, m.boundaries + runtime_.communicator->size() + 1}, runtime_.communicator->rank(),
                         std::move(offsets), data, nullptr, shards_of(&placement_of<P>), axes);
  }
  /// Along which axis output `out` is split, of which each member has an array of that shape.
  static int output_axis(const shape& s, int out) {
    int axis = -1;
    run::unroll<C::tape.regions[0].outputs.count>([&]<int V>(std::integral_constant<int, V>) {
      constexpr shape part = C::tape.values[C::output(0, V)].shape;
      if (V == out) axis = split_axis(s, part);
    });
    return axis;
  }
  template <class S>
  void nested_offsets(std::vector<std::vector<std::int64_t>>& lists, std::int64_t n) {
    if constexpr (Placed<S>) {
      const auto& m = members_[static_cast<std::size_t>(C::placements.index(&placement_of<typename S::placement>))];
      lists.emplace_back(m.offsets, m.offsets + n + 1);
      nested_offsets<typename S::member>(lists, lists.back().back());
    }
  }
  static const std::byte* output_address(const run::frame& f, int out) {
    const std::byte* at = nullptr;
    run::unroll<C::tape.regions[0].outputs.count>([&]<int I>(std::integral_constant<int, I>) {
      if (I == out) at = run::address<C, C::output(0, I)>(f);
    });
    return at;
  }
  compile_options options_;
  run::runtime runtime_;
  buffer server_;
  std::vector<std::byte*> slots_;
  std::vector<std::int64_t> at_;
  std::vector<run::membership> members_;
  std::vector<std::span<const std::byte>> arguments_;
  std::vector<buffer> own_results_;  // by output
  std::vector<std::span<const std::byte>> results_;  // by output, where an output is an input
  std::vector<std::vector<std::int64_t>> boundaries_;
  std::vector<std::string> call_names_;  // by placement, for messages
};

}  // namespace drx
