"""A fault for the notebook on the minimax price of privacy."""

from planted import Plant
from privregret.full_information import FTNL


def quarter_noise(monkeypatch):
    """A learner with a quarter of the noise that it claims: no learner with the privacy claimed is so good."""
    monkeypatch.setattr(FTNL, "noise_scale", lambda self, actions: self.factor / self.epsilon / 4)


PLANTS = [
    Plant(
        "companion/minimax",
        "a quarter of the noise claimed",
        quarter_noise,
        (("Minimax", "at the privacy that is proved"), ("Minimax", "has the privacy that is proved")),
    ),
]
