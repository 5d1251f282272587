"""Search by words: BM25 over the latest rows of any process."""

from collections.abc import Sequence
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.chat.word_index import WordIndex
from harness.core.entries import Outline
from harness.core.tables import MemoryColumns


class Rows:
    """Outlines as a store returns them, newest first; `asked` holds the starting numbers."""

    def __init__(self) -> None:
        self.rows: list[Outline] = []
        self.asked: list[int] = []

    def add(self, key: str, text: str, *, session: str = "s", at: float | None = None, place: int = 0) -> None:
        """Write or rewrite a row."""
        number = self.rows[-1].number + 1 if self.rows else 1
        self.rows = [row for row in self.rows if row.key != key]
        own = MemoryColumns("conversations", "exchange", "t", session, 0, place)
        self.rows.append(Outline(number, key, text, float(number) if at is None else at, inf, own))

    def __call__(self, after: int, limit: int) -> Sequence[Outline]:
        """Return the rows newer than `after`."""
        self.asked.append(after)
        return [row for row in self.rows if row.number > after][::-1][:limit]


def keys(index: WordIndex, text: str, k: int = 10) -> list[str]:
    """Return the keys found, best first."""
    return [each.key for each in index.search({text: 1.0}, k)]


def test_rare_words_weigh_more_than_common_ones() -> None:
    """Words are compared by their stems."""
    rows = Rows()
    rows.add("a", "the ferrets slept")
    for number in range(5):
        rows.add(f"b{number}", "a dog slept")
    index = WordIndex(rows)
    assert keys(index, "did the ferret sleep")[0] == "a"
    assert keys(index, "zebra") == []
    index.forget()


def test_later_rows_are_found_without_reading_all_again() -> None:
    """Only new rows and a few before them are read."""
    rows = Rows()
    for number in range(300):
        rows.add(f"a{number}", "dog")
    index = WordIndex(rows)
    assert keys(index, "ferret") == []
    rows.add("b", "ferret")
    assert keys(index, "ferret") == ["b"]
    assert rows.asked == [0, 200]
    index.forget()


def test_the_last_text_of_a_rewritten_row_counts() -> None:
    """The old text no longer matches."""
    rows = Rows()
    rows.add("a", "ferret")
    rows.add("b", "dog")
    index = WordIndex(rows)
    assert keys(index, "ferret") == ["a"]
    rows.add("a", "badger")
    assert keys(index, "ferret") == []
    assert keys(index, "badger") == ["a"]
    index.forget()


def test_a_score_is_a_share_of_the_words_total_weight() -> None:
    """All words score about 1, half of them half."""
    rows = Rows()
    for number in range(50):
        rows.add(f"c{number}", "something else entirely")
    rows.add("both", "ferret badger words")
    rows.add("one", "ferret zebra words")
    index = WordIndex(rows)
    found = {each.key: each.words for each in index.search({"ferret badger": 1.0}, 10)}
    assert 0.7 < found["both"] < 1.5
    assert 0.2 < found["one"] < 0.6
    index.forget()


def test_words_have_the_given_weights() -> None:
    """Words of earlier messages count less than those of the question."""
    rows = Rows()
    rows.add("asked", "ferret food")
    rows.add("before", "badger food")
    for number in range(10):
        rows.add(f"c{number}", "something else")
    index = WordIndex(rows)
    found = index.search({"ferret": 1.0, "badger": 0.2}, 10)
    assert [each.key for each in found] == ["asked", "before"]
    assert found[1].words < 0.3 * found[0].words
    index.forget()


def test_the_previous_memory_is_known_by_session() -> None:
    """In order of time, in any order of writing; the first has none."""
    rows = Rows()
    rows.add("a2", "two", at=2)
    rows.add("b1", "one", session="other", at=1)
    rows.add("a1", "one", at=1)
    index = WordIndex(rows)
    keys(index, "one")
    assert index.before("a2") == "a1"
    assert index.before("a1") is None
    assert index.before("b1") is None
    rows.add("a3", "three", at=3)
    keys(index, "one")
    assert index.before("a3") == "a2"
    index.forget()


def test_the_number_of_indexed_rows_is_bounded() -> None:
    """The newest ones, also in a long-running process."""
    rows = Rows()
    for number in range(10):
        rows.add(f"a{number}", f"ferret {number}")
    index = WordIndex(rows, max_rows=5)
    assert len(keys(index, "ferret")) == 5
    for number in range(10, 16):
        rows.add(f"a{number}", f"ferret {number}")
        keys(index, "ferret")
    assert len(keys(index, "ferret", 99)) == 5
    index.forget()


@given(st.text(max_size=60))
def test_no_text_is_an_operator(text: str) -> None:
    """Quotes, stars, brackets, NEAR: any text is only words."""
    rows = Rows()
    rows.add("a", "ferret")
    index = WordIndex(rows)
    assert all(key == "a" for key in keys(index, text))
    index.forget()


@pytest.mark.parametrize(
    ("message", "key"),
    [("绿茶", "zh"), ("茶", "zh"), ("Wo ist das Haus?", "de"), ("книга", "ru"), ("किताब", "hi"), ("the ferret", "en")],
)
def test_words_of_any_language_are_found(message: str, key: str) -> None:
    """In other forms, and inside a run without spaces."""
    rows = Rows()
    rows.add("zh", "他每天下午喝绿茶，然后看书。")
    rows.add("de", "Die Häuser der Stadt sind alt, und die Straßen sind eng.")
    rows.add("ru", "новые книги лежат на столе")
    rows.add("hi", "लड़कों ने किताबें पढ़ीं")
    rows.add("en", "ferrets sleep all day")
    assert keys(WordIndex(rows), message) == [key]
