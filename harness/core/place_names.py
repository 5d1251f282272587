"""Names in questions in languages that inflect them, or in which capital letters do not show them.

Without them, a note about holidays in Germany answers a question about holidays in Japan.
"""

import re
from functools import cache

from harness.core.function_words import listed
from harness.core.required_terms import MAX_TERMS, required_names
from harness.core.text import stem
from harness.core.word_forms import normal

_INFLECTED = frozenset("be bg cs el et fi hr hu lt lv mk pl ro ru sk sl sr tr uk".split())
"""Languages in which a capital letter within a sentence begins a name, which has endings."""
_IN_QUESTION = {
    "de": r"(?<!\w){name}s?(?!\w)",
    "ar": r"(?<!\w)[وف]?[بلك]?{name}(?!\w)",
    "hi": r"(?<!\w){name}(?!\w)",
    "ja": r"(?<![ァ-ー]){name}(?![ァ-ー])",
    "ko": r"(?<!\w){name}",
    "zh": "{name}",
}
"""Patterns of a listed name in a question; in Arabic with prepositions, in Japanese not within a longer loanword."""
_BEGINNING = _INFLECTED | {"de"}
"""Languages in which a form of a name begins a word."""
_MARKED = re.compile(r"(\w+)['’]\w+")
"""A name before an apostrophe and its ending, as Turkish writes them."""
LEAST_STEM = 3
"""Fewest letters of a name without its ending."""

PLACES = listed("""
de: deutschland=deutsch, frankreich=französ, spanien=spanisch, italien=italienisch, england=englisch, polen=polnisch,
    großbritannien=britisch=britannien, niederlande=niederländ=holland=holländ, belgien=belgisch, dänemark=dänisch,
    österreich, schweiz, portugal=portugies, schweden=schwedisch, norwegen=norwegisch, finnland=finnisch,
    griechenland=griechisch, tschechien=tschechisch, ungarn=ungarisch, türkei=türkisch, russland=russisch,
    ukraine=ukrainisch, usa=amerika=vereinigte staaten, kanada=kanadisch, mexiko=mexikanisch,
    brasilien=brasilianisch, argentinien=argentinisch, china=chines, japan, indien=indisch, indonesien=indonesisch,
    korea, australien=australisch, ägypten=ägyptisch, marokko=marokkanisch, südafrika, israel, berlin, hamburg,
    münchen=münchner, köln, frankfurt, stuttgart, düsseldorf, leipzig, dresden, hannover, bremen, wien, graz, zürich,
    bern, basel, genf, paris, london, madrid, barcelona, rom=römisch, mailand, brüssel, amsterdam, prag, warschau,
    budapest, moskau, istanbul, new york, tokio, peking, shanghai
zh: 中国=中华=我国, 美国, 英国, 法国, 德国, 日本, 韩国=南韩, 朝鲜, 俄罗斯=俄国, 印度, 印度尼西亚=印尼, 越南, 泰国,
    马来西亚, 新加坡, 菲律宾, 澳大利亚=澳洲, 新西兰, 加拿大, 墨西哥, 巴西, 阿根廷, 意大利, 西班牙, 葡萄牙, 荷兰,
    比利时, 瑞士, 瑞典, 挪威, 丹麦, 芬兰, 奥地利, 波兰, 希腊, 土耳其, 乌克兰, 埃及, 南非, 以色列, 沙特, 北京, 上海,
    广州, 深圳, 天津, 重庆, 成都, 武汉, 南京, 西安, 杭州, 香港, 台湾, 台北, 澳门, 东京, 大阪, 首尔, 伦敦, 巴黎, 柏林,
    莫斯科, 纽约, 罗马, 马德里, 中國=中华, 美國, 英國, 法國, 德國, 韓國
ja: 日本, 中国, 韓国, 北朝鮮, 台湾, アメリカ=米国, イギリス=英国, フランス, ドイツ, イタリア, スペイン, ポルトガル,
    オランダ, ベルギー, スイス, スウェーデン, ノルウェー, デンマーク, フィンランド, オーストリア, ポーランド,
    ギリシャ, トルコ, ロシア, ウクライナ, インド, インドネシア, ベトナム, タイ, マレーシア, シンガポール, フィリピン,
    オーストラリア, ニュージーランド, カナダ, メキシコ, ブラジル, アルゼンチン, エジプト, 南アフリカ, 東京, 大阪,
    京都, 名古屋, 横浜, 神戸, 福岡, 札幌, 仙台, 広島, 沖縄, 北海道, 北京, 上海, ソウル, 香港, 台北, ロンドン, パリ,
    ベルリン, マドリード, モスクワ, ニューヨーク
ko: 한국=대한민국, 북한, 일본, 중국, 대만, 미국, 영국, 프랑스, 독일, 이탈리아, 스페인, 포르투갈, 네덜란드, 벨기에,
    스위스, 스웨덴, 노르웨이, 덴마크, 핀란드, 오스트리아, 폴란드, 그리스, 튀르키예=터키, 러시아, 우크라이나,
    인도네시아, 베트남, 태국, 말레이시아, 싱가포르, 필리핀, 뉴질랜드, 캐나다, 멕시코, 브라질, 아르헨티나, 이집트,
    서울, 부산, 인천, 제주, 도쿄, 오사카, 베이징, 상하이, 런던, 파리, 베를린, 마드리드, 모스크바, 뉴욕
ar: مصر, السعودية=سعودي, الإمارات=إمارات, الكويت=كويت, البحرين=بحرين, العراق=عراق, سوريا=سوري, لبنان, الأردن=أردن,
    فلسطين, اليمن=يمن, ليبيا=ليبي, تونس, الجزائر=جزائر, المغرب=مغرب, السودان=سودان, إيران, تركيا=ترك, فرنسا=فرنس,
    ألمانيا=ألمان, إسبانيا=إسبان, إيطاليا=إيطال, بريطانيا=بريطان, هولندا=هولند, بلجيكا=بلجيك, سويسرا=سويسر,
    السويد=سويد, روسيا=روسي, أوكرانيا=أوكران, أمريكا=أمريك=الولايات المتحدة, كندا=كندي, البرازيل=برازيل, الصين=صين,
    اليابان=يابان, الهند=هند, كوريا=كوري, أستراليا=أسترال, القاهرة, الإسكندرية, الرياض, دبي, أبوظبي, الدوحة, بغداد,
    دمشق, بيروت, الرباط, لندن, باريس, برلين, روما, مدريد, موسكو, نيويورك
hi: भारत=हिंदुस्तान, पाकिस्तान, बांग्लादेश, नेपाल, श्रीलंका, भूटान, चीन, जापान, कोरिया, इंडोनेशिया, थाईलैंड, मलेशिया,
    सिंगापुर, रूस=रूसी, यूक्रेन, जर्मनी=जर्मन, फ्रांस=फ्रांसीसी, स्पेन, इटली, पुर्तगाल, नीदरलैंड, स्विट्जरलैंड,
    ब्रिटेन=ब्रिटिश, इंग्लैंड, अमेरिका=अमेरिकी, कनाडा, ब्राजील, मेक्सिको, ऑस्ट्रेलिया, मिस्र, तुर्की, दिल्ली, मुंबई,
    कोलकाता, चेन्नई, बेंगलुरु=बैंगलोर, हैदराबाद, पुणे, अहमदाबाद, जयपुर, लखनऊ, लंदन, पेरिस, बर्लिन, टोक्यो, बीजिंग,
    न्यूयॉर्क
""")
"""Countries and large cities, as people write them in a question; after `=` other words, or beginnings of words, that
show a text is about them.
"""


def names_asked(question: str, language: str) -> dict[str, tuple[str, ...]]:
    """Return the names in a question, as written, with the forms of each: a text about it `has_form`. Never raises."""
    if language in _INFLECTED:
        marked = [each for each in _MARKED.findall(question) if each[0].isupper()]
        names = dict.fromkeys([*marked, *required_names(_MARKED.sub(r"\1", question))][:MAX_TERMS])
        return {name: _stems(name, language) for name in names}
    found, rest = dict[str, tuple[str, ...]](), _plain(question)
    for name, forms in _places(language):
        rest, count = re.subn(_IN_QUESTION[language].format(name=re.escape(name)), " ", rest)
        if count:
            found[_as_written(name, question)] = forms
    return found


def has_form(text: str, forms: tuple[str, ...], language: str) -> bool:
    """Return whether a text has one of the forms of a name: as the beginning of a word, or anywhere in a language that
    joins words. Never raises.
    """
    held, begins = _plain(text), r"(?<!\w)" if language in _BEGINNING else ""
    return any(re.search(f"{begins}{re.escape(form)}", held) for form in forms)


def _stems(name: str, language: str) -> tuple[str, ...]:
    """Return a name's words without their endings."""
    stems = ((word, stem(word, language)) for word in _plain(name).split())
    return tuple(short if len(short) >= LEAST_STEM and word.startswith(short) else word for word, short in stems)


@cache
def _places(language: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the places of a language with their forms, the longest names first: one may begin as another one."""
    listed = [_plain(each).strip().split("=") for each in PLACES.get(language, "").split(",")]
    return sorted(((names[0], tuple(names)) for names in listed if names[0]), key=lambda place: -len(place[0]))


def _plain(text: str) -> str:
    return " ".join(normal(text).casefold().split())


def _as_written(name: str, question: str) -> str:
    found = re.search(re.escape(name), question, re.IGNORECASE)
    return found[0] if found else name
