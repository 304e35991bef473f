"""Compare UCB1, KL-UCB and EXP3 with other libraries: processor time per round, into `README.md`.

All on one instance, in one process, their repetitions interleaved. A peer is its policy in a bare
loop of choosing and telling the reward, as its documentation shows it, on a table of rewards drawn
before; ours is `run`, which draws them too. Peers are timed, not trusted: what is known to be wrong
with each stands under the table.
"""

import argparse
import contextlib
import importlib.metadata
import io
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.special

from privregret.adversarial import EXP3
from privregret.bandits import KLUCB, UCB1
from privregret.core import checks, files
from privregret.instances import HU2021_2, Adversary

README = Path(__file__).parent / "README.md"
ROUNDS, ARMS, GAMMA = 10**4, HU2021_2.arms, 0.1
OURS, CALLS = "privregret", 20  # of ours in one repetition: one is over too soon


def ours():
    """Algorithm -> a function that plays, and returns its pseudo-regret. EXP3 takes losses: 1 less
    the rewards."""
    losses = Adversary(HU2021_2.name, [0], [[1 - mean for mean in HU2021_2.means]], bernoulli=True)

    def played(algorithm, problem, rng):
        return lambda: problem.regret(algorithm.run(problem, [ROUNDS], rng), [ROUNDS])[0]

    rng = np.random.default_rng(1)
    return {
        "UCB1": played(UCB1(), HU2021_2, rng),
        "KL-UCB": played(KLUCB(), HU2021_2, rng),
        "EXP3": played(EXP3(GAMMA / ARMS, GAMMA), losses, rng),
    }


def loop(make, choose, tell, rewards):
    def play():
        policy, actions = make(), []
        for row in rewards:
            actions.append(choose(policy))
            tell(policy, actions[-1], row[actions[-1]])
        return HU2021_2.gaps[actions].sum()

    return play


def smpybandits(rewards):
    scipy.special.btdtri = (
        scipy.special.betaincinv
    )  # the name is gone from SciPy; without it nothing is imported
    with contextlib.redirect_stdout(io.StringIO()):
        from SMPyBandits.Policies import UCB, Exp3, klUCB

    def started(make):
        def start():
            policy = make()
            policy.startGame()
            return policy

        return loop(
            start, lambda p: p.choice(), lambda p, arm, reward: p.getReward(arm, reward), rewards
        )

    return {
        "UCB1": started(lambda: UCB(ARMS)),
        "KL-UCB": started(lambda: klUCB(ARMS)),
        "EXP3": started(lambda: Exp3(ARMS, gamma=GAMMA)),
    }


def pymab(rewards):
    from pymab.policies import EXP3Policy, KLUCBPolicy, UCBPolicy

    rng = np.random.default_rng(1)

    def fed(make):
        return loop(
            make,
            lambda p: p.select_action(rng=rng),
            lambda p, a, r: p.update(action=a, reward=r),
            rewards,
        )

    return {
        "UCB1": fed(lambda: UCBPolicy(n_arms=ARMS, c=2.0)),
        "KL-UCB": fed(lambda: KLUCBPolicy(n_arms=ARMS, c=1e-9)),
        "EXP3": fed(lambda: EXP3Policy(n_arms=ARMS, gamma=GAMMA)),
    }


def mabwiser(rewards):
    from mabwiser.mab import MAB, LearningPolicy

    arms = list(range(ARMS))

    def start():
        policy = MAB(arms, LearningPolicy.UCB1(alpha=1.0), seed=1)
        policy.fit(
            arms, [rewards[arm][arm] for arm in arms]
        )  # it needs one observation before its first choice
        return policy

    later = rewards[ARMS:]
    rest = loop(
        start, lambda p: p.predict(), lambda p, arm, reward: p.partial_fit([arm], [reward]), later
    )
    return {"UCB1": lambda: HU2021_2.gaps.sum() + rest()}


def river(rewards):
    from river import bandit

    arms = list(range(ARMS))

    def pulled(make):
        return loop(
            make, lambda p: p.pull(arms), lambda p, arm, reward: p.update(arm, reward), rewards
        )

    return {
        "UCB1": pulled(lambda: bandit.UCB(1, seed=1)),
        "EXP3": pulled(lambda: bandit.Exp3(GAMMA, seed=1)),
    }


PEERS = {"SMPyBandits": smpybandits, "pymab": pymab, "mabwiser": mabwiser, "river": river}


def cases(rewards) -> dict:
    """(algorithm, library) -> what plays the table. All libraries must be there: the table that is
    published loses no row."""
    found, failed = {(name, OURS): play for name, play in ours().items()}, {}
    for library, make in PEERS.items():
        try:
            found |= {(name, library): play for name, play in make(rewards.tolist()).items()}
        except Exception as problem:  # some fail at import in other ways
            failed[library] = str(problem).partition("\n")[0]
    if failed:
        why = "; ".join(f"{library} ({problem})" for library, problem in failed.items())
        raise SystemExit(f"nothing is measured: cannot import {why}")
    return found


def measure(todo: dict, repeats: int) -> pd.DataFrame:
    """Microseconds of processor time a round, one row for each case and repetition; and the regret
    of its actions."""
    rows = []
    for repeat in range(-1, repeats):  # the first time compiles, and is dropped
        for (name, library), play in todo.items():
            calls = CALLS if library == OURS else 1
            begun = time.process_time()
            for _ in range(calls):
                regret = play()
            took = (time.process_time() - begun) * 1e6 / (calls * ROUNDS)
            rows.append((repeat, name, library, took, regret))
    frame = pd.DataFrame(rows, columns=["repeat", "algorithm", "library", "us", "regret"])
    return frame[frame.repeat >= 0]


def table(frame: pd.DataFrame) -> str:
    """The lines of the table in Markdown; ratios are taken within one repetition."""
    lines = [
        "| algorithm | library | us a round | times ours (range) | regret |",
        "|---|---|---:|---:|---:|",
    ]
    for name, rows in frame.groupby("algorithm", sort=False):
        us = rows.pivot(index="repeat", columns="library", values="us")
        regret = rows.groupby("library").regret.mean()
        for library in rows.library.unique():
            ratio = us[library] / us[OURS]
            shown = (
                "1"
                if library == OURS
                else f"{ratio.median():.0f} ({ratio.min():.0f} to {ratio.max():.0f})"
            )
            version = "" if library == OURS else f" {importlib.metadata.version(library)}"
            took = float(f"{us[library].median():.2g}")
            lines.append(
                f"| {name} | {library}{version} | {took:g} | {shown} | {regret[library]:.0f} |"
            )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(
        description="Time three algorithms and compare them with other libraries."
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="repetitions behind each median (default: 5)"
    )
    repeats = checks.positive_int("repeats", parser.parse_args().repeats)
    made = table(measure(cases(HU2021_2.table(ROUNDS, 1)), repeats))
    text = README.read_text(encoding="utf-8")
    text = re.sub(
        r"(?<=<!-- peers -->\n).*?(?=\n<!-- end of peers -->)", lambda _: made, text, flags=re.S
    )
    files.write(README, text.encode())
    print(made)


if __name__ == "__main__":
    main()
