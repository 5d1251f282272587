"""Language of a question, by its script and its function words: a question is too short for a statistical model."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from harness.core.languages import MAX_CHARS, main_script
from harness.core.text import words

_ONE = {
    "KANA": "ja",
    "CJK": "zh",
    "HANGUL": "ko",
    "THAI": "th",
    "GREEK": "el",
    "HEBREW": "he",
    "BENGALI": "bn",
    "ARMENIAN": "hy",
    "GEORGIAN": "ka",
    "TAMIL": "ta",
    "TELUGU": "te",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "KANNADA": "kn",
    "MALAYALAM": "ml",
    "KHMER": "km",
    "LAO": "lo",
    "MYANMAR": "my",
    "SINHALA": "si",
    "ETHIOPIC": "am",
    "DEVANAGARI": "hi",
    "ARABIC": "ar",
    "CYRILLIC": "ru",
}
"""The language of a script, if nothing in the text shows another one."""

_LETTERS = {"fa": "پچژگکی", "ur": "ٹڈڑںےہ", "uk": "іїєґ", "be": "ў", "sr": "ђћџљњј"}
"""Letters that the first language of their script does not have."""

_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        language: frozenset(listed.split())
        for language, listed in {
            "en": """
                the of and to in is are was were what which who whom whose when where why how does do did can could
                should would will has have had a an for with from by at on this that these those it its be been as or
                not if than there their you your my i we they about between into after before during""",
            "es": """
                el la los las un una unos unas a de del y o no es son era eran fue fueron ser está están qué que quién
                quiénes cuál cuáles cuándo dónde cómo por qué cuánto cuánta cuántos cuántas en con sin para por sobre
                entre desde hasta al se su sus lo le les más menos hay tiene tienen puede pueden este esta estos estas
                como cuando donde si mi tu yo muy también""",
            "de": """
                der die das den dem des ein eine einen einem einer eines und oder nicht ist sind war waren wird werden
                wurde wie was wer wo wann warum wieso weshalb welche welcher welches wem wen wessen im in mit von zu
                zum zur für auf aus bei nach über unter vor durch gegen ohne um kann können man ich du er wir ihr es
                haben hat hatte auch nur noch schon als wenn dass gibt viel viele es am an ab zwischen""",
            "fr": """
                le la les un une des du de et ou ne pas est sont était étaient être a ont avait que qui quoi quel quelle
                quels quelles où quand comment pourquoi combien dans en sur sous avec sans pour par au aux ce cette ces
                il elle on nous vous ils elles je tu se son sa ses leur leurs plus moins entre après avant depuis
                peut peuvent fait faire d'une qu'est est-ce y""",
            "it": """
                il lo la i gli le un uno una di del dello della dei degli delle e o non è sono era erano fu essere che
                chi cosa quale quali quando dove come perché quanto quanta quanti quante in nel nella nei nelle con
                senza per a su sul sulla tra fra da dal dalla al alla ai alle si suo sua suoi loro più meno ha hanno può
                possono questo questa questi anche mio c'è""",
            "pt": """
                o a os as um uma uns umas de do da dos das e ou não é são era eram foi foram ser está estão que quem
                qual quais quando onde como por quê porque quanto quanta quantos quantas em no na nos nas com sem para
                pelo pela sobre entre desde até ao à se seu sua seus suas mais menos há tem têm pode podem este esta
                isso você eu muito também""",
            "nl": """
                de het een en of niet is zijn was waren wordt worden werd wie wat waar wanneer waarom hoe welke welk
                hoeveel in op aan met van voor naar door over onder bij uit om tot tegen zonder tussen kan kunnen men
                ik je jij u hij zij wij ze heeft hebben had ook nog dan als dat die dit deze er te mijn""",
            "tr": """
                ve veya ile bir bu şu o ne nedir nasıl neden niçin niye kim kimin kimdir hangi hangisi nerede nereye
                nereden kaç mı mi mu mü mıdır midir değil için gibi kadar daha en çok var yok ise ama sonra önce
                olarak olan oldu eden tarafından arasında göre üzerinde hakkında zaman""",
            "pl": """
                i w z na do nie jest są był była było były co kto kiedy gdzie dlaczego jak jaki jaka jakie jakich który
                która które ile czy się o od po przez przy dla bez pod nad między oraz lub to ten ta te ma mają może
                można być został została""",
            "sv": """
                och eller i på av för med till från är var vad vem när varför hur vilken vilket vilka en ett den det
                de som inte om att har hade kan kunde ska man jag du han hon vi efter före mellan under över utan
                många mycket""",
            "da": """
                og eller i på af for med til fra er var hvad hvem hvor hvornår hvorfor hvordan hvilken hvilket hvilke
                en et den det de som ikke om at har havde kan kunne skal man jeg du han hun vi efter før mellem under
                over uden mange meget""",
            "id": """
                dan atau di ke dari yang untuk dengan pada adalah apa siapa kapan mana mengapa bagaimana berapa tidak
                bukan ini itu dalam oleh sebagai akan telah bisa dapat ada apakah antara setelah sebelum""",
        }.items()
    }
)
"""Function words of languages in Latin letters: articles, prepositions, pronouns, question words. The order decides
between languages that share all words of a question.
"""

_MARKS = {
    "de": "ßäöü", "fr": "çœèêëùû", "es": "ñ¿¡", "it": "ìò", "pt": "ãõ", "tr": "ğışİ", "pl": "łąęśźżńć", "sv": "åäö",
    "da": "æøå",
}  # fmt: skip
"""Letters and signs that hint at a language. One word of the language counts as much."""


@lru_cache(4_096)
def question_language(question: str) -> str:
    """Return the language of a question as a primary tag of BCP 47; "" if nothing shows it, as in a list of names.

    The script decides, unless several languages that are known here share it: then their function words and letters.
    """
    text = question[:MAX_CHARS].lower()
    script = main_script(text)
    if script == "LATIN":
        return _latin(text)
    for language, letters in _LETTERS.items():
        if any(letter in text for letter in letters):
            return language
    return _ONE.get(script, "")


def _latin(text: str) -> str:
    """Return the language with most of the text's function words: a word counts 1, shared among its languages. Of those
    with as many, the first one listed; "" if no word is known.
    """
    found = dict.fromkeys(_WORDS, 0.0)
    for word in words(text):
        having = [language for language, known in _WORDS.items() if word in known]
        for language in having:
            found[language] += 1 / len(having)
    for language, letters in _MARKS.items():
        found[language] += any(letter in text for letter in letters)
    best = max(found, key=found.__getitem__)
    return best if found[best] else ""
