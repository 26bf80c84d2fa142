// Programs with placements, whose stages a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/executor_placements.cpp"
