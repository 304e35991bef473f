"""How many faults the tests catch: those of mutants.toml, and others drawn at random from src.

Each is planted in a copy of the project, where its test runs, or those about its file.
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
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# of a copy they are not whole
FIGURES = "--deselect=tests/test_manifest.py::test_what_is_committed_is_what_make_would_leave"
# tests about a folder of the package, if not those of its name
ABOUT = {
    "adversarial": "adversarial every_algorithm witnesses",
    "bandits": "bandits every_algorithm rare",
    "companion": "companion minimax every_algorithm",
    "core": "streams noise interface every_algorithm reach jit store",
    "estimates": "estimates groups",
    "exact": "exact companion",
    "full_information": "every_algorithm exact",
    "instances": "instances streams simulate",
    "press": "draw findings text press publish manifest batch",
    "privacy": "privacy ledger_truth audit witnesses",
    "studies": "bounds companion privacy adversarial notebooks",
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
        case ast.AugAssign():
            return "__class__", ast.Pass
        case ast.If(test=test) | ast.IfExp(test=test):
            return "test", ast.UnaryOp(ast.Not(), test)


def drawn(count, seed, under):
    """Random faults: (file, its text with the fault, what is changed, words for pytest)."""
    files = sorted(under.rglob("*.py")) if under.is_dir() else [under]
    trees = {file: ast.parse(file.read_text("utf8")) for file in files}
    every = [(f, node) for f, tree in trees.items() for node in ast.walk(tree) if change(node)]
    known = (ROOT / "tests/cases.py").read_text("utf8")
    for file, node in random.Random(seed).sample(every, count):
        (part, new), before = change(node), ast.unparse(node)
        kept, about = getattr(node, part), file.relative_to(ROOT).parts[2].removesuffix(".py")
        setattr(node, part, new)
        what = f"line {node.lineno}: {before} -> {ast.unparse(node)}"
        tests = [f"tests/test_{name}.py" for name in ABOUT.get(about, about).split()]
        kinds = [n.name for n in trees[file].body if hasattr(n, "bases") and n.name in known]
        only = ["-k", " or ".join(["not every_algorithm", *kinds])] if kinds else []
        yield file, ast.unparse(trees[file]), what, [*tests, *only]
        setattr(node, part, kept)


def listed(word=""):
    """The table's faults, as `drawn` has them; without a text if it is no longer in the file."""
    rows = tomllib.loads((ROOT / "tests/mutants.toml").read_text("utf8"))["fault"]
    for row in (row for row in rows if word in f"{row}"):
        file, (test, *only) = ROOT / row["file"], row["test"].split(" ", 1)
        text = file.read_text("utf8") if file.exists() else ""
        wrong = text.replace(row["old"], row["new"]) if text.count(row["old"]) == 1 else ""
        words = [f"tests/{test}", *(["-k", *only] if only else [])]
        yield file, wrong, f"{row['old'].strip()} -> {row['new'].strip()}", words


def fate(file, wrong, what, words):
    """Whether a fault is caught, and a line that says by which test."""
    line = " ".join(f"{file.relative_to(ROOT)}: {what}".split())
    if not wrong:
        return False, f"{line}: NO LONGER IN THE FILE"
    asked = [sys.executable, "-m", "pytest", "-xq", "-n0", "-pno:cacheprovider", FIGURES, *words]
    with tempfile.TemporaryDirectory() as folder:
        left = shutil.ignore_patterns(".git", ".venv", ".cache", "build", "*.pdf", "__pycache__")
        shutil.copytree(ROOT, folder, ignore=left, dirs_exist_ok=True)
        # tests ask git which parameters are committed
        for words in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm a"):
            subprocess.run(["git", *words.split()], cwd=folder, check=True)
        Path(folder, file.relative_to(ROOT)).write_text(wrong, "utf8")
        own = {"cwd": folder, "env": os.environ | {"PYTHONPATH": f"{folder}/src"}}
        ran = subprocess.run(asked, **own, text=True, capture_output=True)
    failed = [said for said in ran.stdout.splitlines() if said.startswith(("FAILED", "ERROR"))]
    how = [*failed, f"pytest ended with {ran.returncode}"][0] if ran.returncode else "SURVIVES"
    # 4 and 5: no such test, unless the package can no longer be imported
    unseen = ran.returncode in (0, 4, 5) and "while loading conftest" not in ran.stderr
    return not unseen, f"{line}: {how}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--random", type=int, default=0, help="so many more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--under", default="src/privregret", type=lambda x: Path(x).resolve())
    parser.add_argument("--only", default="", help="rows of the table with this word")
    given, results = parser.parse_args(), []
    for fault in chain(listed(given.only), drawn(given.random, given.seed, given.under)):
        results.append(fate(*fault))
        print(results[-1][1], flush=True)
    print(f"{sum(caught for caught, _ in results)} of {len(results)} caught")
    return not all(caught for caught, _ in results)


if __name__ == "__main__":
    sys.exit(main())
