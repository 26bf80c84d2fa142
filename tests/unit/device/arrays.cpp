// Programs of arrays, each in a member that a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/executor.cpp"
