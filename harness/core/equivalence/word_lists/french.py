"""French words that decide whether two queries ask the same."""

LISTS = """
letters: àâçéèêëîïôùûœ
negations: pas, jamais, rien, aucun, aucune, personne ne, ni, guère, non, nulle part
directions: à=a=au=aux, vers, pour, par, avec, sans, avant, après, depuis, jusque=jusqu, contre, entre, chez,
    sous, dès, hors, que, envers, dans, sur
relations: en, de=du=d=des
drop: le, la, les, l, un, une, ne, n, est, sont, et, ce, c, cet, cette, ces, je, j, tu, il, elle, on, nous,
    vous, ils, elles, me, m, te, se, s, mon, ma, mes, son, sa, ses, votre, vos, qu, quoi, quel, quelle, quels,
    quelles, y, ai, il y a, y a t il, est ce que, est ce qu, qu est ce que, qu est ce qu,
    qu est ce que c est que, c est quoi, quels sont, se trouve, se situe, trouve t on, t, merci, bonjour, salut,
    svp, s il vous plaît, s il vous plait, s il te plaît, pourriez vous me dire, pouvez vous me dire,
    peux tu me dire, dites moi, dis moi, je voudrais savoir, je voudrais connaître, j aimerais savoir,
    j aimerais connaître, je veux savoir, je cherche, savez vous, merci beaucoup
when: quand, à quelle heure, a quelle heure
where: où
who: qui
why: pourquoi
how: comment
many: combien, combien de, combien d
past: était, étaient, fut, furent, avait, avaient, a été, ont été, été
subjects: météo, recette, recettes, prix, coût, coûte, coûtent, capitale, population, habitants, hauteur, âge,
    taille, symptômes, symptôme, causes, cause, traitement, effets secondaires, horaires, horaires d ouverture,
    adresse, numéro de téléphone, définition, signification, date de naissance, avis, comparatif, carte,
    salaire, durée, prononciation, traduction
times: aujourd hui, demain, après demain, hier
opposites: bon/mauvais, grand/petit, haut/bas, haute/basse, vieux/jeune, ancien/nouveau, chaud/froid,
    rapide/lent, cher/pas cher, fort/faible, plus/moins, meilleur/pire, avantages/inconvénients,
    avantage/inconvénient, acheter/vendre, achat/vente, ouvrir/fermer, ouvre/ferme, ouverture/fermeture,
    augmenter/diminuer, augmenter/réduire, gagner/perdre, monter/descendre, commencer/finir, début/fin,
    gauche/droite, intérieur/extérieur, avant/après, avec/sans, pour/contre, importation/exportation,
    importations/exportations, import/export, premier/dernier, première/dernière, minimum/maximum,
    légal/illégal, possible/impossible, homme/femme, hommes/femmes, père/mère, fils/fille, frère/sœur,
    louer/acheter, installer/désinstaller, activer/désactiver, allumer/éteindre, départ/arrivée, jour/nuit,
    été/hiver, peut/doit, tante/oncle, supérieur/inférieur, positif/négatif, entrée/sortie, long/court,
    facile/difficile, sur/sous
distinct: fil/fils, cour/cours, mai/mais, ver/vers, bras/bra, corp/corps, poid/poids, pay/pays, moi/mois,
    foi/fois, tempe/temps, repa/repas, avi/avis, soi/sois, choi/choix, pri/prix, voi/voix
endings: - s x; al aux; ail aux; e ent; e es; - nt
"""
