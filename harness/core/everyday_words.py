"""Everyday words that are also abbreviations, but hardly ever meant as such in lower case ("bats", "map")."""

from harness.core.text import STOP_WORDS

EVERYDAY_WORDS = STOP_WORDS | frozenset(
    """
    act ad add ads age aid aim air also am app apps area arm art ask atlas atom bad bag ball ban band bank bar base bat
    be beam bear beat bed best bet big bit block board body book boss box brain bus buy cab cage call camp can cap car
    card care case cash cast cat cell chart chat chip city class clean cod code cold come con cope core cost cow cut da
    dad dam dark dash data date day de dead deal del der des die diet dim dog door dose dot dr draw drop drug du due ear
    earn ease east eat egg el em en end es est et eye face fact fall far fast fat fear fed fee feed feel film find fire
    fish fit fix flag flow flu food foot form fox free fuel full fun gain game gap gas gate gay gel god gold good grade
    gun hair half hall hand hard hat head hear heart heat help high hip hit hold home hop hope host hot huge ice id idea
    ill image ink iron job join joy key kg kid kids km la lab lack lake land large las last late law lay le lead lean
    led left leg lens les less life lift light like line link list live load lock log long look loop los loss lost lot
    love low mad mail main man map mark mask mass mat math max mean meet men met mg mile milk min mind mint miss mix mm
    mode mom moon move mr mrs name near neck need net new news nice node non note now oil ok old open oral order pace
    pack page pain pair pan park part pass past path pay peace pen pet phase pi pick pig pin pipe place plan plant play
    plot pm point pool poor pop port post pot power press pro pulse put quality que race rain range rank rap rare rat
    rate raw read real red rest rice rich ride ring rise risk road rock role room root rose row rs rule run sad safe
    sage sail salt save say scale scan scope score sea see self sell send set sex shape ship shop show side sign sing
    sit site size skin smart soft soil son song sort space speed spin sport sports spot st star start stat stay step
    stop storm sum sun sure table tag take talk tap task tax tea team tech tell ten term test text thin tie time tip
    tips toll tone tool top trace track train trap tree trend trip true try tube turn type un unit user view visa vs
    walk wall war wash watch wave way weak web week well west wet wide wild win wind wine wing wise word work world yes
    yet zone
    """.split()
)
