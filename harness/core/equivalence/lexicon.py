"""English word lists for equivalence: empty words, synonyms, opposites.

All words are in lower case and before stemming; `reading.py` brings both sides to one form.
"""

from types import MappingProxyType


def _groups(text: str) -> MappingProxyType[str, str]:
    """Map the variants of each word (`word=variant`, with commas between words, as in `word_lists`) to it."""
    groups = [group.strip().split("=") for group in text.split(",")]
    return MappingProxyType({word: group[0] for group in groups for word in group})


CONTRACTIONS = MappingProxyType(
    {
        "can't": "can not", "cannot": "can not", "cant": "can not", "won't": "will not", "wont": "will not",
        "shan't": "shall not", "ain't": "is not", "aint": "is not", "dont": "do not", "doesnt": "does not",
        "didnt": "did not", "isnt": "is not", "arent": "are not", "wasnt": "was not", "werent": "were not",
        "havent": "have not", "hasnt": "has not", "hadnt": "had not", "couldnt": "could not",
        "shouldnt": "should not", "wouldnt": "would not", "let's": "let us", "im": "i am", "ive": "i have",
        "whats": "what is", "hows": "how is", "wheres": "where is", "whos": "who is", "thats": "that is",
        "gonna": "going to", "wanna": "want to", "gotta": "have to", "y'all": "you all", "w/o": "without",
        "waht": "what", "wich": "which", "teh": "the", "tommorow": "tomorrow", "tommorrow": "tomorrow",
        "n": "and", "'n'": "and",
        "ii": "2", "iii": "3", "vii": "7", "viii": "8", "ix": "9",
    }
)  # fmt: skip
CONTRACTED = (("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"), ("'m", " am"), ("'d", " would"))

POLITE = (
    r"(?:^|(?<=\. ))(?:hi|hello|hey|dear|sorry|excuse me)(?: (?:there|all|everyone|guys|doctor|doc|sir|madam))?",
    r"(?:thanks?|thx|thank you)(?: (?:you|very much|so much|a lot|in advance))*(?=[.!,]*(?:$| ?\. |,))",
    r"(?:can|could|would|will) (?:you|anyone|anybody|someone|somebody|any one|u)(?: please)?(?: kindly)? "
    r"(?:tell|explain|show|give|advise|inform|help|let|apprise|describe|suggest|clarify|enlighten)"
    r"(?: (?:me|us))?(?: (?:know|understand|out))?(?: (?:about|on|with))?",
    r"(?:please|pls|plz|kindly)(?: (?:tell|explain|show|advise|help|let)(?: (?:me|us))?(?: know)?(?: about)?)?",
    r"(?:tell|show|give|explain to) (?:me|us)(?: about)?",
    r"(?:i|we) (?:am|was|were|are) (?:just )?(?:wondering|curious|interested)"
    r"(?: (?:to know|to learn|about|in knowing))?",
    r"(?:i|we) (?:would|do|just)? ?(?:want|like|love|need|wish) to (?:know|ask|learn|understand|find out)(?: about)?",
    r"(?:do|does) (?:anyone|anybody|someone|you|any one) (?:happen to )?know",
    r"(?:does|do) (?:anyone|anybody) have (?:any )?(?:idea|ideas|information|info)(?: (?:about|on))?",
    r"(?:i|we) (?:have )?heard that",
    r"in your opinion", r"according to you", r"what do you think is", r"by the way", r"any idea",
)  # fmt: skip
"""Patterns of polite phrases in plain text, which change nothing."""

EMPTY = frozenset(
    """
    a an the this that these those some any such of is are was were be been being am do does did done doing have has
    had having will would shall should can could may might must i me my mine myself you your yours yourself yourselves
    we us our ours one ones he him his she her hers they them their theirs it its and or so as at by for in on into onto
    to from with about there here then than if whether just really actually exactly basically simply very quite
    rather also too please ok okay s t u ur get got getting gets go going goes much many
    someone somebody anyone anybody everyone everybody people person something anything thing things stuff etc eg ie
    but while during each because due though although until through along even still already almost up out off even
    own same such again ever kind kinds sort sorts type types
    which what who whom whose where when why how vs versus per via
    """.split()
)
"""Words without content; the guards use those that matter (negation, direction, question words)."""

WEAK = frozenset(
    """
    information info detail details explain explanation meaning mean means definition define description overview
    guide tutorial introduction example examples list know find give make made use used using want need help way ways
    good great nice easy easiest simple effective useful proper suitable possible different various certain
    main major general common basic concept significant
    question answer idea opinion
    all more most often usually completely totally entirely fully little few other another else lot lots several
    think thinks thought wonder wondering feel feeling notice noticed seem seems said told says say tell tells mention
    mentioned start started happening come comes may fairly certain problem problems issue issues advised mind
    become day days life time world today market fact facts point points term terms
    want wants intend try trying able happen let let's look looking work works working like
    """.split()
)
"""Words so general that one side may lack them, at a cost."""

COMPOUNDING = frozenset("life time used day world market fact term point question work".split())
"""General words that name a kind directly before another word."""

SYNONYMS = _groups(
    """
    best=good=great=top=finest=ideal=excellent=recommended,
    tip=tips=advice=recommendation=recommendations=suggestion=suggestions=practice=practices=guideline=guidelines,
    big=large=huge, begin=start=beginning=starting, buy=purchase, get=obtain=acquire, fix=repair=solve=resolve,
    error=errors=bug=bugs, movie=movies=film=films, car=automobile, picture=photo=photograph=image, mobile=cellphone,
    phone=telephone, job=employment, quick=fast=rapid=quickly, cheap=inexpensive=affordable,
    difference=distinction=differ, reason=cause, delete=remove=erase, build=create=make, choose=select=pick,
    improve=enhance=better, learn=study, happen=occur, important=essential=crucial, way=method, cost=price,
    doctor=physician, illness=disease, lawyer=attorney, kid=kids=child=children, woman=women=female, man=men=male,
    salary=wage=pay, university=college, website=site=webpage, holiday=vacation, quit=stop, gain=earn,
    smart=intelligent=clever, show=display, need=require, permit=allow, speak=talk, end=finish, ill=sick, rich=wealthy,
    sad=unhappy, tv=television, app=application, usa=america, uk=britain, laptop=notebook, weight=weigh
    """
)
"""Words that ask for the same answer; the first of each group represents it."""

IMPLIED = MappingProxyType(
    {
        "rest api": "api", "restful api": "api", "web api": "api",
        "python language": "python", "web site": "website", "web page": "website", "pdf file": "pdf",
        "source code": "code", "e mail": "email", "e commerce": "ecommerce", "real estate": "realestate",
        "home page": "homepage", "data base": "database", "file name": "filename", "user name": "username",
        "pass word": "password", "log in": "login", "sign in": "login", "log out": "logout", "sign out": "logout",
        "set up": "setup", "smart phone": "smartphone",
        "united kingdom": "uk", "new york city": "nyc", "signs and symptoms": "symptoms",
        "latest news": "news", "breaking news": "news", "current news": "news", "latest updates": "updates",
        "latest update": "update", "live updates": "updates", "united states of america": "usa", "united states": "usa",
        "mobile phone": "phone",
        "cell phone": "phone", "how come": "why", "at present": "now", "i m": "i am",
        "high blood pressure": "hypertension", "low blood pressure": "hypotension",
        "myocardial infarction": "heart attack", "low blood sugar": "hypoglycemia", "high blood sugar": "hyperglycemia",
        "high cholesterol": "hypercholesterolemia", "hair loss": "alopecia", "birth control": "contraception",
        "remove duplicate": "deduplicate", "removing duplicate": "deduplicating", "delete duplicate": "deduplicate",
        "drop duplicate": "deduplicate", "duplicate removal": "deduplication", "regular expression": "regex",
        "out of memory": "oom", "command line": "cli", "table salt": "sodium chloride", "home loan": "mortgage",
    }
)  # fmt: skip
"""Phrases and the words that say the same. Texts less similar than 0.6 are never served, so *nosebleed* and its medical
name would change nothing here.
"""

DIRECTED = frozenset(
    """
    convert conversion converter translate translation flight flights ferry distance migrate migration transfer
    switch switching exchange fly flying from to than include including exclude excluding except with without
    """.split()
)
"""Words next to which word order means direction: from, to."""

NEGATIONS = frozenset("not no never without none nor neither nobody nothing nowhere hardly cannot lack non".split())

MONTHS = _groups(
    """
    january=jan, february=feb, march=mar, april=apr, may, june=jun, july=jul, august=aug, september=sep=sept,
    october=oct, november=nov, december=dec
    """
)
WEEKDAYS = _groups(
    """
    monday=mon=mondays, tuesday=tue=tues=tuesdays, wednesday=wed=wednesdays, thursday=thu=thurs=thursdays,
    friday=fri=fridays, saturday=sat=saturdays, sunday=sun=sundays
    """
)
RELATIVE_TIMES = _groups(
    """
    latest=newest=recent=recently, now=current=currently=nowadays=presently, today=todays, tonight, yesterday, tomorrow,
    upcoming=forthcoming, previous=former=formerly, ago
    """
)

UNITS = _groups(
    """
    %=percent=percentage=pct, $=dollar=dollars=usd=bucks, €=euro=euros=eur, ₹=rupee=rupees=inr=rs, ¥=yen=jpy, £=gbp,
    lb=lbs, pound=pounds, kg=kilogram=kilograms=kilo=kilos=kgs, g=gram=grams, mg=milligram=milligrams,
    mcg=μg=microgram=micrograms, oz=ounce=ounces, ton=tons=tonne=tonnes,
    km=kilometre=kilometres=kilometer=kilometers=kms, m=metre=metres=meter=meters,
    cm=centimetre=centimetres=centimeter=centimeters=cms, mm=millimetre=millimetres=millimeter=millimeters,
    mile=miles=mi, ft=foot=feet, inch=inches, yard=yards, l=litre=litres=liter=liters,
    ml=millilitre=millilitres=milliliter=milliliters, gallon=gallons=gal, quart=quarts, pint=pints, cup=cups,
    tablespoon=tablespoons=tbsp, teaspoon=teaspoons=tsp, acre=acres, hectare=hectares, gb=gigabyte=gigabytes=gig=gigs,
    mb=megabyte=megabytes, tb=terabyte=terabytes, kb=kilobyte=kilobytes, hour=hours=hr=hrs, minute=minutes=min=mins,
    second=seconds=sec=secs, ms=millisecond=milliseconds, day=days, week=weeks=wk, month=months, year=years=yr=yrs, am,
    pm, degree=degrees=°, celsius=centigrade=°c, fahrenheit=°f, kelvin, mph, kmh=kph, hz, mhz, ghz, w=watt=watts, kw,
    v=volt=volts, mah, px=pixel=pixels, mp=megapixel=megapixels, bit=bits, byte=bytes
    """
)
EITHER_UNIT = MappingProxyType({"pound": frozenset({"£", "lb"})})
"""Units whose name is ambiguous."""
MEASURES = tuple(
    frozenset(line.split())
    for line in """
    $ € ₹ ¥ £
    lb kg g mg mcg oz ton
    km m cm mm mile ft inch yard
    l ml oz gallon quart pint cup tablespoon teaspoon
    acre hectare
    celsius fahrenheit kelvin
    mph kmh
    kb mb gb tb bit byte
    """.strip().splitlines()
)
"""Units of the same measure. Not those of time: "for hours" may mean "all day"."""
MULTIPLIERS = MappingProxyType({"k": 1_000, "thousand": 1_000, "million": 10**6, "mn": 10**6, "billion": 10**9,
    "bn": 10**9, "trillion": 10**12, "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7})  # fmt: skip

IRREGULAR = MappingProxyType(
    {
        "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth", "mice": "mouse", "bought": "buy",
        "sold": "sell", "went": "go", "gone": "go", "took": "take", "taken": "take", "wrote": "write",
        "written": "write", "made": "make", "built": "build", "began": "begin", "begun": "begin", "broke": "break",
        "broken": "break", "chose": "choose", "chosen": "choose", "came": "come", "did": "do", "drove": "drive",
        "driven": "drive", "ate": "eat", "eaten": "eat", "fell": "fall", "fallen": "fall", "felt": "feel",
        "found": "find", "flew": "fly", "forgot": "forget", "forgotten": "forget", "gave": "give", "given": "give",
        "grew": "grow", "grown": "grow", "held": "hold", "kept": "keep", "knew": "know", "known": "know",
        "left": "leave", "lost": "lose", "met": "meet", "paid": "pay", "ran": "run", "said": "say", "saw": "see",
        "seen": "see", "sent": "send", "slept": "sleep", "spoke": "speak", "spoken": "speak", "spent": "spend",
        "stole": "steal", "taught": "teach", "told": "tell", "thought": "think", "threw": "throw", "won": "win",
        "wore": "wear", "worn": "wear", "analyses": "analysis", "criteria": "criterion", "phenomena": "phenomenon",
        "matrices": "matrix", "indices": "index", "vertices": "vertex", "lives": "life", "wives": "wife",
        "knives": "knife", "leaves": "leaf", "died": "die", "dying": "die", "lying": "lie", "tying": "tie",
        "safety": "safe", "tricks": "tip", "hacks": "tip", "importance": "important", "animation": "animated",
    }
)  # fmt: skip

DISTINCT = frozenset(
    """
    experience experiment important authority animated relative relativity executive ironic marinate humanity
    personality morale numerous informal rational hospitality capitalism conservative conservation alcoholic physics
    business definite
    """.split()
)
"""Words that the stemmer wrongly merges with others."""

PRONOUN_BEFORE = frozenset(
    """
    tell tells give gives help helps let lets show shows teach teaches make makes for with of between to around among
    both all does do did can will should would affect affects
    """.split()
)
"""After these, `us` is a pronoun; elsewhere it is a country."""

BRITISH = tuple(
    (pair.split("/")[0], pair.split("/")[1])
    for pair in """
    isation/ization ising/izing ised/ized ises/izes iser/izer ise/ize yse/yze ysing/yzing
    ogue/og our/or oured/ored ouring/oring ours/ors ourite/orite ourites/orites
    tre/ter tres/ters bre/ber defence/defense offence/offense licence/license lled/led
    lling/ling ller/ler aemia/emia programme/program programmes/programs grey/gray tyre/tire
    tyres/tires cheque/check colour/color maths/math aluminium/aluminum jewellery/jewelry
    """.split()
)
"""Endings, applied to words of both sides alike, so that a wrong rewriting does no harm."""

AUDIENCES = frozenset(
    """
    children child kid kids toddler toddlers baby babies teenager teenagers teen teens adult adults senior seniors
    elderly beginner beginners dummy dummies student students expert experts professional professionals women men
    dog dogs cat cats woman man girl boy girls boys
    """.split()
)
