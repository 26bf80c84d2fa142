"""A small data set for tests: noisy copies of one pattern per class, with the columns of digits.csv."""
import random

FEATURES, CLASSES = 64, 10


def table(rows):
    """Lines of a CSV file."""
    draw = random.Random(1)
    patterns = [[draw.random() for _ in range(FEATURES)] for _ in range(CLASSES)]
    lines = ["label," + ",".join(f"x{i}" for i in range(FEATURES))]
    for i in range(rows):
        values = (f"{v + draw.gauss(0, 0.3):.3f}" for v in patterns[i % CLASSES])
        lines.append(f"{i % CLASSES}," + ",".join(values))
    return lines
