// Parts of arrays of pieces at traced positions, in members that a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/sliced_pieces.cpp"
