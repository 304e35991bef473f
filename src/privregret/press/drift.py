"""Whether numbers agree with published ones, to within rounding and the errors that they carry."""

import numpy as np
import pandas as pd

TOLERANCE = 1e-9  # relative: less than this is rounding, which differs between processors


def first_difference(name: str, kept: pd.DataFrame, fresh: pd.DataFrame) -> list[str]:
    """One line that names the first number that moved, or nothing.

    A number may move by a relative 1e-9 and by the numerical error that the data carry for it: of a
    column x that of `x_error`, of `regret` that of `error`. Errors may change by a factor of two.

    Examples
    --------
    >>> kept = pd.DataFrame({"x": [1.0, 2.0]})
    >>> first_difference("demo", kept, kept * (1 + 1e-12))
    []
    >>> first_difference("demo", kept, kept + 1)
    ['demo, row 1, x: 1.0 became 2.0']
    """
    if list(kept.columns) != list(fresh.columns) or len(kept) != len(fresh):
        old, new = (f"{len(frame)} rows of {list(frame.columns)}" for frame in (kept, fresh))
        return [f"{name}: {old} became {new}"]
    for column in kept.columns:
        moved = ~_same(column, kept, fresh)
        if moved.any():
            row = int(moved.argmax())
            values = f"{kept[column].iloc[row]} became {fresh[column].iloc[row]}"
            return [f"{name}, row {row + 1}, {column}: {values}"]
    return []


def _same(column, kept, fresh):
    """Whether each row's value of a column is the same in two frames."""
    pair = kept[column], fresh[column]
    numeric = all(map(pd.api.types.is_numeric_dtype, pair))
    if not numeric or all(map(pd.api.types.is_integer_dtype, pair)):
        return ((pair[0] == pair[1]) | (pair[0].isna() & pair[1].isna())).to_numpy()
    a, b = (values.to_numpy(float) for values in pair)
    size = np.maximum(np.abs(a), np.abs(b))
    allowed, error = TOLERANCE * size, "error" if column == "regret" else f"{column}_error"
    if column == "error" or column.endswith("_error"):
        allowed = np.maximum(size / 2, 1e-12)
    elif error in kept:
        allowed = allowed + kept[error].to_numpy(float) + fresh[error].to_numpy(float)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = np.isfinite(a) & np.isfinite(b)
    same[finite] |= np.abs(a[finite] - b[finite]) <= allowed[finite]
    return same


def record_difference(kept: dict, fresh: dict, name: str = "") -> list[str]:
    """As `first_difference`, of a notebook's findings and numbers in two manifests."""
    for what in ("findings", "numbers"):
        difference = first_difference(f"{what} of {name}", *_frames(what, kept, fresh))
        if difference:
            return difference
    return []


def _frames(what, *records):
    for record in records:
        rows = record.get(what, [])
        if what == "numbers":
            rows = [{"name": name, **number} for name, number in (rows or {}).items()]
        frame = pd.DataFrame(rows).rename(columns={"error": "se", "numerical_error": "value_error"})
        reals = frame.columns.intersection(["value", "se", "value_error", "low", "high"])
        yield frame.astype(dict.fromkeys(reals, float))


def between(roots: tuple, records: tuple, names: set[str]) -> tuple[list[str], int]:
    """What differs between what some notebooks have published and a fresh run, as `check` says it.

    Of either, its root and its manifest. Returns a line for each output and notebook that differs,
    and how many outputs were compared.
    """
    kept, fresh = (
        {o for o, entry in record["outputs"].items() if entry["notebook"] in names}
        for record in records
    )
    lines = [f"{output}: published, but no notebook makes it" for output in sorted(kept - fresh)]
    lines += [f"{output}: not published" for output in sorted(fresh - kept)]
    for output in sorted(kept & fresh):
        try:
            frames = [pd.read_csv(root / "figures" / f"{output}.csv") for root in roots]
        except (OSError, ValueError) as problem:  # gone, empty, not UTF-8
            lines.append(f"{output}: its csv cannot be read: {str(problem).splitlines()[0]}")
        else:
            lines += first_difference(output, *frames)
    for name in sorted(names):
        old, new = (record["notebooks"].get(name, {}) for record in records)
        lines += record_difference(old, new, name)
    return lines, len(kept)
