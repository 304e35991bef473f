"""What the notebooks on azize2025 draw and no other does: models of what a policy is shown."""

import itertools

import numpy as np


def show_reward_model(ax, model, path, rewards, title):
    """A list, table or tree of rewards for two arms, the rewards that the actions `path` observe framed.

    Parameters
    ----------
    model : {"list", "table", "tree"}
    path : sequence of int
        Arms pulled, 0 or 1, one per round.
    rewards : list
        Reward functions of rounds 1, 2, ...: arrays with one axis for each action so far.
    """
    rounds = len(path)
    for t in range(1, rounds + 1):
        prefixes = list(np.ndindex(*(2,) * t))
        nodes = {"list": [None], "table": [0, 1], "tree": prefixes}[model]
        for i, node in enumerate(nodes):
            full = {"list": tuple(path[:t]), "table": (*path[: t - 1], node), "tree": node}[model]
            seen = full == tuple(path[:t])
            colour, width = ("black", 1.2) if seen else ("#BBBBBB", 0.6)
            x = (
                (i + 0.5) / len(nodes)
                if model == "tree"
                else 0.5 + 0.3 * (i - (len(nodes) - 1) / 2)
            )
            if model == "tree":
                parent = ((i // 2 + 0.5) / (len(nodes) // 2), 1 - t) if t > 1 else (0.5, 0)
                ax.plot([parent[0], x], [parent[1], -t], color=colour, linewidth=width, zorder=1)
            frame = {"boxstyle": "square,pad=0.3", "fc": "white", "ec": colour, "lw": width}
            ink = "black" if seen else "#888888"
            ax.text(
                x,
                -t,
                str(int(rewards[t - 1][full])),
                ha="center",
                va="center",
                fontsize=7,
                bbox=frame,
                color=ink,
            )
    if model == "table":
        for arm in (0, 1):
            ax.text(
                0.5 + 0.3 * (arm - 0.5),
                -0.4,
                f"arm {arm + 1}",
                ha="center",
                va="center",
                fontsize=6,
            )
    for t in range(1, rounds + 1):
        ax.text(-0.06, -t, f"$t={t}$", ha="right", va="center", fontsize=6)
    ax.set(xlim=(-0.12, 1.05), ylim=(-rounds - 0.5, 0.3), title=title)
    ax.axis("off")


def show_release_game(ax, actions, left, right, change, side):
    """The adaptive game: the adversary answers each action with two rewards, which differ only in round `change`.

    Parameters
    ----------
    actions, left, right : sequence
        Arm (from 0) and the two rewards of each round.
    change : int
        The round, from 1, in which the policy is shown `side`, "L" or "R"; in all others it sees the left reward.
    """
    boxes = []
    for t, (action, one, other) in enumerate(zip(actions, left, right, strict=True), start=1):
        shown = other if t == change and side == "R" else one
        for y, text in ((2, f"arm {action + 1}"), (1, f"$({one},{other})$"), (0, f"${shown}$")):
            fill = "#FFE9B8" if (y, t) == (0, change) else "white"
            box = {"boxstyle": "round,pad=0.35", "fc": fill, "ec": "black", "lw": 0.7}
            boxes.append(ax.text(t, y, text, ha="center", va="center", fontsize=7, bbox=box))
        ax.text(
            t,
            -0.55,
            f"$t={t}$" + (r"$\;=t^\star$" if t == change else ""),
            ha="center",
            va="center",
            fontsize=6,
        )
    for start, end in itertools.pairwise(
        boxes
    ):  # from edge to edge; above the boxes, which are laid out first
        ends = {
            "patchA": start.get_bbox_patch(),
            "patchB": end.get_bbox_patch(),
            "shrinkA": 0,
            "shrinkB": 0,
        }
        arrow = {"arrowstyle": "->", "lw": 0.7, "color": "black"} | ends
        ax.annotate("", end.get_position(), start.get_position(), arrowprops=arrow, zorder=4)
    for y, text in ((2, "policy pulls"), (1, "adversary: $(r^L,r^R)$"), (0, "policy sees")):
        ax.text(0.45, y, text, ha="right", va="center", fontsize=6)
    ax.set(xlim=(-0.75, len(actions) + 0.5), ylim=(-0.8, 2.5), title=f"$b={side}$")
    ax.axis("off")
