"""The price of privacy in online learning: a reproducible companion to five papers.

Start with `privregret.bandits` (algorithms), `privregret.instances` (problems) and
`privregret.simulate.regret_curves` (replicates to one tidy table). Noise here is seeded, for
research: nothing in this package is meant to protect real data.
"""

__version__ = "0.3.0"
