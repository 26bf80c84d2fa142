// Numbers of 16 bits, in members that a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/halves.cpp"
