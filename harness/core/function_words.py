"""Function words of languages: articles, prepositions, pronouns, question words, auxiliary verbs."""

from collections.abc import Mapping
from types import MappingProxyType


def listed(text: str) -> dict[str, str]:
    """Return the words of each kind in a text of lines `kind: words`, which continue in indented lines."""
    found: dict[str, str] = {}
    kind = ""
    for line in text.strip().splitlines():
        first, _, words = ("", "", line) if line.startswith(" ") else line.partition(":")
        kind = first or kind
        found[kind] = f"{found.get(kind, '')} {words.lstrip()}".lstrip()
    return found


def _words_of(text: str) -> Mapping[str, frozenset[str]]:
    return MappingProxyType({language: frozenset(words.split()) for language, words in listed(text).items()})


LATIN_WORDS = _words_of("""
en: the of and to in is are was were what which who whom whose when where why how does do did can could should would
    will has have had a an for with from by at on this that these those it its be been as or not if than there their
    you your my i we they about between into after before during
es: el la los las un una unos unas a de del y o no es son era eran fue fueron ser está están qué que quién quiénes
    cuál cuáles cuándo dónde cómo por qué cuánto cuánta cuántos cuántas en con sin para por sobre entre desde hasta al
    se su sus lo le les más menos hay tiene tienen puede pueden este esta estos estas como cuando donde si mi tu yo
    muy también
de: der die das den dem des ein eine einen einem einer eines und oder nicht ist sind war waren wird werden wurde wie
    was wer wo wann warum wieso weshalb welche welcher welches wem wen wessen im in mit von zu zum zur für auf aus bei
    nach über unter vor durch gegen ohne um kann können man ich du er wir ihr es haben hat hatte auch nur noch schon
    als wenn dass gibt viel viele es am an ab zwischen
fr: le la les un une des du de et ou ne pas est sont était étaient être a ont avait que qui quoi quel quelle quels
    quelles où quand comment pourquoi combien dans en sur sous avec sans pour par au aux ce cette ces il elle on nous
    vous ils elles je tu se son sa ses leur leurs plus moins entre après avant depuis peut peuvent fait faire d'une
    qu'est est-ce y
it: il lo la i gli le un uno una di del dello della dei degli delle e o non è sono era erano fu essere che chi cosa
    quale quali quando dove come perché quanto quanta quanti quante in nel nella nei nelle con senza per a su sul
    sulla tra fra da dal dalla al alla ai alle si suo sua suoi loro più meno ha hanno può possono questo questa questi
    anche mio c'è
pt: o a os as um uma uns umas de do da dos das e ou não é são era eram foi foram ser está estão que quem qual quais
    quando onde como por quê porque quanto quanta quantos quantas em no na nos nas com sem para pelo pela sobre entre
    desde até ao à se seu sua seus suas mais menos há tem têm pode podem este esta isso você eu muito também
nl: de het een en of niet is zijn was waren wordt worden werd wie wat waar wanneer waarom hoe welke welk hoeveel in op
    aan met van voor naar door over onder bij uit om tot tegen zonder tussen kan kunnen men ik je jij u hij zij wij ze
    heeft hebben had ook nog dan als dat die dit deze er te mijn
tr: ve veya ile bir bu şu o ne nedir nasıl neden niçin niye kim kimin kimdir hangi hangisi nerede nereye nereden kaç
    mı mi mu mü mıdır midir değil için gibi kadar daha en çok var yok ise ama sonra önce olarak olan oldu eden
    tarafından arasında göre üzerinde hakkında zaman
pl: i w z na do nie jest są był była było były co kto kiedy gdzie dlaczego jak jaki jaka jakie jakich który która
    które ile czy się o od po przez przy dla bez pod nad między oraz lub to ten ta te ma mają może można być został
    została
sv: och eller i på av för med till från är var vad vem när varför hur vilken vilket vilka en ett den det de som inte
    om att har hade kan kunde ska man jag du han hon vi efter före mellan under över utan många mycket
da: og eller i på af for med til fra er var hvad hvem hvor hvornår hvorfor hvordan hvilken hvilket hvilke en et den
    det de som ikke om at har havde kan kunne skal man jeg du han hun vi efter før mellem under over uden mange meget
id: dan atau di ke dari yang untuk dengan pada adalah apa siapa kapan mana mengapa bagaimana berapa tidak bukan ini
    itu dalam oleh sebagai akan telah bisa dapat ada apakah antara setelah sebelum
""")
"""Function words of languages in Latin letters; the first ones only, of English."""

_OTHER_WORDS = _words_of("""
ru: а без более больше бы был была были было быть в вам вас весь во вот все всего всех всю вы где да даже для до его
    ее если есть еще же за здесь и из или им их к как какая какие каким каких какого какое какой какую ко когда
    который которая которое которые которого которой которых кто ли между меня мне может можно мой моя мы на над нам
    нас не него нее ней нет ни них но о об один он она они оно от очень по под после потому почему при про раз с сам
    своих свой себя сколько со так также такой там тебя тем то того тоже той только том тот ту ты у уже чего чей чем
    через что чтобы эта эти это этого этой этом этот эту я
ar: ا الذي الذين التي الي ام ان او اي اين اذا اكثر انه انها بعد بن بين بها به تكون تم تلك ثم حتي حول حيث خلال ذلك على
    علي عليه عليها عن عند عندما غير في فيه فيها قبل قد كان كانت كم كما كيف كل لا لقد لكن لم لماذا لن له لها ليس ليست
    ما ماذا ماهي ماهو متي مثل مع من منذ منه منها نحو هذا هذه هل هم هن هنا هناك هو هي و وقد ولا وما ومن وهو وهي يكون
    يمكن
hi: अपना अपनी अपने अब आप इन इस इसका इसकी इसके इसमें इसे उन उनका उनकी उनके उन्हें उन्होंने उस उसका उसकी उसके उसने उसे
    एक ऐसा ऐसे और कई कब कम कर करता करती करते करना करने कहाँ कहां का कारण कि कितना कितनी कितने किन किया किस किसका किसकी
    किसके किसने किसी किसे की कुछ के कैसा कैसे को कोई कौन कौनसा कौनसी क्या क्यों गई गए गया गये चाहिए जब जा जाता जाती
    जाते जाना जिस जिसका जिसकी जिसके जिसमें जिसे जो तक तब तो था थी थीं थे दिया दो द्वारा नहीं ने पर फिर बहुत बाद बारे
    बीच भी मेरा मेरी मेरे में मैं यदि यह यहाँ या ये रहा रही रहे लिए लेकिन व वह वहाँ वाला वाली वाले वे सकता सकती सकते
    सब सभी साथ से हम हर ही हुआ हुई हुए है हैं हो होता होती होते होना होने
el: αν από απο αυτά αυτές αυτή αυτό αυτός για δε δεν εγώ εδώ είναι ειναι εκεί ένα ένας εσείς εσύ ή η ήταν ηταν θα και
    κάθε καθε κατά κατα με μετά μέχρι μη μην μια μία μου να ο οι όπως όταν οταν ότι οτι πιο ποια ποιά ποιο ποιό ποιοι
    ποιος ποιός πολύ πόσα πόσο πόσοι πόσες πότε ποτέ που πού πριν προς πως πώς σας σε σου στα στη στην στις στο στον
    στους τα τη την της τι τις το του τον τους των ως
he: אבל או אולי אחר אחרי איזה אילו איך אין איפה אלה אם אני אנחנו את אתה באיזה בין בו גם הוא היא היה היו היתה הייתה הם
    הן הזה הזאת זה זאת זו יותר יש כאשר כי כל כמה כמו כן לא לאן לו לה להם לפני מאוד מאיפה מדוע מה מהו מהי מהם מי מן מתי
    על עד עם רק של שלא שלו שלה שלהם תחת
""")

FUNCTION_WORDS: Mapping[str, frozenset[str]] = MappingProxyType({**LATIN_WORDS, **_OTHER_WORDS})
"""Words of questions and texts that say nothing about their subject, by language. English has `text.STOP_WORDS`."""
