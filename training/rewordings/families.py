"""Families of questions that ask for the same answer. The forms of one are parted by bars; after a bar at the
end of a line it goes on in the next.

A slot's letter is its type: `v` a verb phrase that begins with a base form; `n` a noun phrase of any
number; `o` a singular or uncountable one; `m` a plural one; `w` one or two common words;
`a`, `b` the sides of a comparison; `p` a proper name; `c` a clause; `x` anything short. A form that ends in `!` is only
written, never read; one that begins with `<` is only read, never written.
"""

FAMILIES = """
how do i {v} | how can i {v} | how to {v} | what is the best way to {v} | what's the best way to {v} |
how should i {v} | how would i {v} | how could i {v} | how do you {v} | how does one {v} | how can one {v} |
how can you {v} | what are some ways to {v} | what is a good way to {v} | what can i do to {v} |
what should i do to {v} | ways to {v} | what are the ways to {v} | best way to {v} |
what would be the best way to {v} | which is the best way to {v} | how can we {v} | what are some good ways to {v}! |
what's a good way to {v} | how do we {v} | what do i need to do to {v} | what do i have to do to {v} |
how am i supposed to {v}! | how might i {v} | what is the right way to {v} | what is the proper way to {v}

what does {w} mean | what is the meaning of {w} | meaning of {w} | define {w} | definition of {w} | {w} meaning |
what is the definition of {w} | what is meant by {w} | what's the meaning of {w} | {w} definition |
what do you mean by {w} | what do we mean by {w} | how do you define {w} | how would you define {w} |
how is {w} defined

<what is {w} | what is meant by {w} | what is the definition of {w} | what exactly is {w} | define {w} |
how would you define {w}

how much does {o} cost | what is the price of {o} | cost of {o} | what is the cost of {o} | what does {o} cost |
how much is the price of {o}! | {o} price! | {o} cost! | price of {o} | what's the price of {o}

how much does it cost to {v} | what does it cost to {v} | how much would it cost to {v} | cost to {v} |
how much will it cost to {v} | what is the cost to {v} | what would it cost to {v} | how expensive is it to {v} |
how much money does it take to {v} | how much do you have to pay to {v}!

how long does it take to {v} | how much time does it take to {v} | how much time is needed to {v} |
how long will it take to {v} | how long would it take to {v} | how much time do i need to {v} |
how much time is required to {v} | time needed to {v} | what is the time required to {v}! |
how long do you need to {v}!

how old is {p} | what is the age of {p} | {p} age | what is {p}'s age | what age is {p}

how tall is {o} | what is the height of {o} | {o} height! | what height is {o} | height of {o}
how high is {o} | what is the height of {o} | height of {o}
how deep is {o} | what is the depth of {o} | depth of {o}
how heavy is {o} | how much does {o} weigh | what is the weight of {o} | weight of {o} | what does {o} weigh
how fast is {o} | what is the speed of {o} | speed of {o}
how big is {o} | what is the size of {o} | how large is {o} | size of {o}
how far is {a} from {b} | what is the distance between {a} and {b} | distance between {a} and {b} |
what is the distance from {a} to {b} | how far is it from {a} to {b} | how far is it between {a} and {b} |
distance from {a} to {b}

how many people live in {p} | what is the population of {p} | {p} population | population of {p} |
what is {p}'s population | how many people are there in {p} | how many inhabitants does {p} have

where is {o} located | where is {o} situated | what is the location of {o} | location of {o}
where can i buy {n} | where can you buy {n} | where do i buy {n} | where to buy {n} |
where is a good place to buy {n} | where could i buy {n} | where can one buy {n} | where do you buy {n} |
where can i purchase {n} | where do they sell {n} | who sells {n}
where can i find {n} | where do i find {n} | where to find {n} | where could i find {n} | where can you find {n} |
where would i find {n} | where can one find {n}
where can i {v} | where could i {v} | where to {v} | where is a good place to {v} | where can you {v} |
where can we {v} | what is a good place to {v} | where can one {v}
where can i get {n} | where do i get {n} | where could i get {n} | where to get {n} | where can you get {n}

who invented {o} | who is the inventor of {o} | who was the inventor of {o} | inventor of {o} | who came up with {o} |
which person invented {o}
who wrote {o} | who is the author of {o} | author of {o} | who was the author of {o}
who founded {o} | who is the founder of {o} | who was the founder of {o} | founder of {o}
who discovered {o} | who was the discoverer of {o} | discoverer of {o} | who was the first to discover {o} |
which scientist discovered {o}!
who directed {o} | who was the director of {o} | director of {o} | who is the director of {o}
who owns {o} | who is the owner of {o} | to whom does {o} belong | owner of {o}
who won {n} | who was the winner of {n} | winner of {n} | who is the winner of {n}
who composed {o} | who was the composer of {o} | who is the composer of {o} | composer of {o}
who painted {o} | who is the painter of {o} | which artist painted {o} | which painter painted {o} |
by whom was {o} painted

what are the benefits of {n} | what are the advantages of {n} | benefits of {n} | advantages of {n} |
what are some benefits of {n} | what benefits does {o} have! | what are the positives of {n}! |
what are some of the benefits of {n}
what are the disadvantages of {n} | what are the drawbacks of {n} | disadvantages of {n} |
what are the downsides of {n} | drawbacks of {n} | what are some disadvantages of {n} | what are the cons of {n}
what are the advantages and disadvantages of {n} | what are the pros and cons of {n} | pros and cons of {n} |
advantages and disadvantages of {n} | what are the benefits and drawbacks of {n} |
what are the disadvantages and advantages of {n}
what are the symptoms of {n} | symptoms of {n} | what are the signs of {n} | what are some symptoms of {n} |
what are the signs and symptoms of {n} | {w} symptoms | signs and symptoms of {n} | signs of {n} |
what are common symptoms of {n}
what are the side effects of {n} | side effects of {n} | what are the adverse effects of {n} | {w} side effects |
what side effects does {o} have | are there any side effects of {n} | adverse effects of {n} |
what are some side effects of {n} | what are the possible side effects of {n}
what causes {n} | what is the cause of {n} | what are the causes of {n} | causes of {n} | what is the reason for {n} |
what could cause {n} | what can cause {n} | what is {n} caused by | what are the reasons for {n} | what leads to {n} |
cause of {n}
what is the treatment for {n} | how is {o} treated | how can {n} be treated | how do you treat {n} |
treatment for {n} | treatment of {n} | how to treat {n} | what is the best treatment for {n} |
how should {n} be treated | what are the treatments for {n} | {w} treatment | what treatments are there for {n}
is there a cure for {n} | can {n} be cured | is there any cure for {n} | is {o} curable | does {n} have a cure! |
is there a way to cure {n}
how can i prevent {n} | how do you prevent {n} | how to prevent {n} | how can {n} be prevented | prevention of {n} |
what can i do to prevent {n} | what is the best way to prevent {n}
how is {o} diagnosed | how do doctors diagnose {n} | how do you diagnose {n} | diagnosis of {n} |
how can {n} be diagnosed | how to diagnose {n}
how is {o} spread | how does {o} spread | how is {o} transmitted | what are the ways {o} spreads! |
transmission of {n} | in what ways does {o} spread

what is the difference between {a} and {b} | how is {a} different from {b} | how does {a} differ from {b} |
difference between {a} and {b} | what are the differences between {a} and {b} | in what ways do {a} and {b} differ! |
how do {a} and {b} differ! | what's the difference between {a} and {b} | {a} vs {b} difference |
how are {a} and {b} different! | differences between {a} and {b} | what differentiates {a} from {b} |
what is the main difference between {a} and {b} | what distinguishes {a} from {b} | what sets {a} apart from {b} |
how do {a} and {b} differ from each other
which is better, {a} or {b} | which is better {a} or {b} | which one is better, {a} or {b} |
which is better: {a} or {b} | {a} or {b}, which is better | is {a} or {b} better | {a} or {b}: which is better |
what is better, {a} or {b} | which is the better one, {a} or {b}! | what's better, {a} or {b} |
which is better, {b} or {a}!
what are the similarities between {a} and {b} | how are {a} and {b} similar! | how are {a} and {b} alike! |
what do {a} and {b} have in common! | in what ways are {a} and {b} similar! | similarities between {a} and {b} |
what similarities do {a} and {b} have | how is {a} similar to {b}

what is the capital of {p} | what is {p}'s capital | what is the capital city of {p} |
which city is the capital of {p} | capital of {p} | capital city of {p} | what city is the capital of {p}
who is the president of {p} | who is {p}'s president | president of {p} | who is the current president of {p} |
what is the name of the president of {p}
who is the ceo of {p} | who is {p}'s ceo | ceo of {p} | what is the name of the ceo of {p} |
who is the current ceo of {p}
who is the prime minister of {p} | who is {p}'s prime minister | prime minister of {p} |
what is the name of {p}'s prime minister
what does {w} stand for | what is the full form of {w} | full form of {w} | {w} full form | what is {w} short for |
what do the letters {w} stand for | what is {w} an abbreviation of

is there a way to {v} | is there any way to {v} | is it possible to {v} | are there any ways to {v} |
is there some way to {v} | would it be possible to {v} | is it at all possible to {v}
is it ok to {v} | is it okay to {v} | is it alright to {v} | is it all right to {v} | is it fine to {v} |
would it be ok to {v}! | is it ok if i {v}! | is it acceptable to {v}
is it safe to {v} | is it safe if i {v}! | is there any danger if i {v}! | would it be safe to {v} | can i safely {v}
is it legal to {v} | is it allowed by law to {v} | does the law allow you to {v}! | is it lawful to {v}
should i {v} | would you recommend that i {v} | is it a good idea to {v} | would it be a good idea to {v} |
do you think i should {v} | is it advisable to {v}! | is it a good idea for me to {v}! | would it be wise to {v}!
is it worth it to {v} | is it worthwhile to {v} | does it make sense to {v} | does it pay to {v}
do i need to {v} | do i have to {v} | is it necessary to {v} | must i {v} | is it required to {v} |
am i required to {v} | is it necessary for me to {v}!
am i allowed to {v} | is it allowed to {v} | is it permitted to {v} | are you allowed to {v}

what happens if {c} | what will happen if {c} | what happens when {c} | what would happen if {c} |
what could happen if {c}
what should i do if {c} | what do i do if {c} | what can i do if {c} | what to do if {c} | what should i do when {c} |
what to do when {c} | what do i do when {c} | what do you do if {c}! | what am i supposed to do if {c}!
how do i know if {c} | how can i tell if {c} | how can i know if {c} | how do i tell if {c} | how to know if {c} |
how to tell if {c} | how do you know if {c} | how would i know if {c} | how can you tell if {c} |
how can i find out if {c} | how do i know whether {c} | what are the signs that {c}! | how can i tell whether {c} |
how can i be sure that {c}!
is it true that {c} | is it correct that {c} | is it really true that {c} | is it a fact that {c} |
is it actually true that {c}
is it possible that {c} | could it be that {c} | is it conceivable that {c} | might it be that {c} |
is there a chance that {c} | is there any chance that {c}
why is it that {c} | what is the reason that {c} | how come {c} | what is the reason why {c} | how is it that {c} |
why is it the case that {c}

how many {m} are there in {n} | what is the number of {m} in {n} | number of {m} in {n} | how many {m} are in {n} |
how many {m} exist in {n} | what is the total number of {m} in {n}
what is the use of {o} | what is {o} used for | uses of {o} | what are the uses of {o} | what are some uses of {o} |
for what is {o} used! | what can {o} be used for
what is the purpose of {o} | what purpose does {o} serve | what's the purpose of {o} | purpose of {o} |
what is {o} for!
how does {o} work | how {o} works! | can you explain how {o} works | in what way does {o} work |
could you explain how {o} works | explain how {o} works | what is the way {o} works! | what makes {o} work! |
by what mechanism does {o} work!
what do you think about {n} | what is your opinion on {n} | what do you think of {n} |
what is your opinion about {n} | what are your thoughts on {n} | what are your views on {n} |
how do you feel about {n} | what's your opinion of {n} | what is your view on {n} | your thoughts on {n} |
what are your opinions on {n} | any thoughts on {n}!
what is it like to {v} | how does it feel to {v} | what does it feel like to {v} | how is it to {v} |
what's it like to {v} | how would it feel to {v}! | what is it really like to {v}
what is the importance of {n} | why is {o} important | what makes {o} important! | importance of {n} |
what is the significance of {n} | why is {o} so important | why does {o} matter
what are some examples of {n} | what are examples of {n} | examples of {n} | can you give some examples of {n} |
give me some examples of {n} | list some examples of {n} | what is an example of {n} |
can you give me examples of {n} | give examples of {n}
what are the types of {n} | what are the different types of {n} | types of {n} | what types of {n} are there |
what kinds of {n} are there | what are the various types of {n} | different types of {n} |
what are the different kinds of {n} | kinds of {n} | which types of {n} exist | what types of {n} exist
how did {p} die | what was the cause of {p}'s death | what did {p} die of | what was {p}'s cause of death |
how did {p}'s death happen | cause of {p}'s death | {p} cause of death | what killed {p}
when was {p} born | what is {p}'s date of birth | {p} date of birth | what is the date of birth of {p} |
when is {p}'s birthday! | {p} birth date | on what date was {p} born
what is {p}'s net worth | {p} net worth | what is the net worth of {p} | how much is {p} worth | net worth of {p} |
what's the net worth of {p}
what is the weather in {p} | what is the weather like in {p} | {p} weather | weather in {p} |
how is the weather in {p} | what's the weather like in {p}
what time is it in {p} | what is the current time in {p} | current time in {p} | what is the time in {p} |
time in {p} now | what's the time in {p}
what is the easiest way to {v} | easiest way to {v} | what is the simplest way to {v} | what is an easy way to {v} |
how can i easily {v} | what's the easiest way to {v} | simplest way to {v} | what would be the easiest way to {v} |
what is the least difficult way to {v}!
what is the fastest way to {v} | what is the quickest way to {v} | fastest way to {v} | quickest way to {v} |
what's the fastest way to {v} | how can i quickly {v} | what is the fastest method to {v} |
what would be the quickest way to {v}
what is the cheapest way to {v} | cheapest way to {v} | what's the cheapest way to {v} |
what is the least expensive way to {v} | what is the most affordable way to {v}

what are the best {m} | which are the best {m} | what are some of the best {m} | what are some good {m} | best {m} |
what are some great {m} | what are good {m} | which are some of the best {m} | what are some of the greatest {m}! |
can you recommend some good {m}! | which {m} are the best! | what are the top {m} | do you know any good {m}!
what is the best {o} | which is the best {o} | what's the best {o} | best {o} | what would be the best {o} |
which would be the best {o} | can you recommend the best {o}! | what do you think is the best {o} |
what in your opinion is the best {o}
which {w} is the best for {n} | what is the best {w} for {n} | which is the best {w} for {n} | best {w} for {n} |
which {w} is best for {n} | what is a good {w} for {n} | what {w} is best for {n} |
what {w} would be the best for {n}!

why should i {v} | what are the reasons to {v} | why would i {v} | what is the reason to {v}! |
what reasons are there to {v} | reasons to {v}
what is wrong with {n} | what is the problem with {n} | what's wrong with {n} | what is the matter with {n} |
what's the problem with {n} | what is the issue with {n}
how is {o} calculated | how do you calculate {n} | how to calculate {n} | how can i calculate {n} |
how do i calculate {n} | how is {o} computed | how can {n} be calculated
how is {o} made | how do you make {n} | how to make {n} | how do they make {n} | how can {n} be made |
how do people make {n}
how do you pronounce {w} | how is {w} pronounced | what is the correct pronunciation of {w} | pronunciation of {w} |
how to pronounce {w} | how do i pronounce {w} | what is the pronunciation of {w} | {w} pronunciation |
how should {w} be pronounced
how do you spell {w} | how is {w} spelled | what is the correct spelling of {w} | spelling of {w} | how to spell {w} |
what is the spelling of {w} | how do i spell {w}
what is another word for {w} | what is a synonym for {w} | synonym for {w} | another word for {w} |
what is a synonym of {w} | other words for {w} | what are synonyms of {w}
how do you say {w} in {p} | how to say {w} in {p} | how do i say {w} in {p} | how is {w} said in {p} |
what is the word for {w} in {p} | what is the {p} word for {w} | {w} in {p} translation | how would you say {w} in {p}
does anyone have {n} | does anybody have {n} | has anyone got {n}
what is your favorite {o} | which {o} is your favorite | what's your favorite {o} | which is your favorite {o} |
what is the {o} you like best
which {w} do you like the most | what is your favorite {w} | which {w} do you like best | which {w} is your favorite
what is the name of {n} | what is {n} called | what's the name of {n} | name of {n} | how is {n} called!
what do i need to {v} | what is needed to {v} | what is required to {v} | what is necessary to {v} |
what does one need to {v} | what do you need to {v}
what are the requirements for {n} | what are the requirements of {n} | requirements for {n} |
what is required for {n} | what is needed for {n} | what do i need for {n}
what are the rules of {n} | rules of {n} | what rules does {o} have | what are the rules in {n}! |
explain the rules of {n}
what is the history of {n} | history of {n} | what's the history of {n} | what is the history behind {n} |
can you tell me the history of {n} | explain the history of {n}
what is the story of {n} | story of {n} | what is the plot of {n} | what's the story of {n}
how do i become {n} | how can i become {n} | how to become {n} | what does it take to become {n} |
what should i do to become {n} | how does one become {n} | what do i have to do to become {n} |
what is the best way to become {n} | what do i need to become {n} | how do you become {n} |
what is the process of becoming {n}! | how can someone become {n}
how do i get rid of {n} | how can i get rid of {n} | how to get rid of {n} | what is the best way to get rid of {n} |
how do i remove {n}! | what can i do to get rid of {n} | what gets rid of {n} | how do you get rid of {n} |
what will get rid of {n}
how do i stop {x} | how can i stop {x} | how to stop {x} | what can i do to stop {x} |
what is the best way to stop {x} | how do you stop {x} | how can one stop {x}
how can i learn {n} | what is the best way to learn {n} | how do i learn {n} | how to learn {n} |
how should i learn {n} | how do you learn {n} | what are good ways to learn {n} | how can one learn {n}
what are some tips for {x} | do you have any tips for {x} | tips for {x} | what tips do you have for {x} |
any tips for {x} | what are the best tips for {x} | can you give me some tips for {x}
what are some facts about {n} | what are some interesting facts about {n} | interesting facts about {n} |
facts about {n} | what are interesting facts about {n}
""".strip()
