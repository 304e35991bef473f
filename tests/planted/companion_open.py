"""A fault for the notebook on open problems."""

from planted import Plant
from privregret.full_information import FTNL


def twelve_times_the_noise(monkeypatch):
    """A learner with far more noise than it needs: no constant holds for it, and little is gained."""
    monkeypatch.setattr(FTNL, "noise_scale", lambda self, actions: 12 * self.factor / self.epsilon)


PLANTS = [
    Plant(
        "companion/open-problems",
        "twelve times the noise",
        twelve_times_the_noise,
        (("hu2021, Section 7", "On the doubling instance"), ("wu2026, Section 4", "Laplace noise")),
    ),
]
