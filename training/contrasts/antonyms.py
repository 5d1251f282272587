"""Words and their opposites, as `word/opposite`; in a phrase, `_` is a space."""

VERBS = """
    enable/disable increase/decrease reduce/increase decrease/increase buy/sell sell/buy install/uninstall
    lock/unlock encrypt/decrypt encode/decode compress/decompress import/export upload/download upgrade/downgrade
    connect/disconnect attach/detach push/pull lend/borrow borrow/lend win/lose gain/lose accept/reject
    reject/accept refuse/accept allow/forbid forbid/allow prevent/cause permit/prohibit prohibit/permit hire/fire
    love/hate hate/love like/dislike marry/divorce divorce/marry arrive/depart enter/exit expand/shrink
    shrink/expand attack/defend defend/attack remember/forget forget/remember freeze/thaw melt/freeze
    accelerate/brake maximize/minimize maximise/minimise raise/lower strengthen/weaken weaken/strengthen
    lengthen/shorten shorten/lengthen widen/narrow build/demolish create/destroy create/delete destroy/build
    delete/restore add/remove remove/add insert/delete append/remove activate/deactivate block/unblock
    subscribe/unsubscribe mute/unmute hide/show hide/unhide zip/unzip plug/unplug mount/unmount archive/unarchive
    install/remove wrap/unwrap pack/unpack register/unregister serialize/deserialize compile/decompile
    inflate/deflate inhale/exhale ascend/descend appear/disappear approve/reject approve/deny admit/deny
    agree/disagree obey/disobey succeed/fail fail/succeed trust/distrust praise/criticize reward/punish
    punish/reward heal/injure cure/cause cause/prevent tighten/loosen loosen/tighten sharpen/dull lighten/darken
    brighten/darken heat/cool boil/freeze rise/fall stimulate/suppress suppress/stimulate activate/suppress
    inhibit/stimulate dilate/constrict relax/tense float/sink speed/slow wake/sleep fill/empty save/spend save/waste
    deposit/withdraw withdraw/deposit appreciate/depreciate overestimate/underestimate underestimate/overestimate
    overreact/underreact include/exclude exclude/include join/leave leave/join simplify/complicate minimize/maximize
    encourage/discourage discourage/encourage motivate/demotivate hydrate/dehydrate pressurize/depressurize
    mobilize/demobilize centralize/decentralize nationalize/privatize privatize/nationalize regulate/deregulate
    allocate/deallocate embed/extract merge/split split/merge collapse/expand pin/unpin tag/untag authorize/revoke
    grant/revoke grant/deny promote/demote nominate/reject employ/dismiss recruit/dismiss conceal/reveal
    reveal/conceal whiten/darken inflame/soothe worsen/improve improve/worsen aggravate/relieve relieve/aggravate
    contract/expand soften/harden harden/soften thicken/thin dry/wet bullish/bearish
    """
"""Verbs, in all their forms."""

ADJECTIVES = """
    public/private private/public legal/illegal dangerous/safe easy/hard easy/difficult difficult/easy rich/poor
    poor/rich wealthy/poor strong/weak weak/strong thick/thin thin/thick wide/narrow narrow/wide dark/bright wet/dry
    dry/wet alive/dead hot/cold cold/hot warm/cold cheap/expensive expensive/cheap fast/slow slow/fast high/low
    low/high short/tall tall/short large/small small/large big/small huge/tiny tiny/huge young/old northern/southern
    southern/northern eastern/western western/eastern north/south east/west positive/negative negative/positive
    synchronous/asynchronous static/dynamic dynamic/static mutable/immutable horizontal/vertical vertical/horizontal
    ascending/descending descending/ascending minor/major major/minor physical/mental mental/physical offline/online
    online/offline permanent/temporary temporary/permanent domestic/international foreign/domestic ancient/modern
    modern/ancient optimistic/pessimistic pessimistic/optimistic bullish/bearish bearish/bullish
    overweight/underweight underweight/overweight wireless/wired wired/wireless inner/outer outer/inner
    internal/external external/internal indoor/outdoor outdoor/indoor acute/chronic chronic/acute benign/malignant
    malignant/benign systolic/diastolic diastolic/systolic oral/topical topical/oral hyperthyroid/hypothyroid
    bacterial/viral viral/bacterial soluble/insoluble acidic/alkaline acidic/basic alkaline/acidic ionic/covalent
    covalent/ionic concave/convex convex/concave odd/even linear/exponential discrete/continuous
    qualitative/quantitative quantitative/qualitative subjective/objective concrete/abstract theoretical/practical
    practical/theoretical solid/liquid natural/artificial artificial/natural synthetic/natural raw/cooked cooked/raw
    sweet/sour sweet/bitter bitter/sweet fresh/stale clean/dirty dirty/clean rough/smooth smooth/rough loud/quiet
    quiet/loud noisy/quiet calm/anxious brave/cowardly generous/stingy rude/polite polite/rude shy/outgoing
    lazy/hardworking smart/stupid intelligent/stupid stupid/smart ugly/beautiful beautiful/ugly fat/thin skinny/fat
    healthy/sick boring/interesting interesting/boring shallow/deep deep/shallow sharp/blunt blunt/sharp tight/loose
    loose/tight flexible/rigid rigid/flexible fragile/sturdy transparent/opaque opaque/transparent urban/rural
    rural/urban local/global global/local macro/micro manual/automatic automatic/manual proprietary/open-source
    centralized/decentralized compiled/interpreted relational/non-relational wholesale/retail retail/wholesale
    taxable/tax-exempt fixed/variable variable/fixed secured/unsecured unsecured/secured bankrupt/solvent
    long-term/short-term short-term/long-term full-time/part-time part-time/full-time liberal/conservative
    conservative/liberal left-wing/right-wing right-wing/left-wing democratic/authoritarian religious/secular
    secular/religious guilty/innocent innocent/guilty civil/criminal criminal/civil rare/common common/rare
    frequent/rare extinct/living wild/domesticated nocturnal/diurnal carnivorous/herbivorous male/female female/male
    masculine/feminine feminine/masculine single/married married/single pregnant/infertile fertile/infertile
    introverted/extroverted extroverted/introverted literal/figurative maternal/paternal paternal/maternal
    upstream/downstream downstream/upstream inbound/outbound outbound/inbound incoming/outgoing outgoing/incoming
    upper/lower voluntary/compulsory mandatory/optional optional/mandatory compulsory/optional explicit/implicit
    implicit/explicit active/passive passive/active formal/casual happy/sad sad/happy unhappy/happy
    clockwise/anticlockwise upwards/downwards upward/downward downward/upward forwards/backwards forward/backward
    quickly/slowly slowly/quickly easily/hardly publicly/secretly permanently/temporarily temporarily/permanently
    legally/illegally illegally/legally safely/dangerously positively/negatively naturally/artificially early/late
    """
"""Adjectives, and adverbs, which have one form."""

NOUNS = """
    advantage/disadvantage disadvantage/advantage benefit/drawback drawback/benefit benefit/risk strength/weakness
    weakness/strength asset/liability liability/asset profit/loss credit/debit debit/credit buyer/seller
    seller/buyer employer/employee employee/employer landlord/tenant tenant/landlord entrance/exit arrival/departure
    departure/arrival success/failure failure/success birth/death majority/minority input/output output/input
    frontend/backend backend/frontend client/server server/client lender/borrower borrower/lender winner/loser
    loser/winner hero/villain villain/hero friend/enemy enemy/friend ally/enemy ancestor/descendant predator/prey
    optimist/pessimist introvert/extrovert inflation/deflation deflation/inflation import/export export/import
    deficit/surplus surplus/deficit supply/demand demand/supply expense/income immigrant/emigrant
    plaintiff/defendant defendant/plaintiff victim/perpetrator hypothermia/hyperthermia hyperthermia/hypothermia
    hypertension/hypotension hypotension/hypertension hyperglycemia/hypoglycemia hypoglycemia/hyperglycemia
    hyperthyroidism/hypothyroidism hypothyroidism/hyperthyroidism constipation/diarrhea diarrhea/constipation
    artery/vein vein/artery insomnia/sleepiness obesity/anorexia anode/cathode cathode/anode proton/electron
    electron/proton numerator/denominator denominator/numerator transmitter/receiver receiver/transmitter
    encoder/decoder decoder/encoder compiler/interpreter oxidation/reduction heaven/hell hell/heaven sunrise/sunset
    sunset/sunrise dawn/dusk north/south south/north east/west west/east freedom/slavery peace/war war/peace
    optimism/pessimism poverty/wealth wealth/poverty capitalism/socialism theist/atheist monarchy/republic
    democracy/dictatorship teacher/student positive/negative prefix/suffix suffix/prefix synonym/antonym
    antonym/synonym hardware/software vowel/consonant consonant/vowel singular/plural latitude/longitude
    longitude/latitude sender/recipient recipient/sender author/reader download/upload upload/download login/logout
    logout/login breakfast/dinner dinner/breakfast agonist/antagonist antagonist/agonist flexion/extension
    systole/diastole eccentric/concentric weight_loss/weight_gain weight_gain/weight_loss hair_loss/hair_growth
    hair_growth/hair_loss bull_market/bear_market bear_market/bull_market common_stock/preferred_stock
    front_end/back_end back_end/front_end left_hand/right_hand right_hand/left_hand left_side/right_side
    right_side/left_side left_brain/right_brain left_ear/right_ear right_ear/left_ear left_arm/right_arm
    left_leg/right_leg right_leg/left_leg left_eye/right_eye right_eye/left_eye upper_body/lower_body
    lower_body/upper_body high_school/primary_school high_blood_pressure/low_blood_pressure
    low_blood_pressure/high_blood_pressure summer/winter open_source/closed_source
    """
"""Nouns, in both numbers."""

PHRASES = """
    turn_on/turn_off turn_off/turn_on switch_on/switch_off switch_off/switch_on log_in/log_out log_out/log_in
    log_off/log_on sign_in/sign_out sign_up/unsubscribe lose_weight/gain_weight gain_weight/lose_weight
    put_on_weight/lose_weight fall_asleep/wake_up wake_up/fall_asleep fall_in_love/fall_out_of_love opt_in/opt_out
    opt_out/opt_in zoom_in/zoom_out zoom_out/zoom_in speed_up/slow_down slow_down/speed_up scale_up/scale_down
    go_up/go_down goes_up/goes_down going_up/going_down go_down/go_up check_in/check_out check_out_of/check_into
    put_on/take_off get_in/get_out_of get_into/get_out_of get_out_of/get_into get_over/hold_on_to
    open_an_account/close_an_account close_an_account/open_an_account open_a_bank_account/close_a_bank_account
    start_smoking/quit_smoking quit_smoking/start_smoking stop_smoking/start_smoking quit_drinking/start_drinking
    stop_drinking/start_drinking good_at/bad_at bad_at/good_at good_for/bad_for bad_for/good_for get_rid_of/keep
    get_up/go_to_bed go_to_bed/get_up turn_left/turn_right tail_end/front_end good_habits/bad_habits
    bad_habits/good_habits build_muscle/lose_muscle lose_muscle/build_muscle grow_hair/lose_hair
    stop_hair_loss/cause_hair_loss good_cholesterol/bad_cholesterol bad_cholesterol/good_cholesterol
    on_purpose/by_accident by_accident/on_purpose in_favor_of/against in_favour_of/against top_up/use_up
    start_a_business/close_a_business get_married/get_divorced get_divorced/get_married
    getting_married/getting_divorced get_pregnant/avoid_pregnancy getting_pregnant/avoiding_pregnancy
    in_public/in_private in_private/in_public make_friends/lose_friends first_half/second_half
    second_half/first_half long_term/short_term short_term/long_term full_time/part_time part_time/full_time
    front_camera/rear_camera rear_camera/front_camera go_public/go_private pay_attention/lose_interest
    earn_money/lose_money make_money/lose_money save_money/waste_money win_money/lose_money save_time/waste_time
    waste_time/save_time best_case/worst_case
    """
"""Phrases, as they are."""
