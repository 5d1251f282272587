"""British and American spelling, and words written in one, in two or with a hyphen."""

from training.rewordings.exchange import Exchange, both_ways

_BASES = """
analyse/analyze apologise/apologize authorise/authorize capitalise/capitalize categorise/categorize
characterise/characterize civilise/civilize colonise/colonize criticise/criticize customise/customize
emphasise/emphasize energise/energize equalise/equalize familiarise/familiarize fertilise/fertilize
finalise/finalize generalise/generalize globalise/globalize harmonise/harmonize hospitalise/hospitalize
hypnotise/hypnotize immunise/immunize initialise/initialize industrialise/industrialize legalise/legalize
localise/localize materialise/materialize maximise/maximize memorise/memorize minimise/minimize mobilise/mobilize
modernise/modernize monetise/monetize nationalise/nationalize neutralise/neutralize normalise/normalize
optimise/optimize organise/organize paralyse/paralyze penalise/penalize personalise/personalize
popularise/popularize prioritise/prioritize privatise/privatize publicise/publicize randomise/randomize
realise/realize recognise/recognize rationalise/rationalize revolutionise/revolutionize serialise/serialize
socialise/socialize specialise/specialize stabilise/stabilize standardise/standardize sterilise/sterilize
stigmatise/stigmatize subsidise/subsidize summarise/summarize symbolise/symbolize sympathise/sympathize
synchronise/synchronize terrorise/terrorize tokenise/tokenize urbanise/urbanize utilise/utilize
vectorise/vectorize visualise/visualize vaporise/vaporize catalyse/catalyze
"""
"""Verbs: all their forms follow."""
_NOUNS = """
colour/color favour/favor flavour/flavor harbour/harbor honour/honor humour/humor labour/labor
neighbour/neighbor rumour/rumor tumour/tumor vapour/vapor behaviour/behavior odour/odor saviour/savior
endeavour/endeavor armour/armor parlour/parlor savour/savor vigour/vigor valour/valor clamour/clamor
candour/candor fervour/fervor splendour/splendor demeanour/demeanor neighbourhood/neighborhood
centre/center theatre/theater fibre/fiber litre/liter kilometre/kilometer centimetre/centimeter
millimetre/millimeter calibre/caliber spectre/specter sabre/saber lustre/luster millilitre/milliliter
defence/defense offence/offense pretence/pretense catalogue/catalog dialogue/dialog analogue/analog
monologue/monolog traveller/traveler counsellor/counselor jeweller/jeweler
anaesthetic/anesthetic anaesthesia/anesthesia foetus/fetus oesophagus/esophagus orthopaedic/orthopedic
haemorrhage/hemorrhage haemorrhoid/hemorrhoid paediatrician/pediatrician gynaecologist/gynecologist
encyclopaedia/encyclopedia haemoglobin/hemoglobin leukaemia/leukemia anaemia/anemia diarrhoea/diarrhea
oestrogen/estrogen hypoglycaemia/hypoglycemia hyperglycaemia/hyperglycemia uraemia/uremia
paedophile/pedophile organisation/organization civilisation/civilization globalisation/globalization
optimisation/optimization organiser/organizer fertiliser/fertilizer realisation/realization
colonisation/colonization specialisation/specialization visualisation/visualization urbanisation/urbanization
industrialisation/industrialization privatisation/privatization normalisation/normalization
authorisation/authorization hospitalisation/hospitalization immunisation/immunization
characterisation/characterization customisation/customization generalisation/generalization
initialisation/initialization localisation/localization modernisation/modernization
moisturiser/moisturizer tranquilliser/tranquilizer sanitiser/sanitizer stabiliser/stabilizer
moustache/mustache plough/plow cosy/cozy pyjama/pajama sceptic/skeptic aeroplane/airplane artefact/artifact
doughnut/donut yoghurt/yogurt kerb/curb manoeuvre/maneuver
"""
"""Nouns: their plural follows."""
_WORDS = """
aluminium = aluminum
jewellery = jewelry
grey = gray
maths = math
sceptical = skeptical
paediatric = pediatric
gynaecology = gynecology
haematology = hematology
favourite = favorite
favourites = favorites
favourable = favorable
honourable = honorable
colourful = colorful
colourless = colorless
coloured = colored
flavoured = flavored
unfavourable = unfavorable
behavioural = behavioral
neighbouring = neighboring
rumoured = rumored
labourer = laborer
honoured = honored
travelling = traveling
travelled = traveled
cancelled = canceled
cancelling = canceling
modelling = modeling
labelled = labeled
labelling = labeling
fuelled = fueled
counselling = counseling
levelling = leveling
signalling = signaling
marvellous = marvelous
woollen = woolen
fulfil = fulfill
fulfilment = fulfillment
enrol = enroll
enrolment = enrollment
instalment = installment
skilful = skillful
wilful = willful
ageing = aging
judgement = judgment
acknowledgement = acknowledgment
likeable = likable
sizeable = sizable
saleable = salable
mould = mold
mouldy = moldy
smoulder = smolder
programme > program
programmes > programs
cheque > check
cheques > checks
tyre > tire
tyres > tires
licence = license
practise > practice
metre = meter
metres = meters
storey > story
learnt = learned
burnt = burned
dreamt = dreamed
spelt = spelled
spoilt = spoiled
whilst > while
amongst > among
towards = toward
afterwards = afterward
orientated > oriented
mum = mom
mummy > mommy
tonne > ton
gaol > jail
manoeuvring = maneuvering
draught > draft
unrecognised = unrecognized
disorganised = disorganized
e-mail = email
e-mails = emails
website = web site
websites = web sites
webpage = web page
webpages = web pages
on-line > online
e-commerce = ecommerce
health care = healthcare
child care = childcare
smart phone = smartphone
smart phones = smartphones
home page = homepage
data base > database
data set = dataset
data sets = datasets
file name = filename
file system = filesystem
user name = username
back end = backend
front end = frontend
life style > lifestyle
pass word > password
time zone = timezone
e-book = ebook
e-books = ebooks
white space = whitespace
any more > anymore
percent = per cent
all right = alright
okay = ok
blood stream > bloodstream
grand parents > grandparents
birth day > birthday
air port > airport
high light > highlight
break-up = breakup
pre-school > preschool
co-operate = cooperate
co-operation = cooperation
co-ordinate = coordinate
co-worker = coworker
co-workers = coworkers
part time = part-time
full time = full-time
long term = long-term
short term = short-term
real time = real-time
open source = open-source
T-shirt = tshirt
ice-cream = ice cream
video game = videogame
video games = videogames
girl friend > girlfriend
boy friend > boyfriend
ear ring > earring
ear rings > earrings
hair cut > haircut
tooth ache > toothache
stomach ache = stomachache
head ache > headache
back ache > backache
work place > workplace
work out plan = workout plan
check list > checklist
land lord > landlord
under wear > underwear
bath room > bathroom
bed room > bedroom
class room > classroom
news paper > newspaper
fire wall > firewall
key board > keyboard
screen shot = screenshot
screen shots = screenshots
hash tag > hashtag
web cam = webcam
lap top > laptop
desk top > desktop
touch screen = touchscreen
flash light > flashlight
micro wave > microwave
inter caste > intercaste
some one > someone
any one > anyone
any one of
fifty shades of grey
grey anatomy
grey area
theatre of the absurd
"""


def _table() -> dict[str, tuple[str, ...]]:
    lines: list[str] = []
    for pair in _BASES.split():
        british, american = pair.split("/")
        stems = british.removesuffix("e"), american.removesuffix("e")
        lines.extend(f"{stems[0]}{ending} = {stems[1]}{ending}" for ending in ("e", "es", "ed", "ing"))
    for pair in _NOUNS.split():
        british, american = pair.split("/")
        lines.extend([f"{british} = {american}", f"{_plural(british)} = {_plural(american)}"])
    return both_ways("\n".join(lines) + _WORDS)


def _plural(noun: str) -> str:
    return noun[:-1] + "ies" if noun.endswith(("sy", "zy")) else noun + "s"


SPELLING = Exchange("spelling", _table())
"""Exchanges British and American spellings, and compounds written in one word or two."""
