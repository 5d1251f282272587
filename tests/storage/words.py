"""Contract of lookups by words of every `Store`."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.core.entries import Entry
from harness.core.search_words import search_terms
from harness.core.tables import LIBRARY, LibraryColumns
from harness.ports import Store
from tests.storage.entries import NOW, TENANT

TEXTS = {
    "de": "Die Häuser der Stadt sind alt, und die Straßen sind eng.",
    "fr": "Les écoles de l'île sont fermées pendant les vacances.",
    "tr": "Kitapların hepsi bu kütüphanede ve çok eski.",
    "ru": "Новые книги лежат в городской библиотеке.",
    "ar": "توجد المدرسة القديمة في وسط المدينة.",
    "hi": "लड़कों ने नदी के किनारे किताबें पढ़ीं।",
    "zh": "他每天下午喝绿茶叶，然后去图书馆看书。",
    "ja": "彼女は毎朝コーヒーを飲んで新聞を読む。",
    "ko": "서울에서 부산까지 기차를 타고 갔다.",
    "th": "แมวดำกินปลาในครัวทุกวัน",
    "en": "The libraries of the town close early.",
}
QUERIES = [
    ("de", "Welches Haus ist alt?"),
    ("de", "Straße"),
    ("fr", "l'école pendant la vacance"),
    ("tr", "eski kitap nerede"),
    ("ru", "в каких библиотеках книга"),
    ("ar", "مدرسه قديمه"),
    ("ar", "المَدْرَسَة"),
    ("hi", "लड़के और किताब"),
    ("zh", "图书馆在哪里？"),
    ("zh", "茶"),
    ("ja", "新聞"),
    ("ko", "부산은 어디"),
    ("th", "ปลา"),
    ("en", "town library"),
]

_words = st.sampled_from(["alpha", "beta", "gamma"])
_changes = st.lists(
    st.tuples(
        st.sampled_from(["put", "delete", "look"]), st.sampled_from(["ann", "bob"]), st.sampled_from("abc"), _words
    ),
    max_size=15,
)


def passage(
    key: str,
    text: str,
    title: str = "",
    *,
    expires_at: float = NOW + 3_600,
    document: str = "d",
    language: str | None = None,
) -> Entry:
    """Return a passage of the library, made at `NOW`."""
    own = LibraryColumns(document, "https://a.example", title, "page", "web", language)
    return Entry(key, text, b"{}", NOW, expires_at, NOW, own)


def put(store: Store, *entries: Entry, tenant: str = TENANT) -> None:
    """Store passages."""
    for entry in entries:
        store.rows.put(LIBRARY, tenant, entry)


def found(store: Store, *terms: str, k: int = 10, tenant: str = TENANT, now: float = NOW) -> list[str]:
    """Return the keys that the words find, best first."""
    return [entry.key for entry in store.nearest.by_words(LIBRARY, tenant, terms, k=k, now=now)]


class WordContract:
    """One test for each requirement."""

    def test_rows_with_any_of_the_words_are_found(self, store: Store) -> None:
        """Whole rows, for any case and form of the words. No words or no rows: no result."""
        assert found(store, "retry") == []
        put(store, passage("a", "Retries wait longer each time."), passage("b", "The weather in Oslo."))
        assert found(store, "RETRY", "jitter") == ["a"]
        assert store.nearest.by_words(LIBRARY, TENANT, ["oslo"], k=1, now=NOW)[0].text == "The weather in Oslo."
        assert found(store) == found(store, "", '"', "'") == found(store, "retry", k=0) == []

    @pytest.mark.parametrize("term", ["zurich", "Zürich", "ZÜRICH", "cafe", "café", "cafes"])
    def test_accents_on_latin_letters_make_no_difference(self, store: Store, term: str) -> None:
        """Neither in a text nor in a query, however they are written."""
        put(store, passage("a", "Cafés in Zürich open early."), passage("b", "Cafes in Zu\u0308rich close late."))
        put(store, passage("c", "The weather in Oslo."))
        assert sorted(found(store, *search_terms(term))) == ["a", "b"]

    def test_the_title_and_more_words_weigh_more(self, store: Store) -> None:
        """A row with both words comes before one with one; a word in the title before one in the text."""
        put(store, passage("text", "a word about parsers and more of it"), passage("title", "more of it", "Parsers"))
        put(store, *(passage(f"other {n}", "nothing of the kind") for n in range(5)))
        assert found(store, "parsers") == ["title", "text"]
        put(store, passage("both", "a word about parsers and grammars", "On grammars"))
        assert found(store, "parsers", "grammars")[0] == "both"
        assert len(found(store, "parsers", "grammars", k=2)) == 2

    def test_deleted_rows_are_not_found_by_words(self, store: Store) -> None:
        """Replaced text, expired, deleted and cleared rows, also when many of them come before the others."""
        put(store, *(passage(f"{n}", "zebra " * 5) for n in range(120)), passage("last", "one zebra in a long text"))
        store.rows.delete(LIBRARY, TENANT, [f"{n}" for n in range(60)])
        put(store, *(passage(f"{n}", "a lion") for n in range(60, 120)))
        assert found(store, "zebra", k=1) == ["last"]
        put(store, passage("last", "one zebra", expires_at=NOW))
        assert found(store, "zebra") == []
        assert found(store, "zebra", now=NOW - 1) == ["last"]
        store.admin.clear(LIBRARY, TENANT)
        assert found(store, "lion") == []
        put(store, passage("new", "a lion"))
        assert found(store, "lion") == ["new"]

    def test_replaced_documents_are_found_by_their_new_words(self, store: Store) -> None:
        """`replace` takes the old passages away."""
        put(store, passage("a", "old words", document="x"), passage("b", "other words", document="y"))
        store.rows.replace(LIBRARY, TENANT, [passage("c", "new words", document="x")], instead_of={"document": "x"})
        assert sorted(found(store, "words")) == ["b", "c"]

    def test_any_text_is_searched_as_words(self, store: Store) -> None:
        """Operators of the databases' query languages, quotes and NUL characters are only text."""
        put(store, passage("a", 'C\'est "quoted" \0 back\\slash near/3 (or) NOT'))
        for term in ('"', "'", "\\", "\0", "a:b", "x* OR *", "NEAR(", "-x", "' | '", "title:x", "{", "%", "&", "!"):
            found(store, term)
        assert found(store, "quoted") == ["a"]

    @pytest.mark.parametrize(("key", "query"), QUERIES)
    def test_words_of_any_language_are_found(self, store: Store, key: str, query: str) -> None:
        """In other forms, in any script; a word inside a run without spaces; by the language of the text."""
        put(store, *(passage(each, text) for each, text in TEXTS.items()))
        assert found(store, *search_terms(query))[:1] == [key]

    def test_the_language_of_a_passage_decides_about_its_words(self, store: Store) -> None:
        """It is stored with the passage; a text of few words does not show it."""
        put(
            store,
            passage("de", "Männer, Nachrichten", language="de"),
            passage("en", "Männer Nachrichten", language="en"),
        )
        assert found(store, *search_terms("Wo ist der Mann?")) == ["de"]
        assert sorted(found(store, "Männer")) == ["de", "en"]

    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(_changes)
    def test_words_find_what_a_plain_list_has(self, store: Store, changes: list[tuple[str, str, str, str]]) -> None:
        """Every tenant finds its own rows, after any sequence of changes."""
        held: dict[tuple[str, str], str] = {}
        for tenant in ("ann", "bob"):
            store.admin.clear(LIBRARY, tenant)
        for what, tenant, key, word in changes:
            if what == "put":
                put(store, passage(key, f"about {word}"), tenant=tenant)
                held[tenant, key] = word
            elif what == "delete":
                store.rows.delete(LIBRARY, tenant, [key])
                held.pop((tenant, key), None)
            wanted = sorted(at for (of, at), has in held.items() if (of, has) == (tenant, word))
            assert sorted(found(store, word, tenant=tenant)) == wanted
