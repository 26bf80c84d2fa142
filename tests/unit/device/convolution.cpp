// Convolutions and pooling, in members that a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/convolution.cpp"
