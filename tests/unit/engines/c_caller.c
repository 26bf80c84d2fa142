/* A request in C: tests/unit/engines/shared_object.cpp asks by this function. */
#include "c_caller.h"

#include <stdlib.h>

// cut-begin ask
/* Answers a request: `*bytes`, to be freed, are the answer's, or those of the sentence that says what is wrong. */
int ask(const drx_engine* engine, drx_engine_handle* handle, const void* packet, size_t packet_size, char** bytes,
        size_t* size) {
  drx_engine_answer* answer;
  int code = engine->request(handle, packet, packet_size, &answer);
  *size = engine->size(answer);
  *bytes = malloc(*size + 1);
  if (!*bytes) {
    code = DRX_ENGINE_NO_MEMORY;
  } else {
    if (answer) engine->take(answer, *bytes, *size);
    (*bytes)[*size] = 0; /* so that a sentence is a string */
  }
  engine->release(answer);
  return code;
}
// cut-end ask
