// Random programs with their gradients, whose stages a device computes.
#define DRX_TESTED_ON_A_DEVICE
#define DRX_RANDOM_PROGRAMS 3
#include "../run/executor_random.cpp"
