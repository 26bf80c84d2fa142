// What members keep for the steps of a loop, in members that a device computes.
#define DRX_TESTED_ON_A_DEVICE
#include "../plan/invariants_of_members.cpp"
