/* drx/engines/c.h: the stages of compiled programs in a shared object, for a process that loads it; in C11.
 * The shared object has one function, drx_engine_of. drx/engines/shared_object.hpp makes what it returns.
 *
 * Requests and answers are the payloads of the frames that a worker process reads and writes, without the frames'
 * headers; docs/engines.md describes them.
 *
 * Every function returns; no C++ exception leaves one. Threads may call all of them at once, with one handle too:
 * requests that run at the same time do not wait for each other. Only drx_engine.close and drx_engine.release must be
 * the last call with what they free.
 * Tested by tests/unit/engines/shared_object.cpp, and tests/unit/engines/c_caller.c, which is compiled as C. */
#ifndef DRX_ENGINES_C_H
#define DRX_ENGINES_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this interface. One with another number has other functions. */
enum { DRX_ENGINE_VERSION = 1 };

/** What the functions return. 0, 1 and 3 mean what a worker's exit status means. */
enum drx_engine_code {
  DRX_ENGINE_DONE = 0,
  DRX_ENGINE_REFUSED = 1,   /* the request is wrong; its answer is a sentence that says why */
  DRX_ENGINE_MISUSED = 2,   /* a pointer is null that must not be */
  DRX_ENGINE_DAMAGED = 3,   /* the bytes are no request; the answer is a sentence that says why */
  DRX_ENGINE_TOO_SMALL = 4, /* the buffer is smaller than the answer, and has not been written to */
  DRX_ENGINE_NO_MEMORY = 5  /* there is not enough memory, and no answer */
};

/** The programs of a shared object, ready for requests. A process may open several; requests need nothing of earlier
 * ones. */
typedef struct drx_engine_handle drx_engine_handle;

/** The answer to a request, which owns its bytes. It may outlive the handle. */
typedef struct drx_engine_answer drx_engine_answer;

/** The functions of a shared object. */
typedef struct drx_engine {
  /** DRX_ENGINE_VERSION of the header with which the shared object was compiled. Compare it before anything else. */
  uint32_t version;

  /** Makes a handle, which the caller closes. Returns DONE; MISUSED where `handle` is null, NO_MEMORY. After an error
   * `*handle` is null. */
  int (*open)(drx_engine_handle** handle);

  /** Answers the request in `size` bytes at `packet`, which it only reads, until it returns; they may lie anywhere.
   * Afterwards `*answer` is the caller's, to be released, or null. With DONE it is a packet; with REFUSED or DAMAGED a
   * sentence in UTF-8, without a zero at its end; with MISUSED (`handle`, `answer`, or `packet` with a `size` above 0
   * is null) and NO_MEMORY null. After an error the handle can be used as before. Where other threads use up the last
   * kilobytes while a request is read, the process may end. */
  int (*request)(drx_engine_handle* handle, const void* packet, size_t size, drx_engine_answer** answer);

  /** How many bytes an answer has; 0 where `answer` is null. */
  size_t (*size)(const drx_engine_answer* answer);

  /** Copies an answer's bytes to `buffer`, which has `size` bytes and is the caller's. Returns DONE; MISUSED where
   * `answer` is null, or `buffer` is and the answer is not empty; TOO_SMALL. The answer stays as it is. */
  int (*take)(const drx_engine_answer* answer, void* buffer, size_t size);

  /** Frees an answer. Null is allowed. */
  void (*release)(drx_engine_answer* answer);

  /** A sentence that says what a code means, with a zero at its end. It is never null, and never freed. */
  const char* (*message)(int code);

  /** Frees a handle, whose requests must have returned. Null is allowed. */
  void (*close)(drx_engine_handle* handle);
} drx_engine;

/** The one function that a shared object has under a name: dlsym(library, "drx_engine_of"). What it returns is never
 * null, and stays until the shared object is unloaded. The object is visible though it is compiled with
 * -fvisibility=hidden, as it should be: else g++ makes objects in one process share tables of the same name. */
__attribute__((visibility("default"))) const drx_engine* drx_engine_of(void);

#ifdef __cplusplus
}
#endif

#endif
