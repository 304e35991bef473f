"""What a log of LaTeX reports that must not be: `python3 check_log.py main.log` prints it and exits
with 1."""

import re
import sys
from pathlib import Path

WIDEST = 5.0  # points by which a line may stick out
SMALLEST = 86  # per cent of its size at which a figure's type of 7 pt is 6 pt


def complaints(log: str) -> list[str]:
    """List undefined references, citations and commands, repeated labels, and what is too wide, too
    large for its page or too small to read.

    Examples
    --------
    >>> complaints("Figure hu2021/theorem-6.pdf at 100 per cent")
    []
    """
    log = re.sub(r"(?<=.{79})\n", "", log)  # LaTeX breaks its lines there
    found = re.findall(r"^(?:LaTeX|Package \w+) Warning: (.*(?:undefined|multiply).*)", log, re.M)
    wide = re.findall(r"^(Overfull \\[hv]box \(([\d.]+)pt too (?:wide|high).*)", log, re.M)
    found += re.findall(r"^LaTeX Warning: (Float too large.*)", log, re.M)
    figures = re.findall(r"^(Figure \S+ at (\d+) per cent)", log, re.M)
    found += [line for line, points in wide if float(points) > WIDEST]
    return found + [line for line, size in figures if int(size) < SMALLEST]


if __name__ == "__main__":
    wrong = complaints(Path(sys.argv[1]).read_text(errors="replace"))
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    sys.exit(bool(wrong))
