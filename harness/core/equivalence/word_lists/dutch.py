"""Dutch words that decide whether two queries ask the same."""

LISTS = """
letters: ëï
negations: niet, geen, nooit, niets, niemand, nergens, noch, nauwelijks
directions: naar, tot, vanaf, vanuit, uit, voor, na, met, zonder, tegen, tussen, over, onder, boven, achter,
    door, sinds, tijdens, als, dan, voordat, nadat, om, behalve
relations: in, van, op, aan, bij, per, te, ten, ter
drop: de, het, een, is, zijn, en, er, ik, je, jij, u, hij, zij, ze, we, wij, mijn, jouw, uw, zich, dit, dat,
    deze, die, wat, welke, welk, heeft, hebben, heb, ligt, wordt, worden, men, wat is, wat betekent, wat zijn,
    bevindt zich, alstublieft, alsjeblieft, bedankt, hallo, dank je, dank u, dank u wel, kun je me vertellen,
    kunt u mij vertellen, kan je me vertellen, ik wil weten, ik zou graag weten, ik wil graag weten, vertel me,
    ik zoek, weet je, weet u
when: wanneer, hoe laat
where: waar
whereto: waarheen, waarnaartoe
who: wie
why: waarom
how: hoe
many: hoeveel
past: was, waren, werd, werden, had, hadden
subjects: weer, recept, recepten, prijs, prijzen, kosten, kost, hoofdstad, inwoners, bevolking, hoogte,
    leeftijd, grootte, symptomen, symptoom, oorzaken, oorzaak, behandeling, bijwerkingen, openingstijden, adres,
    telefoonnummer, betekenis, definitie, geboortedatum, ervaringen, vergelijking, kaart, salaris, duur
times: vandaag, morgen, gisteren
opposites: goed/slecht, groot/klein, hoog/laag, oud/nieuw, oud/jong, warm/koud, heet/koud, snel/langzaam,
    goedkoop/duur, sterk/zwak, meer/minder, meeste/minste, grootste/kleinste, hoogste/laagste, beste/slechtste,
    voordelen/nadelen, kopen/verkopen, openen/sluiten, opent/sluit, winnen/verliezen, aankomen/afvallen,
    stijgen/dalen, verhogen/verlagen, import/export, begin/einde, links/rechts, boven/onder, binnen/buiten,
    voor/na, met/zonder, voor/tegen, eerste/laatste, minimum/maximum, legaal/illegaal, mogelijk/onmogelijk,
    man/vrouw, mannen/vrouwen, vader/moeder, zoon/dochter, huren/verhuren, installeren/verwijderen,
    inschakelen/uitschakelen, vertrek/aankomst, dag/nacht, zomer/winter, kan/moet, mag/moet, gezond/ongezond,
    lang/kort, makkelijk/moeilijk
distinct: bal/bale, kop/kope, pan/pans, mark/marken
endings: - s en n es; - e; je jes
"""
