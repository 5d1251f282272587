"""Portuguese words that decide whether two queries ask the same."""

LISTS = """
letters: áâãàçéêíóôõú
negations: não, nunca, jamais, nada, ninguém, nenhum, nenhuma, nem, tampouco
directions: à=às=ao=aos, para=pra, até, desde, por=pelo=pela, com, sem, antes, depois, após, contra, entre,
    sobre, sob, que, durante, exceto, dentro, fora
relations: de=do=da=dos=das, em=no=na=nos=nas=num=numa
drop: o, a, os, as, um, uma, uns, umas, é, são, ser, está, estão, e, se, me, te, lhe, meu, minha, meus, minhas,
    teu, tua, seu, sua, seus, suas, eu, você, este, esta, estes, estas, isso, qual, quais, há, tem, têm, tenho,
    o que, o que é, que é, o que significa, o que são, fica, ficam, se encontra, localiza se, por favor,
    obrigado, obrigada, olá, oi, bom dia, você poderia me dizer, você pode me dizer, pode me dizer,
    poderia me dizer, me diga, diga me, me diz, gostaria de saber, quero saber, queria saber, preciso saber,
    estou procurando, procuro, você sabe, muito obrigado
when: quando, a que horas, que horas, em que dia
where: onde
whereto: aonde, para onde
who: quem
whom: a quem
why: por que, por quê, porque, porquê
how: como
many: quanto, quanta, quantos, quantas
past: era, eram, foi, foram, estava, estavam, havia, tinha
subjects: tempo, clima, previsão do tempo, receita, receitas, preço, preços, custo, custa, custam, capital,
    população, habitantes, altura, idade, tamanho, sintomas, sintoma, causas, causa, tratamento,
    efeitos colaterais, horário, horários, endereço, telefone, número de telefone, definição, significado,
    data de nascimento, avaliações, comparação, mapa, salário, duração, pronúncia, tradução
times: hoje, amanhã, ontem, depois de amanhã
opposites: bom/mau, bom/ruim, grande/pequeno, alto/baixo, alta/baixa, velho/novo, velho/jovem, quente/frio,
    rápido/lento, barato/caro, forte/fraco, mais/menos, melhor/pior, maior/menor, vantagens/desvantagens,
    comprar/vender, compra/venda, abrir/fechar, abre/fecha, aumentar/diminuir, aumentar/reduzir, subir/descer,
    subir/baixar, ganhar/perder, engordar/emagrecer, começar/terminar, início/fim, esquerda/direita,
    dentro/fora, antes/depois, com/sem, desde/até, importar/exportar, importação/exportação,
    importações/exportações, primeiro/último, primeira/última, mínimo/máximo, legal/ilegal, possível/impossível,
    homem/mulher, homens/mulheres, pai/mãe, filho/filha, irmão/irmã, avô/avó, alugar/comprar,
    instalar/desinstalar, ativar/desativar, ligar/desligar, partida/chegada, entrada/saída, dia/noite,
    verão/inverno, pode/deve, superior/inferior, positivo/negativo, longo/curto, fácil/difícil, a favor/contra,
    de/para
distinct: pai/pais, mai/mais, me/mês, doi/dois, trê/três, gá/gás, paí/país, depoi/depois
endings: - s es; l is; m ns; ão ões; ão ães; ão ãos; - m; r res
"""
