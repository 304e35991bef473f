"""A fault for the notebook on open problems."""

from planted import Plant, other_noise
from privregret.full_information import FTNL

PLANTS = [
    Plant(
        "companion/open-problems",
        "twelve times the noise",
        other_noise(FTNL, 12),  # no constant holds for it, and little is gained
        (("hu2021, Section 7", "On the doubling instance"), ("wu2026, Section 4", "Laplace noise")),
    ),
]
