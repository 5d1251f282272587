"""Spanish words that decide whether two queries ask the same."""

LISTS = """
letters: áéíóúñü¿¡
negations: no, nunca, jamás, nada, nadie, ningún, ninguno, ninguna, ni, tampoco, apenas
directions: a=al, hacia, hasta, desde, para, por, con, sin, antes, después, contra, entre, sobre, bajo, tras,
    que, según, durante, excepto, a través, dentro, fuera
relations: en, de=del
drop: el, la, los, las, lo, un, una, unos, unas, es, son, ser, está, están, y, e, se, me, te, le, les, mi, mis,
    tu, tus, su, sus, yo, este, esta, estos, estas, ese, esa, qué, cuál, cuáles, hay, tiene, tienen, tengo, ha,
    han, he, o sea, qué es, en qué consiste, qué significa, se encuentra, se encuentran, queda, por favor,
    gracias, hola, buenos días, me podrías decir, me puedes decir, me puede decir, podría decirme,
    puedes decirme, podrías decirme, dime, dígame, quisiera saber, quiero saber, me gustaría saber,
    necesito saber, estoy buscando, busco, sabes, muchas gracias
when: cuándo, cuando, a qué hora, qué día
where: dónde, donde
whereto: adónde, a dónde
who: quién, quiénes
whom: a quién, a quiénes
why: por qué
how: cómo, de qué manera
many: cuánto, cuánta, cuántos, cuántas
past: era, eran, fue, fueron, estaba, estaban, había, tenía, ha sido, han sido
subjects: tiempo, clima, receta, recetas, precio, precios, coste, costo, cuesta, cuestan, vale, capital,
    población, habitantes, altura, edad, tamaño, síntomas, síntoma, causas, causa, tratamiento,
    efectos secundarios, horario, horarios, dirección, teléfono, número de teléfono, definición, significado,
    fecha de nacimiento, opiniones, comparativa, mapa, sueldo, salario, duración, pronunciación, traducción
times: hoy, mañana, ayer, pasado mañana
opposites: bueno/malo, grande/pequeño, alto/bajo, alta/baja, viejo/nuevo, viejo/joven, caliente/frío,
    rápido/lento, barato/caro, barata/cara, fuerte/débil, más/menos, mejor/peor, mayor/menor,
    ventajas/desventajas, ventajas/inconvenientes, comprar/vender, compra/venta, abrir/cerrar, abre/cierra,
    subir/bajar, aumentar/disminuir, ganar/perder, engordar/adelgazar, empezar/terminar, inicio/fin,
    izquierda/derecha, dentro/fuera, antes/después, con/sin, desde/hasta, importar/exportar,
    importación/exportación, importaciones/exportaciones, primero/último, primera/última, mínimo/máximo,
    legal/ilegal, posible/imposible, hombre/mujer, hombres/mujeres, padre/madre, hijo/hija, hermano/hermana,
    alquilar/comprar, instalar/desinstalar, activar/desactivar, encender/apagar, salida/llegada, salida/entrada,
    día/noche, verano/invierno, puede/debe, superior/inferior, positivo/negativo, largo/corto, fácil/difícil,
    a favor/en contra, arriba/abajo, de/a
distinct: pata/patan, vino/vinos, gracia/gracias, tre/tres, interé/interés, lun/lunes, mar/mares, pai/países,
    e/es
endings: - s es; - n; z ces; ón ones; és eses; án anes
"""
