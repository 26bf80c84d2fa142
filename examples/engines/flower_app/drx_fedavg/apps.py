"""The two apps. DRX_EXECUTABLE is the program `engines`; states are written into the folder DRX_STATES. A SuperNode's
configuration names the manifest of its members: --node-config 'manifest="part.json"'."""
import os

import numpy as np

import drx_engines as drx
from drx_engines import flower

program = drx.Program.load(os.environ["DRX_EXECUTABLE"], "fedavg")


def after_round(number, state, metrics):
    np.save(f"{os.environ['DRX_STATES']}/state{number}.npy", state)


client = flower.client_app(program, lambda context: drx.Manifest.read_part(context.node_config["manifest"]))
server = flower.server_app(program, (np.array([0.5, -0.5, 0.25, 0]), 0.5), rounds=3, after_round=after_round, nodes=2,
                           timeout=120)
