"""Words for what belongs to a country, which texts use instead of its name: a text about the French is about France."""

from collections.abc import Mapping
from types import MappingProxyType

_COUNTRIES = """
    afghanistan: afghan | albania: albanian | algeria: algerian | argentina: argentine argentinian
    armenia: armenian | australia: australian | austria: austrian | azerbaijan: azerbaijani | bangladesh: bangladeshi
    belarus: belarusian | belgium: belgian | bolivia: bolivian | bosnia: bosnian | brazil: brazilian | britain: british
    bulgaria: bulgarian | cambodia: cambodian | cameroon: cameroonian | canada: canadian | chile: chilean
    china: chinese | colombia: colombian | croatia: croatian | cuba: cuban | cyprus: cypriot | czechia: czech
    denmark: danish dane | ecuador: ecuadorian | egypt: egyptian | england: english | estonia: estonian
    ethiopia: ethiopian | fiji: fijian | finland: finnish finn | france: french | gabon: gabonese
    germany: german | ghana: ghanaian | greece: greek | greenland: greenlandic greenlander | guatemala: guatemalan
    haiti: haitian | honduras: honduran | hungary: hungarian | iceland: icelandic icelander | india: indian
    indonesia: indonesian | iran: iranian | iraq: iraqi | ireland: irish | israel: israeli | italy: italian
    jamaica: jamaican | japan: japanese | jordan: jordanian | kazakhstan: kazakh | kenya: kenyan | korea: korean
    kuwait: kuwaiti | kyrgyzstan: kyrgyz | laos: lao laotian | latvia: latvian | lebanon: lebanese | libya: libyan
    lithuania: lithuanian | madagascar: malagasy | malaysia: malaysian | mali: malian | malta: maltese
    mexico: mexican | moldova: moldovan | mongolia: mongolian | morocco: moroccan | mozambique: mozambican
    myanmar: burmese | namibia: namibian | nepal: nepalese nepali | netherlands: dutch | nicaragua: nicaraguan
    nigeria: nigerian | norway: norwegian | oman: omani | pakistan: pakistani | panama: panamanian
    paraguay: paraguayan | peru: peruvian | philippines: philippine filipino filipina | poland: polish
    portugal: portuguese | qatar: qatari | romania: romanian | russia: russian | rwanda: rwandan | scotland: scottish
    senegal: senegalese | serbia: serbian | slovakia: slovak | slovenia: slovenian slovene | somalia: somali
    spain: spanish | sudan: sudanese | sweden: swedish swede | switzerland: swiss | syria: syrian | taiwan: taiwanese
    tajikistan: tajik | tanzania: tanzanian | thailand: thai | tibet: tibetan | tunisia: tunisian | turkey: turkish
    turkmenistan: turkmen | uganda: ugandan | ukraine: ukrainian | uruguay: uruguayan | uzbekistan: uzbek
    venezuela: venezuelan | vietnam: vietnamese | wales: welsh | yemen: yemeni | zambia: zambian | zimbabwe: zimbabwean
    africa: african | america: american | antarctica: antarctic | asia: asian | europe: european
"""


def _nationalities() -> dict[str, tuple[str, ...]]:
    entries = (entry.split(":") for line in _COUNTRIES.strip().splitlines() for entry in line.split("|"))
    return {country.strip(): tuple(words.split()) for country, words in entries}


NATIONALITIES: Mapping[str, tuple[str, ...]] = MappingProxyType(_nationalities())
"""The words for what belongs to each country or continent, all in lower case."""


def with_nationality(word: str) -> tuple[str, ...]:
    """Return the words, in lower case, of which a text about `word` has one: itself, and for a country its nationality,
    also in the plural. Never raises.
    """
    word = word.casefold()
    own = NATIONALITIES.get(word, ())
    return (word, *own, *(f"{each}s" for each in own))
