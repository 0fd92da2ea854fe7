"""General English words for the rules, by what they do. No sentence is in here."""


def words(text: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(text.split())


AUXILIARIES = words(
    "is are was were am be been being has have had do does did will would can could may might must "
    "should shall ought cannot can't won't don't doesn't didn't isn't aren't wasn't weren't "
    "hasn't haven't hadn't couldn't wouldn't shouldn't"
)
ADVERBS = words(
    "now also always usually often still really just currently recently finally once never no "
    "longer only both already presently actually again lately sometimes mostly mainly generally "
    "typically occasionally rarely seldom soon today nowadays especially particularly very "
    "temporarily permanently officially not since then instead first definitely probably "
    "suddenly gladly regularly normally newly even ever best long absolutely"
)
STOP = (
    AUXILIARIES
    | ADVERBS
    | words(
        "a an the this that these those my our your his her its their i he she it they we you who "
        "which what when where while of in on at to from for with by as and or but so than about "
        "into onto over under near after before during until till per each every any some all "
        "more most much many few there here up down out off too well back away because if whether "
        "time day week month year morning afternoon evening night weekend am pm last next ago "
        "later early late one ones own other another user new called named name yet lot bit "
        "how not no between around through without within including like such least another "
        "correction update note him them us me assistant himself herself themselves anymore "
        "food dish "
        "meal thing stuff years old age "
        "spring summer autumn winter weeks days months hour hours"
    )
)
GENERIC_VERBS = words(
    "be have own get keep like love enjoy prefer favour adore hate dislike detest call name want "
    "wish plan intend hope need go live reside move relocate settle use make take say mention "
    "tell try start begin stop quit finish come become want would aim decide consider think "
    "remain stay feel look find put set give work do own possess change switch visit travel fly "
    "book reserve schedule eat drink buy bought purchase happen include see base "
    "request ask remember know speak accept serve join leave trip journey flight vacation holiday"
)
VERBS = GENERIC_VERBS | words(
    "read write watch play study learn teach train practise practice swim sing dance cook bake "
    "drive ride walk jog hike climb cycle ski paint draw knit sew garden grow plant listen collect "
    "volunteer smoke meet call email phone pay cost earn spend save sell rent lease donate return "
    "wear weigh sleep wake rise open close end arrive depart land ship deliver launch release "
    "migrate upgrade downgrade replace swap trade exchange cancel postpone delay extend shorten "
    "raise increase decrease reduce cut lower double slip reschedule rename promote hire fire "
    "retire resign graduate enrol enroll attend marry divorce engage separate break date bear die "
    "carry avoid tolerate renew submit send sign fix repair clean order host support maintain "
    "prepare complete resolve review suffer react recover treat believe report chair lead manage "
    "run build develop design test deploy store contain hold require allow recommend suggest "
    "win lose fall hit reach turn celebrate adopt foster feed wash throw drop abandon give "
    "commute park shop lend borrow owe invest manage commute accept receive land stand bore "
    "describe switch live share trust"
)
IRREGULAR = {
    "went": "go",
    "goes": "go",
    "does": "do",
    "gone": "go",
    "got": "get",
    "gotten": "get",
    "left": "leave",
    "sold": "sell",
    "bought": "buy",
    "had": "have",
    "has": "have",
    "gave": "give",
    "given": "give",
    "took": "take",
    "taken": "take",
    "began": "begin",
    "begun": "begin",
    "became": "become",
    "taught": "teach",
    "learnt": "learn",
    "ran": "run",
    "ate": "eat",
    "eaten": "eat",
    "drank": "drink",
    "met": "meet",
    "saw": "see",
    "flew": "fly",
    "drove": "drive",
    "wrote": "write",
    "slept": "sleep",
    "swam": "swim",
    "broke": "break",
    "broken": "break",
    "won": "win",
    "lost": "lose",
    "born": "bear",
    "grew": "grow",
    "grown": "grow",
    "wore": "wear",
    "kept": "keep",
    "built": "build",
    "spent": "spend",
    "paid": "pay",
    "spoke": "speak",
    "sang": "sing",
    "rode": "ride",
    "rose": "rise",
    "fell": "fall",
    "made": "make",
    "said": "say",
    "told": "tell",
    "found": "find",
    "came": "come",
    "felt": "feel",
    "held": "hold",
    "hit": "hit",
    "put": "put",
    "set": "set",
    "cut": "cut",
    "quit": "quit",
    "sent": "send",
    "lent": "lend",
    "threw": "throw",
    "led": "lead",
    "woke": "wake",
    "knew": "know",
    "lain": "lie",
    "sunk": "sink",
    "read": "read",
}
SYNONYMS = {
    "apartment": "flat",
    "home": "flat",
    "house": "flat",
    "movie": "film",
    "position": "job",
    "role": "job",
    "post": "job",
    "bicycle": "bike",
    "kid": "child",
    "children": "child",
    "reply": "answer",
    "response": "answer",
    "respond": "answer",
    "automobile": "car",
    "mobile": "phone",
    "cellphone": "phone",
    "favorite": "favourite",
    "color": "colour",
    "sync": "meeting",
    "standup": "meeting",
    "flatmate": "roommate",
    "housemate": "roommate",
    "ship": "ship",
    "puppy": "dog",
    "kitten": "cat",
    "spouse": "partner",
    "picture": "photo",
    "holiday": "vacation",
    "supper": "dinner",
    "allergic": "allergy",
    "vocal": "sing",
}
PEOPLE = words(
    "sister brother mother father mum mom dad parent parents son daughter child children wife "
    "husband partner girlfriend boyfriend fiance fiancee friend friends neighbour neighbor "
    "colleague colleagues coworker boss manager aunt uncle cousin niece nephew grandmother "
    "grandfather grandma grandpa roommate flatmate housemate teacher doctor landlord team mate "
    "sibling siblings twin stepmother stepfather ex guest client customer assistant coach "
    "mother-in-law father-in-law sister-in-law brother-in-law godmother godson student tutor"
)
SINGLE_NOUNS = words(
    "address email phone number boss manager job title birthday hometown nationality password "
    "colour color size status location venue deadline capital wife husband partner goal budget "
    "captain price rate rent limit salary weight height age blood tutor doctor dentist landlord "
    "username handle nickname surname default theme timezone zone currency deposit version branch "
    "owner host room desk seat due date start plan bank provider employer school major thesis "
    "topic theme base headquarters office editor framework language model stack supplier "
    "favourite favorite girlfriend boyfriend teacher coach supervisor lead contact pin code"
)
CHANGE = words(
    "moved changed rescheduled postponed delayed extended shortened raised increased decreased "
    "reduced lowered doubled slipped upgraded downgraded renamed switched replaced migrated "
    "updated corrected brought pushed shifted swapped went grew dropped fell rose bumped cut "
    "converted transferred redesigned adjusted revised relocated expanded"
)
EVENT_ACQUIRES = words("buy adopt get purchase receive acquire")
STATES: dict[str, dict[str, str]] = {
    "marital": {
        "single": r"\bsingle\b(?! \w+)|\bunmarried\b",
        "married": r"\b(?:is|are|got|get|getting|was|been) married\b|\bmarried (?!cou)|\bwed\b",
        "parted": r"\bdivorced\b|\bseparated from\b|\bbroke up\b|\bsplit up\b|\bbroken up\b"
        r"|\bended (?:the|a|their|his|her) (?:relationship|marriage|engagement)\b",
        "engaged": r"\bengaged to\b|\b(?:is|are|got) engaged\b|\bproposed\b",
        "dating": r"\bdating\b|\bin a relationship\b|\bhas a (?:girl|boy)friend\b"
        r"|(?:girl|boy)friend is\b",
        "widowed": r"\bwidow(?:ed|er)?\b",
    },
    "diet": {
        "meat": r"\beats? (?:\w+ )?(?:meat|beef|pork|chicken|steaks?)\b"
        r"|\beating (?:\w+ )?(?:meat|beef|pork|chicken)\b|\bomnivore\b|\bmeat[- ]eater\b",
        "fish": r"\beat(?:s|ing)? (?:\w+ )?(?:fish|eggs|dairy|cheese)\b|\bpescatarian\b",
        "vegetarian": r"\bvegetarian(?:ism)?\b|\b(?:gave|given|giving) up (?:eating )?meat\b",
        "vegan": r"\bvegan(?:ism)?\b|\bplant[- ]based diet\b",
    },
    "job": {
        "seeking": r"\b(?:looking|searching|hunting|applying) for "
        r"(?:\w+ ){0,2}(?:job|work|position)s?\b"
        r"|\bunemployed\b|\bjob[- ]hunting\b|\bbetween jobs\b|\bout of work\b",
        "employed": r"\b(?:accepted|landed|found|got|started|signed|took) (?:\w+ ){0,3}"
        r"(?:job|position|contract|offer)\b|\bwas hired\b|\bgot hired\b",
        "retired": r"\bretired\b",
    },
    "school": {
        "nursery": r"\b(?:kindergarten|nursery|preschool|daycare)\b",
        "primary": r"\b(?:primary|elementary) school\b|\bfirst grade\b",
        "secondary": r"\b(?:secondary|high|middle) school\b",
        "university": r"\b(?:at|to|in) (?:university|college|uni)\b|\buniversity student\b",
        "graduated": r"\bgraduated\b|\bfinished (?:university|college|school)\b",
    },
    "pregnancy": {
        "pregnant": r"\bpregnant\b|\bexpecting a (?:baby|child)\b",
        "born": r"\bgave birth\b|\bwas born\b|\bhad a baby\b",
    },
    "progress": {
        "open": r"\b(?:not (?:yet )?(?:started|done|finished)|pending|unresolved|to be done|"
        r"awaiting|waiting for|outstanding|blocked)\b",
        "under way": r"\b(?:in progress|under way|underway|being \w+ed|in transit|ongoing|"
        r"on (?:its|the) way|under review|under construction|in beta)\b",
        "done": r"\b(?:done|finished|completed?|delivered|shipped|released|resolved|fixed|merged|"
        r"arrived|launched|approved|settled|paid off|went live)\b",
        "cancelled": r"\b(?:cancell?ed|abandoned|scrapped|called off|dropped|rejected)\b",
    },
    "open": {
        "open": r"\b(?:is|are|was) (?:now )?open\b|\breopened\b",
        "closed": r"\bclosed\b|\bshut (?:down)?\b",
    },
    "switch": {
        "on": r"\b(?:enabled|switched on|turned on|activated)\b",
        "off": r"\b(?:disabled|switched off|turned off|deactivated)\b",
    },
    "works": {
        "broken": r"\b(?:broken|out of order|faulty|leaking)\b",
        "working": r"\b(?:repaired|fixed|works again|working again|replaced)\b",
    },
    "health": {
        "ill": r"\b(?:sick|ill|injured|in hospital|unwell)\b",
        "well": r"\b(?:recovered|healthy again|out of hospital|discharged)\b",
    },
    "length": {
        "short": r"\b(?:short|brief|concise|terse|succinct|shorter|compact)\b",
        "long": r"\b(?:long|detailed|thorough|in-depth|verbose|longer|lengthy|comprehensive)\b",
    },
    "register": {
        "formal": r"\bformal(?:ly)?\b",
        "informal": r"\b(?:informal|casual|informally|casually)\b",
    },
    "theme": {"dark": r"\bdark (?:mode|theme)\b", "light": r"\blight (?:mode|theme)\b"},
    "units": {"metric": r"\bmetric\b", "imperial": r"\bimperial\b"},
    "part of day": {
        "morning": r"\b(?:mornings?|early bird)\b",
        "evening": r"\b(?:evenings?|night owl|nights?|at night)\b",
    },
    "place of work": {
        "remote": r"\b(?:remote(?:ly)?|from home)\b",
        "office": r"\b(?:in|from|at) the office\b|\bon[- ]site\b",
    },
    "hours": {"full": r"\bfull[- ]time\b", "part": r"\bpart[- ]time\b"},
}
PERSONAL = words("marital diet job school pregnancy health hours")
GENERAL_STATES = frozenset({"place of work"}) | PERSONAL
CLASSES: dict[str, str] = {
    "coffee": "espresso cappuccino latte americano mocha macchiato decaf cortado ristretto",
    "tea": "oolong matcha chai sencha darjeeling assam rooibos earl",
    "wine": "merlot riesling chardonnay rioja prosecco malbec",
    "beer": "lager stout pilsner ale ipa",
    "music": "jazz rock pop opera techno folk blues metal classical hip-hop reggae soul punk",
    "classic": "nocturne sonata symphony concerto suite opera cello prelude fugue",
    "jazz": "saxophone swing bebop",
    "fruit": "apple banana mango strawberry cherry peach pear grape kiwi pineapple berry melon",
    "vegetable": "carrot broccoli spinach tomato zucchini pepper cabbage kale",
    "seafood": "shrimp prawn crab lobster oyster mussel squid salmon tuna",
    "shellfish": "shrimp prawn crab lobster oyster mussel clam",
    "nut": "peanut walnut almond cashew hazelnut pistachio",
    "sport": "football tennis basketball volleyball swimming running cycling hockey cricket",
    "dessert": "cake tiramisu brownie pudding pie gelato",
    "sweet": "chocolate cake candy biscuit toffee",
    "book": "novel thriller biography memoir fantasy",
    "film": "thriller comedy documentary western",
    "pet": "dog cat parrot hamster rabbit",
    "animal": "dog cat horse bird rabbit",
    "bread": "sourdough baguette rye ciabatta",
    "cheese": "brie gouda cheddar camembert feta",
    "pasta": "spaghetti lasagne penne ravioli",
    "language": "python rust java kotlin golang typescript javascript",
    "flower": "rose tulip orchid lily peony daisy",
    "italian": "pasta pizza risotto lasagne",
    "japanese": "sushi ramen tempura udon",
    "yoga": "vinyasa hatha ashtanga",
    "pizza": "margherita calzone",
}
LANGUAGES = words(
    "english german french spanish italian portuguese chinese japanese korean dutch russian "
    "polish turkish arabic hindi swedish danish norwegian finnish greek czech"
)
WORKS_AS = words(
    "nurse teacher engineer developer doctor carpenter accountant designer lawyer manager chef "
    "baker journalist architect programmer analyst scientist researcher plumber electrician "
    "student barista librarian pharmacist photographer translator editor consultant pilot driver "
    "farmer tutor dentist veterinarian mechanic waiter cashier secretary professor director "
    "freelancer intern apprentice gardener hairdresser tailor florist guide firefighter officer"
)
