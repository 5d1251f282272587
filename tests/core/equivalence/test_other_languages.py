"""Pairs in other languages than English: what must not be served, what may be, and with which reason."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.look_alikes import read_pairs
from harness.core.equivalence import SHIPPED, Rule, decide, examine
from harness.core.equivalence.decision import FEATURES
from harness.core.equivalence.languages import languages_of
from harness.core.equivalence.other_language import MAX_WORDS
from harness.core.equivalence.tokens import tokens_in
from harness.core.equivalence.word_lists import LISTED, lists_of
from harness.core.equivalence.word_reading import same_word
from harness.core.word_forms import MAX_MARKS

READ = Rule(-100.0, 0.01, "", "any", (0.0,) * (1 + len(FEATURES)))
"""A rule with a verifier that accepts every pair without a veto."""

REFUSED = [
    ("vuelos baratos de madrid a roma", "vuelos baratos de roma a madrid", "direction: words have changed places"),
    ("treno da Milano a Roma", "treno da Roma a Milano", "direction: words have changed places"),
    ("train de Paris à Marseille", "train de Marseille à Paris", "direction: words have changed places"),
    ("mit Zucker", "ohne Zucker", "direction: mit / ohne"),
    ("der Hund beißt den Mann", "den Hund beißt der Mann", "direction: who or what something belongs to has changed"),
    ("Schule in Berlin", "Schüler in Berlin", "content: no counterpart for schueler, schule"),
    ("wer ist Präsident von Chile", "wer war Präsident von Chile", "question: one asks past, who / who"),
    ("casa en venta en Lima", "caso en venta en Lima", "content: no counterpart for casa, caso"),
    ("la hija de Picasso", "el hijo de Picasso", "negation: hija / hijo are opposites"),
    ("historia del libro", "libro de historia", "direction: words have changed places"),
    ("la mère de la fille", "la fille de la mère", "direction: words have changed places"),
    ("кто победил Германию", "кого победила Германия", "question: one asks who / whom"),
    ("дом у моря", "дом на море", "direction: who or what something belongs to"),
    ("мать любит дочь", "дочь любит мать", "direction: words have changed places"),
    ("Ankara'dan uçak", "Ankara'ya uçak", "direction: a / dan"),
    ("şekerli çay", "şekersiz çay", "content: no counterpart for şekerli, şekersiz"),
    ("رحلات من القاهرة", "رحلات إلى القاهرة", "direction: الي / من"),
    ("مكتب القاهرة", "مكتبة القاهرة", "content: no counterpart for مكتب, مكتبه"),
    ("سعر ٣ كيلو", "سعر ٥ كيلو", "numbers: 3 / 5"),
    ("蛇吃鼠", "鼠吃蛇", "direction: words have changed places"),
    ("父亲的儿子", "儿子的父亲", "direction: words have changed places"),
    ("狗吃东西", "狗不吃东西", "negation: one is negated, the other is not"),
    ("犬が人を噛む", "犬を人が噛む", "direction: who or what something belongs to"),
    ("日本から中国への輸出", "中国から日本への輸出", "direction: words have changed places"),
    ("서울에서 부산까지 기차", "부산에서 서울까지 기차", "direction: words have changed places"),
    ("설탕 있는 커피", "설탕 없는 커피", "negation: one is negated, the other is not"),
    ("चीनी के साथ चाय", "चीनी के बिना चाय", "direction: के बिना / के साथ"),
    ("koffie met suiker", "koffie zonder suiker", "direction: met / zonder"),
    ("Python 3.10 für Anfänger", "Python 3.1 für Anfänger", "numbers: 3.1 / 3.10"),
    ("wie viel sind -5 Grad", "wie viel sind 5 Grad", "numbers: -5 / 5"),
    ("où est-ce", "où est", "content: nothing in common but function words"),
    ("wie ist das Wetter in Rom", "how is the weather in Rome", "language: the two are in different languages"),
    ("東京の天気", "погода в токио", "language: the two are in different languages"),
    ("pociąg z Krakowa do Warszawy", "pociąg z Warszawy do Krakowa", "direction: words have changed places"),
    ("รถไฟจากกรุงเทพไปเชียงใหม่", "รถไฟจากเชียงใหม่ไปกรุงเทพ", "direction: words have changed places"),
    ("istanbuldan ankaraya tren", "ankaradan istanbula tren", "content: no counterpart for ankaradan"),
    ("vonat budapestrol becsbe", "vonat becsbol budapestre", "content: no counterpart for becsbe"),
    ("tiket kereta dari jakarta ke bandung", "tiket kereta dari bandung ke jakarta", "direction: words have changed"),
    ("parken freiburg bahnhof", "parken freiberg bahnhof", "content: no counterpart for freiberg, freiburg"),
    ("train lyon marseille horaires", "train marseille lyon horaires", "direction: words have changed places"),
    ("vlak iz zagreba u split", "vlak iz splita u zagreb", "content: no counterpart for split"),
]
SERVED = [
    ("recette de crêpes", "crêpes recette"),
    ("Straße nach Köln gesperrt", "strasse nach koeln gesperrt"),
    ("Flüge nach Zürich", "fluege nach zuerich"),
    ("Wetter in Köln heute", "heute Wetter in Köln"),
    ("wann öffnet der Zoo in Köln", "Bitte, wann öffnet der Zoo in Köln?"),
    ("¿Cuánto cuesta un pasaporte?", "un pasaporte cuánto cuesta"),
    ("симптом аппендицита", "симптомы аппендицита"),
    ("wetter berlin", "berlin wetter"),
    ("apandisit belirtisi", "apandisit belirtileri nelerdir"),
    ("سعر ٣ كيلو", "سعر 3 كيلو"),
    ("أعراض التهاب الزائدة", "اعراض إلتهاب الزائده"),
    ("天气 北京", "北京 天气"),
    ("Ｐｙｔｈｏｎ３教程", "python3教程"),
    ("東京の天気", "東京 天気"),
    ("서울 날씨", "서울의 날씨는?"),
    ("दिल्ली का मौसम", "दिल्ली मौसम"),
    ("weer in Amsterdam", "het weer in Amsterdam, alstublieft"),
    ("ราคา ทอง", "ราคาทอง"),
]


def never(one: str, two: str) -> float:
    """Fail, as a verifier that must not be called."""
    pytest.fail(f"a verifier that reads English read {one!r} and {two!r}")


@pytest.mark.parametrize(("a", "b", "reason"), REFUSED)
def test_a_look_alike_is_refused_with_a_reason(a: str, b: str, reason: str) -> None:
    """No verifier is asked, and no similarity is enough."""
    decision = decide(a, b, 1.0, rule=READ, verify=never)
    reasons = [f"{verdict.guard}: {verdict.reason}" for verdict in decision.objections]
    assert not decision.accepted
    assert any(each.startswith(reason) for each in reasons), reasons


@pytest.mark.parametrize(("a", "b"), SERVED)
def test_a_rewording_is_served(a: str, b: str) -> None:
    """Without a verifier: its guards are enough, in both orders."""
    for one, two in ((a, b), (b, a)):
        assert decide(one, two, 0.8, rule=READ, verify=never).accepted


def test_without_a_verifier_the_embedding_must_agree() -> None:
    """As for English: the rule without a verifier needs its similarity, too."""
    near, far = (decide("recette de crêpes", "crêpes recette", each, rule=SHIPPED) for each in (0.9, 0.85))
    assert near.accepted
    assert not far.accepted
    assert not far.objections


def test_no_written_look_alike_is_served() -> None:
    """Not one of the look-alikes in ten languages passes the guards of its language; English ones have a verifier."""
    alike = [pair for pair in read_pairs() if not pair.label]
    examined = [examine(pair.a, pair.b, 1.0) for pair in alike]
    assert len(alike) == 600
    assert not [each for each in examined if not each.english and not each.vetoed]
    assert sum(not each.english for each in examined) > 540


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("vietnam war causes", "causes of the vietnam war"),
        ("miles per hour limit", "limit in miles per hour"),
        ("gift card no receipt", "no receipt for a gift card"),
        ("age of Pelé", "how old is Pelé"),
        ("tour de france winner 2003", "2003 winner tour de france"),
        ("£10 gifts", "gifts for £10"),
        ("fuel economy 40 mpg in litres per 100 km", "fuel economy 40 mpg in km per litre"),
    ],
)
def test_english_stays_english(a: str, b: str) -> None:
    """Words that are also those of another language, names with accents, and keywords without any sign; or with it."""
    assert languages_of(a, b) == ("en",)


@pytest.mark.parametrize("language", LISTED)
def test_lists_are_complete(language: str) -> None:
    """Each language has negations, opposites, directions, words that mean nothing, and kinds of question."""
    lists = lists_of(language)
    kinds = {kind for kind, _ in lists.meanings.values()}
    assert {"negations", "directions", "relations", "drop", "subjects", "times", "when", "where", "who"} <= kinds
    assert len(lists.opposites) >= 60
    assert all(one != two for one, two in lists.opposites | lists.distinct)


@pytest.mark.parametrize(
    ("language", "one", "two", "same"),
    [
        ("de", "preis", "preise", True),
        ("de", "reis", "reise", False),
        ("es", "precio", "precios", True),
        ("es", "puerto", "puerta", False),
        ("it", "prezzo", "prezzi", True),
        ("it", "casa", "caso", False),
        ("fr", "port", "porte", False),
        ("ru", "цена", "цены", True),
        ("ru", "банк", "банка", False),
        ("pt", "avião", "aviões", True),
        ("", "casa", "casas", False),
    ],
)
def test_forms_of_a_word(language: str, one: str, two: str, same: bool) -> None:
    """Inflection does not matter; another word with the same stem does."""
    assert same_word(one, two, lists_of(language)) == same_word(two, one, lists_of(language)) == same


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from([*LISTED, ""]))
@settings(deadline=None)
def test_any_text_is_read(a: str, b: str, language: str) -> None:
    """Nothing raises, no word is empty, and the order of two queries never matters."""
    assert all(tokens_in(a, language))
    one, two = examine(a, b, 0.9), examine(b, a, 0.9)
    assert one.verdicts == two.verdicts


def test_long_texts_are_refused() -> None:
    """A text of the longest length that is read at all is not compared word by word."""
    a, b = ("".join(chr(first + number) for number in range(MAX_WORDS)) for first in (0x4E00, 0x5E00))
    assert [verdict.reason for verdict in examine(a, b, 1.0).verdicts] == ["too much differs"]
    assert [verdict.reason for verdict in examine(f"{a}中", b, 1.0).verdicts] == ["too long to compare"]


def test_very_many_marks_are_not_read() -> None:
    """Unicode's normal forms sort marks in a row, in quadratic time."""
    flooded = "بحث" + "\u0650\u064e" * 5_000
    assert languages_of(flooded, "بحث") == ("ar",)
    assert tokens_in("a" + "\u0301\u0323" * 5_000, "") == tokens_in("a" + "\u0301\u0323" * (MAX_MARKS // 2), "")
