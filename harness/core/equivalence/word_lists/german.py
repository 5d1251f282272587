"""German words that decide whether two queries ask the same."""

LISTS = """
letters: äöüß
negations: nicht, kein, keine, keinen, keinem, keiner, keines, nie, niemals, nichts, niemand, nirgends, weder,
    kaum
directions: nach, vor, bis, ab, aus, seit, mit, ohne, gegen, für, statt, zwischen, über, unter, hinter, durch,
    zu=zum=zur, als, während, nachdem, bevor, woher, wohin, außer
relations: in=ins=im, von=vom=des=eines, den=einen, dem=einem, am=an, auf, bei=beim, um, pro, je, wegen, laut
drop: der, die, das, ein, eine, einer, ist, sind, sei, bin, und, es, man, ich, du, er, sie, wir, ihr, mein,
    meine, meinen, meinem, mir, mich, sich, dieser, diese, dieses, diesen, was, welche, welcher, welches,
    welchen, welchem, hat, haben, habe, gibt, liegt, liegen, befindet, befinden, denn, eigentlich, so, dass, da,
    the, genau, bitte, danke, hallo, versteht man unter, was versteht man unter, was bedeutet, gibt es,
    befindet sich, wird, werden, kannst du mir, können sie mir, könntest du mir, könnten sie mir,
    kannst du mir bitte sagen, sag mir, sage mir, sagen sie mir, ich möchte wissen, ich will wissen,
    ich würde gerne wissen, ich wüsste gern, weißt du, wissen sie, ich suche, zeig mir, erkläre mir, guten tag,
    vielen dank, danke schön, bitte sagen, mir sagen
when: wann, um wie viel uhr, um wieviel uhr
where: wo
who: wer
whom: wen, wem
whose: wessen
why: warum, wieso, weshalb, weswegen
how: wie
many: wie viel, wie viele, wieviel, wieviele
past: war, waren, wurde, wurden, hatte, hatten
subjects: wetter, rezept, rezepte, preis, preise, kosten, kostet, hauptstadt, einwohner, einwohnerzahl, höhe,
    hoch, groß, alt, alter, größe, symptome, symptom, ursachen, ursache, behandlung, nebenwirkungen,
    öffnungszeiten, adresse, telefonnummer, bedeutung, definition, geburtsdatum, aktuell, erfahrungen, test,
    vergleich, anleitung, karte, gehalt, dauer, aussprache, übersetzung, bewertung, bewertungen
times: heute, morgen, übermorgen, gestern
opposites: gut/schlecht, groß/klein, hoch/niedrig, hohen/niedrigen, hoher/niedriger, alt/neu, alt/jung,
    warm/kalt, heiß/kalt, schnell/langsam, billig/teuer, günstig/teuer, stark/schwach, mehr/weniger,
    meisten/wenigsten, größte/kleinste, höchste/niedrigste, beste/schlechteste, vorteile/nachteile,
    vorteil/nachteil, kaufen/verkaufen, öffnet/schließt, öffnen/schließen, auf/zu, an/aus, ein/aus,
    verliert/gewinnt, verlieren/gewinnen, zunehmen/abnehmen, steigt/sinkt, steigen/sinken, steigern/senken,
    erhöhen/senken, import/export, anfang/ende, links/rechts, oben/unten, innen/außen, vor/nach, mit/ohne,
    von/zu, für/gegen, vorher/nachher, erste/letzte, minimum/maximum, mindestens/höchstens, legal/illegal,
    giftig/ungiftig, möglich/unmöglich, männlich/weiblich, mann/frau, männer/frauen, vater/mutter, sohn/tochter,
    mieten/vermieten, installieren/deinstallieren, aktivieren/deaktivieren, einschalten/ausschalten,
    gesund/ungesund, sicher/unsicher, abfahrt/ankunft, abflug/ankunft, tag/nacht, sommer/winter, der/den,
    er/sie, darf/muss, kann/muss, einatmen/ausatmen, laut/leise, leicht/schwer, einfach/schwierig, lang/kurz,
    plus/minus
distinct: reis/reise, reis/reisen, mark/marke, fall/falle, rat/rate, rat/raten, art/arte, rest/reste,
    deck/decke, karten/karte, list/liste, tor/tore, bank/banke, schul/schule, ros/rose, tast/taste, pass/passe,
    stell/stelle
endings: - e en n s es; er e; in innen; um en
"""
