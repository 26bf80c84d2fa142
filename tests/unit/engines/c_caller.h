/* A request in C, which a test in C++ calls. */
#ifndef DRX_TESTS_C_CALLER_H
#define DRX_TESTS_C_CALLER_H

#include <drx/engines/c.h>

#ifdef __cplusplus
extern "C" {
#endif
int ask(const drx_engine* engine, drx_engine_handle* handle, const void* packet, size_t packet_size, char** bytes,
        size_t* size);
#ifdef __cplusplus
}
#endif

#endif
