"""Turkish words and endings that decide whether two queries ask the same. The endings come after an apostrophe."""

LISTS = """
letters: çğıöşüİ
negations: değil, değildir, yok, yoktur, hiç, hiçbir, asla, ne ne, olmayan, olmaz
directions: dan=den=tan=ten=ndan=nden, a=e=ya=ye=na, için, ile=la=le=yla=yle, önce, sonra, kadar, göre, karşı,
    arasında, doğru, beri, dışında, üzerinde, altında, içinde, olmadan, tarafından, daha
relations: ın=in=un=ün=nın=nin=nun=nün, ı=i=u=ü=yı=yi=yu=yü=nı=ni=nu=nü,
    da=de=ta=te=nda=nde=daki=deki=taki=teki=ndaki=ndeki, lar=ler
drop: bir, ve, şu, ne, nedir, nelerdir, neler, hangi, hangisi, hangisidir, hangileri, hangileridir, mı, mi, mu,
    mü, mıdır, midir, mudur, müdür, dır, dir, dur, dür, tır, tir, ne demek, ne demektir, neresi, neresidir, var,
    vardır, ne anlama gelir, lütfen, teşekkürler, teşekkür ederim, merhaba, selam, söyler misin, söyler misiniz,
    söyleyin, söyle, öğrenmek istiyorum, bilmek istiyorum, bana söyle, anlat, biliyor musun, arıyorum,
    rica etsem, ne kadardır
when: ne zaman, saat kaçta
where: nerede, nerededir, nerde
whereto: nereye
wherefrom: nereden
who: kim, kimdir
whom: kimi
towhom: kime
fromwhom: kimden
why: neden, niçin, niye
how: nasıl, nasıldır
many: kaç, kaçtır, kaçı, ne kadar
past: idi, ydı, ydi, eski
subjects: hava durumu, tarifi, tarif, fiyatı, fiyatları, fiyat, başkenti, nüfusu, yüksekliği, yaşı, belirtileri,
    belirtisi, nedenleri, tedavisi, yan etkileri, yan etkisi, saatleri, adresi, telefonu, telefon numarası,
    anlamı, tanımı, doğum tarihi, yorumları, karşılaştırma, haritası, maaşı, süresi, çevirisi
times: bugün, yarın, dün
opposites: iyi/kötü, büyük/küçük, yüksek/alçak, yüksek/düşük, eski/yeni, yaşlı/genç, sıcak/soğuk, hızlı/yavaş,
    ucuz/pahalı, güçlü/zayıf, çok/az, daha/en, avantajları/dezavantajları, avantaj/dezavantaj, almak/satmak,
    alınır/satılır, açmak/kapatmak, açılıyor/kapanıyor, açılış/kapanış, yükseltilir/düşürülür,
    artırmak/azaltmak, kazanmak/kaybetmek, başlangıç/bitiş, sol/sağ, iç/dış, önce/sonra, ithalat/ihracat,
    ilk/son, yasal/yasadışı, erkek/kadın, anne/baba, kız/erkek, giriş/çıkış, kalkış/varış, gece/gündüz, yaz/kış,
    kısa/uzun, kolay/zor, minimum/maksimum, asgari/azami
distinct: kar/karı, baş/başı, kan/kanı, dal/dalı, at/atı, ay/ayı, sar/sarı, kur/kuru, yaş/yaşı, al/ali, dar/darı
endings: - ı i u ü ın in un ün lar ler ları leri; sı si su sü - ları leri; - dır dir dur dür; - lar; - ler;
    ı ları; i leri; - nın nin
"""
