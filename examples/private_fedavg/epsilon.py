"""Privacy loss, round by round, of what examples/private_fedavg does: epsilon.py PROBABILITY NOISE ROUNDS DELTA prints a
list of one epsilon for each number of rounds from 1. accountant.py calls it under a Python that has dp-accounting.

In a round each client takes part with PROBABILITY, independently of the others; a sum in which one client changes at most
1 gets Gaussian noise of deviation NOISE. Neighbours are data with one client more or less. The accountant is that of
Rényi differential privacy; each epsilon is an upper bound.
"""
import json
import sys

import dp_accounting
from dp_accounting import rdp

# Whole orders only: others are slow, and do not always converge.
ORDERS = [*range(2, 64), 80, 96, 128, 192, 256, 512, 1024]


def epsilons(probability, noise, rounds, delta):
    event = dp_accounting.PoissonSampledDpEvent(probability, dp_accounting.GaussianDpEvent(noise))
    accountant = rdp.RdpAccountant(ORDERS, dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE)
    found = []
    for _ in range(rounds):
        accountant.compose(event)
        found.append(float(accountant.get_epsilon(delta)))
    return found


if __name__ == "__main__":
    probability, noise, rounds, delta = sys.argv[1:]
    print(json.dumps(epsilons(float(probability), float(noise), int(rounds), float(delta))))
