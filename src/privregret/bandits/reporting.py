"""How kernels that go from event to event report what was played by the checkpoints."""

from privregret.jit import jit


@jit
def report(counts, checkpoints, reported, pulls, j, end):
    """Fill `counts` for those of `checkpoints` that lie in a stretch of rounds in which arm `j`
    alone is pulled.

    Call it before `pulls` is brought up to date. It is as fast as the loop written out in a kernel.

    Parameters
    ----------
    counts : (H, K) int64 array
        Filled row by row: pulls of each arm in rounds 1..checkpoints[h].
    checkpoints : (H,) int64 array
        Increasing rounds.
    reported : int
        Number of rows filled so far; none of the other checkpoints lies before the stretch.
    pulls : (K,) int64 array
        Pulls of each arm before the stretch.
    j : int
        The arm pulled in it.
    end : int
        Its last round.

    Returns
    -------
    int
        Number of rows filled now.
    """
    while reported < len(checkpoints) and checkpoints[reported] <= end:
        left = checkpoints[reported]
        for i in range(len(pulls)):  # faster than pulls.sum()
            counts[reported, i] = pulls[i]
            left -= pulls[i]
        counts[reported, j] += left
        reported += 1
    return reported
