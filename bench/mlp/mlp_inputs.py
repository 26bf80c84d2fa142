"""The numbers of inputs.hpp: the model's w1, b1, w2, b2, and the data."""

from twin import uniform

BATCH, FEATURES, HIDDEN = 256, 64, 128
shapes = (FEATURES, HIDDEN), (HIDDEN,), (HIDDEN,), ()
model = [uniform(11 + i, shape, 0.125, "float64") for i, shape in enumerate(shapes)]
x = uniform(15, (BATCH, FEATURES), dtype="float64")
y = uniform(16, (BATCH,), dtype="float64")
