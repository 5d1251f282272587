"""Words, endings and letters that show the language of a short text in Latin letters."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from harness.core.function_words import LATIN_WORDS, listed

ENGLISH = "en"
WEAK = frozenset(
    """
    a ab ada adam af ai air al alan ale allen alto altura am an anne ans ao as assurance at au aus auto aux az baba
    baja be begin bei ben bent bin biz ble boy bra brasil brief buka ca café capital care carte casa ce cena chat che
    chi chose ci co com come comment como con costa cuisine cum da dal dan danmark das dat de del dem den der des
    deutsche deutschland di dia dice die dil dit do dog dom dont door dos dove du due e eigen ein el em en encore
    ensemble er era es est estado et eu falls fare fat film fin fine folk font fra from fu ge god grand grande guru gut
    ha had hari hat he hen her het hola hotel hunde i idag ik il im image in indonesia ins ir is ise ist istanbul it
    italia italiana italiani italiano ja jakarta jam je kali kan karte ki kim klein kota kuka la lag lalu lama land
    lang las le les lille lite lo los luz ma mad madre mai man mana manger mapa mat mayor me med mein men mens met mi
    mia mig min mine mio mir mit mitt mod moment morgen mort motor mu na nata nato ne nederland need nieuws niño no
    norge nova nu ny nyt o occasion od of off om on ons op or ore os over padre pan par para park pas pasta pays pe per
    persona plus po por pour premier primer principal pro que qui rapid reis roku sa sale sans sari sauce se sedan sem
    serial serve ses sewa si sie sin sit slut so sol solo son sono sont station store su suomi sur surat sure sverige
    são ta tag tai te technique tempo ten ter texte till to toe topper tra tren tu tun u um un una und uno usate v
    vader van var ve vi vita volt von vous voyager w wat we y ya yan yang yo z ze zee
    """.split()
)
"""Words that are also names, parts of names, or words of several languages: two of them count as one."""

_ENGLISH = """
    above actually adam again against ago ai air all allen almost alone along already also alto always am among another
    any anybody anyone anything app approach apps around ask assurance auto away back bad base based became because
    become begin being below bent best better big biz book books bordeaux both bought boy bra brief bring build but buy
    call called calls came capital care carte case causes change chat cheap check child children chose city class cold
    come comes coming comment company computer control cost costa countries country cuisine cut data date day days
    death deaths dice die difference different dog doing done dont door dove down due each early easy effects eight
    else encore ends english enough ensemble era even ever every everyone everything example examples eyes fahrenheit
    fake far fare fast fat father feel feels few fight film find fine first five fix folk font food four free full game
    games gave get gets getting girl give given go god goes going gone good got government grand great guru guy hair
    half hand happen happened happens hard having he head health help her here high him himself his history home
    hospital hot hotel house idea im image imminent important indonesia inside instead invented istanbul jam job jobs
    just kardashian keep kill kind king kings know known lag land lang large last late learn least leave left lesbian
    less let level life like likely lite lives living long look lose lost lot love mad made main make makes making man
    many map market mat may maybe mayor me mean meaning means med men min mind mine mission mod moment money month
    months more most mother motor movie much must name named names nato near need needed needs never new news next nice
    night no non nor north nothing now number numbers occasion off often oil old once one online only open order
    other others our out over own page paid pan park part parts party pasta pay pays people person persona phone place
    plan play please point population power premier president price primer principal problem problems program quickly
    quotes rapid rate read reading real really reason reasons red release reserve results review right run said sale
    same samsung sauce say says school second sedan see seen sell serial serve set seven several shall she short show
    side sign signs since single sit six size slut small so social solo some someone something sometimes song
    soon south speak start state states station statistics still stomach stop store stories story street study stuff
    such sure symptoms tag take taken taking tall technique techniques tell ten test them then theory thing things
    think third three through till time times tips today toe together told too took top topper town treatment true try
    tsunami turn two type types under until up update updates upon us usa use used useful user uses using vaccine vader
    value version very volt voyager vs walk want wants war watch water way ways weather week weight well went whether
    while white whole wife win within without woman women won word words work working works world worst worth write
    wrong year years yes yet young yours
"""

_OTHERS = listed("""
es: abogado abrir aeropuerto ahora alquiler alto altura antes aparcamiento ayuda año años baja barata baratas barato
    baratos bien billete billetes buen buena bueno cada calcular calle cambiar cambio camino carta casa cerca clima
    comer comida comprar conseguir consejos consiste cosas crear cual cuales cuanta cuantas cuanto cuantos curso
    derecho derechos desarrollo después dia dias dice diferencia dinero dio edad efectos ejemplo ejemplos ejercicios
    ella ellas ellos empezar empleo empresa encuentra enfermedad escribir español estación estado estan estoy estudiar
    estudio evitar facil fecha fiesta forma fuente futbol fácil fútbol ganar gente gobierno gratis guerra gustar guía
    haber habitantes hace hacer hago hecho hija hijo historia hola hombre hora horario horarios horas hoy huelga
    huevos idioma iglesia imagen impuesto impuestos ingles inglés ir juego juegos jugar lado leche lejos lengua ley
    libro libros limpiar llama llamaba llegar lugar lunes luz madre mal manera mapa mayor mayoría mañana mejor mejores
    menor mes meses mismo muerte muertes muertos mujer mundo murieron murió máquina nació nada ningún niña niño niños
    nombre nosotros noticias nuestra nuestro nueva nuevas nuevo nuevos nunca otra otras otro otros padre pagar palabra
    parada parte país países pelicula peliculas película películas pequeño perro persona personas piso población poder
    podría poner precio precios primer primera primero primeros principal principales problema proceso pueblo quien
    quienes quiere receta recetas remedios resumen ropa rápido saber salida salud segunda segundo seguro será siempre
    siglo significa significado sintomas sol solo sueldo síntomas sólo tamaño tarjeta temperatura tengo texto tiempo
    tienda tipo tipos todas todo todos tomar trabajar trabajo tren trenes usar utiliza utilizar vacaciones vacuna
    valor vender venta ver viajar viaje viajes vida vivir vuelo vuelos ya zapatos
de: abends aber abfahrt alle allem allen aller alles anfänger ankunft anleitung anmelden arbeit arbeiten arzt ausgaben
    bahn bahnhof bedeuten bedeutet bedeutung befindet begann beim beispiel beispiele beispielsweise benutzt berechnen
    berg beruf beste besten bester bestes bezeichnet bezeichnung bild bin bis bleibt braucht brief bundesliga bücher
    dabei dafür damals damit dann daraus darf dazu dein deine denn deren deswegen deutsch deutsche deutschen deutscher
    deutschland diese diesem diesen dieser dieses doch dort drei durfte ebenfalls einfach einige einkaufen ende
    entfernen entfernt entspricht entstand erfahrungen ergebnisse erhielt erklärung erst erste erstellen ersten euch
    euer fahrkarte fahrplan fahrräder falls farbe fehler ferien fing flug flughafen flüge fragen frau früher
    funktioniert führerschein gab ganz garten geburtstag gegend gegründet geht gehört geld gemacht genannt genau gern
    geschenk geschichte gesetz gestern gesund getötet gewesen gewicht große großen großer größe größte gut gute guten
    günstig günstige hafen haltestelle handy hauptstadt haus heißen heißt helfen heute hier hilfe hilft hin hund hunde
    hälfte hätte häufig höhe ihn ihnen ihre ihrem ihren ihrer immer ins insgesamt irgendwo jahr jahre jahren jede
    jeden jeder jedes jetzt junge jungen kamen karte katze kaufen kein keine keinen keiner kennt kind kinder
    kindergeburtstag kirche klein kleine kochen kommen kommt konnte konnten kosten kostenlos kostet
    krankenversicherung krankheit krieg kuchen kurz könnte lang lange lassen leben lebte leicht leute liegt länder
    länge lässt machen macht mag mehr mein meine meinem meinen meiner meist meisten mensch menschen mich miete mieten
    mir miteinander mittel monat monate morgen muss musste möglich mögliche müssen nachrichten name namen neben nehmen
    nennt neue neuen neuer neues nichts nie niemand nutzen ob obwohl ort parken parkhaus parkplatz passiert preis
    preise rathaus rechnung regeln reisen rezept rezepte sagen sagte schnell schreiben schule schwarz sehen sehr sein
    seine seinem seinen seiner seit selber selbst sich sicher sie siebt so sogar soll sollen sollte sollten sondern
    sonst spiel spiele spielen spielt sprache stadt starb startet statt steht stellt steuer strafe straße strom stunde
    stunden suchen tag tage teil teile trotz tun typ umgang unterschied unterschiede urlaub ursache ursachen ursprung
    verbrauch verdienen vergleich verkaufen vertrag verwendet vielen voller vom vorher wasser weil weiter wenige
    weniger wetter wichtig wirkung wissen woche wochen woher wohin wohnung woran worauf woraus worin worum wovon wozu
    wurden während wäre würde zahl zahlen zeit zeitraum ziel zimmer zug zusammen zwei zweite zweiten züge
    öffnungszeiten übersetzung
fr: acheter adresse afin aider aime aller alors année années ans appelle argent arrêt assurance aucun aucune
    aujourd'hui auquel aussi auto autre autres avez avoir avons aéroport beaucoup besoin bien billet billets boire bon
    bonne bonnes calcul calculer carte cela celle celui certains ceux chambre chat cher chez chien chose choses
    chômage ci comme commencer connaître contre cours créer cuisine cuisiner demain dernier dernière deux devait
    devenir devrait différence dit doit doivent donc donner dont durée définition effets emploi encore enfant enfants
    enlever ensemble entreprise environ eu eux exemple exemples exercices existe facile facilement faut femme femmes
    fille film fils fin fois font frais français française fête gagner gare gares grand grande grands gratuit gratuite
    gratuitement guerre guérir gâteau habitants hauteur heure heures hier histoire homme hommes horaire horaires hôtel
    ici image impôt impôts jamais jeu jeux jour jours jusqu'à juste laquelle lequel lesquelles lesquels lieu ligne
    livre livres logement logiciel loi loin lors lorsque louer lui là mairie maison mal maladie manger marché matin
    meilleur meilleure meilleures meilleurs mettre mieux mois moment mon monde montant mort morts mot moyen moyenne
    musique météo naissance navette nettoyer nom nombre nombreux nos notre nouveau nouveaux nouvelle nouvelles nuit
    occasion or ordinateur originaire ouvert ouverture parce parler partie partir partout pays pendant pendule permet
    personne personnes petit petite petits peu peur pièce pluie plusieurs poids pomme population premier première
    prendre presque prix problème prochain puis qu'elle qu'est-ce qu'il qu'on qu'un quelqu'un quelque quelques raison
    recette recettes rien rue rôle sais sait santé sauce savoir selon semaine serait seront seul seulement signifie
    situe situé siècle soit sommeil sommes souvent stationnement suis suivre symptômes taille tarif texte tous tout
    toute toutes trajet travail travailler trop trouve trouver très utiliser utilisé vacances vaccin vais vaut vend
    vendre vers veut vie vient vieux ville vivre voici voilà voir voiture voitures vol vols vos votre voyage voyager
    vrai ète école également église étais état états
it: abbiamo abita abitanti acqua aeroporto aiuto allora altra altre altri altro ancora anni anno aperto appartamento
    auto avere aveva avevano azienda bambini bene biglietti biglietto buona buono calcio calcolare calcolo cambiare
    cane capitale casa cercare chiama chiamata chiamato ciao cibo cinque città codice collegare comprare comune
    consigli conto corso costa costano costi costo così creare cucina cucinare curare da' davanti deve devono dieta
    differenza differenze diritto disse diventare dolci donna donne dopo dov'è due durante durata economici effetti
    elenco esempi esempio esercizi esiste età facile facili famoso fanno fare farmacia fatto fermata festa figlia
    figlio fine finire fino fratello funziona gatto giocare giochi gioco giorni giorno giovane già governo grande
    grandi gratis gratuito guadagnare guerra idee imparare imposta indirizzo inglese insieme invece inverno italia
    italiana italiane italiani italiano lavorare lavoro legge leggere libri libro lingua lui macchina madre maggior
    maggiore maggiori mai mal malattia mangiare mare medico meglio mese mesi meteo mettere mia miei migliore migliori
    moglie molta molte molti molto mondo morte morti morì nacque nascita nata nato negli nell nessun nessuno noi nome
    nomi nostra nostro nove numero nuova nuove nuovi nuovo oggi ogni ora orari orario ore ospedale otto padre paese
    paesi pagare parcheggio parlare parola parole parte parti partita pasta perchè perdere persona persone piace
    piccola piccolo poco poi popolazione potrebbe prendere prenotare prezzi prezzo prima primo prodotto pulire qual
    qualche qualcosa qualcuno quasi quattro quel quella quelle quelli quello regali regalo ricetta ricette rimedi
    rimuovere riso sale salute scarpe scrivere scuola se secolo seconda secondo sei sempre sera serve sette settimana
    siamo siano significa significato sintomi situato solo sopra sotto spesa stata stati stato stazione stipendio
    storia strada tasse tempo terra testo tradurre tre treni treno tutta tutte tutti tutto uguale uomini uomo usare
    usate vacanza vacanze vaccino vecchio vedere vendere vendita viaggi viaggiare viaggio vicino vita vivere voli volo
    volta vuol
pt: aberto aeroporto agora ainda ajuda algum alguma alguns alguém alto altura aluguel além ano anos antes apartamento
    aprender aqui assim aula barata baratas barato baratos bem bilhete bilhetes boa bolo bom brasil brasileira
    brasileiro cabelo cachorro cada café calcular calendário capital carro carros cartão casa chama chamado chuva
    cidade cidades coisa coisas comboio comer começar comida comprar conta cozinhar criança crianças criar curso dela
    dele deles deve devem dia dias diferença diferenças dinheiro direito doença dois duas durante economia efeitos ela
    elas ele eles emprego empresa encontra então escola escrever essa essas esse esses estacionamento estava estação
    exemplo exemplos existe faz fazer feito feriados festa fez fica ficar filha filho filhos filme filmes fim fome
    futebol fácil ganhar governo grande gratuito graça grátis guerra habitantes história hoje homem homens hora horas
    horário horários idade ideias imagem imposto impostos inglês jogar jogo jogos já lado lei ler lista livro livros
    localizado lugar língua maior maioria mal maneira manhã marido melhor melhores menina menino menor meses mesmo meu
    minha moeda morar morreram morreu morte mortes mulher mulheres mundo mãe nada nasceu nascimento nenhum nessa nesse
    neste noite nome nomes nossa nosso nova novas novo novos nunca número ontem outra outras outro outros ouvir pagar
    pai palavra parte passagem passagens país países pequena pequeno perto pesquisa pessoa pessoas pior população
    pouco pra praia praias preço preços primeira primeiro processo próximo qualquer quarto quase quatro quer querem
    queria receita receitas remédio resumo roupa saber salário saúde segunda segundo seguro semana sempre seria será
    significa significado sintomas sol século só tempo tenho ter teve texto tipo tipos tirar toda todas todo todos
    tomar trabalhar trabalho três usadas usado usar uso vacina vai vale valor velho venda vender ver vezes viagem
    viagens viajar vida viver vocês voo voos vários xadrez água ônibus
nl: aantal alle alleen allemaal altijd ander andere auto's bedrijf begin bekende bent bestaat beste betekenis betekent
    beter bijna bijwerkingen blijven boek boeken boven brief buiten daar daarom dag dagen denk deur doe doen doet dorp
    drie druk duur duurt echt eerste eigen elke enkele erg eten feest fiets fietsen foto gaan gaat geboren gebruik
    gebruiken gebruikt geeft geen gehad geld gelijk gemaakt gemiddeld gemiddelde genoeg geweest gewicht gezond goed
    goede goedkoop goedkoopste goedkope graag gratis groot grootste grote haar hallo helemaal helpt hem hen hier hond
    hoofdstad hoog hoogte huis huren idee ieder iedereen iemand iets inwoners jaar jaren jeugd jouw jullie kaart kamer
    kat katten keer kennen kiezen kijken kind kinderen klein kleine koken komen komt kon konden kopen kost kosten koud
    krijgen kwam land landen lang langs leeftijd leren leven lezen liggen ligt luchthaven maand maanden maar mag maken
    makkelijk meer meest meeste mens mensen middel mij minder minuten moeder moet moeten mogelijk mooiste morgen
    muziek naam naast nederland nederlands nederlandse nemen niemand niets nieuw nieuwe nieuws nodig nooit oefeningen
    ogen oma omdat ons onze oorlog oorzaak opeens openingstijden oud ouders oudste paard parkeren plaats prijs prijzen
    recept recepten reis reizen rekening rijden rijk salaris samen school schoonmaken schrijven sinds slapen slecht
    snel sommige soms spel spelen spelletjes spreken stad station steeds sterk studenten symptomen taal taart terug
    terwijl thuis tijd tijdens toch toe toen trein treinen treinkaartje treinstaking twee uitleg uur vaak vader
    vakantie vanaf vandaag veel verkopen verschil verschillen verschillende vertalen vertrektijden verzekering vinden
    vliegtickets vlucht vluchten voorbeeld voorbeelden voordat vrij vrouw vrouwen waarmee waarvan waarvoor wassen
    water week weer weet wel werk werken werkt weten willen wonen woning woont woord zal zee zeer zeggen zelf zich zie
    ziek ziekte zien zoals zoeken zomer zonnepanelen zou zouden
tr: adam adlı adı ait akşam alan altında anlam anlama anlamı anne araba aracılığıyla arada arası arkadaş artık aslında
    ay ayrıca az baba bazı başka başkenti başladı belirli ben benim beri beş bilet bileti bilgi bilinen bilinir bilir
    biraz biri birkaç birçok biz bizim boy bugün bunlar bunu bunun burada bölge büyük dan den denir devlet dil dilde
    diye diğer doktor dolayı doğdu doğru dünya düşük edebilir eder ederler edildi edilen edilir edilmesi edilmiş
    edilmiştir ekmek en'de er erkek eski et etkileri etmek etmiştir etti ettiği ev evde eğer fakat farkı faydaları
    fazla filmleri fiyat fiyatları fiyatı geldi gelen gelir gelmektedir genel genellikle gereken gerekir gerçek
    görülür gün güncel günde günü güzel haber haberleri hala halk hangileri hangileridir hangisidir hangisinde
    hastalık hava havalimanı hayat hem hemen hep hepsi her hiç hızlı iki ikinci ilaç ilgili ilk ilçe indir indirim
    insan insanlar inç isim ismi istanbul istasyon istasyonu iyi içinde içinden içmek iş işe işi kadardır kadın kaldı
    kalmak kan karşı kaynağı kazandı kaçtı kaçtır kaçı kaçıncı kedi kendi kendisi kilo kimdi kime kimi kimler
    kimlerdir kimse kiralık kitabı kitap kişi kişinin konusu kullanılan kullanılmıştır kullanılır köy küçük kısa
    kısaca maaş maaşı makine mevcut millet müdür nasıldı nasıldır nedendir nedeni nedenle nedenleri neler nelerdi
    nelerdir nelere neleri nerededir neredeydi nereler nereli neresi neresidir neydi neye neyi neyin neyle niteliği
    nüfusu o'nun olabilir olacak olduğu olduğunu olmadı olmak olması olmasına olmuştur olsun olur oluşur onlar onları
    onu onun orada oranı otobüs otopark oynadı oynayan para parası park pasta pazar saat sadece satılık satın sayı
    sayısı sağlık sebebi sebep seferleri sen sene senin seçim sonucu sonunda sonuç sorun soğuk sure suç süre süresi
    tane tarif tarifi tarifleri tarih tarihi tarihinde tatil tedavi tedavisi tek temel tren tüm türk türkiye türkçe
    türleri ucuz uzun uçak vardı vardır verdi vergi veri verildi verilen yan yapan yapar yapmak yaptı yapılan yapıldı
    yapılmıştır yapılır yapılışı yapımı yarın yarısı yazar yazdı yazmak yaş yaşadı yaşamak yaşı yaşında yaşıyor yemek
    yeni yer yerde yeri yerine yoktur yol yolculuk yolları yüksek yüzde yüzden yüzyıl yüzyılda yıl yılda yıldır
    yılları yılı yılında zamanda zamandı zamanki zarar zararları çalışma çalışır çeşitleri çocuk çocuklar çünkü öldü
    ölüm önceki önemli örnek örnekleri öğrenci öğretmen ücret ücreti ülke ülkeler üzere üç şarkı şehir şehri şekilde
    şey şimdi
pl: aby albo ale bardzo biały bilety bo ból będzie cały cena ceny chce choroby ciasto cie czas czego czemu czym czytać
    dieta dlatego dni dobra dobre dobry dom domu dowód duże duży dwa dzieci dziecko dzień dzisiaj dziś film gdy gdzieś
    godziny gra gry ich ilu imię inne inny jakiego jakiej jakim jako jaką jeden jednak jego jej jeszcze jeśli już
    każdy kiedyś kim kobieta kogo komu koszt kosztuje kot kraj krajów książka książki ktoś którego której których
    którym kupić kurs lat lata lek leki lista ludności ludzi ludzie mam małe mały mecz miasta miasto miesiąc mieszka
    mieszkanie mieć mnie mój mówić najlepsza najlepsze najlepszy najważniejsze największa największe największy nas
    nasz nazwa nazywa nic nich nim nowa nowe nowy numer objawy obliczyć ona oni ono opinie osoba osób pan pani państwa
    państwo pieniądze pies pisać piłka podczas podróż pogoda pogodę polsce polska polski polskich polskie pomoc
    ponieważ powstał powód praca pracy prawo prezydent proste prosty przed przepis przepisu przepisy przyczyny pytanie
    rok roku rozkład roślin różnica różnice samochody samochód serial skutki skąd sobie sposób stolica stolicą swój
    szkoła tak tam tani tanie tego tej tekst też trzeba tu tych tylko tym tłumaczenie ubezpieczenie umarł urodził
    ustawa używane używany wiele wielki więc woda wojna wojny wojnę wszystkie wszystko wtedy wybrać wynajem wyniki za
    zabytki zarobki zdrowie ze zimie znaczenie znaczy zostać zrobić łatwe łatwy święta żeby życia życie
sv: aldrig alla allt andra annan används arbete bara barn befolkning behandling behöver betydelse betyder bil bilar
    billig billiga billigt biverkningar blev bli blir bok bor bra bröd byta bäst bästa bättre cyklar dag dagar deras
    dess dessa detta där därför då dör egen eget ej ekonomi enkel enkelt exempel fick finns flera flest folk fram
    fråga fungerar få får född förklaring första försäkring gammal gammalt ge genom gick gjorde gratis gå gånger går
    gör göra haft halv hela hemma hennes heter hitta hjälp hjärta honom hos hund huset hyra hög höga högsta höjd
    ibland idag igen in'n inför inga ingen inget innan inom ja jobb just jämförelse kallades kallas kom komma kommer
    kommun kosta kostade kostar kunna kvinna kvinnor kyrka kände köpa kött lag laga land lista lite liten lägenhet
    länder lära läsa låg låna lång lön mamma mat men mer mest mig min mina minst mitt mot människor mån månad måste
    namn ner nog nu ny nya nyheter nytt nästa någon något några ofta olika orsak oss pris priser recept regler resa
    resor räkna rätt sade sagt samma sedan senast senaste sig sin sina sista sitt själv skall skillnad skillnaden
    skola skriva skulle slut små snabb snabbt snart spel spela språk stad stor stora står större störst största svensk
    svenska svenskt sverige symtom säga säger säljer sätt så sådan tack tar tid tills tillsammans tre två tycker tåg
    upp ut utom vara varit veta vid viktigaste vill väder vägen väl välja världen världens vår våra även år åren året
    åt öppettider översätta
da: aldrig alle andre arbejde bage barn bedre bedste bil biler billig billige billigt bivirkninger blev bliver bor
    bruger bruges bryllup brød by byen både børn cykler da dag dage danmark dansk danske deres din dit dog dyr døde
    eget ejer eksempel eksempler endnu eneste engang enkel enten ferie finde findes flere flest folk fordi forklaring
    forsikring forskel forskellen få får født først første gamle gammel gang ge gik giver gjorde glad god gode godt
    gratis gå går gør gøre haft hans hedder hej hele hende her hjem hjemme hjælp hos hund hunde hus huse hver hvis
    hvoraf højde højeste ind indbyggere indtil ingen jobs kage kaldes kat kom komme kommer konge kongen kostede koster
    kvinde kvinder købe lang langt lave leje lidt lige ligger lille liste læge læse løn mad mand men mennesker mere
    mest mig min mine mod morgen må måde måned måske navn nej nemt nogen noget nogle ny nye nyheder nyt når næste også
    op opskrift opskrifter os pris priser regler rejs rejse rejser samme selv siden sige siger sin sit skat skriv
    skrive skulle slags små sommer spille sprog stadig stor store står større størst største sund sygdom symptomer så
    sådan tid to tog toget tre tro tysk ud uge ugen utroligt varme ved vejret verden verdens verdenskrig vil ville
    virker vores værd være åbningstider år året årsag årsager
no: av barn beste bil billig billige ble blir dag dager det eller er etter forskjell forskjellen fra hadde har hva
    hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor ikke jeg kan koster mange med mellom mer mest mye noen norge
    norsk norske nå når og også oppskrift på skal som språk til uten være været åpningstider
id: adakah agar air akhir aku anak anda apabila arti artinya atas bagaimanakah bagi bahan bahasa bahwa baik baru bawah
    beberapa begitu belajar belum benar berapakah berasal berbeda berdasarkan berikut berita bermain bertemu besar
    biasa biaya buah buat buka buku bulan cara cepat contoh cuaca daftar daripada demam depan desa dia dilakukan
    dimana disebut dunia efek gaji gambar gejala gratis guru hanya harga hari harus hidup hotel hujan ibu ibukota
    indonesia inggris ingin jadi jadwal jakarta jalan jam jangan jika juga jumlah kabupaten kalau kali kalian kami
    kamu kapankah karena kata kecil keluarga kenapa kepada kerja kerjaan ketika kita kode kota lagi lagu lain lalu
    lama laut lebih lirik lowongan luar makan makanan makna malam manfaat manusia masih masuk masyarakat mau melalui
    memasak membuat memiliki mencari mendapatkan mengatasi menggunakan menghilangkan menghitung menjadi menurut mereka
    merupakan minum mobil motor mudah mulai murah nama namun nasi negara negeri obat olahraga orang paling panjang
    pantai pekerjaan pemerintah penduduk pengertian penyakit penyebab perang perbedaan pergi perlu pernah pertama
    pesawat pohon presiden pulau resep rumah sakit salah sama sambil sampai sangat sari saya sebab sebuah secara
    sedang sehari sehat sejak sejarah sekarang sekolah selama semua sendiri seorang seperti serta sesuatu setiap sewa
    siapakah suatu sudah suka surat tahun tanggal tanpa tapi teman tempat tentang terbaik terbaru terbesar terdekat
    terhadap terjadi terjemahan terlalu terletak tersebut tertinggi tetapi tiap tidur tiket tinggi tugas tujuan uang
    ukuran umur usia waktu wanita warna wisata yaitu
vi: ai bao cho các cách có của giá gì hay khi không là một người nhiêu như nhất những nào này sao thế trong tại từ
    việt và về với đâu được đến ở
ro: această acest ale azi bun bună ca care ce cea cei cel cele cine copii cu cum când cât câte câți despre din după
    este foarte fost fără ieftin ieftine la lui mai mult nu pe pentru preț prin rapid rețetă româna românia sa sau
    sunt să său unde vreme în între și
cs: a byl byla bylo cena co do jak jako jaká jaké jaký je jsou kde kdo kdy kolik která které který levné lidí mají
    mezi město na nebo nejlepší není od podle počasí pro proč práce recept rok roku se v ve z zdarma ze česko česká
    české český že
hu: a az azt egy előtt ez hogy hogyan hol hány időjárás is jelentése kell kerül ki között legjobb lehet magyar
    magyarország meg melyik mennyi mennyibe mi mikor milyen mit miért nem olcsó recept szerint után vagy van volt ár
    ára és
fi: ei että halpa halvat hinta ilmainen ja joka jotka kaupunki kuinka kuka kun maksaa miksi mikä milloin missä mistä
    miten mitä monta mutta myös ohje oli on ovat paljon paras parhaat resepti se suomalainen suomen suomessa suomi sää
    tai tehdä vuosi
""")
"""Function words that questions have, and common words of queries."""


@cache
def word_weights() -> Mapping[str, Mapping[str, float]]:
    """Return the weights of words: by word, then by language."""
    found: dict[str, dict[str, float]] = {}
    for language, words in {ENGLISH: _ENGLISH, **_OTHERS}.items():
        for word in LATIN_WORDS.get(language, frozenset()).union(words.split()):
            found.setdefault(word, {})[language] = 0.5 if word in WEAK else 1.0
    function_words = frozenset().union(*(own for language, own in LATIN_WORDS.items() if language != ENGLISH))
    for word in set(_ENGLISH.split()) - function_words:
        found[word][ENGLISH] = 1.0
    return found


LETTERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        letter: tuple(languages.split())
        for letters, languages in (
            ("ß", "de"), ("ä", "de sv fi"), ("ö", "de tr sv hu fi"), ("ü", "de tr"), ("ñ", "es"), ("ãõ", "pt vi"),
            ("òì", "it vi"), ("èù", "fr it vi"), ("à", "fr it pt vi"), ("œëû", "fr"), ("êâô", "fr pt vi"),
            ("î", "fr ro"), ("ç", "fr pt tr"), ("é", "fr es pt it hu vi"), ("áíóú", "es pt hu cs vi"), ("ğış", "tr"),
            ("łąęśźżńć", "pl"), ("å", "sv da no"), ("æø", "da no"), ("řěůčšž", "cs"), ("ý", "cs vi"),
            ("őű", "hu"), ("țăș", "ro"), ("đơưạảấầẩậắằặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỷỹ", "vi"),
        )
        for letter in letters
    }
)  # fmt: skip
"""Languages that have a letter, or a sign."""

_ENDINGS = listed("""
es: ción ciones amiento amientos idad idades ería
de: ung ungen keit keiten heit heiten schaft lich liche lichen ische isches ischen rezept frist vertrag kosten zeiten
    straße versicherung
fr: euse euses ière ières ité ités aient ennes
it: zione zioni amento imento menti tà ità aggio aggi ezza iamo
pt: ção ções dade dades agem agens inho inha
nl: heid heden lijk lijke lijks atie aties tje tjes ieke ijven ijn
tr: ların lerin ları leri lara lere lardan lerden larda lerde larının lerinin larını lerini larına lerine larında
    lerinde sının sinin sında sinde dır dir dür tır tir tür mıştır miştir muştur müştür maktadır mektedir lığı liği
    lık luk lük liğin lığın iyor ıyor uyor üyor acak ecek mak mek ması mesi masına mesine ının inin dığı diği tığı
    tiği ıyla iyle cılık cilik sınıf ıştır iştir ydi ydı ydu ydü
pl: ości ość ych owego iego emu ów owy owej enie anie cja cji cje
sv: ningen ningar arna erna heten skap
da: ningen ninger erne heden skab
id: annya kannya
""")
"""Endings that words of a language often have."""
MAX_ENDING = 12


@cache
def ending_languages() -> Mapping[str, tuple[str, ...]]:
    """Return the languages that have an ending, by ending."""
    found: dict[str, tuple[str, ...]] = {}
    for language, endings in _ENDINGS.items():
        for ending in endings.split():
            found[ending] = (*found.get(ending, ()), language)
    return found
