// Random programs with their gradients, whose stages a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/executor_random.cpp"
