// Loops that carry placed values, whose stages a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/placed_loops.cpp"
