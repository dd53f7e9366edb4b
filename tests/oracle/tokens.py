"""Token ids as docs/guide/text.md defines them, for texts whose normalised form is known."""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN, BLANK, FIRST_SYMBOL = 1, 2, 5
CHARACTERS = " !\"'(),-.:;?[]abcdefghijklmnopqrstuvwxyz"
MYXTTS = "_^~ abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!\"#%&'()*+,-./:;=?@[\\]_`{|}~"

# Words that every cleaner leaves as they are.
PLAIN_TEXT = (
    "a all and are as at be but by for from had have he her his in into is it its not of on one or our out she so that "
    "the their them then there they this to up was we were what when which who will with would you river stone window "
    "morning yellow quiet market number simple garden silver winter yesterday together question"
)
PLAIN_WORDS = PLAIN_TEXT.split()

# A sentence and the words it is read as: rows of the page's own table.
ENGLISH_CASES = (
    ("Dr. Smith paid $3.50", "Doctor Smith paid three dollars and fifty cents"),
    ("on 2/3/2024 at 3:30 pm", "on February third, twenty twenty-four at three thirty p m"),
    ("it weighs 1,234 grams", "it weighs one thousand two hundred thirty-four grams"),
    ("Henry VIII met J. K. Rowling", "Henry the Eighth met J K Rowling"),
    ("about 5% of the FBI", "about five percent of the F B I"),
    ("the 21st of 60 mph", "the twenty-first of sixty miles per hour"),
    ("write to john@example.com", "write to john at example dot com"),
)


@dataclass(frozen=True)
class TextRule:
    vocabulary: str
    add_blank: bool
    phones: tuple[str, ...] = ()  # the inventory, sorted


def symbol_ids(words: str, rule: TextRule) -> list[int]:
    if rule.vocabulary == "bytes":
        return [byte + FIRST_SYMBOL for byte in words.encode()]
    if rule.vocabulary == "myxtts":
        # Where a symbol is listed twice, the later place counts; what is not listed is left out.
        return [MYXTTS.rindex(letter) for letter in words if letter in MYXTTS]
    if rule.vocabulary == "phonemes":
        return [FIRST_SYMBOL + rule.phones.index(phone) for phone in words.split()]
    found = (CHARACTERS.find(letter) for letter in words.lower())
    return [FIRST_SYMBOL + at if at >= 0 else UNKNOWN for at in found]


def token_ids(words: str, rule: TextRule) -> list[int]:
    """`words` is the normalised text, or the phones."""
    ids = symbol_ids(words, rule)
    if rule.vocabulary == "myxtts":
        blank, space = MYXTTS.rindex("_"), MYXTTS.rindex(" ")
        spread = [[at, blank] if rule.add_blank and at != space else [at] for at in ids]
        return [MYXTTS.rindex("^"), *(each for pair in spread for each in pair), MYXTTS.rindex("~")]
    if not rule.add_blank:
        return ids
    return [BLANK] + [each for at in ids for each in (at, BLANK)]
