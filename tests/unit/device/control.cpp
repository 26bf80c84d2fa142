// Branches and loops that end by a condition, in members that a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/control.cpp"
