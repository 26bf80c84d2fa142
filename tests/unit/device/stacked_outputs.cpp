// Stacks of loops that a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/stacked_outputs.cpp"
