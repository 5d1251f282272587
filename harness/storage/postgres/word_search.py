"""Rows of PostgreSQL by their words, through the index of words.

PostgreSQL evaluates no text search before the conditions of row-level security, because its operator is not leakproof,
so a statement under these conditions reads every row of the tenant. A function in the database, which names the tenant
itself as the conditions do, finds the keys instead: with the rights of its owner, the user who made the tables. It uses
the index where the conditions do not bind this user, a superuser; elsewhere it finds the same, more slowly.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any
from unicodedata import normalize

from harness.core.search_words import indexed_texts
from harness.core.tables import LIBRARY
from harness.storage.postgres.dialect import POSTGRES_TABLES

FUNCTION = "harness_library_matches"
ARGUMENTS = "text[], double precision, double precision, integer"
MAX_RANKED = 500
"""Rows with any of the words that are ranked. Of more, those with two or three of them are, if they are enough."""
MAX_TOGETHER = 3
"""Words of a query that a row may be required to have together."""
_ACCENTED = re.compile("([A-Za-z])[\u0300-\u036f]+")


def texts_for_words(language: str, texts: Iterable[str]) -> list[str]:
    """Return `indexed_texts` as PostgreSQL is given them: without accents on Latin letters, which SQLite leaves out by
    itself.
    """
    return [_unaccented(text) for text in indexed_texts(language, texts)]


def _unaccented(text: str) -> str:
    return text if text.isascii() else normalize("NFC", _ACCENTED.sub(r"\1", normalize("NFD", text)))


def tsqueries(terms: Sequence[str]) -> list[str]:
    """Return queries for rows with at least one, two and three of the terms, as far as there are so many; without
    terms, none.
    """
    words = [f"'{word}'" for term in terms if (word := _lexeme(term))]
    return [
        " | ".join(f"({' & '.join(each)})" for each in combinations(words, together))
        for together in range(1, min(MAX_TOGETHER, len(words)) + 1)
    ]


def _lexeme(term: str) -> str:
    """Return a term that can stand between the quotes of a query: without quotes, escapes and NUL characters."""
    return "".join(" " if char in "'\\\0" else char for char in _unaccented(term)).strip()


def make_function(connection: Any) -> None:
    """Make the function that returns keys of fresh rows of the tenant that the session names, best first. It takes the
    `tsqueries` of some terms, now, the `latest_creation`, and how many keys. Only its owner may call it until others
    are granted it.
    """
    schema = connection.execute("SELECT quote_ident(current_schema())").fetchone()[0]
    table = POSTGRES_TABLES[LIBRARY]
    # qualified: what another user puts in front of it on the path would run with the owner's rights
    matching = (
        f"FROM {schema}.{table.name} WHERE tenant = current_setting('harness.tenant', true) "
        f"AND words @@ wanted AND {table.fresh(2)}"
    )
    connection.execute(
        f"CREATE FUNCTION {FUNCTION}({ARGUMENTS}) RETURNS SETOF text LANGUAGE plpgsql STABLE SECURITY DEFINER "
        f"""SET search_path = pg_catalog, pg_temp SET enable_seqscan = on AS $$
DECLARE
    every tsquery := to_tsquery('english', $1[1]);
    wanted tsquery := every;
    wider tsquery;
    held bigint;
BEGIN
    IF row_security_active('{schema}.{table.name}') THEN  -- no index: to count would read every row
        $1 := $1[:1];
    ELSE  -- to compare the words of a row that no index found takes longer than to fetch it
        PERFORM set_config('enable_seqscan', 'off', true);
    END IF;
    FOR place IN 2 .. coalesce(cardinality($1), 0) LOOP
        SELECT count(*) INTO held FROM (SELECT {matching} LIMIT greatest({MAX_RANKED}, $4) + 1) AS first;
        EXIT WHEN held <= greatest({MAX_RANKED}, $4);
        wider := wanted;
        wanted := to_tsquery('english', $1[place]);
        SELECT count(*) INTO held FROM (SELECT {matching} LIMIT $4) AS first;
        IF held < $4 THEN
            wanted := wider;
            EXIT;
        END IF;
    END LOOP;
    RETURN QUERY SELECT {table.column("key")} {matching} ORDER BY ts_rank_cd(words, every) DESC, seq LIMIT $4;
END $$"""
    )
    connection.execute(f"REVOKE ALL ON FUNCTION {FUNCTION}({ARGUMENTS}) FROM PUBLIC")
