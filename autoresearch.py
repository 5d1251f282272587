"""Try changes of settings on evaluation tasks, and keep only real improvements: `harness autoresearch`.

python autoresearch.py --tasks T_B,T_D,T_E --experiments 10 --proposer hillclimb
"""

from harness.cli.autoresearch import commands
from harness.cli.groups import invoke
from harness.cli.terminal import run


def main() -> None:
    """Run the program and exit."""
    run(lambda: invoke(commands, "autoresearch"))


if __name__ == "__main__":
    main()
