"""Slow, obvious versions of every algorithm, written from the papers: what the compiled ones are
held to."""


def laplace(scale, rng):
    """An exponential draw, and then a sign: the noise of the compiled versions, from the same
    stream."""
    if hasattr(rng, "scales"):  # a recorder of them
        return rng.laplace(0.0, scale)
    size = scale * rng.standard_exponential()
    return size if rng.random() < 0.5 else -size
