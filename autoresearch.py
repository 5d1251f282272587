"""Tries changes of settings on evaluation tasks, and keeps only what is really better: `harness autoresearch`.

python autoresearch.py --tasks T_B,T_D,T_E --experiments 10 --proposer hillclimb
"""

from harness.cli.autoresearch import app
from harness.cli.groups import invoke
from harness.terminal import run


def main() -> None:
    """Run the program and exit."""
    run(lambda: invoke(app, "autoresearch"))


if __name__ == "__main__":
    main()
