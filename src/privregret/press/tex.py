"""Findings, verdicts and numbers of the manifest in TeX, and what captions need to be safe in it."""

import re

import numpy as np
import pandas as pd

from privregret.press import findings as fnd
from privregret.press.numbers import measured, tex_number, value
from privregret.press.papers import PAPERS

# Colours where xcolor is loaded. A document that wants them otherwise defines these commands first.
COMMANDS = r"""
\providecommand{\agrees}[1]{\textit{\ifcsname colorlet\endcsname\color{green!40!black}\fi #1}}
\providecommand{\disagrees}[1]{\textbf{\ifcsname colorlet\endcsname\color{red!75!black}\fi #1}}
\providecommand{\undecided}[1]{\textbf{\ifcsname colorlet\endcsname\color{orange!80!black}\fi #1}}
\providecommand{\finding}[4]{\par\noindent\hangindent=1em \textbf{#1.} #2 \textit{#3}%
  \unskip\nobreak\hfill\penalty50\hskip1em\null\nobreak\hfill\mbox{#4}\par}
""".lstrip()
# Of a cell of running text, whose \\ must stay the row's end; the space lets a first word be hyphenated.
RAGGED = r"\rightskip0pt plus1fil\hspace{0pt}"

# A list that breaks across columns and pages.
FINDINGS = r"""
% Generated. Needs amssymb; colours with xcolor. Not a float: it breaks across columns and pages.
<commands>\begingroup\raggedright\scriptsize
\makeatletter\def\@captype{table}\makeatother
\caption{Findings on <about>: what is said, \textit{what was measured} (what would have agreed), and the verdict. <rest>}
\label{tab:<key>/findings}\smallskip
<findings>
\endgroup
""".lstrip()

VERDICTS = r"""
% Generated. Needs booktabs; colours with xcolor.
<commands>\begin{table*}[htbp]
\centering\footnotesize\setlength{\tabcolsep}{3pt}
\caption{All verdicts. <caption>}
\label{tab:verdicts}
\begin{tabular}{@{}p{0.44\linewidth}*{9}{r}@{}}
\toprule
 & \multicolumn{3}{c}{claims} & \multicolumn{3}{c}{steps} & \multicolumn{3}{c}{ours} \\
\cmidrule(lr){2-4}\cmidrule(lr){5-7}\cmidrule(l){8-10}
paper & yes & no & ? & yes & no & ? & yes & no & ? \\
<counts>
\bottomrule
\end{tabular}

<failed>\end{table*}
""".lstrip()

FAILED = r"""
\medskip
\begin{tabular}{@{}p{0.19\linewidth}p{0.43\linewidth}p{0.33\linewidth}@{}}
\toprule \disagrees{not reproduced} & what is said & measured (agrees if) \\ \midrule
<rows>
\bottomrule
\end{tabular}
""".lstrip()


def one_epsilon(text: str) -> str:
    r"""TeX with the epsilon that figures have: their fonts know no other than `\varepsilon`."""
    return text.replace(r"\epsilon", r"\varepsilon")


def tex_escape(text: str) -> str:
    r"""Text with TeX's formulas, its per cent and other signs made harmless, and `code` as such.

    Examples
    --------
    >>> print(tex_escape(r"50% of $\epsilon$, `runs`"))
    50\% of $\varepsilon$, \texttt{runs}
    """
    plain = re.sub(r"(?<!\\)([%&#])", r"\\\1", one_epsilon(text))
    return re.sub("(?<!`)`([^`']+)`", r"\\texttt{\1}", plain)


def macros(manifest: dict) -> str:
    """`paper/numbers.tex`: a macro for each published number, with its error in a comment."""
    published = [pair for e in manifest["notebooks"].values() for pair in e.get("numbers", {}).items()]
    lines = [
        rf"\newcommand{{\{name}}}{{\ensuremath{{{tex_number(value(entry))}}}}}"
        f" % {entry['meaning']}, {measured(entry)}"
        for name, entry in sorted(published)
    ]
    return "\n".join(["% Generated; do not edit.", *lines]) + "\n"


def findings(key: str, frame: pd.DataFrame) -> str:
    """`findings.tex` of one paper, from its rows of `render.findings_frame`."""
    return _filled(
        FINDINGS,
        key=key,
        about=PAPERS[key].cited if key in PAPERS else "what goes beyond the five papers",
        rest="What is not a claim of the paper is marked as a step of a proof or as ours.",
        findings="\n".join(map(_finding, frame.to_dict("records"))),
    )


def verdicts(frame: pd.DataFrame) -> str:
    """`verdicts.tex`: how many findings have which verdict, and the claims that do not reproduce."""
    beyond = frame[~frame.paper.isin([*PAPERS])]
    groups = [(PAPERS[key].cited, frame[frame.paper == key]) for key in PAPERS]
    groups = [group for group in groups if len(group[1])]
    counts = [_counts(*group) for group in [*groups, ("what goes beyond the papers", beyond)]]
    counts = "\n".join([r"\midrule " + counts[0], *counts[1:], r"\midrule " + _counts("all", frame)])
    failed = frame[frame.verdict == fnd.NOT_REPRODUCED]
    order = [[*PAPERS, key].index(key) for key in failed.paper]
    rows = failed.iloc[np.argsort(order, kind="stable")].to_dict("records")
    return _filled(
        VERDICTS,
        caption="Yes: the claim is reproduced, the step of a proof or what is ours holds. No: it is "
        "not reproduced, does not hold. ?: the error of the measured number leaves it open. Below, "
        "each claim that does not reproduce.",
        counts=counts,
        failed=_filled(FAILED, rows="\n".join(map(_failed, rows))) if rows else "",
    )


def _filled(template, **parts):
    for name, text in {"commands": COMMANDS, **parts}.items():
        template = template.replace(f"<{name}>", text)
    return template


def _counts(name, frame):
    count = frame.groupby(["kind", "verdict"]).size()
    cells = [str(count.get((kind, v), 0)) for kind in fnd.KINDS for v in fnd.VERDICTS[kind]]
    return RAGGED + " & ".join([name, *cells]) + r" \\"


def _number(entry):
    criterion = re.sub(r"\S+e[+-]\d+", lambda m: f"${tex_number(m[0])}$", entry["criterion"])
    return f"{entry['quantity']}: {measured(entry, tex=True)} ({criterion})"


def _finding(entry):
    number = f"{_number(entry)}."
    kind = "" if entry["kind"] == fnd.CLAIM else f" ({entry['kind']})"
    colour = dict(zip(fnd.VERDICTS[entry["kind"]], ("agrees", "disagrees", "undecided"), strict=True))
    verdict = rf"\{colour[entry['verdict']]}{{{entry['verdict']}}}"
    cells = (entry["place"] + kind, entry["claim"], number, verdict)
    return r"\finding" + "".join(f"{{{tex_escape(cell)}}}" for cell in cells)


def _failed(entry):
    cited = PAPERS[entry["paper"]].cited if entry["paper"] in PAPERS else entry["paper"]
    cells = (f"{cited}, {entry['place']}", entry["claim"], _number(entry))
    return " & ".join(RAGGED + tex_escape(cell) for cell in cells) + r" \\"
