"""The difference of numbers, the one comparison of all checks in Python. A NaN is infinitely far from everything, so that no tolerance holds
it; shapes must be the same, nothing is broadcast. (The same for C++: difference.hpp.)"""
import math


def size(expected):
    """The usual scale of a difference: relative where numbers are large, absolute where they are small."""
    return 1 + abs(expected)


def difference(found, expected, scale=size, nan_agrees=False):
    """|found - expected| / scale(expected) of two numbers; 0 where they are equal, infinite ones too. None, which JSON has for NaN, is NaN."""
    found, expected = (math.nan if x is None else x for x in (found, expected))
    if found == expected or (nan_agrees and math.isnan(found) and math.isnan(expected)):
        return 0.0
    apart, unit = abs(found - expected), scale(expected)
    d = float(apart / unit) if unit else math.inf
    return math.inf if math.isnan(d) else d


def largest_difference(found, expected, scale=size, nan_agrees=False):
    """The largest difference of the numbers in nested lists or arrays; infinite where shapes differ. Of no numbers it is 0."""
    shapes = [getattr(x, "shape", None) for x in (found, expected)]
    if None not in shapes and shapes[0] != shapes[1]:
        return math.inf  # of arrays without elements the lists may be the same
    found, expected = (x.tolist() if hasattr(x, "tolist") else x for x in (found, expected))
    lists = [isinstance(x, (list, tuple)) for x in (found, expected)]
    if not any(lists):
        return difference(found, expected, scale, nan_agrees)
    if not all(lists) or len(found) != len(expected):
        return math.inf
    return max((largest_difference(a, b, scale, nan_agrees) for a, b in zip(found, expected)), default=0.0)


def has_numbers(x):
    x = x.tolist() if hasattr(x, "tolist") else x
    return any(map(has_numbers, x)) if isinstance(x, (list, tuple)) else True


def largest_difference_of_leaves(found, expected, scale=size, nan_agrees=False):
    """The same for the leaves of two structures; infinite if one side has more, or if there is no number at all, since then nothing agrees."""
    found, expected = list(found), list(expected)
    if len(found) != len(expected) or not has_numbers(found):
        return math.inf
    return max(largest_difference(a, b, scale, nan_agrees) for a, b in zip(found, expected))
