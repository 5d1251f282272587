"""Italian words that decide whether two queries ask the same."""

LISTS = """
letters: àèéìòù
negations: non, mai, niente, nulla, nessuno, nessuna, nessun, né, neanche, nemmeno, no
directions: a=ad=al=allo=alla=ai=agli=alle=all, verso, fino, per, con, senza, prima, dopo,
    da=dal=dallo=dalla=dai=dagli=dalle=dall, contro, tra, fra, sopra, sotto, su, che, durante, dentro, fuori,
    eccetto
relations: di=del=dello=della=dei=degli=delle=dell=d, in=nel=nello=nella=nei=negli=nelle=nell,
    sul=sulla=sui=sugli=sulle=sull
drop: il, lo, la, i, gli, le, l, un, uno, una, è, sono, essere, e, ed, si, mi, ti, ci, c, io, mio, mia, miei,
    mie, tuo, tua, suo, sua, suoi, sue, questo, questa, questi, queste, cosa, cos, quale, quali, qual, ha,
    hanno, ho, c è, ci sono, che cosa, che cos, che cosa è, che cos è, cosa significa, cosa vuol dire, si trova,
    si trovano, per favore, grazie, per piacere, ciao, buongiorno, mi potresti dire, mi puoi dire, può dirmi,
    potrebbe dirmi, potresti dirmi, dimmi, mi dica, vorrei sapere, voglio sapere, mi piacerebbe sapere,
    sto cercando, cerco, sai, sapete, grazie mille
when: quando, a che ora
where: dove, dov
who: chi
whom: a chi
why: perché
how: come
many: quanto, quanta, quanti, quante, quant
past: era, erano, fu, furono, stato, stata, stati, state, aveva, avevano
subjects: meteo, tempo, ricetta, ricette, prezzo, prezzi, costo, costa, costano, capitale, popolazione,
    abitanti, altezza, età, sintomi, sintomo, cause, causa, cura, effetti collaterali, orari, orario, indirizzo,
    telefono, numero di telefono, definizione, significato, data di nascita, recensioni, confronto, mappa,
    stipendio, durata, pronuncia, traduzione
times: oggi, domani, dopodomani, ieri
opposites: buono/cattivo, grande/piccolo, alto/basso, alta/bassa, vecchio/nuovo, vecchio/giovane, caldo/freddo,
    veloce/lento, economico/costoso, forte/debole, più/meno, migliore/peggiore, maggiore/minore,
    vantaggi/svantaggi, comprare/vendere, acquisto/vendita, aprire/chiudere, apre/chiude, alzare/abbassare,
    aumentare/diminuire, aumentare/ridurre, vincere/perdere, ingrassare/dimagrire, iniziare/finire, inizio/fine,
    sinistra/destra, dentro/fuori, prima/dopo, con/senza, da/a, importare/esportare, importazione/esportazione,
    importazioni/esportazioni, primo/ultimo, minimo/massimo, legale/illegale, possibile/impossibile, uomo/donna,
    uomini/donne, padre/madre, figlio/figlia, fratello/sorella, affittare/comprare, installare/disinstallare,
    attivare/disattivare, accendere/spegnere, partenza/arrivo, entrata/uscita, giorno/notte, estate/inverno,
    può/deve, superiore/inferiore, positivo/negativo, lungo/corto, facile/difficile, sopra/sotto, pro/contro
distinct: case/casi, cani/cane, parte/parti, arte/arti, fine/fini, mode/modi, pesce/pesci, colle/colli,
    porte/porti, poste/posti, banche/banchi, pale/pali, pesche/peschi, mese/mesi, tasse/tassi, sale/sali,
    torte/torti, monte/monti
endings: a e; o i; e i; ca che; co chi; ga ghe; go ghi; io i; ico ici; a ano; e ono
"""
