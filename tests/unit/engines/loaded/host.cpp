// A host loads a shared object: its answers are those of a server in the host, also after each allocation of a request
// has failed. (Under sanitizers, what is loaded is watched too.)
#include "../requests.hpp"

#include <doctest/doctest.h>
#include <drx/engines/c.h>
#include <drx/engines/server.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include <dlfcn.h>

namespace {

// The memory of this process, the shared object's too: of the large allocations, number `failing`, from 0, fails, and
// with `all_after` those after it. (Small ones are given: JSON's destructors allocate.)
constexpr std::size_t large = 4096;
std::atomic<std::int64_t> live = 0, made = 0, failing = -1;
std::atomic<bool> all_after = false;

void* allocated(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes >= large) {
    const std::int64_t n = made++;
    if (failing >= 0 && (n == failing || (all_after && n > failing))) return nullptr;
  }
  const std::size_t whole = (bytes + alignment) / alignment * alignment;
  void* const p = std::aligned_alloc(alignment, whole);
  live += p != nullptr;
  return p;
}
void* allocated_or_throws(std::size_t bytes, std::size_t alignment) {
  void* const p = allocated(bytes, alignment);
  if (!p) throw std::bad_alloc();
  return p;
}
void released(void* p) noexcept {
  live -= p != nullptr;
  std::free(p);
}
constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}  // namespace

// All forms: a sanitizer has some of its own otherwise, which free another kind of memory.
void* operator new(std::size_t n) { return allocated_or_throws(n, usual); }
void* operator new[](std::size_t n) { return allocated_or_throws(n, usual); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocated(n, usual); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocated(n, usual); }
void* operator new(std::size_t n, std::align_val_t a) { return allocated_or_throws(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocated_or_throws(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { released(p); }
void operator delete[](void* p) noexcept { released(p); }
void operator delete(void* p, std::size_t) noexcept { released(p); }
void operator delete[](void* p, std::size_t) noexcept { released(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { released(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { released(p); }
void operator delete(void* p, std::align_val_t) noexcept { released(p); }
void operator delete[](void* p, std::align_val_t) noexcept { released(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { released(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { released(p); }

namespace {
using namespace two_programs;

const drx_engine* loaded() {
  static void* const object = ::dlopen(LOADED_OBJECT, RTLD_NOW | RTLD_LOCAL);
  if (!object) throw std::runtime_error(::dlerror());
  const auto of = reinterpret_cast<const drx_engine* (*)()>(::dlsym(object, "drx_engine_of"));
  if (!of) throw std::runtime_error(::dlerror());
  return of();
}

struct outcome {
  int code = -1;
  bytes answer;
};
outcome ask(const drx_engine* engine, drx_engine_handle* handle, const bytes& packet) {
  drx_engine_answer* answer = nullptr;
  outcome o{engine->request(handle, packet.data(), packet.size(), &answer), {}};
  failing = -1;  // what follows is the host's
  o.answer.resize(engine->size(answer));
  if (answer) CHECK(engine->take(answer, o.answer.data(), o.answer.size()) == DRX_ENGINE_DONE);
  engine->release(answer);
  return o;
}
struct opened {
  const drx_engine* engine = loaded();
  drx_engine_handle* handle = nullptr;
  explicit opened(bool opens = true) {
    if (opens) REQUIRE(engine->open(&handle) == DRX_ENGINE_DONE);
  }
  opened(const opened&) = delete;
  ~opened() { engine->close(handle); }
};

/// All requests of a call, with the answers of a server in this executable.
template <class P>
std::vector<std::pair<bytes, bytes>> requests_of(const values& file, const bytes& w, int number) {
  auto server = drx::engines::detail::server_of<Total, Twice, Wide>();
  const auto answer = [&](const bytes& b) {
    return drx::engines::payload_of(server.answer(drx::engines::packet_of(b)));
  };
  return call<P>(file.path, w, answer, number);
}
std::vector<std::pair<bytes, bytes>> requests_of_twice(const values& file) {
  return requests_of<Twice>(file, raw(0.5), 1);
}
std::vector<std::pair<bytes, bytes>> requests_of_wide(const values& file) {
  bytes w;
  for (int i = 0; i < 4096; ++i) {
    const bytes one = raw(0.001 * i);
    w.insert(w.end(), one.begin(), one.end());
  }
  return requests_of<Wide>(file, w, 2);
}

/// Lets large allocation 0, 1, ... of f fail until f needs fewer; f returns its outcome. How often memory was lacking.
template <class F>
int outcomes_without_memory(const bytes& expected, F f) {
  int refused = 0;
  for (std::int64_t n = 0;; ++n) {
    made = 0;
    failing = n;
    const outcome o = f();
    const bool reached = made > n;
    failing = -1;
    refused += o.code == DRX_ENGINE_NO_MEMORY;
    if (o.code == DRX_ENGINE_NO_MEMORY)
      CHECK(o.answer.empty());
    else
      CHECK((o.code == DRX_ENGINE_DONE && o.answer == expected));
    if (!reached) return refused;
  }
}
}  // namespace

TEST_CASE("a shared object answers as a server in the host does") {
  const values file;
  const opened shared;
  for (const auto& requests : {requests_of_twice(file), requests_of_wide(file)}) {
    CHECK(requests.size() >= 1 + 5 + 1);
    for (std::size_t k = 0; k < requests.size(); ++k) {
      const outcome o = ask(shared.engine, shared.handle, requests[k].first);
      CHECK(o.code == DRX_ENGINE_DONE);
      CHECK(o.answer == requests[k].second);
    }
  }
}

TEST_CASE("a request without enough memory says so, loses none, and the handle stays good") {
  const values file;
  const auto requests = requests_of_wide(file);
  for (const bool rest : {false, true}) {
    CAPTURE(rest);
    all_after = rest;
    for (std::size_t k = 0; k < requests.size(); ++k) {
      CAPTURE(k);
      const bytes &request = requests[k].first, &expected = requests[k].second;
      const opened shared;
      CHECK(ask(shared.engine, shared.handle, request).code == DRX_ENGINE_DONE);  // (what stays is there now)
      const std::int64_t before = live;
      const int refused = outcomes_without_memory(expected, [&] { return ask(shared.engine, shared.handle, request); });
      CHECK(refused > (k == 0 ? 0 : 2));
      CHECK(ask(shared.engine, shared.handle, request).answer == expected);
      CHECK(live.load() == before);
    }
  }
}

TEST_CASE("a handle that is opened without enough memory") {
  const values file;
  const auto requests = requests_of_wide(file);
  const bytes &request = requests[1].first, &expected = requests[1].second;
  for (const bool rest : {false, true}) {
    CAPTURE(rest);
    all_after = rest;
    const std::int64_t before = live;
    const int refused = outcomes_without_memory(expected, [&] {
      opened shared(false);
      if (const int code = shared.engine->open(&shared.handle); code != DRX_ENGINE_DONE) {
        CHECK(shared.handle == nullptr);
        return outcome{code, {}};
      }
      return ask(shared.engine, shared.handle, request);
    });
    CHECK(refused > 3);
    CHECK(live.load() == before);
  }
}

TEST_CASE("numbers of members that overflow are refused") {
  const opened shared;
  json root = request("root");
  root["stage"] = 0;
  root["partials"] = json::array({json::array({json::array({0, 0})})});
  for (const std::int64_t count : {INT64_MAX, INT64_MAX - 31, INT64_MIN}) {
    root["count"] = count;
    CHECK(ask(shared.engine, shared.handle, drx::engines::payload_of({root, {raw(1)}})).code == DRX_ENGINE_REFUSED);
  }
}

TEST_CASE("requests with changed bytes are answered or refused") {
  const values file;
  const opened shared;
  const auto requests = requests_of_twice(file);
  std::uint64_t random = 7;
  const auto next = [&] { return (random = random * 6364136223846793005ULL + 1442695040888963407ULL) >> 33; };
  int by_code[6] = {};
  for (int i = 0; i < 1000; ++i) {
    bytes changed = requests[1 + next() % (requests.size() - 1)].first;
    for (std::uint64_t n = 1 + next() % 3; n > 0; --n)
      changed[next() % changed.size()] ^= static_cast<std::byte>(1U << (next() % 8));
    const int code = ask(shared.engine, shared.handle, changed).code;
    REQUIRE((code == DRX_ENGINE_DONE || code == DRX_ENGINE_REFUSED || code == DRX_ENGINE_DAMAGED));
    ++by_code[code];
  }
  CHECK(by_code[DRX_ENGINE_DONE] > 0);
  CHECK(by_code[DRX_ENGINE_REFUSED] > 0);
  CHECK(by_code[DRX_ENGINE_DAMAGED] > 0);
}
