"""A fault for the notebook on the minimax price of privacy."""

from planted import Plant, other_noise
from privregret.full_information import FTNL

PLANTS = [
    Plant(
        "companion/minimax",
        "a quarter of the noise claimed",
        other_noise(FTNL, 1 / 4),  # no learner with the privacy claimed is so good
        (
            ("Minimax", "optimal learner with the proved privacy loss"),
            ("Minimax", "exact privacy loss of each learner is at most"),
        ),
    ),
]
