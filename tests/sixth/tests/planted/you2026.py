"""Faults for the notebook on you2026."""

from planted import all_of, scaled

from privregret.bandits import geometric_etc
from privregret.bounds import you2026 as bounds

PLANTS = {
    "you2026/3-explore-once": {
        "theorem-1 theorem-3": all_of(
            scaled(bounds, 1e-3, "theorem_1"), scaled(bounds, 1e-3, "theorem_3")
        ),
        # the noise that is called half is whole
        "corollary-2": lambda monkeypatch: monkeypatch.setitem(geometric_etc.SHARES, "half", 1.0),
    },
}
