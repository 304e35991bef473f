"""The campaign: what can go wrong with the batch command is made to go wrong, and what it does not
survive is counted.

    python tests/campaign.py [--minutes 10] [--seed 1] [section ...]

Works on copies of the project in a temporary folder. `test_campaign.py` is its short form.
"""

import argparse
import hashlib
import itertools
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import matplotlib
import nbformat
import warm
from conftest import Project
from test_reproduce import edit, write

IGNORED = (".lock",)


class World(Project):
    """A copy of the project with two small notebooks that have run, and commands in it."""

    def __init__(self, root: Path):
        root.mkdir(parents=True)
        super().__init__(root)
        self.home, self.temporary = root.parent / "home", root.parent / "tmp"
        self.home.mkdir(), self.temporary.mkdir()
        fonts = Path(
            matplotlib.get_cachedir()
        )  # found in ten seconds by whoever has no list of them
        shutil.copytree(fonts, root.parent / "fonts")
        write(self, "one"), write(self, "two")
        (root / "README.md").write_text("# Demo\n<!-- findings -->\n<!-- end of findings -->\n")
        began = time.monotonic()
        code, said = self.finish(*self.command("reproduce"))
        assert code == 0 and "demo/two: " in said, said
        self.seconds = time.monotonic() - began
        self.good = self.published()
        shutil.copytree(root, root.parent / "kept", symlinks=True)

    @property
    def environment(self):
        own = {
            "MPLCONFIGDIR": self.root.parent / "fonts",
            "HOME": self.home,
            "TMPDIR": self.temporary,
            "JUPYTER_RUNTIME_DIR": self.temporary / "runtime",
        }
        return super().environment | {name: str(path) for name, path in own.items()}

    def command(self, *words, **more):
        """Start a command, whose kernels are started afresh: what `finish` takes."""
        return self.begin("privregret", *words, **more)

    def finish(self, *begun):
        """Exit code of a command that was started, and what it said."""
        code, *said = self.end(*begun)
        return code, "".join(said)

    def run(self, *words):
        """As `finish`, with forked kernels: what looks for kernels left behind must not be fooled
        by those."""
        return self.finish(*self.command(*words, JUPYTER_PATH=warm.kernels()))

    def published(self):
        """Everything that is published: path -> bytes."""
        files = (
            p
            for folder in ("figures", "paper")
            for p in (self.root / folder).rglob("*")
            if p.is_file()
        )
        here = [p for p in files if p.name not in IGNORED and ".partial-" not in p.name]
        return {
            str(p.relative_to(self.root)): p.read_bytes()
            for p in [*here, self.root / "README.md"]
            if p.exists()
        }

    def leftovers(self):
        """Files that should have been removed."""
        found = [*self.temporary.glob("*"), *(self.root / "build" / "partial").rglob("*.ipynb")]
        return [
            str(path)
            for path in [*found, *self.root.rglob(".*.partial-*")]
            if path.name != "runtime"
        ]

    def kernels(self):
        """Processes of kernels that run here, forked ones included."""
        found, mark = [], f"TMPDIR={self.temporary}\0".encode()
        for started in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                found += [started] if mark in started.read_bytes() else []
        return found

    def restore(self):
        """Everything as it was when the notebooks had run."""
        for folder in ("figures", "paper", "build", "notebooks"):
            remove(self.root / folder)
            shutil.copytree(self.root.parent / "kept" / folder, self.root / folder)
        for file in ("README.md", "requirements.lock"):
            shutil.copy2(self.root.parent / "kept" / file, self.root / file)
        for path in self.temporary.glob("*"):
            remove(path)


@dataclass
class Outcome:
    """What became of one fault."""

    fault: str
    recovered: bool
    lost: bool = False  # something published is gone or half-written
    wrong: bool = False  # success was reported, and it was none
    left: list = field(default_factory=list)
    said: str = ""


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def up_to_date(said):
    return all(line.endswith(": up to date") for line in said.splitlines())


def recovery(world, fault, seen=True) -> Outcome:
    """Look, reproduce, look again: all must be as it was. `seen`: the first look must not find
    everything in order."""
    _, before = world.run("status")
    code, said = world.run("reproduce")
    if code == 2 and "manifest.json" in said and said.count("\n") == 1:  # it says what to do
        (world.root / "figures/manifest.json").unlink()
        code, more = world.run("reproduce")
        said += more
    now, (_, after) = world.published(), world.run("status")
    whole = now == world.good
    said = f"{before}--\n{said}--\n{after}"
    return Outcome(
        fault,
        recovered=code == 0 and whole and up_to_date(after) and "Traceback" not in said,
        lost=not whole,
        wrong=(seen and up_to_date(before)) or (code == 0 and not whole),
        left=world.leftovers(),
        said=said,
    )


def kills(world, rng):
    """A run of all notebooks is ended at a random moment."""
    for number in itertools.count():
        how = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
        after = rng.uniform(0, 1.1 * world.seconds)
        begun = world.command("reproduce", "--force")
        time.sleep(after)
        with suppress(ProcessLookupError):  # it has ended
            os.kill(begun[0].pid, how)
        world.end(*begun)
        half = {path for path, content in world.published().items() if content != world.good[path]}
        deadline = time.monotonic() + 60
        while world.kernels() and time.monotonic() < deadline:
            time.sleep(0.2)
        outcome = recovery(world, f"{how.name} {number} after {after:.2f} s", seen=False)
        outcome.lost |= bool(half)
        outcome.left += world.kernels()
        yield outcome


def damages(path: Path) -> dict[str, Callable]:
    """Ways to damage a file."""

    def cut():
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    def garbage():
        path.write_bytes(random.Random(path.name).randbytes(2000))

    return {
        "deleted": path.unlink,
        "cut": cut,
        "empty": lambda: path.write_bytes(b""),
        "garbage": garbage,
    }


def corruptions(world, rng):
    """A file that the command keeps is damaged."""
    root = world.root
    cases = []
    kept = [
        "figures/manifest.json",
        "figures/demo/one.csv",
        "figures/demo/one.pdf",
        "figures/demo/two.tex",
    ]
    made = [
        "figures/findings.csv",
        "figures/findings.md",
        "figures/README.md",
        "figures/verdicts.tex",
        "figures/not-reproduced.tex",
    ]
    for name in [
        *kept,
        *made,
        "figures/demo/findings.tex",
        "paper/numbers.tex",
        "build/stamps/demo/one.json",
    ]:
        cases += [(f"{name} {how}", damage) for how, damage in damages(root / name).items()]
    for text in (
        "{}",
        "[]",
        "null",
        '{"notebooks": {}, "outputs": {}}',
        '{"notebooks": {}, "outputs": 3}',
    ):
        path = root / "figures/manifest.json"
        cases.append((f"manifest.json {text}", lambda path=path, text=text: path.write_text(text)))

    def change(path, keys, value):
        content = json.loads(path.read_text())
        *first, last = keys
        inner = content
        for key in first:
            inner = inner[key]
        if value is None:
            del inner[last]
        else:
            inner[last] = value
        path.write_text(json.dumps(content))

    mine = ("notebooks", "demo/one")
    for keys, value in [
        (mine, None),
        ((*mine, "findings"), None),
        ((*mine, "numbers", "demoOne", "value"), 17.0),
        ((*mine, "numbers", "demoOne", "value"), "word"),
        ((*mine, "findings", 0, "verdict"), "not reproduced"),
        ((*mine, "findings", 0, "kind"), None),
        (("outputs", "demo/one"), None),
        (("outputs", "demo/one", "notebook"), None),
        (("outputs", "demo/one", "kind"), "sculpture"),
        (("outputs", "demo/one", "files"), None),
        (("outputs", "demo/one", "files", ".csv"), "0"),
        (("outputs", "demo/one", "seed"), 9),
    ]:
        path = root / "figures/manifest.json"
        what = f"manifest.json: {'/'.join(map(str, keys))} = {value}"
        cases.append((what, lambda path=path, keys=keys, value=value: change(path, keys, value)))
    for keys, value in [
        (["files"], None),
        (["files"], []),
        (["files"], {}),
        (["files"], "word"),
        (["files", "requirements.lock"], "0"),
        (["files", "figures/manifest.json"], 7),
        (["files", "notebooks/demo/one.ipynb"], [1]),
    ]:
        path = root / "build/stamps/demo/one.json"
        what = f"stamp: {'/'.join(keys)} = {value}"
        cases.append((what, lambda path=path, keys=keys, value=value: change(path, keys, value)))

    def folder():
        path = root / "build/stamps/demo/one.json"
        path.unlink(), path.mkdir(), (path / "inside").write_text("")

    def gone(*names):
        for name in names:
            remove(root / name)

    cases.append(("a stamp is a folder", folder))
    cases.append(("all stamps are gone", lambda: gone("build")))
    cases.append(("figures/ is gone", lambda: gone("figures")))
    cases.append(("figures/ and stamps are gone", lambda: gone("figures", "build")))
    cases.append(
        (
            "the README's block was edited",
            lambda: edit(root / "README.md", "<!-- findings -->\n", "<!-- findings -->\nedited\n"),
        )
    )
    rng.shuffle(cases)
    for fault, damage in cases:
        damage()
        outcome = recovery(world, fault, seen=True)
        yield outcome
        if not outcome.recovered:
            world.restore()


def notebooks(world, rng):
    """A notebook is damaged, or a stray file lies among them: it is named, the others run, and
    nothing is lost."""
    path, other = (world.root / "notebooks/demo" / f"{name}.ipynb" for name in ("one", "two"))
    good = path.read_bytes()

    def changed(change):
        notebook = nbformat.read(path, as_version=4)
        change(notebook.cells)
        nbformat.write(notebook, path)

    def untag(cells):
        for cell in cells:
            cell.metadata["tags"] = []

    def early(cells):
        cells[3].source = "import sys\nsys.exit(0)"

    def saved_mark(cells):
        cells[-1].source = "pass"
        data = {"application/vnd.privregret.end+json": {"modules": [], "kilobytes": 1}}
        cells[-1]["outputs"] = [nbformat.v4.new_output("display_data", data)]

    def source(index, text):
        return lambda cells: cells[index].update(source=text)

    cases = {
        f"one.ipynb {how}": damage for how, damage in damages(path).items() if how != "deleted"
    }
    cases |= {
        "not UTF-8": lambda: path.write_bytes(good.replace(b"Demo", b"D\xe9mo")),
        "version 3": lambda: path.write_text(
            '{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}'
        ),
        "no parameters": lambda: changed(lambda cells: cells.pop(1)),
        "no check": lambda: changed(lambda cells: cells.pop(2)),
        "no tags": lambda: changed(untag),
        "an error among the parameters": lambda: changed(source(1, "runs: int = 3 +\n")),
        "an error in the check": lambda: changed(
            source(2, 'notebook.start("demo/one", globals(), runs=nowhere)')
        ),
        "another's name": lambda: edit(path, 'demo/one\\", globals', 'demo/two\\", globals'),
        "sys.exit(0)": lambda: changed(early),
        "a saved end mark": lambda: changed(saved_mark),
    }
    for fault, damage in rng.sample(sorted(cases.items()), len(cases)):
        damage()
        edit(other, "A line.", "The line.")  # so that there is something else to do
        code, said = world.run("reproduce")
        named = any("demo/one" in line and "Traceback" not in line for line in said.splitlines())
        refused = named and "Traceback" not in said and code != 0
        others = "The line." in (world.root / "figures/demo/two.tex").read_text()
        path.write_bytes(good)
        edit(other, "The line.", "A line.")
        outcome = recovery(world, f"one.ipynb: {fault}", seen=False)
        outcome.recovered &= refused and others
        outcome.wrong |= code == 0
        outcome.said = f"exit {code}: {said}--\n{outcome.said}"
        yield outcome
        if not outcome.recovered:
            world.restore()
    strays = {
        "Untitled.ipynb": b"{}",
        "Untitled1.ipynb": b"",
        "one-Copy1.ipynb": good,
        ".ipynb_checkpoints/one-checkpoint.ipynb": good,
        "notes.txt": b"",
    }
    for name, content in strays.items():
        stray = path.parent / name
        stray.parent.mkdir(exist_ok=True)
        stray.write_bytes(content)
        outcome = recovery(world, f"{name} among the notebooks", seen=False)
        outcome.recovered |= (
            outcome.said.count("up to date") >= 4 and "Traceback" not in outcome.said
        )
        yield outcome
        stray.unlink()


def concurrency(world, rng):
    """Commands at the same time: each succeeds, or is refused in one line before it has changed
    anything."""
    two = [
        (("reproduce", "--force"), ("reproduce", "--force")),
        (("check",), ("check",)),
        (("reproduce", "--force"), ("check",)),
        (("reproduce", "--force"), ("reproduce", "--smoke", "--force")),
        (("reproduce", "--force"), ("status",)),
        (("reproduce", "-p", "runs", "4"), ("reproduce", "-p", "runs", "5")),
        (("site",), ("site",)),
        (("site",), ("reproduce", "--force")),
    ]
    for words in rng.sample(two, len(two)):
        begun = [world.command(*words[0])]
        time.sleep(rng.uniform(0, 0.8 * world.seconds))
        begun.append(world.command(*words[1]))
        ended = [world.finish(*b) for b in begun]
        outcome = recovery(world, " and ".join(" ".join(w) for w in words), seen=False)
        fine = all(code == 0 or (code == 2 and "error: " in said) for code, said in ended)
        outcome.recovered &= fine and any(code == 0 for code, _ in ended)
        outcome.said = f"{ended}\n{outcome.said}"
        yield outcome
    outputs = [world.root / "build" / f"{n}.ipynb" for n in range(2)]
    both = [
        world.start(
            "papermill", world.root / "notebooks/demo/one.ipynb", output, "--no-progress-bar"
        )
        for output in outputs
    ]
    said = [process.communicate()[1] for process in both]
    shown = world.root / "build/lab/figures"
    whole = (shown / "demo/one.csv").read_bytes() == world.good["figures/demo/one.csv"]
    whole &= "demo/one" in json.loads((shown / "manifest.json").read_text())["outputs"]
    fine = whole and not any(process.returncode for process in both)
    for path in (*outputs, world.temporary / "runtime"):
        remove(path)  # papermill's own
    yield Outcome(
        "two papermill runs",
        recovered=fine,
        lost=not whole,
        left=world.leftovers(),
        said="\n".join(said),
    )


def environments(world, rng):
    """Full disks, folders that may not be written to, odd environments: success, or one line and
    nothing lost."""
    places = {name: world.root / name for name in ("figures", "build", ".cache")}
    places |= {"TMPDIR": world.temporary, "HOME": world.home}
    size = "size=$(($(du -sk {1} | cut -f1) + 8))k"
    full = f"cp -a {{0}}/. {{1}} && mount -t tmpfs -o {size} none {{0}} && cp -a {{1}}/. {{0}}"
    cases = {}
    if (
        subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode
        == 0
    ):
        for name, place in places.items():
            where, aside = f"'{place}'", f"'{world.root.parent}/aside-{name}'"
            only = f"mount --bind {where} {where} && mount -o remount,ro,bind {where}"
            cases[f"{name} read-only"] = (only, {})
            cases[f"{name} full"] = (f"mkdir -p {aside} && {full.format(where, aside)}", {})
    rc = world.root.parent / "matplotlibrc"
    rc.write_text("lines.linewidth: 9\nfont.size: 30\nfigure.facecolor: red\nsavefig.bbox: tight\n")
    cases |= {
        "files of 4 kilobytes at most": ("ulimit -f 4", {}),
        "umask 077": ("umask 077", {}),
        "a matplotlibrc": ("true", {"MATPLOTLIBRC": str(rc)}),
        "another backend": ("true", {"MPLBACKEND": "pdf"}),
        "ASCII": ("true", {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}),
        "no HOME": ("unset HOME", {}),
        "a terminal of one column": ("true", {"COLUMNS": "1", "TERM": "dumb"}),
        "another hash seed and time zone": (
            "true",
            {"PYTHONHASHSEED": "7", "TZ": "Asia/Kathmandu"},
        ),
        "kernels not compiled": ("true", {"NUMBA_DISABLE_JIT": "1"}),
        "called from elsewhere": ("cd /", {}),
    }
    for fault, (prepare, variables) in rng.sample(sorted(cases.items()), len(cases)):
        inside = f"{prepare} && exec '{sys.executable}' -m privregret reproduce --force"
        command = ["sh", "-c", inside]
        if "mount" in prepare:
            command = ["unshare", "-Urm", *command]
        environment = world.environment | variables
        done = subprocess.run(
            command, cwd=world.root, env=environment, capture_output=True, text=True, check=False
        )
        said = f"exit {done.returncode}\n{done.stdout}{done.stderr}"
        outcome = recovery(world, fault, seen=False)
        outcome.recovered &= "Traceback" not in said and (
            done.returncode == 0 or "error: " in said or "FAILED" in said
        )
        outcome.said = f"{said}--\n{outcome.said}"
        yield outcome
        for aside in world.root.parent.glob("aside-*"):
            remove(aside)


KERNEL = """
import math
from privregret.jit import jit

@jit
def halved(x):
    return x / 2
"""
SHOW = """
from privregret.halved import halved
print(halved(3.0), sum(halved.stats.cache_hits.values()))
"""


def cache(world, rng):
    """numba's cache is damaged: thrown away, compiled again, and used the next time."""
    sources = {"halved": KERNEL, "show_halved": SHOW}
    for name, code in sources.items():
        (world.root / f"src/privregret/{name}.py").write_text(code)
    own = world.root.parent / "caches"
    link = world.root / ".cache"
    target = link.resolve()
    remove(link)
    link.mkdir()

    def call():
        _, out, err = world.python("privregret.show_halved", XDG_CACHE_HOME=str(own))
        return out.split(), err

    try:
        call()
        for ending, how in itertools.product(
            ("nbi", "nbc"), ("cut", "empty", "garbage", "deleted")
        ):
            (path,) = link.rglob(f"halved*.{ending}")
            damages(path)[how]()
            (first, said), (second, _) = call(), call()
            left = [str(p) for p in link.rglob("*.tmp.*")]
            fine = first == ["1.5", "0"] and second == ["1.5", "1"]
            yield Outcome(
                f"numba's *.{ending} {how}",
                fine,
                wrong=first[:1] not in ([], ["1.5"]),
                left=left,
                said=said,
            )
    finally:
        remove(link)
        link.symlink_to(target)
        for name in sources:
            remove(world.root / f"src/privregret/{name}.py")


STORED = """
import time
from privregret import store

@store.kept
def squares(n):
    print("computed")
    time.sleep(0.01)
    return [k * k for k in range(n)]
"""
SHOW_STORED = """
import sys
from privregret.stored import squares
print(sum(sum(squares(n)) for n in range(int(sys.argv[1]))))
"""


def store(world, rng):
    """The store of results is damaged: the numbers stay right, and what is kept the first time is
    read the next time."""
    sources = {"stored": STORED, "show_stored": SHOW_STORED}
    for name, code in sources.items():
        (world.root / f"src/privregret/{name}.py").write_text(code)
    engine = world.root / "src/privregret/store.py"
    as_it_was = engine.read_text()
    link = world.root / ".cache"
    target = link.resolve()
    remove(link)
    link.mkdir()
    folder, few, many = link / "store", 6, 300

    def answer(n):
        return str(sum(k * k for m in range(n) for k in range(m)))

    def start(n=few, prepare="true"):
        inside = f"{prepare} && exec '{sys.executable}' -m privregret.show_stored {n}"
        command = ["unshare", "-Urm"] * ("mount" in prepare) + ["sh", "-c", inside]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=world.root, env=world.environment, **pipes)

    def ended(process):
        """Its answer, how often it computed, and what it said to stderr."""
        out, err = process.communicate()
        words = out.split()
        return words[-1] if words else "", words.count("computed"), err

    def outcome(fault, during, n=few, computes=None):
        """`during` is how a process ended that met the fault. The next one heals the store, and
        the one after that computes nothing."""
        given, computed, said = during
        healed, again = ended(start(n)), ended(start(n))
        remove(world.home / ".cache")  # what is used where the project's own folder cannot be
        right = {given, healed[0], again[0]} == {answer(n)}
        met = computes is None or computed == computes
        return Outcome(
            fault,
            recovered=right and met and again[1] == 0 and not said,
            wrong=not right,
            left=[str(path) for path in folder.rglob(".*.partial-*")],
            said=f"{during} {healed} {again}",
        )

    def entries():
        return sorted(path for path in folder.glob("*/*") if path.is_file())

    def flipped(path, at):
        content = bytearray(path.read_bytes())
        content[at] ^= 1 << rng.randrange(8)
        path.write_bytes(content)

    def signed(path, content):
        path.write_bytes(hashlib.sha256(path.name.encode() + content).digest() + content)

    def replaced(path):
        path.unlink(), path.mkdir()

    def swapped(path):
        path.write_bytes(next(p for p in entries() if p != path).read_bytes())

    def damaged(path):
        size = path.stat().st_size
        cases = damages(path) | {
            "another entry's": lambda: swapped(path),
            "a pickle without its hash": lambda: path.write_bytes(pickle.dumps([0, 1, 4])),
            "no pickle, with its hash": lambda: signed(path, b"no pickle"),
            "of a class that is gone, with its hash": lambda: signed(path, b"cnowhere\nGone\n."),
            "a dangling link": lambda: (path.unlink(), path.symlink_to("nowhere")),
        }
        places = [0, 31, 32, size - 1, *(rng.randrange(size) for _ in range(6))]
        return cases | {f"bit flipped in byte {at}": partial(flipped, path, at) for at in places}

    try:
        ended(start())
        for fault in damaged(entries()[0]):
            path = rng.choice(entries())
            damaged(path).get(fault, partial(flipped, path, -1))()
            yield outcome(f"an entry: {fault}", ended(start()), computes=1)
        replaced(rng.choice(entries()))  # nothing can be kept there, and nothing fails
        during = ended(start())
        remove(next(path for path in folder.glob("*/*") if path.is_dir()))
        yield outcome("an entry: a folder", during, computes=1)
        for path in entries():
            path.write_bytes(rng.randbytes(200))
        yield outcome("all entries: garbage", ended(start()), computes=few)
        remove(folder)
        yield outcome("the store is gone", ended(start()), computes=few)
        remove(folder), folder.write_text("")
        during = ended(start())
        remove(folder)
        yield outcome("the store is a file", during, computes=few)
        for fault, harm in {
            "deleted": lambda: remove(folder),
            "overwritten": lambda: [path.write_bytes(b"half") for path in entries()],
        }.items():
            process = start(many)
            while process.poll() is None:
                with suppress(OSError):  # it is being written meanwhile
                    harm()
                time.sleep(rng.uniform(0, 0.1))
            yield outcome(f"{fault} while a run writes", ended(process), many)
        process, other = start(many), start(many)
        twice = ended(process), ended(other)
        yield outcome("two runs that keep the same", max(twice), many)
        process = start(many)
        time.sleep(rng.uniform(0.5, 4))
        process.kill(), process.communicate()
        yield outcome("a run was killed", ended(start(many)), many)
        can_mount = subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False)
        where = f"'{folder}'"
        read_only = f"mount --bind {where} {where} && mount -o remount,ro,bind {where}"
        full = f"mount -t tmpfs -o size=4k none {where}"
        limited = {"files of 0 bytes at most": "ulimit -f 0"}
        if can_mount.returncode == 0:
            limited |= {"read-only": read_only, "full": full}
        for fault, prepare in limited.items():
            remove(folder), folder.mkdir()
            yield outcome(f"the store: {fault}", ended(start(few, prepare)), computes=few)
        small = as_it_was.replace("BYTES = 2**30", "BYTES = 2**16").replace("2**26", "1")
        engine.write_text(small)
        given, _, said = ended(start(many))
        size = sum(path.stat().st_size for path in entries())
        right, bounded = given == answer(many), 0 < size <= 2**16
        yield Outcome("room for few entries", right and bounded, wrong=not right, said=said)
    finally:
        engine.write_text(as_it_was)
        remove(link)
        link.symlink_to(target)
        for name in sources:
            remove(world.root / f"src/privregret/{name}.py")


SECTIONS = {
    f.__name__: f for f in (kills, corruptions, notebooks, concurrency, environments, cache, store)
}


@contextmanager
def a_world():
    """A world, which is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="campaign-", ignore_cleanup_errors=True) as folder:
        yield World(Path(folder) / "a world" / "privrégret")


def campaign(
    world, sections, seconds: float, seed: int, most: int | None = None, tell=lambda text: None
):
    """Outcomes by section; each section takes an equal part of the time, and at most
    `most` faults."""
    results = {}
    for name in sections:
        world.restore()
        began, results[name] = time.monotonic(), []
        for outcome in SECTIONS[name](world, random.Random(f"{seed} {name}")):
            results[name].append(outcome)
            if not outcome.recovered or outcome.lost or outcome.wrong or outcome.left:
                tell(f"{name}: {outcome}")
            if len(results[name]) == most or time.monotonic() - began > seconds / len(sections):
                break
        tell(f"{name}: {len(results[name])} faults")
    return results


def table(results) -> str:
    """The counts by section."""
    form = "{:<14}{:>9}{:>11}{:>6}{:>15}{:>13}".format
    lines = [form("section", "injected", "recovered", "lost", "wrong success", "left behind")]
    for name, outcomes in results.items():
        counts = [
            sum(bool(getattr(o, key)) for o in outcomes)
            for key in ("recovered", "lost", "wrong", "left")
        ]
        lines.append(form(name, len(outcomes), *counts))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with a_world() as world:
        results = campaign(
            world, args.sections or list(SECTIONS), 60 * args.minutes, args.seed, tell=print
        )
    print(table(results))
    return int(
        any(
            not o.recovered or o.lost or o.wrong or o.left
            for each in results.values()
            for o in each
        )
    )


if __name__ == "__main__":
    # or multiprocessing would import this module, and privregret, in each process that it forks
    del __file__
    sys.exit(main())
