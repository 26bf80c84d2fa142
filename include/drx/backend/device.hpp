// drx/backend/device.hpp: devices by Kokkos: a team of a TeamPolicy computes a member.
#pragma once

#include <drx/backend/session.hpp>
#include <drx/device/compile_on.hpp>
#include <drx/run/data/partitions.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drx {

/// What kokkos_device throws where a device has too little memory, after half as many teams, and so on to one, were
/// tried.
class device_memory_exhausted final : public std::bad_alloc {
 public:
  device_memory_exhausted(const char* space, std::size_t bytes)
      : what_(std::string("drx::kokkos_device: ") + space + " has no " + std::to_string(bytes) + " bytes left") {}
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// A device that Kokkos runs on: a GPU, or a host's threads as if they were one. One device may be used by several
/// programs, one after the other. It ends before the session.
template <class Space = Kokkos::DefaultExecutionSpace>
class kokkos_device final : public device_memory {
  using memory_space = typename Space::memory_space;
  using policy = Kokkos::TeamPolicy<Space>;
  using member = typename policy::member_type;
  static constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory_space>::accessible;

 public:
  /// Whether the device is a GPU, and not a host's threads.
  static constexpr bool is_gpu = !on_host;

  /// `lanes`: of a team; 0: 128 on a GPU, one on a host. `teams`: how many compute at once; 0: as many as fill the
  /// device.
  explicit kokkos_device(int lanes = 0, int teams = 0) : lanes_(lanes > 0 ? lanes : on_host ? 1 : lanes_of_gpu) {
    const int most = policy(1, 1).team_size_max(probe{}, Kokkos::ParallelForTag{});
    if (lanes_ > most)
      throw std::invalid_argument("drx::kokkos_device: " + std::to_string(lanes_) + " lanes; " + Space::name() +
                                  " has teams of at most " + std::to_string(most));
    teams_ = teams > 0 ? teams : std::max(1, Space().concurrency() / lanes_);
  }

  /// The name of Kokkos' execution space.
  [[nodiscard]] static std::string name() { return Space::name(); }
  [[nodiscard]] int lanes() const { return lanes_; }
  [[nodiscard]] int teams() const override { return teams_; }

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override {
    try {
      return static_cast<std::byte*>(Kokkos::kokkos_malloc<memory_space>("drx::device", bytes));
    } catch (const std::exception&) {  // of Kokkos' own type, which differs between its versions
      throw device_memory_exhausted(Space::name(), bytes);
    }
  }
  void release(std::byte* p, std::size_t) override { Kokkos::kokkos_free<memory_space>(p); }
  void copy_in(std::byte* device, const std::byte* host, std::size_t bytes) override {
    Kokkos::deep_copy(space_, on_device(device, bytes), from_host(host, bytes));
    space_.fence("drx::device");  // (the host's memory may change after this)
  }
  void copy_out(std::byte* host, const std::byte* device, std::size_t bytes) override {
    Kokkos::deep_copy(space_, on_host_of(host, bytes), from_device(device, bytes));
    space_.fence("drx::device");
  }

  /// Runs work(team, task, tasks, workspace) for each team. The workspace lies in the teams' fast memory where it fits.
  template <class Work>
  void launch(const Work& work, int tasks, std::int64_t workspace) {
    policy p(space_, tasks, lanes_);
    const bool fits = workspace <= most_fast_memory();
    const auto fast = static_cast<std::size_t>(fits ? workspace + aligned_to : 0);
    p.set_scratch_size(0, Kokkos::PerTeam(fast));
    Kokkos::parallel_for("drx::stage", p, launched<Work>{work, tasks, fast});
  }

  /// Keeps a copy of placed members on the device as long as the returned object lives: programs on this device then
  /// read it there, instead of copying the members at each call. The members must not change in the meantime.
  template <class S, class P>
  [[nodiscard]] auto keep(const partitions<S, P>& members) {
    return kept_members<partitions<S, P>>(*this, members, bytes_of_leaves<S>());
  }

 private:
  static constexpr int lanes_of_gpu = 128;
  static constexpr std::int64_t aligned_to = 64;

  using bytes_of_device = Kokkos::View<std::byte*, memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using bytes_of_host = Kokkos::View<std::byte*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static auto on_device(std::byte* p, std::size_t n) { return bytes_of_device(p, n); }
  static auto on_host_of(std::byte* p, std::size_t n) { return bytes_of_host(p, n); }
  static auto from_device(const std::byte* p, std::size_t n) { return on_device(const_cast<std::byte*>(p), n); }
  static auto from_host(const std::byte* p, std::size_t n) { return on_host_of(const_cast<std::byte*>(p), n); }

  /// A lane of a Kokkos team, as drx/device/team.hpp describes it.
  struct team {
    const member& of;
    [[nodiscard]] KOKKOS_INLINE_FUNCTION int lane() const { return of.team_rank(); }
    [[nodiscard]] KOKKOS_INLINE_FUNCTION int lanes() const { return of.team_size(); }
    KOKKOS_INLINE_FUNCTION void barrier() const { of.team_barrier(); }
  };
  struct probe {
    KOKKOS_INLINE_FUNCTION void operator()(const member&) const {}
  };
  template <class Work>
  struct launched {
    Work work;
    int tasks;
    std::size_t fast;
    KOKKOS_INLINE_FUNCTION void operator()(const member& of) const {
      std::byte* workspace = nullptr;
      if (fast > 0) {
        workspace = static_cast<std::byte*>(of.team_scratch(0).get_shmem(static_cast<std::ptrdiff_t>(fast)));
        const auto at = reinterpret_cast<std::uintptr_t>(workspace);
        workspace += (aligned_to - static_cast<std::int64_t>(at % aligned_to)) % aligned_to;
      }
      work(team{of}, of.league_rank(), tasks, workspace);
    }
  };
  /// The bytes of fast memory that a team may take: on a GPU so few that a processor holds several teams.
  [[nodiscard]] std::int64_t most_fast_memory() const {
    constexpr std::int64_t of_gpu = 96 << 10;
    const std::int64_t most = policy(1, lanes_).scratch_size_max(0) - aligned_to;
    return on_host ? most : std::min(most, of_gpu);
  }

  template <class S>
  static std::vector<std::int64_t> bytes_of_leaves() {
    constexpr leaf_types<S> types{};
    std::vector<std::int64_t> bytes;
    for (int i = 0; i < leaf_count<S>; ++i) bytes.push_back(types[i].shape.size() * byte_size(types[i].type));
    return bytes;
  }
  template <class Members>
  class kept_members {
   public:
    kept_members(kokkos_device& d, const Members& m, const std::vector<std::int64_t>& bytes)
        : device_(&d), members_(m) {
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto n = static_cast<std::size_t>(m.elements() * bytes[i]);
        if (n == 0) continue;
        d.device_memory::keep(m.leaf(static_cast<int>(i)), n);
        leaves_.emplace_back(m.leaf(static_cast<int>(i)), n);
      }
    }
    kept_members(kept_members&& other) noexcept
        : device_(std::exchange(other.device_, nullptr)),
          members_(std::move(other.members_)),
          leaves_(std::move(other.leaves_)) {}
    kept_members(const kept_members&) = delete;
    kept_members& operator=(const kept_members&) = delete;
    kept_members& operator=(kept_members&&) = delete;
    ~kept_members() {
      if (device_)
        for (const auto& [leaf, bytes] : leaves_) device_->forget(leaf, bytes);
    }

   private:
    kokkos_device* device_;
    Members members_;  // a copy, which shares the memory
    std::vector<std::pair<const std::byte*, std::size_t>> leaves_;
  };

  Space space_;
  int lanes_, teams_ = 1;
};

/// Makes a program ready to run in a session: its stages on `device`, which must outlive it, the rest on this rank's
/// threads. All ranks call it with the same program; each has a device.
template <Program P, class Device>
  requires(device::RunsOnDevices<P>)
compiled_on<P, Device> compile_on(Device& device, session& s, compile_options options = {}) {
  return compile_on<P>(device, s.executor(), s.communicator(), std::move(options));
}
template <Program P, class Device, class Why = device::misuse_t<P>>
  requires(!device::RunsOnDevices<P>)
Why compile_on(Device&, session&, compile_options = {}) = delete;  // drx: compile_on<Program>(device, session): on devices, members have no layout (with_layout), members nested in members do not change places (ppermute, all_to_all), and placed carries of a loop inside a member do not either; session.compile<Program>() runs all of these on the host

}  // namespace drx
