// Slices, padded, joined, rolled and flipped arrays, in members that a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/rearrangements.cpp"
