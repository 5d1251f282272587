"""Words of any language in databases of older programs."""

import pytest

from harness.core.search_words import search_terms
from harness.core.tables import LIBRARY
from harness.storage.postgres import word_search
from harness.storage.postgres.schema import RECORD
from harness.storage.postgres.store import PostgresStore
from harness.storage.postgres.word_search import FUNCTION
from tests.storage.postgres.places import ORDINARY, a_database, address, run
from tests.storage.postgres.servers import Server
from tests.storage.words import found, passage, put

OLDER = (
    f"ALTER TABLE {LIBRARY} DROP COLUMN words",
    f"ALTER TABLE {LIBRARY} ADD COLUMN words tsvector GENERATED ALWAYS AS "
    "(setweight(to_tsvector('english', left(title, 100000)), 'A') "
    "|| setweight(to_tsvector('english', left(text, 100000)), 'B')) STORED",
    f"CREATE INDEX {LIBRARY}_words ON {LIBRARY} USING gin (words)",
    f"DELETE FROM {RECORD} WHERE name = '0009-words-of-any-language'",
)


@pytest.mark.parametrize("owner", ["postgres", ORDINARY])
def test_an_older_database_finds_words_of_any_language(server: Server, owner: str) -> None:
    """Its passages are read once, of every tenant; English words are as they were, and tenants stay apart."""
    with a_database(server, "without_other_words", owner=owner) as url:
        store = PostgresStore(url, busy_seconds=10)
        put(store, passage("zh", "他喝绿茶。"), passage("en", "The libraries close.", "Towns \0"))
        put(store, passage("ru", "новые книги"), tenant="bob")
        store.close()
        english = run(url, "SET harness.tenant = 'default'", f"SELECT words::text FROM {LIBRARY} WHERE key = 'en'")
        assert english
        run(url, *OLDER)
        store = PostgresStore(url, busy_seconds=10)
        assert found(store, *search_terms("绿茶")) == ["zh"]
        assert found(store, *search_terms("library town")) == ["en"]
        assert found(store, *search_terms("книга")) == []
        assert found(store, *search_terms("книга"), tenant="bob") == ["ru"]
        put(store, passage("new", "читают книгу"), tenant="bob")
        assert sorted(found(store, *search_terms("книга"), tenant="bob")) == ["new", "ru"]
        assert store.admin.verify(repair=False) == []
        store.close()
        again = run(url, "SET harness.tenant = 'default'", f"SELECT words::text FROM {LIBRARY} WHERE key = 'en'")
        assert again == english
        guarded = "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = 'library_passages'"
        assert run(url, guarded) == [(True, True)]


def test_replaced_text_has_its_own_words(store: PostgresStore) -> None:
    """A row is found by the words that it has now."""
    put(store, passage("a", "绿茶"))
    put(store, passage("a", "红酒"))
    assert found(store, "绿茶") == []
    assert found(store, "红酒") == ["a"]


@pytest.mark.parametrize(("owner", "given"), [("postgres", False), (ORDINARY, False), (ORDINARY, True)])
def test_of_very_many_rows_those_with_several_words_are_ranked(
    server: Server, owner: str, given: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a search for a frequent word takes no longer in a large library. If too few have several, all are ranked. An
    ordinary owner has it when the function is `given` to a superuser.
    """
    monkeypatch.setattr(word_search, "MAX_RANKED", 20)
    with a_database(server, "many_rows", owner=owner) as url:
        store = PostgresStore(url, busy_seconds=10)
        rows = [passage(f"one{number}", f"tea {number}", "tea tea tea") for number in range(30)]
        rows += [passage(f"two{number}", f"tea or coffee {number}") for number in range(10)]
        rows += [passage(f"three{number}", f"tea or coffee or milk {number}") for number in range(3)]
        store.rows.replace(LIBRARY, "default", rows, instead_of={"document": "none"})
        put(store, passage("other", "tea or coffee or milk"), tenant="bob")
        if given:
            admin = address(server, "many_rows", "postgres")
            run(
                admin,
                f"ALTER FUNCTION {FUNCTION} OWNER TO postgres",
                f"GRANT EXECUTE ON FUNCTION {FUNCTION} TO {owner}",
            )
        best = found(store, "tea", "coffee", "milk", k=8)
        assert len(best) == 8
        assert {each[:3] for each in best} == ({"one"} if owner == ORDINARY and not given else {"two", "thr"})
        assert len(found(store, "tea", "coffee", "milk", k=50)) == 43
        assert len(found(store, "tea", "milk", k=3)) == 3
        store.close()


def test_a_database_with_accents_in_its_words_finds_them_without(server: Server) -> None:
    """Its words are written again once."""
    with a_database(server, "with_accents") as url:
        store = PostgresStore(url, busy_seconds=10)
        put(store, passage("zh", "Cafés in Zürich"), passage("en", "The weather in Oslo"))
        store.close()
        run(
            url,
            f"UPDATE {LIBRARY} SET words = to_tsvector('english', text)",
            f"DELETE FROM {RECORD} WHERE name = '0012-words-without-accents'",
        )
        store = PostgresStore(url, busy_seconds=10)
        assert found(store, *search_terms("zurich")) == found(store, *search_terms("Zürich")) == ["zh"]
        assert found(store, *search_terms("weather")) == ["en"]
        store.close()
