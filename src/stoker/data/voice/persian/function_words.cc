// The Persian lexicon: words that carry grammar. The script leaves short vowels out, so words
// are listed with them.
#include "stoker/data/voice/lexicon.h"

namespace stoker::data::voice {
namespace {

constexpr LexiconEntry kWords[] = {
    {"و", "o0"},
    {"را", "r A0"},
    {"در", "d a0 r"},
    {"از", "Q a0 z"},
    {"به", "b e0"},
    {"با", "b A0"},
    {"که", "k e0"},
    {"تا", "t A0"},
    {"برای", "b a0 r A0 y e0"},
    {"این", "Q i0 n"},
    {"آن", "Q A0 n"},
    {"هر", "h a0 r"},
    {"هم", "h a0 m"},
    {"یا", "y A0"},
    {"اما", "Q a0 m m A0"},
    {"پس", "p a0 s"},
    {"اگر", "Q a0 g a0 r"},
    {"چون", "C o0 n"},
    {"ولی", "v a0 l i0"},
    {"بی", "b i0"},
    {"نیز", "n i0 z"},
    {"است", "Q a0 s t"},
    {"بود", "b u0 d"},
    {"شد", "S o0 d"},
    {"من", "m a0 n"},
    {"تو", "t o0"},
    {"او", "Q u0"},
    {"ما", "m A0"},
    {"شما", "S o0 m A0"},
    {"آنها", "Q A0 n h A0"},
    {"روی", "r u0 y e0"},
    {"زیر", "z i0 r e0"},
    {"کنار", "k e0 n A0 r e0"},
    {"نزدیک", "n a0 z d i0 k e0"},
    {"پشت", "p o0 S t e0"},
    {"همیشه", "h a0 m i0 S e0"},
    {"هنوز", "h a0 n u0 z"},
    {"فقط", "f a0 q a0 t"},
    {"خیلی", "x ey0 l i0"},
    {"بسیار", "b e0 s y A0 r"},
};

}  // namespace

std::span<const LexiconEntry> persian_function_words() { return kWords; }

}  // namespace stoker::data::voice
