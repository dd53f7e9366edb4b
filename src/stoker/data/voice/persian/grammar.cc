#include "stoker/data/voice/sentence.h"

namespace stoker::data::voice {
namespace {

using Phrase = std::string_view;

// A kasra after a noun marks the ezafe that joins it to what follows; it is spoken, not written.
constexpr Phrase kRemark[] = {"سلام، {name}.",
                              "خوش آمدید.",
                              "{name} کجا است؟",
                              "بله، لطفا.",
                              "هوا {cold} است.",
                              "{name} آمد.",
                              "{person} رفت.",
                              "در را بست.",
                              "امروز {day} است.",
                              "{person} خسته بود.",
                              "ممنون، {name}.",
                              "ساعت {#count} است.",
                              "سلام.",
                              "بله."};
constexpr Phrase kPlain[] = {"{person}ِ {quality} {thing}ِ {look} را {did}.",
                             "{name} {thing}ِ {look} را {where} {did}.",
                             "{when} {person} {where} {went}.",
                             "{when} {name} {#count} {thing} {did}.",
                             "در سال {#year} {person}ِ {quality} {thing} را {did}.",
                             "{person}ِ {quality} از {place} به {place} رفت.",
                             "{name} و {name} {where} {went}.",
                             "این {thing} {#price} بود.",
                             "{#percent} مردم {where} بود.",
                             "چرا {person} {thing} را {did}؟",
                             "{when} {name} برای {person} {thing} {did}.",
                             "{thing}ِ {look} {where} بود.",
                             "دکتر {name} {when} {where} {went}.",
                             "از {place} تا {place} {#distance} راه است.",
                             "آن {person} هر {time_of_day} {where} {went}.",
                             "{name} {#count} سال در {place} ماند."};
constexpr Phrase kLong[] = {"{clause}، {joint} {clause}.", "{when} {clause}، {joint} {clause}.",
                            "{clause}، {joint} {clause}، {joint} {clause}.",
                            "{when} {clause}، {joint} {clause}، {joint} {clause}."};
constexpr Phrase kClause[] = {"{person}ِ {quality} {thing}ِ {look} را {did}",
                              "{name} {where} {went}",
                              "{name} {thing} را {where} {did}",
                              "{person} {#count} {thing} {did}",
                              "{thing}ِ {look} {where} بود",
                              "دکتر {name} از {place} به {place} رفت"};
constexpr Phrase kJoint[] = {"و", "اما", "ولی", "پس", "چون"};
constexpr Phrase kName[] = {"علی",  "رضا",   "مریم",  "سارا", "حسن",
                            "نرگس", "بهرام", "پروین", "داود", "زهرا"};
constexpr Phrase kPerson[] = {"معلم",   "مرد",   "زن",    "پسر",   "دختر",  "کودک",
                              "مادر",   "پدر",   "برادر", "خواهر", "دوست",  "مهمان",
                              "کشاورز", "شاعر",  "نقاش",  "پزشک",  "مهندس", "استاد",
                              "شاگرد",  "کارگر", "سرباز", "مسافر", "باغبان"};
constexpr Phrase kThing[] = {"کتاب", "قلم", "دفتر", "کاغذ",  "عکس",    "فرش",  "چراغ", "میز",
                             "نان",  "سیب", "انار", "گل",    "سنگ",    "کلید", "لباس", "کفش",
                             "کلاه", "ساز", "اسب",  "ماشین", "انگشتر", "بلیت"};
constexpr Phrase kQuality[] = {"پیر",    "جوان", "خوب", "بزرگ", "کوچک",
                               "مهربان", "شجاع", "شاد", "آرام", "خسته"};
constexpr Phrase kLook[] = {"بزرگ", "کوچک",  "سبز",  "سرخ",   "سفید", "سیاه", "زرد",   "آبی",
                            "نو",   "قدیمی", "زیبا", "سنگین", "سبک",  "گران", "ارزان", "روشن"};
constexpr Phrase kCold[] = {"سرد", "گرم", "روشن", "تاریک", "خوب", "بد"};
constexpr Phrase kDid[] = {"دید",    "خرید", "فروخت", "آورد",   "برد",  "یافت", "گذاشت",
                           "برداشت", "شست",  "شکست",  "فرستاد", "گرفت", "داد",  "ساخت"};
constexpr Phrase kWent[] = {"رفت",   "آمد",   "نشست", "ایستاد", "خوابید",
                            "خندید", "گریست", "دوید", "ماند",   "برگشت"};
constexpr Phrase kWhere[] = {"در {place}",  "نزدیک {place}", "کنار {place}",
                             "پشت {place}", "در شهرِ {city}", "زیر درخت",
                             "کنار رود",    "در باغِ بزرگ",   "روی پل"};
constexpr Phrase kPlace[] = {
    "باغ", "بازار", "مدرسه", "دانشگاه", "کتابخانه", "بیمارستان", "ایستگاه", "موزه", "مسجد", "قصر",
    "برج", "خانه",  "شهر",   "روستا",   "خیابان",   "جنگل",      "کوه",     "دریا", "حیاط"};
constexpr Phrase kCity[] = {"تهران", "شیراز", "اصفهان", "تبریز", "مشهد"};
constexpr Phrase kWhen[] = {"دیروز",      "امروز",    "دیشب",      "صبحِ زود", "در بهار",
                            "در تابستان", "در پاییز", "در زمستان", "شب",      "عصر"};
constexpr Phrase kDay[] = {"شنبه", "جمعه"};
constexpr Phrase kTimeOfDay[] = {"روز", "شب", "صبح", "هفته", "سال"};

constexpr PhraseList kLists[] = {{"short", kRemark},
                                 {"plain", kPlain},
                                 {"long", kLong},
                                 {"clause", kClause},
                                 {"joint", kJoint},
                                 {"name", kName},
                                 {"person", kPerson},
                                 {"thing", kThing},
                                 {"quality", kQuality},
                                 {"look", kLook},
                                 {"cold", kCold},
                                 {"did", kDid},
                                 {"went", kWent},
                                 {"where", kWhere},
                                 {"place", kPlace},
                                 {"city", kCity},
                                 {"when", kWhen},
                                 {"day", kDay},
                                 {"time_of_day", kTimeOfDay}};
constexpr Grammar kGrammar{kLists};

}  // namespace

const Grammar& persian_grammar() { return kGrammar; }

}  // namespace stoker::data::voice
