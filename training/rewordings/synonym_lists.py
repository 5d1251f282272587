"""The synonyms: groups of verbs, nouns and other phrases; `=` exchanges all, `>` only the first by the others."""

VERBS = """
buy = purchase
begin > start
obtain > get
acquire > get
repair > fix
delete > remove > erase
erase > delete
choose > select > pick
select > choose
occur > happen
improve = enhance
get rid of = eliminate
construct > build
assist > help
permit > allow
prohibit = forbid
require = need
finish = complete
cease > stop
consume > eat
reside > live
reply > respond
attempt to = try to
utilize > use
comprehend > understand
reduce > lower
reduce > decrease
boost > increase
locate > find
verify = check
cope with = deal with
search for > look for
lose weight = reduce weight = shed weight = drop weight
gain weight = put on weight
memorize = learn by heart
take place = occur
postpone = put off
cancel = call off
stop smoking = give up smoking
recommend = suggest
turn down > reject
speed up = accelerate
slow down = decelerate
tolerate = put up with
vanish = disappear
gather > collect
reveal = disclose
ruin > destroy
conceal = hide
throw away = discard
awaken > wake up
fall asleep = get to sleep
carry out > perform
make money = earn money
study for = prepare for
apologize = say sorry
compute = calculate
convince = persuade
ensure = make sure
ban = prohibit
frighten = scare
get pregnant = become pregnant
go abroad = travel abroad
negotiate = bargain
safeguard > protect
rescue > save
power off = turn off
switch off = turn off
switch on = turn on
summarize = sum up
undergo = go through
vomit = throw up
break up with = split up with
appear for = sit for
go to bed = go to sleep
work out at home = exercise at home
learn to drive = learn driving
commence > start
enquire > ask
inquire > ask
depart > leave
forbid > ban
initiate > start
manufacture > produce
mend > fix
monitor = keep track of
participate in = take part in
predict = forecast
reimburse = pay back
renovate = refurbish
restrict = limit
transmit > pass on
widen = broaden
yell at = shout at
abandon = give up on
accumulate = build up
adore > love
anticipate = expect
assemble = put together
assess = evaluate
bother = annoy
calm down = relax
depend on = rely on
deteriorate = get worse
eradicate = wipe out
forgive = pardon
get better at = improve at
get up early = wake up early
grow taller > get taller
increase my height > grow taller
resemble > look like
look after = take care of
outlaw = ban
prosper = thrive
raise money = raise funds
remain > stay
remember = recall
rent out = let out
sign up for = register for
stay fit = keep fit
tell apart = distinguish
train for = prepare for
"""
NOUNS = """
movie = film
doctor > physician
physician > doctor
lawyer > attorney
car > automobile
automobile > car
laptop computer = laptop
cellphone = mobile phone = cell phone
photo = picture
disadvantage = drawback = downside
vacation > holiday
couch = sofa
gift > present
garbage = trash
sidewalk = pavement
fridge = refrigerator
airplane > plane
bicycle > bike
teenager = adolescent
youngster = young person
senior citizen = elderly person
dad = father
mom = mother
mum = mother
grandma = grandmother
grandpa = grandfather
colleague = coworker = co-worker
business owner = entrepreneur
illness > disease
sickness > illness
remedy > cure
medication > medicine
tummy > belly
stomach pain = abdominal pain
belly pain = stomach pain
heart attack = myocardial infarction
high blood pressure = hypertension
low blood pressure = hypotension
zit = pimple
blood test = blood work
side effect = adverse effect
beginner = newbie
webpage = web page
blog post = blog article
hard drive = hard disk
programmer = software developer = coder
screenshot = screen capture
earthquake > quake
cop = police officer = policeman
prison = jail
downtown > city center
birthplace = place of birth
birth date = date of birth
life span = lifespan
tuition fee = tuition
rate of interest = interest rate
home loan = mortgage
cab = taxi
plane ticket = flight ticket = airline ticket = airplane ticket
luggage = baggage
soft drink = soda
job offer = offer of employment
self defense technique = self-defense technique
dermatologist = skin doctor = skin specialist
ophthalmologist = eye doctor = eye specialist
cardiologist = heart doctor = heart specialist
nap = short sleep
nightmare = bad dream
cemetery = graveyard
supermarket > grocery store
drugstore = pharmacy
bookstore = bookshop
movie theater > cinema
gas station = petrol station
parking lot = car park
highway = motorway
phone charger = mobile charger
swimsuit = bathing suit
undergraduate = undergrad
homework = home assignment
warship = naval ship
voter = elector
citizen of india = indian citizen
us citizen = american citizen
us president = president of the united states
american president = us president
puppy = young dog
kitten = young cat
mosquito bite = bite from a mosquito
volcano eruption = volcanic eruption
flower pot = flowerpot
"""
PHRASES = """
to quit > to stop
per day > a day
per week > a week
per month > a month
per year > a year
at what age > how old
in what way > how
for what reason > why
how come > why is it that
second hand > used
second-hand > used
pre-owned > used
on the internet > online
over the web > online
quickly > fast
too difficult > too hard
difficult to > hard to
hard to > difficult to
very difficult > very hard
most difficult > hardest
hardest = most difficult
smart > intelligent
all over the world = around the world
worldwide > around the world
by means of > using
without any > with no
with the help of > using
inexpensive > cheap
affordable > inexpensive
pricey > expensive
costly > expensive
rapidly > quickly
enormous = huge
gigantic > huge
essential = crucial
vital > essential
intelligent = clever
wealthy > rich
feel sick = feel ill
feeling sick = feeling ill
fall sick = fall ill
getting sick = falling ill
assisted suicide
assisted living
need to
needs to
needed to
unhappy > sad
scared > afraid
frightened > scared
bizarre = weird = strange
odd > strange
incorrect > wrong
sufficient > enough
entire > whole
approximately = roughly
frequently > often
rarely = seldom
maybe = perhaps
presently > currently
at present = currently
nowadays > these days
immediately = right away
eventually = in the end
suddenly = all of a sudden
nearly = almost
completely = totally
entirely = completely
mainly = mostly
primarily > mainly
usually = normally = typically
additionally > in addition
for instance = for example
in order to > to
due to > because of
owing to > because of
as a result of > because of
in spite of = despite
with regard to > regarding
instead of = rather than
prior to > before
at the moment = right now
a lot of = lots of
numerous > many
a variety of = various
adequate > sufficient
hazardous > dangerous
tasty = delicious
harmful = damaging
compulsory = mandatory = obligatory
poisonous = toxic
unemployed = jobless = out of work
unusual = uncommon
dumb > stupid
awful = terrible
suitable = appropriate
over the internet > online
on the web > online
abroad > overseas
free of charge = for free
at no cost > for free
by myself = on my own
by yourself = on your own
each other > one another
one another > each other
everybody = everyone
anybody = anyone
somebody = someone
step by step = one step at a time
as soon as possible = as quickly as possible
during the night > at night
every day > daily > each day
every week > weekly > each week
every month > monthly > each month
every year > yearly > each year
each time = every time
twice a day = two times a day = twice daily
once a day = once daily = once per day
the same as = identical to
scared of = afraid of
hooked on = addicted to
next to = beside
brand new = completely new
high quality = high-quality
well-paid = highly paid
home remedies > natural remedies
natural remedies = home remedies
work from home = work remotely
working from home = working remotely
signs and symptoms > symptoms
symptoms > signs and symptoms
symptoms > signs
pros and cons = advantages and disadvantages
belly fat = abdominal fat
stomach fat = belly fat
bad breath = halitosis
hair loss = hair fall
birth control pill = contraceptive pill
birth control pills = contraceptive pills
morning after pill = emergency contraceptive pill
kidney stones = renal stones
solar power = solar energy
nuclear power = nuclear energy
mobile phones = cell phones = cellphones
internet connection = internet access
customer care = customer support = customer service
college degree = university degree
primary school = elementary school
medical school = med school
ways to > methods to
reasons for > causes of
recommendations > suggestions
how often = how frequently
what kind of = what type of = what sort of
what kinds of = what types of = what sorts of
which type of = which kind of
what steps = which steps
from scratch = from the beginning
in detail = in depth
by accident = accidentally
on purpose = deliberately = intentionally
any longer = any more
at the same time = simultaneously
in the long run = in the long term
in the near future = soon
in the beginning = at first
at the beginning of = at the start of
on a daily basis > daily
benefits of = advantages of
disadvantages of = drawbacks of
as well as
sick leave
sick days
sick day
hello doctor
medical doctor
medical doctors
hi doctor
doctor who
car keys
film festival
film festivals
phone call
fast food
flu shot
car crash
race car
on a regular basis > regularly
in a row = consecutively
as well > too
apart from = aside from
because of > due to
what are the odds = what are the chances
what are the chances = how likely is it
what can i do = what could i do
is it okay = is it ok = is it alright
is it ok = is it all right
is it bad = is it a bad thing
is it worth it = is it worthwhile
do i have to = do i need to
do you have to = do you need to
do we have to = do we need to
does it have to = does it need to
well known = well-known
most famous = best known
most beautiful = prettiest
most expensive = costliest
cheapest = least expensive
quickest = fastest
easiest = simplest
smartest = most intelligent
richest = wealthiest
largest > biggest
simplest > easiest
freelancing = freelance work
diet plan = eating plan
healthy food = nutritious food
junk food = unhealthy food
skin care = skincare
self confidence = self-confidence
public speaking = speaking in public
job market = labor market
stock market = share market
money online = money on the internet
personal loan = private loan
phone number = telephone number
email address = email id
internet speed = speed of the internet
operating system = OS
movie director = film director
movie industry = film industry
horror movies = scary movies
tv show = television show = tv series
tv shows = television shows = tv series
video games = computer games
rock band = rock group
best friend = closest friend
long distance relationship = long-distance relationship
sex life = sexual life
sexual intercourse = intercourse
panic attack = anxiety attack
panic attacks = anxiety attacks
mental illness = mental disorder
mental illnesses = mental disorders
feeling sad = feeling down
throwing up = vomiting
passing out = fainting
pass out = faint
shortness of breath = breathlessness
loose motion = diarrhea
yeast infection = candida infection
collarbone = clavicle
kneecap = patella
shoulder blade = scapula
german measles = rubella
chicken pox = chickenpox
cold sore = fever blister
cold sores = fever blisters
tooth decay = dental caries
nearsightedness = myopia
nearsighted = short-sighted
fertility treatment = infertility treatment
miscarried = had a miscarriage
global warming = the warming of the planet
rainforest = rain forest
"""
