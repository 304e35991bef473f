"""Slow, obvious versions of every algorithm, written from the papers: what the compiled ones are held to."""
