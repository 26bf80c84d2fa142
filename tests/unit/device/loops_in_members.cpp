// Loops in members that a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../run/loops_in_members.cpp"
