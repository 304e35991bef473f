"""How many faults the tests catch: those of mutants.toml, and others drawn at random from src.

Each is planted alone in a copy of the project. There the test runs that the table names, or the
tests about the file. `make mutants ARGS="--only WORD"` takes the rows of the table with a word;
`--random 20 --seed 1 --under src/privregret/bandits` draws twenty faults from a folder or file.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/privregret"
TABLE = ROOT / "tests/mutants.toml"
# the tests about a folder of the package, and about files outside of these
ABOUT = {
    "bandits": "bandits every_algorithm rare",
    "full_information": "every_algorithm exact",
    "adversarial": "adversarial every_algorithm witnesses",
    "companion": "companion minimax every_algorithm",
    "instances": "instances streams simulate",
    "exact": "exact companion",
    "privacy": "privacy ledger_truth audit witnesses",
    "estimates": "estimates groups",
    "bounds": "bounds",
    "studies": "companion privacy adversarial notebooks",
    "press": "draw findings text publish record batch",
    "core": "streams noise interface every_algorithm code_key jit store",
    "": "simulate rare tables divergence processors",
}
PAIRS = (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)
PAIRS += (ast.Eq, ast.NotEq), (ast.And, ast.Or), ("min", "max"), ("floor", "ceil"), ("any", "all")
OTHER = {**dict(PAIRS), **{b: a for a, b in PAIRS}, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult}


def change(node):
    """A fault of a node of the syntax tree: (attribute, what it is instead), or None."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in OTHER:
            return "op", OTHER[type(op)]()
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            return "ops", [OTHER[type(op)]()]
        case ast.Constant(value=bool(value)):
            return "value", not value
        case ast.Constant(value=int(value)):
            return "value", value + 1
        case ast.Constant(value=float(value)):
            return "value", 1.1 * value + 0.001
        case ast.Name(id=name) if name in OTHER:
            return "id", OTHER[name]
        case ast.Attribute(attr=name) if name in OTHER:
            return "attr", OTHER[name]
        case ast.AugAssign() | ast.Break() | ast.Continue():
            return "__class__", ast.Pass
        case ast.If(test=test) | ast.IfExp(test=test):
            return "test", ast.UnaryOp(ast.Not(), test)


def drawn(count, seed, under):
    """Random faults: (file, its text with the fault, what is changed, tests)."""
    files = sorted(under.rglob("*.py")) if under.is_dir() else [under]
    trees = {file: ast.parse(file.read_text("utf8")) for file in files}
    every = [(f, node) for f, tree in trees.items() for node in ast.walk(tree) if change(node)]
    for file, node in random.Random(seed).sample(every, count):
        (name, new), before = change(node), ast.unparse(node)
        old = getattr(node, name)
        setattr(node, name, new)
        what = f"line {node.lineno}: {before} -> {ast.unparse(node)}".replace("\n", " ")
        wrong = ast.unparse(trees[file])
        setattr(node, name, old)
        folder = file.relative_to(PACKAGE).parts[0]
        names = ABOUT[folder if folder in ABOUT else ""].split()
        kinds = [n.name for n in trees[file].body if isinstance(n, ast.ClassDef)]
        # of every algorithm those of the file
        only = ["-k", " or ".join(["not every_algorithm", *kinds])] if kinds else []
        yield file, wrong, what, [*(f"tests/test_{name}.py" for name in names), *only]


def listed(word=""):
    """The faults of the table, as `drawn` has them; without a text if the old one is not there."""
    for row in tomllib.loads(TABLE.read_text("utf8"))["fault"]:
        file, old, new = ROOT / row["file"], row["old"], row["new"]
        text = file.read_text("utf8")
        if word in f"{row}":
            wrong = text.replace(old, new) if text.count(old) == 1 else ""
            name, *only = row["test"].split(" ", 1)
            words = [f"tests/{name}", *(["-k", *only] if only else [])]
            yield file, wrong, f"{old} -> {new}", words


def copied(folder):
    """A copy of what git has, or would have, of the project."""
    shown = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(shown, cwd=ROOT, text=True).split("\0"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def fails(root, file, wrong, tests):
    """The first test that fails with a fault in a copy, or ""."""
    path = root / file.relative_to(ROOT)
    own = {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "-xq", "-n0", "-p", "no:cacheprovider", *tests]
    path.write_text(wrong, "utf8")
    try:
        asked = {"cwd": root, "env": os.environ | own, "capture_output": True, "text": True}
        ran = subprocess.run(words, **asked, timeout=900)
    except subprocess.TimeoutExpired:
        return "no end"
    finally:
        shutil.copy2(file, path)
    found = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "" if ran.returncode == 0 else (found or [f"exit code {ran.returncode}"])[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--under", default=str(PACKAGE), type=lambda x: Path(x).resolve())
    parser.add_argument("--only", default="")
    given, survivors, count = parser.parse_args(), 0, 0
    faults = listed(given.only) if not given.random else ()
    with tempfile.TemporaryDirectory() as folder:
        root = copied(Path(folder))
        for file, wrong, what, tests in [*faults, *drawn(given.random, given.seed, given.under)]:
            name = file.relative_to(ROOT)
            found = fails(root, file, wrong, tests) if wrong else "no longer in the file"
            count, survivors = count + 1, survivors + (not found)
            print(f"{name}: {what}: {found or 'SURVIVES'}", flush=True)
    print(f"{count - survivors} of {count} caught")
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
