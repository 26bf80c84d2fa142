// Loops that fold over an axis, in members that a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/folds_of_loops.cpp"
