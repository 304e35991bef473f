"""What is wrong with the exercises of a notebook, after its lecture has run."""

import time

import matplotlib.pyplot as plt

# seconds of work that a student waits for an answer
LIMIT = 10


def wrong(exercises, names, algorithm) -> list[str]:
    """Do what a reader does: run what is asked, and the cells of the algorithm after an edit. Say
    which answers are not true, or true without the edit; `names` are what they were afterwards."""
    found = []
    for i, one in enumerate(exercises, 1):
        try:
            if "edit" in one:
                if holds(one, names):
                    found.append(f"{i}: true without the edit: {one['holds']}")
                exec(compile(edited(algorithm, one["edit"]), f"exercise {i}", "exec"), names)
            if not holds(one, names):
                found.append(f"{i}: not true: {one['holds']}")
        except Exception as problem:
            found.append(f"{i}: {problem!r}")
        exec(compile("\n\n".join(algorithm), "algorithm", "exec"), names)
    return found


def edited(cells, edit):
    """The cells in which each line of an edit, which is there once, is another."""
    found = "\n\n".join(cells)
    for line, other in edit.items():
        assert found.count(line) == 1, f"{found.count(line)} lines are {line}"
        found = found.replace(line, other)
    return found


def holds(exercise, names):
    """Whether the answer is true, after its code ran in time."""
    own, began = dict(names), time.process_time()
    exec(compile(exercise.get("run", ""), exercise["ask"], "exec"), own)
    assert time.process_time() - began < LIMIT, "it takes too long"
    plt.close("all")
    return eval(exercise.get("holds", "True"), own)
