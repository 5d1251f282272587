"""The language of passages: right for a paragraph, none where it is not certain, bounded on any text."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.languages import MAX_CHARS, primary_tag
from harness.models.local.language_detector import CompactLanguageDetector

PARAGRAPHS = {
    "en": "A connection pool keeps open connections to a database, so that a request need not wait for a new "
    "one. When all of them are in use, further requests wait until one is returned.",
    "de": "Ein Verbindungspool hält offene Verbindungen zu einer Datenbank bereit, damit eine Anfrage nicht "
    "auf eine neue warten muss. Sind alle belegt, warten weitere Anfragen, bis eine zurückgegeben wird.",
    "fr": "Un groupe de connexions garde des connexions ouvertes vers une base de données, afin qu'une requête "
    "n'ait pas à en attendre une nouvelle. Quand toutes sont occupées, les autres requêtes attendent.",
    "es": "Un grupo de conexiones mantiene abiertas las conexiones con una base de datos, para que una "
    "petición no tenga que esperar una nueva. Cuando todas están ocupadas, las demás peticiones esperan.",
    "it": "Un gruppo di connessioni mantiene aperte le connessioni a una base di dati, così che una richiesta "
    "non debba attenderne una nuova. Quando sono tutte occupate, le altre richieste aspettano.",
    "pt": "Um conjunto de ligações mantém abertas as ligações a uma base de dados, para que um pedido não "
    "tenha de esperar por uma nova. Quando todas estão ocupadas, os outros pedidos esperam até que uma "
    "seja devolvida.",
    "tr": "Bağlantı havuzu, bir isteğin yeni bir bağlantı beklememesi için veritabanına açık bağlantılar "
    "tutar. Hepsi kullanımdaysa diğer istekler biri geri verilene kadar bekler.",
    "ru": "Пул соединений держит открытые соединения с базой данных, чтобы запросу не нужно было ждать нового. "
    "Если все они заняты, следующие запросы ждут, пока одно из них не будет возвращено.",
    "uk": "Пул з'єднань тримає відкриті з'єднання з базою даних, щоб запит не чекав на нове. Якщо всі вони "
    "зайняті, інші запити чекають, доки одне з них не буде повернуто.",
    "ar": "يحتفظ تجمع الاتصالات باتصالات مفتوحة مع قاعدة البيانات حتى لا يضطر الطلب إلى انتظار اتصال جديد. "
    "وعندما تكون جميعها مستخدمة تنتظر الطلبات الأخرى حتى يعود أحدها.",
    "hi": "कनेक्शन पूल डेटाबेस से खुले कनेक्शन रखता है ताकि किसी अनुरोध को नए कनेक्शन की प्रतीक्षा न करनी "
    "पड़े। जब सभी उपयोग में होते हैं तो बाकी अनुरोध तब तक प्रतीक्षा करते हैं जब तक कोई वापस नहीं आता।",
    "zh": "连接池保持与数据库的连接处于打开状态，这样请求就不必等待新的连接。当所有连接都在使用时，其他请求会一"
    "直等待，直到有连接被归还。",
    "ja": "接続プールはデータベースへの接続を開いたままにしておくので、要求は新しい接続を待つ必要がありません。"
    "すべてが使用中のときは、他の要求は接続が返されるまで待ちます。",
    "ko": "연결 풀은 데이터베이스에 대한 연결을 열어 두므로 요청이 새 연결을 기다릴 필요가 없습니다. 모두 사용 "
    "중이면 다른 요청은 연결이 반환될 때까지 기다립니다.",
    "th": "พูลการเชื่อมต่อจะเปิดการเชื่อมต่อกับฐานข้อมูลไว้ เพื่อให้คำขอไม่ต้องรอการเชื่อมต่อใหม่ เมื่อใช้งานทั้งหมดแล้ว คำขออื่นจะรอจนกว่าจะมีการคืน",
    "el": "Η δεξαμενή συνδέσεων κρατά ανοιχτές συνδέσεις με μια βάση δεδομένων, ώστε ένα αίτημα να μην "
    "περιμένει νέα. Όταν όλες χρησιμοποιούνται, τα άλλα αιτήματα περιμένουν.",
    "he": "מאגר החיבורים שומר חיבורים פתוחים למסד הנתונים, כדי שבקשה לא תצטרך לחכות לחיבור חדש. כאשר כולם "
    "בשימוש, בקשות אחרות ממתינות עד שאחד מהם יוחזר.",
}
CODE = "def main(argv):\n    for i in range(10):\n        print(i)\n    return None\n"


@pytest.fixture(scope="module")
def detector() -> CompactLanguageDetector:
    """Return the detector."""
    return CompactLanguageDetector()


@pytest.mark.parametrize("language", PARAGRAPHS)
def test_a_paragraph_has_its_language(detector: CompactLanguageDetector, language: str) -> None:
    """Also with a foreign name in it, and in any line width; the same text always has the same language."""
    text = PARAGRAPHS[language]
    assert detector.language(text) == language
    assert detector.language(f"{text} (PostgreSQL, Пул)") == language
    assert detector.language(text.replace(" ", "\n\n")) == language
    assert len({detector.language(text) for _ in range(5)}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "", "ok", "the", "Retries stop.", "HTTP 404", "12,345.67 + 8", "https://example.org/a/b?c=d", CODE, "连接池",
        "Nein.", "Пул.",
    ],
)  # fmt: skip
def test_a_short_text_has_none(detector: CompactLanguageDetector, text: str) -> None:
    """Less than `MIN_BYTES` of letters are a guess."""
    assert detector.language(text) == ""


@pytest.mark.parametrize(
    ("first", "second"),
    [("en", "de"), ("de", "en"), ("es", "tr"), ("en", "ru"), ("en", "zh"), ("fr", "it"), ("ru", "hi")],
)
def test_a_mixed_text_has_none(detector: CompactLanguageDetector, first: str, second: str) -> None:
    """As much in one language as in another, in one script or two."""
    size = min(len(PARAGRAPHS[each].encode()) for each in (first, second))
    halves = [PARAGRAPHS[each].encode()[:size].decode(errors="ignore") for each in (first, second)]
    assert detector.language("\n".join(halves)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "a" * 2**20, "漢" * 2**20, "ab " * 2**19, "\x00" * 2**20, "\x1b[31m\x07\u202e\x9b" * 10_000, "😀" * 2**20,
        " \n\t" * 2**18, "\ud800" * 10_000, "\ufffe\uffff" * 10_000, "\u0301" * 2**20, "1234567890 " * 10_000,
    ],
    ids=["letter", "ideograph", "syllables", "NUL", "controls", "emoji", "spaces", "surrogates", "no characters",
         "marks", "digits"],
)  # fmt: skip
def test_a_hostile_text_has_none_and_takes_no_time(detector: CompactLanguageDetector, text: str) -> None:
    """A megabyte of anything takes as long as `MAX_CHARS` of it."""
    begun = time.perf_counter()
    assert detector.language(text) == ""
    assert time.perf_counter() - begun < 0.5


def test_the_first_characters_decide(detector: CompactLanguageDetector) -> None:
    """Text after `MAX_CHARS` is not read."""
    german = (PARAGRAPHS["de"] + " ") * 10
    assert detector.language(german[:MAX_CHARS] + PARAGRAPHS["ru"] * 100) == "de"


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.text(max_size=300).map(lambda text: text * 3))
def test_any_text_has_a_known_language_or_none(text: str) -> None:
    """Whatever the characters are, the answer is a primary tag or empty."""
    found = CompactLanguageDetector().language(text)
    assert found == primary_tag(found)
