"""Writers that are killed in the middle of their work."""

import os
import signal
import subprocess


def kill_writer(victims: "subprocess.Popen[str]", order: str, after: int) -> set[int]:
    """Send an order to the process that starts writers, kill the writer after `after` rows; return all it has
    acknowledged.
    """
    assert victims.stdin is not None
    assert victims.stdout is not None
    victims.stdin.write(f"{order}\n")
    victims.stdin.flush()
    victim, killed = 0, False
    acknowledged: set[int] = set()
    for line in victims.stdout:
        match line.split():
            case ["pid", number]:
                victim = int(number)
            case ["dead", number]:
                assert int(number) == signal.SIGKILL
                return acknowledged
            case [number]:
                acknowledged.add(int(number))
        if victim and not killed and len(acknowledged) >= after:
            os.kill(victim, signal.SIGKILL)
            killed = True
    raise AssertionError("the process of the victims has ended")
