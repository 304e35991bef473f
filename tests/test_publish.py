"""Publishing from a notebook: names, atomic files, same bytes twice, findings and numbers."""

import shutil
import subprocess
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import PIL.Image
import pytest
from conftest import refused

from privregret.core import files
from privregret.estimates import Estimate
from privregret.press import manifest, notebook, publish, render, style, text
from privregret.press.findings import SIGNS, UNDECIDED
from privregret.press.papers import PAPERS

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


def test_a_figure_has_a_manifest_entry_and_a_new_run_forgets_the_last_one(root):
    draw()
    find()
    folder = root / "figures" / "hu2021"
    pd.testing.assert_frame_equal(pd.read_csv(folder / "figure-01.csv"), DATA, rtol=1e-11)
    tex = (folder / "figure-01.tex").read_text()
    assert r"{hu2021/figure-01.pdf}" in tex and r"\label{fig:hu2021/figure-01}" in tex
    assert r"$\varepsilon=1$: 100\% of it" in tex  # the epsilon of the figures
    made = manifest.of_notebook(manifest.read(root), "hu2021/one")
    assert made["notebook"]["parameters"] == {"seed": 3, "runs": 2}
    assert {"python", "numpy", "matplotlib"} <= set(made["notebook"]["versions"])
    assert set(made["outputs"]["hu2021/figure-01"]["files"]) == {".pdf", ".png", ".csv", ".tex"}
    notebook.current.published = False
    draw("figure-02")
    whole = manifest.read(root)
    assert set(whole["outputs"]) == {"hu2021/figure-02"}
    assert not whole["notebooks"]["hu2021/one"].keys() & {"findings", "numbers"}


def test_publishing_twice_gives_the_same_bytes_and_a_failed_write_leaves_them(root, monkeypatch):
    draw()
    written = {path: path.read_bytes() for path in (root / "figures").rglob("*.*")}
    pdf, png = (root / f"figures/hu2021/figure-01.{ending}" for ending in ("pdf", "png"))
    assert b"Date" not in pdf.read_bytes() and b"(hu2021/figure-01)" in pdf.read_bytes()
    with PIL.Image.open(png) as picture:  # large enough for slides, as white as the page around it
        assert picture.mode == "P" and picture.width == round(style.COLUMN[0] * style.DPI)
        assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    # what a killed run left goes, and what others write stays
    left, other = (root / folder / ".a.csv.partial-1" for folder in ("figures/hu2021", "data"))
    for path in (left, other):
        files.write(path, b"half")
    notebook.current.published = False
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    draw()
    assert not left.exists() and other.exists()
    monkeypatch.setattr(files.os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        files.write(pdf, b"half")
    assert {path: path.read_bytes() for path in written} == written


def test_only_an_error_fails_at_the_parameters_of_the_notebook(root, monkeypatch):
    error = {"failure": "error", "printed": "It is.", "repair": "Twice.", "stands": "no"}
    assert find(2, "two", **error).verdict == "not reproduced"
    refused(lambda: find(2), "one.toml", "claim.falls", error=text.TextError)
    refused(lambda: find(0.5, **error), "one.toml", "claim.falls", error=text.TextError)
    with monkeypatch.context() as patch:
        patch.setattr(notebook.current, "other", {"runs": 3})
        assert find(2).verdict == "not reproduced"
    monkeypatch.delenv("PRIVREGRET_OUTPUT")  # by hand
    monkeypatch.setattr(publish, "output_root", lambda: root)
    assert find(2).verdict == "not reproduced"


def test_bad_names_and_captions_are_refused_before_anything_is_written(root):
    for key in ("", "Figure 1", "../x", ".x.partial-1", "a..b"):
        refused(partial(draw, key), repr(f"hu2021/{key}"))
    for caption in ("Regret.", f"{HU}: the paper says so.", f"{HU}: $T=4194304$."):
        refused(partial(draw, caption=caption), "caption")
    for column in ("two words", "$x$", "1st", ""):
        refused(partial(draw, data=DATA.assign(**{column: 1.0})), repr(column))
    for macro in ("end", "endGap", "varGamma", "claimsTotal", "hu2021", ""):
        refused(partial(publish.number, macro, 1, ""), repr(macro))
    assert not list(root.rglob("*.*"))


def test_what_rare_runs_decide_has_a_dagger_and_decides_nothing(root):
    frame = pd.DataFrame({"arm": ["a", "b"], "mean": [3.25, 4.5], "heavy": [True, False]})
    columns = {"arm": "arm", "mean": "regret"}
    key = said("table", "table-*", caption=f"{HU}: regret.", columns=columns)
    publish.table(frame, key.replace("*", "a"), formats={"mean": ".1f"})
    publish.table(frame[1:], key.replace("*", "b"))
    publish.table(frame.assign(mean=1 / 3), key.replace("*", "c"))
    a, b, c = ((root / f"figures/hu2021/table-{one}.tex").read_text() for one in "abc")
    assert r"3.2$^\dagger$" in a and r"4.5 \\" in a and a.count("dagger") == 2
    assert "dagger" not in b and r"& 0.333333$^\dagger$ \\" in c
    for bounds in ({"at_most": 9}, {"at_least": 1}, {"between": (0, 9)}):
        assert find(Estimate(3.25, np.inf), macro="huTail", **bounds).verdict == UNDECIDED
    render.render(root)
    assert r"{\huTail}{\ensuremath{3.25^\dagger}}" in (root / "paper/numbers.tex").read_text()
    assert "3.25†" in (root / "figures/findings.md").read_text()


def published_tex(root):
    """Publish figures and tables, narrow and wide, with names as users have them: their TeX."""
    code = r"Takes `many_runs`, `a{b}^c~\d $x$ 5%`, 5% of $\epsilon_1$ & a_b^c~d, US$ #1"
    for key, size in (("narrow", style.COLUMN), ("across", style.PAGE)):
        fig, _ = plt.subplots(figsize=size)
        publish.figure(fig, DATA, said("figure", key, caption=f"{code}: {HU}."))
    names = pd.DataFrame({"my_arm": ["a_b & 5% ~ ^", "US$ #1"], "share": [0.1, -np.inf]})
    key = said("table", "names", caption=f"Names: {HU}.", formats={"share": ".0%"})
    publish.table(names, key, {"my_arm": "my_arm", "share": "share %"})
    many = pd.DataFrame({letter * 12: [0.5, 2.25] for letter in "abcdefghij"})
    publish.table(many, said("table", "many", caption=f"Many: {HU}."), {c: c for c in many})
    words = {"caption": f"Words: {HU}.", "widths": {"my_arm": 0.3}}
    publish.table(names, said("table", "words", **words), {"my_arm": "my_arm", "share": "$x$"})
    return [path.read_text() for path in sorted((root / "figures/hu2021").glob("*.tex"))]


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_what_is_published_typesets_on_slides(root):
    """Pasted into a frame as well as read, and with captions of one's own; nothing sticks out."""
    # which Debian has in two packages
    if subprocess.run(["kpsewhich", "beamer.cls", "pgf.sty"], capture_output=True).returncode:
        pytest.skip("needs beamer and pgf")
    read = [rf"\input{{figures/hu2021/{key}}}" for key in ("across", "many")]
    frames = [f"\\begin{{frame}}\n{one}\n\\end{{frame}}" for one in (*published_tex(root), *read)]
    for caption in ("", r"\newcommand{\privregretcaption}[1]{}"):
        page = rf"\documentclass{{beamer}}\usepackage{{graphicx,booktabs,amssymb}}{caption}"
        page += r"\graphicspath{{figures/}}\begin{document}" + "\n\n".join(frames)
        (root / "page.tex").write_text(page + r"\end{document}")
        command = ["pdflatex", "-halt-on-error", "-interaction=batchmode", "page.tex"]
        done = subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL)
        log = (root / "page.log").read_text(errors="replace")
        assert done.returncode == 0 and r"Overfull \hbox" not in log, log[-2000:]


def test_a_table_is_as_wide_as_it_must_be(root):
    _, many, names, _, words = published_tex(root)
    assert [r"{table*}" in tex for tex in (names, many, words)] == [False, True, True]
    assert r"{@{}p{0.3\linewidth}r@{}}" in words and r"\hspace{0pt}US\$ \#1 & " in words
    # columns of text alone fill the line, but for the space between them
    both = {"caption": f"Both: {HU}.", "widths": {"arm": 0.2, "share": 0.6}}
    publish.table(pd.DataFrame({"arm": ["a"], "share": [1.0]}), said("table", "both", **both))
    form = r"{@{}p{0.23\linewidth}p{0.69\linewidth}@{}}"
    assert form in (root / "figures/hu2021/both.tex").read_text()
    # by its numbers as they are printed
    thirds = pd.DataFrame({letter: [1 / 3] for letter in "abcd"})
    publish.table(thirds, said("table", "thirds", caption=f"Thirds: {HU}."))
    assert r"{table}" in (root / "figures/hu2021/thirds.tex").read_text()
    # wider than a column, but not than a page
    six = pd.DataFrame({letter * 12: [0.5] for letter in "abcdef"})
    publish.table(six, said("table", "six", caption=f"Six: {HU}."))
    assert r"{table*}" in (root / "figures/hu2021/six.tex").read_text()


def test_a_run_with_other_parameters_says_so(root, monkeypatch):
    notebook.current.other = {"runs": [1, 2], "horizon": 100_000}
    shown = []
    monkeypatch.setattr(publish, "get_ipython", lambda: True)
    monkeypatch.setattr(publish, "display", lambda *outputs: shown.append(outputs[-1]))
    draw(caption=f"It falls. Regret of {HU}.")
    caption = f"It rises, as {HU} say: regret. No run."
    publish.table(DATA, said("table", "small", caption=caption, columns={"t": "$t$"}))
    find(macro="huRatio")
    differ = "Parameters differ from those that the text is about"
    assert all(word in shown[0].data for word in (differ, "runs=[1, 2]", "horizon=100000"))
    assert len([s for s in shown if differ in s.data]) == 1
    # without the message, which may not hold
    for name, caption in (("figure-01", f"Regret of {HU}."), ("small", f"Regret. No run. {HU}.")):
        tex = (root / f"figures/hu2021/{name}.tex").read_text()
        assert rf"\privregretcaption{{{caption} {differ}" in tex and r"\texttt{runs=[1, 2]}" in tex
        first, _, rest = caption.rstrip(".").partition(". ")
        assert any(f".</i> {first}." in one.data and rest in one.data for one in shown)
    render.render(root)
    assert differ in (root / "paper/numbers.tex").read_text()


def test_a_finding_is_one_line_with_the_rest_folded_below_it(root, monkeypatch):
    shown = []
    monkeypatch.setattr(publish, "get_ipython", lambda: True)
    monkeypatch.setattr(publish, "display", shown.append)
    for value, limit in ((0.5, "0.5 (at most 1)"), (2.0, "2 (not at most 1)")):
        find(Estimate(value, 0.0), kind="ours")
        line, _, rest = shown[-1].data.partition("</summary>")
        assert line.startswith("<details><summary") and line.endswith(limit)
        assert "\n\n*Says:* Falls" in rest and "\n\n*Criterion:* <= 1" in rest
    find(Estimate(1.0, 0.1))
    assert shown[-1].data.partition("</summary>")[0].endswith("(at most 1?)")
    claim = {"place": "Figure 2", "claim": "It falls.", "quantity": "ratio", "at_most": 1}
    claim |= {"failure": "error", "printed": "p", "repair": "Use two.", "stands": "partly"}
    where = pd.DataFrame({"curve": ["$|x|$", "b"], "measured": [0.5, 2.0]})
    publish.verdicts(said("claim", "of-rows", **claim, rows=["curve"]), where)
    assert all(
        w in shown[-1].data for w in ("2 (not at most 1)", "*Error:* Use two.", "of the worst")
    )
    assert r"| $\vert x\vert $ | 0.5 |" in shown[-1].data


def test_texts_are_filled_and_become_one_line(root):
    texts = dict.fromkeys(("claim", "note", "quantity", "place"), "It is «value».")
    found = find(Estimate(0.25, 0.01), **texts)
    assert {getattr(found, field) for field in texts} == {"It is 0.250."}
    refused(lambda: find(at_most="«value»"), "value", error=text.TextError)
    refused(lambda: draw(caption=f"{HU}: «value»."), "value", error=text.TextError)
    find(**dict.fromkeys(texts, "One\n\n  two\r\nthree"), macro="huRatio")
    publish.number("huOther", 1, "one\ntwo")
    draw(caption=f"One\n\ntwo: {HU}.")
    render.render(root)
    macros = (root / "paper/numbers.tex").read_text().splitlines()
    assert all(line.startswith(("%", r"\newcommand")) for line in macros)
    pages = (root / "figures/findings.md").read_text()
    assert pages.count("One two three") == 4 == pages.count("two")
    assert f"One two: {HU}" in (root / "figures/hu2021/figure-01.tex").read_text()


def test_a_table_shows_what_was_asked_and_keeps_all_numbers(root):
    values = [0.123456789, np.inf, -2, 3e-7, np.nan]
    frame = pd.DataFrame({"k": range(5), "value": values, "hidden": 7})
    key = said("table", "table-1", caption=f"A caption: {HU}.")
    publish.table(frame, key, {"k": "$k$", "value": r"$\epsilon$"}, {"value": ".2g"})
    tex = (root / "figures/hu2021/table-1.tex").read_text()
    shown = "0.12", r"$\infty$", "$-2$", r"$3\cdot 10^{-7}$", r"$k$ & $\varepsilon$", "4 &  "
    assert all(said in tex for said in shown) and "hidden" not in tex
    pd.testing.assert_frame_equal(pd.read_csv(root / "figures/hu2021/table-1.csv"), frame)


def test_what_is_called_before_start_says_so(root, monkeypatch):
    monkeypatch.setattr(notebook, "current", notebook.Running())
    number, verdict = (
        partial(publish.number, "huRatio", 1, ""),
        partial(publish.verdict, "falls", 1),
    )
    for call in (partial(draw, "figure"), find, number, verdict, notebook.end):
        refused(call, "notebook.start", error=RuntimeError)
    assert not list(root.rglob("*.*"))


def test_two_notebooks_or_a_figure_and_a_table_cannot_publish_under_one_name(root, monkeypatch):
    draw()
    publish.number("huRatio", Estimate(0.98279, 0.0022), "one over the other")
    render.render(root)
    line = r"\newcommand{\huRatio}{\ensuremath{0.9828 \pm 0.0022}} % one over the other"
    assert line in (root / "paper/numbers.tex").read_text()
    said("table", "figure-01", caption=f"{HU}.")
    refused(lambda: publish.table(DATA, "figure-01"), "hu2021/figure-01")
    draw()  # a cell may run again
    assert manifest.read(root)["outputs"]["hu2021/figure-01"]["kind"] == "figure"
    monkeypatch.setattr(notebook, "current", notebook.Running("hu2021/two"))
    refused(lambda: publish.number("huRatio", 1, ""), "huRatio", "hu2021/one")
    refused(draw, "hu2021/figure-01", "hu2021/one")
    assert pd.read_csv(root / "figures/hu2021/figure-01.csv").regret[2] == 2.5
    publish.number("huOther", 1, "what was refused is no beginning")


def test_a_finding_names_its_figure_and_a_macro_its_row_or_the_one_that_decides(root):
    draw()
    assert find().figure == ""
    assert find(claim="Falls.", figure="other").figure == "hu2021/other"
    made = manifest.read(root)["notebooks"]["hu2021/one"]["findings"]
    assert [row["claim"] for row in made] == ["Falls."]
    claim = {"place": "Figure 1", "claim": "It is small.", "quantity": "ratio", "at_most": 1}
    macros = {"huFirst": {"K": 1}, "huWorst": {}}
    said("claim", "small", **claim, rows=["K"], macro=macros)
    ratios = pd.DataFrame({"K": [1, 2, 3], "measured": [0.1, 0.9, 0.5]})
    assert publish.verdicts("small", ratios).measured.value == 0.9
    numbers = manifest.read(root)["notebooks"]["hu2021/one"]["numbers"]
    assert {name: numbers[name]["value"] for name in macros} == {"huFirst": 0.1, "huWorst": 0.9}
    for frame, at in ((ratios, 4), (ratios.assign(K=[1, 2, 2]), 2)):
        said("claim", "small", **claim, rows=["K"], macro={"huNone": {"K": at}})
        refused(partial(publish.verdicts, "small", frame), "huNone", error=text.TextError)
    assert "huNone" not in str(manifest.read(root))


def test_a_number_beyond_what_is_possible_is_refused_and_not_published(root):
    """What fails by more than a theorem allows is a wrong study."""
    error = {"failure": "error", "stands": "no", "printed": "one", "repair": "two"}
    failing = error | {"at_most": 1, "but_at_most": 2}
    for measured in (Estimate(2 * (1 + 1e-12)), Estimate(2.1, 0.05)):
        assert find(measured, "most", **failing).verdict == "not reproduced"
    low = error | {"at_least": 1, "but_at_least": 0.5}
    assert find(Estimate(0.75), "least", **low).verdict == "not reproduced"
    wrong = [(2.43, failing, "but_at_most", "2"), (0.25, low, "but_at_least", "0.5")]
    for value, entry, *shown in wrong:
        call = partial(find, Estimate(value, 0.01), "wrong", **entry)
        refused(call, "claim.wrong", value, *shown, error=text.TextError)
    findings = manifest.read(root)["notebooks"]["hu2021/one"]["findings"]
    assert [row["key"] for row in findings] == ["most", "least"]
