// drx/engines/shared_object.hpp: a shared object that serves the stages of programs to the process that loads it, over
// the C interface of drx/engines/c.h. docs/engines.md describes the requests. This is the whole shared object:
//     extern "C" const drx_engine* drx_engine_of() { return drx::engine_table<Round, Tuned>(); }
#pragma once

#include <drx/engines/c.h>
#include <drx/engines/server.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

/// The answer to a request: a packet's bytes, or those of a sentence.
struct drx_engine_answer {
  drx::engines::bytes bytes;
};

/// Servers of the same programs. A server answers one request at a time, so there are as many as requests have run at
/// once.
struct drx_engine_handle {
  explicit drx_engine_handle(drx::engines::detail::server (*make)()) : make_(make) {}

  /// The answer to a request; throws as a server does.
  drx::engines::bytes answer(std::span<const std::byte> request) {
    const drx::engines::packet packet = drx::engines::packet_of(request);
    std::unique_ptr<drx::engines::detail::server> server = idle();
    drx::engines::bytes answer = drx::engines::payload_of(server->answer(packet));
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(server));  // (after an exception it is gone, as a worker process would be)
    return answer;
  }

 private:
  std::unique_ptr<drx::engines::detail::server> idle() {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        auto last = std::move(idle_.back());
        idle_.pop_back();
        return last;
      }
    }
    return std::make_unique<drx::engines::detail::server>(make_());
  }

  drx::engines::detail::server (*make_)();
  std::mutex mutex_;
  std::vector<std::unique_ptr<drx::engines::detail::server>> idle_;
};

namespace drx {

namespace engines::detail {

/// The code of what `f` does; what it throws stays here. `said` gets an exception's sentence.
template <class F, class Said>
int code_of(F f, Said said) noexcept {
  try {
    try {
      f();
      return DRX_ENGINE_DONE;
    } catch (const std::bad_alloc&) {
      return DRX_ENGINE_NO_MEMORY;
    } catch (const damaged_frame& e) {
      said(e.what());
      return DRX_ENGINE_DAMAGED;
    } catch (const std::exception& e) {
      said(e.what());
      return DRX_ENGINE_REFUSED;
    } catch (...) {  // a program's own
      said("drx: a program has thrown what is no std::exception");
      return DRX_ENGINE_REFUSED;
    }
  } catch (...) {  // there is no memory for the sentence
    return DRX_ENGINE_NO_MEMORY;
  }
}

/// Throws std::bad_alloc where there is no room for a request's documents: the destructors of nlohmann's JSON allocate,
/// up to 16 bytes for each of its values, and a destructor that cannot ends the process.
inline void require_room(std::span<const std::byte> request) {
  constexpr std::size_t plans = std::size_t{1} << 20, of_character = 32;
  std::uint32_t length = 0;
  if (request.size() >= sizeof length) std::memcpy(&length, request.data(), sizeof length);
  void* volatile const room =  // (a plain pair of new and delete may be left out)
      ::operator new(plans + of_character * std::min<std::size_t>(length, request.size()));
  ::operator delete(room);
}

template <class... P>
int open_engine(drx_engine_handle** handle) noexcept {
  if (!handle) return DRX_ENGINE_MISUSED;
  *handle = new (std::nothrow) drx_engine_handle(server_of<P...>);
  return *handle ? DRX_ENGINE_DONE : DRX_ENGINE_NO_MEMORY;
}
inline int engine_request(drx_engine_handle* handle, const void* packet, std::size_t size,
                          drx_engine_answer** answer) noexcept {
  if (!answer) return DRX_ENGINE_MISUSED;
  *answer = nullptr;
  if (!handle || (!packet && size > 0)) return DRX_ENGINE_MISUSED;
  const auto set = [&](bytes all) { *answer = new drx_engine_answer{std::move(all)}; };
  return code_of(
      [&] {
        const std::span bytes_of_request(static_cast<const std::byte*>(packet), size);
        require_room(bytes_of_request);
        set(handle->answer(bytes_of_request));
      },
      [&](std::string_view sentence) {
        const auto* begin = reinterpret_cast<const std::byte*>(sentence.data());
        set({begin, begin + sentence.size()});
      });
}
inline std::size_t answer_size(const drx_engine_answer* answer) noexcept { return answer ? answer->bytes.size() : 0; }
inline int take_answer(const drx_engine_answer* answer, void* buffer, std::size_t size) noexcept {
  if (!answer || (!buffer && !answer->bytes.empty())) return DRX_ENGINE_MISUSED;
  if (size < answer->bytes.size()) return DRX_ENGINE_TOO_SMALL;
  if (buffer) std::memcpy(buffer, answer->bytes.data(), answer->bytes.size());
  return DRX_ENGINE_DONE;
}
inline void release_answer(drx_engine_answer* answer) noexcept { delete answer; }
inline const char* message_of(int code) noexcept {
  switch (code) {
    case DRX_ENGINE_DONE: return "drx: done";
    case DRX_ENGINE_REFUSED: return "drx: the request is wrong; its answer says why";
    case DRX_ENGINE_MISUSED: return "drx: a handle, an answer, a packet or a buffer is null";
    case DRX_ENGINE_DAMAGED: return "drx: the bytes are no request; the answer says why";
    case DRX_ENGINE_TOO_SMALL: return "drx: the buffer is smaller than the answer";
    case DRX_ENGINE_NO_MEMORY: return "drx: there is not enough memory";
    default: return "drx: no code of this interface";
  }
}
inline void close_engine(drx_engine_handle* handle) noexcept { delete handle; }

template <class... P>
inline constexpr drx_engine engine_of = {DRX_ENGINE_VERSION, open_engine<P...>, engine_request, answer_size,
                                         take_answer,        release_answer,    message_of,     close_engine};

}  // namespace engines::detail

/// The C interface to the stages of programs, which are run by the kernels that calls run: what `drx_engine_of` of a
/// shared object returns (drx/engines/c.h describes each function, docs/engines.md the requests).
template <class... P>
  requires(MapReduceForm<P> && ...)
const drx_engine* engine_table() {
  return &engines::detail::engine_of<P...>;
}
template <class First, class... Rest, class Why = engines::first_refusal_t<First, Rest...>>
  requires(!(MapReduceForm<First> && ... && MapReduceForm<Rest>))
const drx_engine* engine_table() = delete;  // drx: an engine runs programs whose reductions follow each other, outside of branches and loops that end by a condition, without placed results, nested placements or exchanges between members

}  // namespace drx
