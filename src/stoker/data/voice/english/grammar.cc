#include <array>

#include "stoker/data/voice/sentence.h"

namespace stoker::data::voice {
namespace {

using Phrase = std::string_view;

constexpr Phrase kRemark[] = {"Good morning, {name}.",
                              "Good evening, {title} {surname}.",
                              "Come in, please.",
                              "Thank you, {name}.",
                              "Yes, of course.",
                              "No, not today.",
                              "Where is {name}?",
                              "The {thing} is {look}.",
                              "It was very {look}.",
                              "{name} {went}.",
                              "Open the {thing}.",
                              "Wait for {name}.",
                              "What is the time?",
                              "It is {#hour}.",
                              "Close the door, please.",
                              "{name} was {mood}.",
                              "We saw {name}.",
                              "Please sit down.",
                              "The {person} laughed.",
                              "I found it.",
                              "Yes.",
                              "No.",
                              "Hello."};
constexpr Phrase kPlain[] = {"The {quality} {person} {did} the {look} {thing}.",
                             "The {person} {did} the {thing} {where}.",
                             "{name} {did} a {look} {thing} {where}.",
                             "{name} and the {person} {went} {where}.",
                             "The {look} {thing} was {where}.",
                             "There were {#count} {things} {where}.",
                             "{when}, the {person} {did} {#count} {things}.",
                             "{when}, the {quality} {person} {went} {where}.",
                             "{title} {surname} {did} the {thing} {when_end}.",
                             "{title} {surname} {went} {where} {when_end}.",
                             "The {person} paid {#price} for the {thing}.",
                             "The {look} {thing} cost {#price} {when_end}.",
                             "In {#year}, the {person} {did} the {thing}.",
                             "The {building} was built in {#year}.",
                             "The train leaves the {place} at {#hour}.",
                             "{name} lived near the {place} for {#count} years.",
                             "About {#percent} of the people {went} {where}.",
                             "Why did the {person} {do} the {thing}?",
                             "Did {name} {do} the {look} {thing}?",
                             "Every {time_of_day} the {person} {does} the {thing}.",
                             "My {relative} never forgot the {quality} {person}.",
                             "Nobody knew where the {person} had {done} the {thing}.",
                             "The {#ordinal} {thing} belonged to {name}.",
                             "It is {#distance} from the {place} to the {place}.",
                             "The {person} said that the {thing} was {look}.",
                             "{name} wrote a long letter to {title} {surname}."};
constexpr Phrase kLong[] = {"{clause}, {joint} {clause}.",
                            "{clause}, {joint} {clause}, {joint} {clause}.",
                            "{when}, {clause}, {joint} {clause}.",
                            "{when}, {clause}, {joint} {clause}, {joint} {clause}.",
                            "The {quality} {person} {did} the {thing} {where}, {joint} {clause}.",
                            "{clause} {while} {clause}.",
                            "{clause} {while} {clause}, {joint} {clause}."};
constexpr Phrase kClause[] = {
    "the {person} {did} the {look} {thing}",      "the {quality} {person} {went} {where}",
    "{name} {did} the {thing} {where}",           "the {thing} was {look}",
    "{title} {surname} {went} {where}",           "there were {#count} {things} {where}",
    "the {person} paid {#price} for the {thing}", "nobody had {done} the {look} {thing}",
    "the {goods} cost more than {#price}",        "{name} remembered the {quality} {person}"};
constexpr Phrase kJoint[] = {"and", "but", "so", "and then", "and later", "but soon"};
constexpr Phrase kWhile[] = {"while", "because", "before", "after", "when", "until"};
constexpr Phrase kTitle[] = {"<Dr.=Doctor>", "<Mr.=Mister>", "<Prof.=Professor>", "Captain",
                             "<Mr.=Mister>"};
constexpr Phrase kName[] = {"Mary",    "John",   "Anna",   "Peter", "Sarah", "David",
                            "Helen",   "Robert", "Thomas", "Alice", "Henry", "Laura",
                            "Michael", "Susan",  "George", "Emma"};
constexpr Phrase kSurname[] = {"Smith",  "Brown",  "Miller", "Taylor", "Wilson", "Moore",
                               "Walker", "Turner", "Parker", "Cooper", "Baker",  "Hill"};
constexpr Phrase kRelative[] = {"brother", "sister",   "mother", "father",
                                "uncle",   "daughter", "friend", "neighbor"};
constexpr Phrase kPerson[] = {
    "farmer",   "teacher",  "sailor",   "student", "neighbor",  "child",   "woman",
    "soldier",  "driver",   "painter",  "writer",  "singer",    "doctor",  "captain",
    "shepherd", "merchant", "engineer", "lawyer",  "servant",   "hunter",  "guard",
    "pilot",    "nurse",    "prisoner", "judge",   "president", "officer", "stranger",
    "visitor",  "owner",    "worker",   "king",    "queen",     "girl",    "boy"};
constexpr Phrase kThing[] = {
    "book",      "letter",  "table",    "window",  "boat",    "horse",  "lamp",    "clock",
    "picture",   "basket",  "bottle",   "wagon",   "machine", "engine", "radio",   "paper",
    "pencil",    "mirror",  "chair",    "ladder",  "hammer",  "knife",  "spoon",   "plate",
    "coat",      "shirt",   "hat",      "ring",    "stone",   "flower", "key",     "box",
    "bag",       "map",     "coin",     "bell",    "ticket",  "piano",  "violin",  "guitar",
    "telephone", "bicycle", "carriage", "package", "blanket", "candle", "curtain", "newspaper",
    "suitcase",  "door"};
constexpr Phrase kThings[] = {
    "books",    "letters",  "tables",   "windows",  "boats",    "horses",  "lamps",    "clocks",
    "baskets",  "bottles",  "pictures", "coins",    "tickets",  "chairs",  "birds",    "sheep",
    "flowers",  "stones",   "candles",  "pencils",  "plates",   "apples",  "children", "people",
    "soldiers", "students", "workers",  "visitors", "packages", "machines"};
constexpr Phrase kGoods[] = {"books",    "boats",   "horses",  "lamps",   "clocks",
                             "pictures", "tickets", "chairs",  "flowers", "candles",
                             "plates",   "apples",  "machines"};
constexpr Phrase kQuality[] = {"old",    "young",   "quiet",   "happy",   "tired",   "clever",
                               "brave",  "honest",  "strong",  "rich",    "poor",    "famous",
                               "gentle", "angry",   "careful", "serious", "polite",  "patient",
                               "lonely", "curious", "nervous", "proud",   "foreign", "friendly",
                               "hungry", "thirsty", "busy",    "lazy",    "strange", "silent"};
constexpr Phrase kLook[] = {"small",  "large",  "red",       "green",  "blue",  "black",  "white",
                            "yellow", "gray",   "dark",      "bright", "heavy", "wooden", "cold",
                            "warm",   "new",    "beautiful", "simple", "empty", "golden", "ancient",
                            "modern", "cheap",  "expensive", "sharp",  "round", "fine",   "dusty",
                            "rusty",  "broken", "important", "little"};
constexpr Phrase kMood[] = {"happy", "tired", "angry", "busy", "late", "hungry", "ready", "proud"};
constexpr Phrase kDid[] = {"opened",   "closed",   "found",      "lost",       "painted",
                           "carried",  "bought",   "sold",       "moved",      "cleaned",
                           "watched",  "repaired", "saw",        "took",       "brought",
                           "kept",     "held",     "wanted",     "needed",     "visited",
                           "followed", "received", "described",  "admired",    "borrowed",
                           "examined", "measured", "discovered", "remembered", "finished"};
constexpr Phrase kDone[] = {"found", "left", "hidden", "put", "seen", "bought", "sold", "kept"};
constexpr Phrase kDo[] = {"open",  "close", "find",   "paint", "carry", "buy",  "sell", "move",
                          "clean", "watch", "repair", "take",  "bring", "want", "need", "follow"};
constexpr Phrase kDoes[] = {"opens",   "closes",  "finds", "paints", "carries", "moves", "cleans",
                            "watches", "repairs", "takes", "brings", "needs",   "visits"};
constexpr Phrase kWent[] = {"walked", "waited",    "stood", "slept",  "laughed",   "worked", "sat",
                            "sang",   "went home", "ran",   "played", "came back", "stopped"};
constexpr Phrase kWhere[] = {"in the garden",
                             "near the river",
                             "behind the house",
                             "at the station",
                             "on the hill",
                             "under the bridge",
                             "by the window",
                             "in the {place}",
                             "near the {place}",
                             "behind the {place}",
                             "in front of the {place}",
                             "across the street",
                             "along the road",
                             "at home",
                             "in the kitchen",
                             "beside the fire",
                             "on the island",
                             "between the trees"};
constexpr Phrase kPlace[] = {"market",  "church", "school",   "castle",  "forest", "village",
                             "city",    "office", "hospital", "library", "museum", "hotel",
                             "theater", "harbor", "factory",  "prison",  "tower",  "station",
                             "farm",    "lake",   "valley",   "garden",  "bridge", "railway"};
constexpr Phrase kBuilding[] = {"market",  "church", "school",  "castle",  "office",  "hospital",
                                "library", "museum", "hotel",   "theater", "harbor",  "factory",
                                "prison",  "tower",  "station", "bridge",  "railway", "house"};
constexpr Phrase kWhen[] = {"Yesterday",
                            "In the morning",
                            "Last night",
                            "After dinner",
                            "Before noon",
                            "In {#year}",
                            "Early in the evening",
                            "At {#hour}",
                            "In the winter",
                            "In the summer",
                            "On {day}",
                            "One day",
                            "At midnight",
                            "In the afternoon",
                            "On the {#ordinal} day"};
constexpr Phrase kWhenEnd[] = {"yesterday",        "in the morning", "last night", "after dinner",
                               "in {#year}",       "at {#hour}",     "on {day}",   "last summer",
                               "before breakfast", "this morning",   "last week"};
constexpr Phrase kDay[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                           "Friday", "Saturday", "Sunday"};
constexpr Phrase kTimeOfDay[] = {"morning", "evening", "night", "day", "week", "summer"};

constexpr PhraseList kLists[] = {{"short", kRemark},
                                 {"plain", kPlain},
                                 {"long", kLong},
                                 {"clause", kClause},
                                 {"joint", kJoint},
                                 {"while", kWhile},
                                 {"title", kTitle},
                                 {"name", kName},
                                 {"surname", kSurname},
                                 {"relative", kRelative},
                                 {"person", kPerson},
                                 {"thing", kThing},
                                 {"things", kThings},
                                 {"goods", kGoods},
                                 {"quality", kQuality},
                                 {"look", kLook},
                                 {"mood", kMood},
                                 {"did", kDid},
                                 {"done", kDone},
                                 {"do", kDo},
                                 {"does", kDoes},
                                 {"went", kWent},
                                 {"where", kWhere},
                                 {"place", kPlace},
                                 {"building", kBuilding},
                                 {"when", kWhen},
                                 {"when_end", kWhenEnd},
                                 {"day", kDay},
                                 {"time_of_day", kTimeOfDay}};
constexpr Grammar kGrammar{kLists};

}  // namespace

const Grammar& english_grammar() { return kGrammar; }

}  // namespace stoker::data::voice
