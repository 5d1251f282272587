"""Short forms and their long forms."""

import re
from collections.abc import Sequence
from random import Random

from training.rewordings.exchange import ABOUT_WORDS, Exchange, both_ways, is_name, neighbour
from training.words import is_word, tokens

_NAMES = """
United States = US = USA = U.S.
United States of America = USA = US
United Kingdom = UK = U.K.
European Union = EU
United Arab Emirates = UAE
United Nations = UN
New York City = NYC
Los Angeles > LA
San Francisco > SF
Washington, D.C. > Washington DC
New Zealand > NZ
World Health Organization = WHO
World War II = WW2 = WWII = World War 2 = the Second World War
World War I = WW1 = WWI = World War 1 = the First World War
artificial intelligence = AI
machine learning = ML
natural language processing = NLP
deep learning > DL
virtual reality = VR
augmented reality = AR
internet of things = IoT
search engine optimization = SEO
operating system > OS
user interface > UI
user experience > UX
central processing unit > CPU
graphics processing unit > GPU
graphics card > GPU
hard disk drive > HDD
solid state drive > SSD
virtual private network = VPN
local area network > LAN
application programming interface > API
integrated development environment > IDE
command line interface > CLI
graphical user interface = GUI
uniform resource locator > URL
relational database management system > RDBMS
database management system = DBMS
object oriented programming = OOP
object-oriented programming > OOP
Amazon Web Services = AWS
Google Cloud Platform > GCP
Visual Studio Code = VS Code = VSCode
JavaScript = JS
TypeScript = TS
Kubernetes = k8s
PostgreSQL = Postgres
convolutional neural network > CNN
convolutional neural networks > CNNs
recurrent neural network > RNN
human resources > HR
chief executive officer = CEO
chief financial officer = CFO
chief technology officer > CTO
vice president > VP
public relations > PR
small and medium enterprises > SMEs
initial public offering > IPO
return on investment > ROI
gross domestic product = GDP
goods and services tax > GST
value added tax = VAT
credit card number > CC number
automated teller machine > ATM
do it yourself > DIY
frequently asked questions > FAQ
human immunodeficiency virus = HIV
attention deficit hyperactivity disorder = ADHD
post-traumatic stress disorder = PTSD
obsessive compulsive disorder = OCD
polycystic ovary syndrome = PCOS
polycystic ovarian syndrome = PCOS
urinary tract infection = UTI
urinary tract infections = UTIs
sexually transmitted disease > STD
sexually transmitted diseases > STDs
sexually transmitted infection > STI
irritable bowel syndrome = IBS
gastroesophageal reflux disease = GERD
chronic obstructive pulmonary disease = COPD
body mass index = BMI
blood pressure > BP
heart rate > HR
over the counter > OTC
over-the-counter > OTC
magnetic resonance imaging = MRI
computed tomography > CT
electrocardiogram = ECG = EKG
intensive care unit > ICU
emergency room > ER
in vitro fertilization = IVF
human papillomavirus = HPV
pelvic inflammatory disease > PID
bacterial vaginosis > BV
birth control pills > BCPs
last menstrual period > LMP
complete blood count > CBC
white blood cells > WBC
red blood cells > RBC
follicle stimulating hormone > FSH
thyroid stimulating hormone > TSH
acute respiratory distress syndrome > ARDS
severe acute respiratory syndrome > SARS
Centers for Disease Control = CDC
Federal Bureau of Investigation = FBI
Central Intelligence Agency = CIA
National Security Agency = NSA
National Basketball Association = NBA
National Football League = NFL
Indian Premier League = IPL
Massachusetts Institute of Technology > MIT
Indian Institute of Technology > IIT
National Aeronautics and Space Administration > NASA
Food and Drug Administration = FDA
Internal Revenue Service = IRS
Environmental Protection Agency > EPA
North Atlantic Treaty Organization > NATO
World Trade Organization > WTO
International Monetary Fund = IMF
Bharatiya Janata Party > BJP
Graduate Record Examination > GRE
master of business administration > MBA
grade point average > GPA
science, technology, engineering and mathematics > STEM
electric vehicle > EV
electric vehicles > EVs
unidentified flying object = UFO
unidentified flying objects = UFOs
liquefied petroleum gas > LPG
compressed natural gas > CNG
light emitting diode > LED
global positioning system > GPS
near field communication > NFC
closed-circuit television > CCTV
genetically modified organisms > GMOs
genetically modified > GM
deoxyribonucleic acid > DNA
Ruby on Rails > RoR
Microsoft Excel = MS Excel = Excel
Microsoft Word = MS Word
Microsoft Office = MS Office
Game of Thrones > GoT
Grand Theft Auto V = GTA V = GTA 5
Amazon Prime Video = Prime Video
Saint Petersburg = St. Petersburg
Mount Everest = Mt. Everest = Mt Everest
"""
_WORDS = """
app > application
apps > applications
info = information
exam = examination
exams = examinations
ad = advertisement
ads = advertisements
bike > bicycle
bikes > bicycles
fridge = refrigerator
gym > gymnasium
laboratory > lab
laboratories > labs
math = mathematics
maths = mathematics
phone = telephone
photo = photograph
photos = photographs
airplane > plane
airplanes > planes
tv = television
tvs = televisions
vs = versus
vs. = versus
influenza > flu
approx = approximately
govt = government
univ = university
uni > university
dept = department
mgmt = management
config = configuration
repo = repository
repos = repositories
admin > administrator
auth > authentication
dev > developer
devs > developers
tech > technology
asap = as soon as possible
aka > also known as
btw > by the way
bf > boyfriend
gf > girlfriend
bday = birthday
pic = picture
pics = pictures
vid = video
vids = videos
fav > favorite
convo > conversation
meds = medications
dorm = dormitory
grad school = graduate school
undergrad = undergraduate
postgrad = postgraduate
prof > professor
rehab > rehabilitation
vet > veterinarian
demo > demonstration
memo > memorandum
gas = gasoline
appt = appointment
apt > apartment
ppl > people
u > you
ur > your
b/c > because
bcz > because
w/ > with
w/o > without
pls > please
plz > please
sci-fi = science fiction
wifi = wi-fi
db > database
pwd = password
pw = password
src > source
regex = regular expression
regexes = regular expressions
env variable = environment variable
env variables = environment variables
os x = macos
vm = virtual machine
vms = virtual machines
ssd = solid-state drive
what's app
stats = statistics
intro = introduction
preggo > pregnant
ob-gyn = gynecologist
"""
_AMBIGUOUS = frozenset(
    "us it who ar la sf pid bp hr pr er gm dl ts js ml un eu ct led gre got mit stem est ad ps os vp ti go".split()
)
"""In small letters these short forms are other words, or seldom seen."""
_GAS = frozenset("station stations price prices mileage".split())


_SHORT = {
    form.strip().lower(): form.strip()
    for line in _NAMES.strip().splitlines()
    for form in re.split("[=>]", line)
    if sum(letter.isupper() for letter in form) > 1 and " " not in form.strip()
}
"""Short forms of capitals, which are read only as they are written, or in a text of small letters."""

_NAMED = frozenset(both_ways(_NAMES))
_TITLED = frozenset("times university bank air".split())


def _may_stand(pieces: Sequence[str], start: int, end: int) -> bool:
    """Allow a word, or a name, that is not part of a longer name, and no short form that may be another word."""
    found = "".join(pieces[start:end])
    before, after = neighbour(pieces, start, -1), neighbour(pieces, end - 1, 1)
    if (start and not pieces[start - 1].isspace()) or (found.isupper() and "".join(pieces).isupper()):
        return False
    return _is_read_so(found, pieces) and _is_meant(found, before, after) and not _in_name(found, pieces, start)


def _is_read_so(found: str, pieces: Sequence[str]) -> bool:
    """Return whether a short form is written with its capitals, or in small letters where all are and none may err."""
    low = found.lower()
    if low not in _SHORT:
        return not (found.islower() and low in _AMBIGUOUS)
    return found == _SHORT[low] or (found.islower() and low not in _AMBIGUOUS and "".join(pieces).islower())


def _is_meant(found: str, before: str, after: str) -> bool:
    """Return whether the words beside a short form bear its usual meaning out."""
    low = found.lower()
    if low in {"us", "u.s."}:
        return not after[:1].isdigit()
    if low in {"gas", "gasoline"}:
        return after.lower() in _GAS
    if low in {"u", "ur"}:
        return found.islower() and before.islower() and after.islower()
    if low in {"phone", "telephone"}:
        return after.lower() in {"number", "numbers", "call", "calls"}
    return not (
        low in {"vet", "ad", "ads", "apt", "dev", "tech"} and (before[:1].isupper() or after in {"to", "support"})
    )


def _in_name(found: str, pieces: Sequence[str], start: int) -> bool:
    """Return whether a word with a capital is one of a longer name, or follows the name of a paper, a school or a
    firm.
    """
    before = neighbour(pieces, start, -1)
    word = found.isalpha() and found == found.capitalize() and found.lower() not in _NAMED
    return (word and is_name(pieces, start)) or (found[:1].isupper() and before.lower() in _TITLED)


class Abbreviations:
    """Exchanges unambiguous short and long forms of names and words."""

    name = "abbreviations"

    def __init__(self) -> None:
        self._names = Exchange(self.name, both_ways(_NAMES), _may_stand, _ABOUT)
        self._words = Exchange(self.name, both_ways(_WORDS), _may_stand, _ABOUT)

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        for exchange in chance.sample((self._names, self._words), 2):
            varied = exchange.vary(text, chance)
            if varied is None:
                continue
            if text == text.lower():
                varied = varied.lower()
                if any(piece in _AMBIGUOUS and piece not in text for piece in tokens(varied) if is_word(piece)):
                    continue
            return varied
        return None


_ABOUT = re.compile(ABOUT_WORDS.pattern + r"|\bfull form\b|\bshort for\b|\bstand(?:s|ing)? for\b", re.IGNORECASE)
