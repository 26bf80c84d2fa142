#include <drx/run.hpp>

int other();

int main() { return other() == DRX_VERSION_MAJOR ? 0 : 1; }
