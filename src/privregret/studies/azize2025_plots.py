"""Drawings of the notebooks on azize2025 that are more than curves of a frame."""

import itertools

import numpy as np

CENTRED = {"ha": "center", "va": "center"}


def reward_model(ax, model: str, rewards: list, path: tuple) -> None:
    """Draw a list, table or tree of rewards for two arms, and frame those observed along `path`.

    `rewards` are functions of the arms of rounds 1, 2, ...; `path` has the arms pulled, from 0.
    """
    rounds = len(path)
    for t in range(1, rounds + 1):
        # a reward is for all choices of so many last arms
        depth = {"list": 0, "table": 1, "tree": t}[model]
        nodes = list(np.ndindex(*(2,) * depth))
        for i, node in enumerate(nodes):
            full = (*path[: t - depth], *node)
            seen = full == tuple(path[:t])
            colour, width = ("black", 1.2) if seen else ("#BBBBBB", 0.6)
            x = 0.5 + 0.3 * (i - (len(nodes) - 1) / 2)
            if model == "tree":
                x = (i + 0.5) / len(nodes)
                parent = ((i // 2 + 0.5) / (len(nodes) // 2), 1 - t) if t > 1 else (0.5, 0)
                ax.plot([parent[0], x], [parent[1], -t], color=colour, linewidth=width, zorder=1)
            frame = {"boxstyle": "square,pad=0.3", "fc": "white", "ec": colour, "lw": width}
            look = {"fontsize": 7, "bbox": frame, "color": "black" if seen else "#888888"}
            ax.text(x, -t, str(int(rewards[t - 1][full])), **look, **CENTRED)
    if model == "table":
        for arm in (0, 1):
            ax.text(0.5 + 0.3 * (arm - 0.5), -0.4, f"arm {arm + 1}", fontsize=7, **CENTRED)
    for t in range(1, rounds + 1):
        ax.text(-0.06, -t, f"$t={t}$", ha="right", va="center", fontsize=7)
    ax.set(xlim=(-0.12, 1.05), ylim=(-rounds - 0.5, 0.3))
    ax.axis("off")


def release_game(ax, actions: list, left: list, right: list, change: int, side: str) -> None:
    """Draw a play of the adaptive game: two rewards per round, of which one is observed.

    In round `change`, from 1, the policy observes the reward of `side`, "L" or "R".
    """
    boxes = []
    for t, (action, one, other) in enumerate(zip(actions, left, right, strict=True), start=1):
        shown = other if t == change and side == "R" else one
        for y, text in ((2, f"arm {action + 1}"), (1, f"$({one},{other})$"), (0, f"${shown}$")):
            fill = "#FFE9B8" if (y, t) == (0, change) else "white"
            box = {"boxstyle": "round,pad=0.35", "fc": fill, "ec": "black", "lw": 0.7}
            boxes.append(ax.text(t, y, text, fontsize=7, bbox=box, **CENTRED))
        when = f"$t={t}$" + (r"$\;=t^\star$" if t == change else "")
        ax.text(t, -0.55, when, fontsize=7, **CENTRED)
    # from edge to edge; above the boxes, which are laid out first
    line = {"arrowstyle": "->", "lw": 0.7, "color": "black", "shrinkA": 0, "shrinkB": 0}
    for start, end in itertools.pairwise(boxes):
        arrow = line | {"patchA": start.get_bbox_patch(), "patchB": end.get_bbox_patch()}
        ax.annotate("", end.get_position(), start.get_position(), arrowprops=arrow, zorder=4)
    for y, text in ((2, "policy pulls"), (1, "adversary: $(r^L,r^R)$"), (0, "policy observes")):
        ax.text(0.45, y, text, ha="right", va="center", fontsize=7)
    ax.set(xlim=(-0.75, len(actions) + 0.5), ylim=(-0.8, 2.5), title=f"$b={side}$")
    ax.axis("off")
