"""The numbers of inputs.hpp for hand tracking, as 4 x 4 matrices."""

import numpy as np
from twin import uniform

FINGERS, BONES, POINTS, PARAMETERS = 5, 22, 100, 26


def drawn(stream, shape):
    return uniform(stream, shape, 0.5, "float64")


matrices = np.zeros((2, BONES, 4, 4))
matrices[:, :, :3] = np.eye(3, 4) + np.moveaxis(drawn(7, (BONES, 3, 4, 2)), -1, 0)
matrices[0, :, :3, 3] += 0.5
matrices[:, :, 3, 3] = 1
base, inverse = matrices  # of each bone, seen from its parent; from the hand at rest to each bone
angles = drawn(8, (PARAMETERS,))

_points = drawn(9, (POINTS, 5 + 3 * (3 + BONES)))
measured, within = _points[:, :3], 0.3 + _points[:, 3:5]
_corners = _points[:, 5:].reshape(POINTS, 3, 3 + BONES)
_places = np.concatenate([_corners[:, :, :3], np.ones((POINTS, 3, 1))], axis=2)
_shares = np.abs(_corners[:, :, 3:])
weighted = (_shares / _shares.sum(2, keepdims=True))[..., None] * _places[:, :, None, :]  # [point, corner, bone, 4]
