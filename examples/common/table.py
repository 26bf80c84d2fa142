"""Small data sets for tests."""
import random

FEATURES, CLASSES = 64, 10


def table(rows):
    """Lines of a CSV file: noisy copies of one pattern per class, with the columns of digits.csv."""
    draw = random.Random(1)
    patterns = [[draw.random() for _ in range(FEATURES)] for _ in range(CLASSES)]
    lines = ["label," + ",".join(f"x{i}" for i in range(FEATURES))]
    for i in range(rows):
        values = (f"{v + draw.gauss(0, 0.3):.3f}" for v in patterns[i % CLASSES])
        lines.append(f"{i % CLASSES}," + ",".join(values))
    return lines


def texts(owners):
    """Lines of a TSV file, as bible.tsv: each owner has sixty lines of a few words of its own."""
    draw = random.Random(1)
    lines = []
    for owner in range(owners):
        words = ["".join(draw.choices("abcdefgh", k=draw.randint(2, 6))) for _ in range(5)]
        lines += [f"owner {owner}\t" + " ".join(draw.choices(words, k=6)) for _ in range(60)]
    return lines
