"""What a log of LaTeX complains of that must not be: `python3 check_log.py main.log` ends with 1
and says it."""

import re
import sys
from pathlib import Path

WIDEST = 5.0  # points by which a line may stick out


def complaints(log: str) -> list[str]:
    """One line for each undefined reference, citation or command, repeated label and line that
    is too wide."""
    log = re.sub(r"(?<=.{79})\n", "", log)  # LaTeX breaks its lines there
    found = re.findall(r"^(?:LaTeX|Package \w+) Warning: (.*(?:undefined|multiply).*)", log, re.M)
    wide = re.findall(r"^(Overfull \\[hv]box \(([\d.]+)pt too (?:wide|high).*)", log, re.M)
    return found + [line for line, points in wide if float(points) > WIDEST]


if __name__ == "__main__":
    wrong = complaints(Path(sys.argv[1]).read_text(errors="replace"))
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    sys.exit(bool(wrong))
