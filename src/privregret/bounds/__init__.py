"""Every theorem's bound as a function, one file per paper."""
