"""Helpers of all benchmarks."""

import pytest

from benchmarks.rows import entry_point
from harness.errors import InvalidInput


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (
            FileNotFoundError(2, "No such file or directory", "pairs.jsonl"),
            "error: [Errno 2] No such file or directory: 'pairs.jsonl'",
        ),
        (InvalidInput("no such engine"), "error: no such engine"),
    ],
)
def test_a_benchmark_ends_with_one_line(error: BaseException, code: object) -> None:
    """On Ctrl-C, without its data, and where the program refuses."""

    @entry_point
    def main() -> None:
        raise error

    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code


def test_a_defect_of_a_benchmark_keeps_its_traceback() -> None:
    """Nothing else is hidden."""

    @entry_point
    def main() -> None:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        main()
