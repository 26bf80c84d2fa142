#include <drx/drx.hpp>

int other() { return DRX_VERSION_MAJOR; }
