"""Publishing from a notebook: names, atomic files, same bytes twice, findings and numbers."""

import shutil
import subprocess

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import PIL.Image
import pytest
from conftest import refused

from privregret.core import files
from privregret.estimates import Estimate
from privregret.press import notebook, publish, record, render, style, tex, text
from privregret.press.findings import SIGNS, UNDECIDED
from privregret.press.papers import PAPERS


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty project to publish into, and a notebook that is running."""
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(tmp_path))
    running = notebook.Running("hu2021/one", {"seed": 3, "runs": 2})
    monkeypatch.setattr(notebook, "current", running)
    return tmp_path


DATA = pd.DataFrame({"t": [1, 2, 3], "regret": [0.1, 1 / 3, 2.5]})


HU = PAPERS["hu2021"].cited


def said(section, key, **entry):
    """The key, once it stands with this entry in the texts of the notebook that runs."""
    notebook.current.texts.setdefault(section, {})[key] = entry
    return key


def draw(key="figure-01", data=DATA, caption=rf"{HU}: regret at $\epsilon=1$: 100% of it."):
    fig, ax = plt.subplots()
    ax.plot(data.t, data.regret, label="$x$")
    ax.legend()
    publish.figure(fig, data, said("figure", key, caption=caption))


def find(value=0.5, key="falls", **entry):
    claim = {"place": "Figure 1", "claim": "Falls & falls.", "quantity": "ratio"}
    claim |= entry if {*SIGNS} & {*entry} else {"at_most": 1} | entry
    measured = value if isinstance(value, Estimate) else Estimate(value, 0.01)
    return publish.verdict(said("claim", key, **claim), measured)


def test_a_figure_is_four_files_and_a_manifest_entry(root):
    draw()
    folder = root / "figures" / "hu2021"
    assert (folder / "figure-01.pdf").read_bytes().startswith(b"%PDF")
    assert (folder / "figure-01.png").read_bytes().startswith(b"\x89PNG")
    pd.testing.assert_frame_equal(pd.read_csv(folder / "figure-01.csv"), DATA, rtol=1e-11)
    tex = (folder / "figure-01.tex").read_text()
    assert r"{hu2021/figure-01.pdf}" in tex and r"\begin{figure}[htbp]" in tex
    assert r"$\varepsilon=1$: 100\% of it" in tex  # the epsilon of the figures
    assert r"\label{fig:hu2021/figure-01}" in tex
    made = record.of_notebook(record.read(root), "hu2021/one")
    assert made["notebook"]["parameters"] == {"seed": 3, "runs": 2}
    assert {"python", "numpy", "matplotlib"} <= set(made["notebook"]["versions"])
    assert set(made["outputs"]["hu2021/figure-01"]["files"]) == {".pdf", ".png", ".csv", ".tex"}


@pytest.mark.parametrize("date", ["0", "1700000000"])
def test_publishing_twice_gives_the_same_bytes(root, monkeypatch, date):
    draw()
    written = {path: path.read_bytes() for path in (root / "figures").rglob("*.*")}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", date)
    draw()
    assert {path: path.read_bytes() for path in written} == written
    pdf = (root / "figures/hu2021/figure-01.pdf").read_bytes()
    assert b"Date" not in pdf and b"(hu2021/figure-01)" in pdf


def test_a_failed_write_leaves_the_old_file(root, monkeypatch):
    draw()
    path = root / "figures/hu2021/figure-01.csv"
    old = path.read_bytes()

    def fail(*_):
        raise OSError("ENOSPC")

    monkeypatch.setattr(files.os, "replace", fail)
    refused(lambda: files.write(path, b"half"), "ENOSPC", error=OSError)
    assert path.read_bytes() == old


def test_only_an_error_fails_at_the_parameters_of_the_notebook(root, monkeypatch):
    error = {"failure": "error", "printed": "It is.", "repair": "Twice.", "stands": "no"}
    assert find(2, "two", **error).verdict == "not reproduced"
    refused(lambda: find(2), "one.toml", "claim.falls", error=text.TextError)
    refused(lambda: find(0.5, **error), "one.toml", "claim.falls", error=text.TextError)
    # a reader's other parameters, or a run by hand
    with monkeypatch.context() as patch:
        patch.setattr(notebook.current, "other", {"runs": 3})
        assert find(2).verdict == "not reproduced"
    monkeypatch.delenv("PRIVREGRET_OUTPUT")
    monkeypatch.setattr(publish, "output_root", lambda: root)
    assert find(2).verdict == "not reproduced"


@pytest.mark.parametrize("key", ["", "Figure 1", "../x", "a/b", "..", ".x.partial-1", "a..b"])
def test_bad_keys_are_refused(root, key):
    refused(lambda: draw(key), repr(f"hu2021/{key}"), error=ValueError)
    assert not list((root / "figures").rglob("*.pdf"))


@pytest.mark.parametrize("caption", ["Regret.", f"{HU}: the paper says so.", f"{HU}: $T=4194304$."])
def test_a_caption_stands_alone(root, caption):
    refused(lambda: draw(caption=caption), "caption", error=ValueError)
    assert not (root / "figures").exists()


def test_a_mean_that_rare_runs_decide_has_a_dagger(root):
    frame = pd.DataFrame({"arm": ["a", "b"], "mean": [3.25, 4.5], "heavy": [True, False]})
    columns = {"arm": "arm", "mean": "regret"}
    key = said("table", "table-*", caption=f"{HU}: regret.", columns=columns)
    publish.table(frame, key.replace("*", "a"), formats={"mean": ".1f"})
    tex = (root / "figures" / "hu2021" / "table-a.tex").read_text()
    assert r"3.2$^\dagger$" in tex and r"4.5 \\" in tex and tex.count("dagger") == 2
    publish.table(frame[1:], key.replace("*", "b"))
    assert "dagger" not in (root / "figures" / "hu2021" / "table-b.tex").read_text()


def test_a_number_of_unknown_error_has_a_dagger_and_decides_nothing(root):
    mean = Estimate(3.25, np.inf)
    for bounds in ({"at_most": 9}, {"at_least": 1}, {"between": (0, 9)}):
        assert find(mean, macro="huTail", **bounds).verdict == UNDECIDED
    render.render(root)
    macros = (root / "paper/numbers.tex").read_text()
    assert r"{\huTail}{\ensuremath{3.25^\dagger}}" in macros
    assert "3.25†" in (root / "figures/findings.md").read_text()


def test_integers():
    assert [publish.integer(n) for n in (50, 4096, 20_000, 10**6, 2**22)] == [
        "50", "4096", r"20\,000", "10^{6}", "2^{22}",
    ]  # fmt: skip
    values = [0.05, [0.25, 2.5], 1e-7, 20_000.5, -20_000, np.inf, np.int64(2**22), 1e6]
    assert [text.fill("«x:tex»", {"x": value}, {}) for value in values] == [
        "0.05", "0.25, 2.5", "10^{-7}", r"20\,000.5", r"-20\,000", r"\infty", "2^{22}", "10^{6}",
    ]  # fmt: skip


def test_a_picture_has_few_colours_and_is_large_enough_for_slides(root):
    draw()
    with PIL.Image.open(root / "figures/hu2021/figure-01.png") as picture:
        assert picture.mode == "P" and picture.width == round(style.COLUMN[0] * style.DPI)
        # as white as the page around it
        assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


CODE = r"Takes `many_runs` runs, `a{b}^c~\d $x$ 5%`, 5% of $\epsilon_1$ & a_b^c~d, \_, US$ #1."


def test_code_in_a_caption_compiles(tmp_path):
    escaped = tex.tex_escape(CODE)
    assert r"\texttt{many\_runs}" in escaped and r"5\% of $\varepsilon_1$ \& a\_b" in escaped
    if not shutil.which("pdflatex"):
        pytest.skip("needs pdflatex")
    typeset(tmp_path, "article", escaped)


def typeset(folder, kind, body, preamble=""):
    """Run pdflatex on a document of this class, which has no error and sticks out nowhere."""
    packages = r"\usepackage{graphicx,booktabs,amssymb}\graphicspath{{figures/}}"
    page = rf"\documentclass{kind if kind[0] == '[' else f'{{{kind}}}'}{packages}{preamble}"
    (folder / "page.tex").write_text(f"{page}\\begin{{document}}{body}\\end{{document}}")
    command = ["pdflatex", "-halt-on-error", "-interaction=batchmode", "page.tex"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL)
    log = (folder / "page.log").read_text(errors="replace")
    assert done.returncode == 0 and r"Overfull \hbox" not in log, log[-2000:]


def published_tex(root):
    """Publish figures and tables, narrow and wide, with names as users have them: their TeX."""
    for key, size in (("narrow", style.COLUMN), ("across", style.PAGE)):
        fig, _ = plt.subplots(figsize=size)
        publish.figure(fig, DATA, said("figure", key, caption=f"Flat in $x_1$: {HU}."))
    names = pd.DataFrame({"my_arm": ["a_b & 5% ~ ^", "US$ #1"], "share": [0.1, -np.inf]})
    key = said("table", "names", caption=f"Names: {HU}.", formats={"share": ".0%"})
    publish.table(names, key, {"my_arm": "my_arm", "share": "share %"})
    many = pd.DataFrame({letter * 12: [0.5, 2.25] for letter in "abcdefghij"})
    publish.table(many, said("table", "many", caption=f"Many: {HU}."), {c: c for c in many})
    words = {"caption": f"Words: {HU}.", "widths": {"my_arm": 0.3}}
    publish.table(names, said("table", "words", **words), {"my_arm": "my_arm", "share": "$x$"})
    return [path.read_text() for path in sorted((root / "figures/hu2021").glob("*.tex"))]


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
@pytest.mark.parametrize("kind", ["article", "[twocolumn]{article}", "beamer"])
def test_what_is_published_typesets_on_pages_and_slides(root, kind):
    of_class = "beamer.cls" if kind == "beamer" else "article.cls"
    if not subprocess.run(["kpsewhich", of_class], capture_output=True).stdout:
        pytest.skip(f"needs {of_class}")
    texts = published_tex(root)
    if kind == "beamer":  # pasted into a frame, as well as read
        read = [rf"\input{{figures/hu2021/{key}}}" for key in ("across", "many")]
        texts = [f"\\begin{{frame}}\n{one}\n\\end{{frame}}\n" for one in (*texts, *read)]
    typeset(root, kind, "\n\n".join(texts))
    if kind == "article":
        typeset(root, kind, "\n\n".join(texts), r"\newcommand{\privregretcaption}[1]{}")


@pytest.mark.skipif(not shutil.which("pandoc"), reason="needs pandoc")
def test_pandoc_keeps_tables(root):
    page = "\n".join(published_tex(root))
    done = subprocess.run(
        ["pandoc", "-f", "latex", "-t", "plain"], input=page, capture_output=True, text=True
    )
    assert all(word in done.stdout for word in ("Names:", "US$ #1", "10%", "2.25", "my_arm"))
    assert "plus" not in done.stdout and "linewidth" not in done.stdout


def test_a_table_is_as_wide_as_it_must_be(root):
    starred = {
        tex.split("tab:hu2021/")[1].split("}")[0]: r"{table*}" in tex
        for tex in published_tex(root)
        if "tab:" in tex
    }
    assert starred == {"names": False, "many": True, "words": True}


def test_a_run_with_other_parameters_says_so(root, monkeypatch):
    notebook.current.other = {"runs": [1, 2], "horizon": 100_000}
    shown = []
    monkeypatch.setattr(publish, "get_ipython", lambda: True)
    monkeypatch.setattr(publish, "display", lambda *outputs: shown.append(outputs[-1]))
    draw()
    key = said("table", "small", caption=f"Small: {HU}.", columns={"t": "$t$"})
    publish.table(DATA, key)
    find(macro="huRatio")
    differ = "Parameters differ from those that the text is about"
    assert all(word in shown[0].data for word in (differ, "runs=[1, 2]", "horizon=100000"))
    assert len([s for s in shown if differ in s.data]) == 3
    for name in ("figure-01", "small"):
        tex = (root / f"figures/hu2021/{name}.tex").read_text()
        assert differ in tex and r"\texttt{runs=[1, 2]}" in tex
    render.render(root)
    assert differ in (root / "paper/numbers.tex").read_text()
    notebook.current.other = {}
    draw()
    assert differ not in (root / "figures/hu2021/figure-01.tex").read_text()


def test_a_value_fills_the_texts_of_its_finding_only(root):
    texts = dict.fromkeys(("claim", "note", "quantity", "place"), "It is «value».")
    found = find(Estimate(0.25, 0.01), **texts)
    assert {getattr(found, field) for field in texts} == {"It is 0.250."}
    refused(lambda: find(at_most="«value»"), "value", error=text.TextError)
    refused(lambda: draw(caption=f"{HU}: «value»."), "value", error=text.TextError)


def test_a_text_of_several_lines_is_one_line(root):
    lines = dict.fromkeys(("place", "claim", "quantity", "note"), "One\n\n  two\r\nthree")
    find(**lines, macro="huRatio")
    publish.number("huOther", 1, "one\ntwo")
    draw(caption=f"One\n\ntwo: {HU}.")
    render.render(root)
    macros = (root / "paper/numbers.tex").read_text().splitlines()
    assert all(line.startswith(("%", r"\newcommand")) for line in macros)
    pages = (root / "figures/findings.md").read_text()
    assert pages.count("One two three") == 4 == pages.count("two")
    assert f"One two: {HU}" in (root / "figures/hu2021/figure-01.tex").read_text()


@pytest.mark.parametrize("name", ["end", "par", "input", "endGap", "varGamma", "claimsTotal", ""])
def test_macros_of_tex_and_of_the_counts_are_refused(root, name):
    refused(lambda: publish.number(name, 1, ""), repr(name), error=ValueError)


def test_a_table_shows_what_was_asked_and_keeps_all_numbers(root):
    values = [0.123456789, np.inf, -2, 3e-7]
    frame = pd.DataFrame({"k": range(4), "value": values, "hidden": 7})
    columns = {"k": "$k$", "value": r"$\epsilon$"}
    key = said("table", "table-1", caption=f"A caption: {HU}.")
    publish.table(frame, key, columns, {"value": ".2g"})
    tex = (root / "figures/hu2021/table-1.tex").read_text()
    assert all(said in tex for said in ("0.12", r"$\infty$", "$-2$", r"$3\cdot 10^{-7}$"))
    assert "hidden" not in tex
    assert r"$k$ & $\varepsilon$" in tex and r"\toprule" in tex
    pd.testing.assert_frame_equal(pd.read_csv(root / "figures/hu2021/table-1.csv"), frame)


@pytest.mark.parametrize("column", ["two words", "share %", "$x$", "1st", ""])
def test_a_csv_has_plain_headers(root, column):
    refused(lambda: draw(data=DATA.assign(**{column: 1.0})), repr(column), error=ValueError)


def test_numbers_become_macros_once(root, monkeypatch):
    publish.number("huRatio", Estimate(0.98279, 0.0022), "one over the other")
    render.render(root)
    line = r"\newcommand{\huRatio}{\ensuremath{0.9828 \pm 0.0022}} % one over the other"
    assert line in (root / "paper/numbers.tex").read_text()
    refused(lambda: publish.number("hu2021", 1, ""), "'hu2021'", error=ValueError)
    monkeypatch.setattr(notebook, "current", notebook.Running("hu2021/two"))
    refused(lambda: publish.number("huRatio", 1, ""), "huRatio", "hu2021/one", error=ValueError)
    publish.number("huOther", 1, "what was refused is no beginning")


def test_two_notebooks_cannot_publish_under_one_name(root, monkeypatch):
    draw()
    monkeypatch.setattr(notebook, "current", notebook.Running("hu2021/two"))
    refused(draw, "hu2021/figure-01", "hu2021/one", error=ValueError)
    assert pd.read_csv(root / "figures/hu2021/figure-01.csv").regret[2] == 2.5


def test_a_key_is_of_a_figure_or_of_a_table(root):
    draw()
    said("table", "figure-01", caption=f"{HU}.")
    refused(lambda: publish.table(DATA, "figure-01"), "hu2021/figure-01", error=ValueError)
    assert record.read(root)["outputs"]["hu2021/figure-01"]["kind"] == "figure"
    draw()  # a cell may run again


def test_a_finding_names_its_figure_and_becomes_a_macro(root):
    draw()
    assert find().figure == ""
    assert find(macro="huRatio", claim="Falls.", figure="other").figure == "hu2021/other"
    made = record.read(root)["notebooks"]["hu2021/one"]
    assert [row["claim"] for row in made["findings"]] == ["Falls."]
    assert made["numbers"]["huRatio"]["value"] == 0.5


def test_macros_of_a_finding_with_rows_name_a_row_or_the_one_that_decides(root):
    claim = {"place": "Figure 1", "claim": "It is small.", "quantity": "ratio", "at_most": 1}
    macros = {"huFirst": {"K": 1}, "huWorst": {}}
    said("claim", "small", **claim, rows=["K"], macro=macros)
    ratios = pd.DataFrame({"K": [1, 2, 3], "measured": [0.1, 0.9, 0.5]})
    assert publish.verdicts("small", ratios).measured.value == 0.9
    numbers = record.read(root)["notebooks"]["hu2021/one"]["numbers"]
    assert {name: numbers[name]["value"] for name in macros} == {"huFirst": 0.1, "huWorst": 0.9}
    said("claim", "small", **claim, rows=["K"], macro={"huNone": {"K": 4}})
    refused(lambda: publish.verdicts("small", ratios), "huNone", error=text.TextError)


def test_a_new_run_of_a_notebook_forgets_its_last_one(root):
    draw()
    find()
    notebook.current.published = False
    draw("figure-02")
    manifest = record.read(root)
    assert set(manifest["outputs"]) == {"hu2021/figure-02"}
    assert not manifest["notebooks"]["hu2021/one"].keys() & {"findings", "numbers"}


def test_what_a_killed_run_left_goes_and_what_others_write_stays(root):
    left, other = (
        root / "figures" / "hu2021" / ".a.csv.partial-1",
        root / "data" / ".a.csv.partial-1",
    )
    for path in (left, other):
        path.parent.mkdir(parents=True)
        path.write_text("half")
    draw()
    assert not left.exists() and other.exists()


def test_columns_of_running_text_have_a_width(root):
    frame = pd.DataFrame({"why": ["one, two", "three"], "x": [1.5, 2.5]})
    columns, widths = {"why": "Why", "x": "$x$"}, {"why": 0.3}
    entry = {"caption": f"Words: {HU}.", "columns": columns, "formats": {"x": ".1f"}}
    publish.table(frame, said("table", "text", **entry, widths=widths))
    tex = (root / "figures/hu2021/text.tex").read_text()
    assert r"{@{}p{0.3\linewidth}r@{}}" in tex and r"\hspace{0pt}one, two & 1.5 \\" in tex
    assert tex.count(r"\addlinespace") == 1  # between the rows only
    assert pd.read_csv(root / "figures/hu2021/text.csv").why.tolist() == ["one, two", "three"]


def test_a_finding_names_its_macros(root):
    find(macro="huRatio")
    render.render(root)
    assert r"`\huRatio`" in (root / "figures/findings.md").read_text()
