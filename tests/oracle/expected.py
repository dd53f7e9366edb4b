"""What each batch of a stream must hold, computed from the data and the settings alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.golden.reference_mel import PRESETS
from tests.oracle.buckets import OrderSettings, up8
from tests.oracle.data_set import DataSet
from tests.oracle.draws import Draws, hash_of
from tests.oracle.factors import Case
from tests.oracle.features import Mel, mel_of, num_frames, padding_value
from tests.oracle.order import Planned, Rows, plan_epoch
from tests.oracle.sound_files import Pcm, Values
from tests.oracle.speech import Augment, SpeechRule, prepared, white_noise
from tests.oracle.tokens import TextRule, token_ids

WORLDS = {  # batch_multiple, world size, rank
    "alone": (1, 1, 0),
    "first_of_2": (2, 2, 0),
    "last_of_2": (2, 2, 1),
    "last_of_3": (3, 3, 2),
    "multiple_4_of_2": (4, 2, 1),
}
LEVELS = {"rms": -25.0, "peak": 0.7, "lufs": -27.0}
TRIM_TOP_DB = 45.0
REFERENCE_S = 0.5
GAIN_DB = (-9.0, 6.0)
NOISE_PROBABILITY = 0.7
SNR_DB = (5.0, 20.0)


@dataclass
class Row:
    """One place of a batch; index -1: nobody."""

    index: int = -1
    id: str = ""
    tokens: list[int] = field(default_factory=list)
    mel: Mel | None = None
    speaker: int = 0
    language: int = 0
    pcm: Pcm | None = None
    reference: Mel | None = None
    segment_begin: int = 0
    frame_begin: int = 0
    token_begin: int = 0
    arrays: dict[str, Values] = field(default_factory=dict)

    @property
    def num_frames(self) -> int:
        return self.mel.num_frames if self.mel is not None else 0


@dataclass
class Batch:
    epoch: int
    index: int
    shape: tuple[int, int, int]  # of this rank
    rows: list[Row]
    global_ids: list[str]


def crop(mel: Mel, begin: int, count: int) -> Mel:
    return Mel(mel.low[begin : begin + count], mel.high[begin : begin + count])


def numbered(names: list[str]) -> list[int]:
    """Each name's number in the order of first appearance."""
    order = list(dict.fromkeys(names))
    return [order.index(name) for name in names]


class Oracle:
    def __init__(self, case: Case, data: DataSet, noises: tuple[Pcm, ...], all_single: bool = False) -> None:
        self.case, self.data, self.all_single = case, data, all_single
        self.recipe = PRESETS[case["preset"]]
        self.seed = int(case["seed"])
        self.multiple, self.world, self.rank = WORLDS[case["world"]]
        self.ids = [data.index_id(row) for row in data.rows]
        rule = speech_rule(case, self.recipe.rate)
        self.pcm = [prepared(row.sound, rule) for row in data.rows]
        text_rule = self.text_rule()
        self.tokens = [token_ids(row.words, text_rule) for row in data.rows]
        self.speakers = numbered([speaker_name(case, row.id, row.speaker) for row in data.rows])
        self.languages = numbered([row.language for row in data.rows])
        self.rows = Rows(
            frames=[num_frames(self.recipe, len(pcm)) for pcm in self.pcm],
            tokens=[len(ids) for ids in self.tokens],
            sources=data.order_sources,
        )
        self.order = self.order_settings()
        self.augment = make_augment(case, self.seed, self.recipe.rate, noises)
        self.mels: dict[tuple[int, int], Mel] = {}

    def text_rule(self) -> TextRule:
        inventory = sorted({phone for row in self.data.rows for phone in row.words.split()})
        return TextRule(self.case["vocabulary"], self.case["blank"] == "on", tuple(inventory))

    def order_settings(self) -> OrderSettings:
        longest = up8(max(self.rows.frames)) * self.multiple
        size = {"size_2": 2, "size_5": 5}.get(self.case["batch"], 0)
        return OrderSettings(
            batch_frames=max(64, longest * {"frames_short": 1, "frames_long": 4}.get(self.case["batch"], 4)),
            batch_size=size,
            batch_multiple=self.multiple,
            max_shapes={"static": 1, "three": 3, "many": 48}[self.case["shapes"]],
            shuffle=self.case["order"] == "shuffled",
            drop_last=self.case["drop_last"] == "on",
            packed=self.case["layout"] == "packed",
            seed=self.seed,
            weights=self.data.order_weights,
        )

    @property
    def reference_frames(self) -> int:
        return max(1, int(REFERENCE_S * self.recipe.rate / self.recipe.hop))

    @property
    def segment_frames(self) -> int:
        return 0 if self.case["segments"] == "none" else int(self.case["segments"])

    @property
    def padding(self) -> float:
        return padding_value(self.recipe)

    def heard(self, index: int, epoch: int) -> Pcm:
        pcm = self.pcm[index]
        return pcm if self.augment is None else self.augment.changed(pcm, self.ids[index], epoch)

    def mel(self, index: int, epoch: int) -> Mel:
        key = (index, epoch if self.augment is not None else 0)
        if key not in self.mels:
            is_near = self.case["sound"] == "other_rate"
            self.mels[key] = mel_of(self.case["preset"], self.heard(index, epoch), is_near, self.all_single)
        return self.mels[key]

    def draws(self, stage: str, index: int, epoch: int) -> Draws:
        return Draws(self.seed, stage, epoch, hash_of(self.ids[index]))

    def crop_begin(self, stage: str, index: int, epoch: int, present: int, wanted: int) -> int:
        return self.draws(stage, index, epoch).below(present - wanted + 1) if present > wanted else 0

    def reference(self, index: int, epoch: int) -> Mel:
        other = index
        same = [i for i, speaker in enumerate(self.speakers) if speaker == self.speakers[index]]
        if self.case["reference"] == "speaker" and len(same) > 1:
            drawn = self.draws("reference/utterance", index, epoch).below(len(same) - 1)
            other = [i for i in same if i != index][drawn]
        present, wanted = self.rows.frames[other], self.reference_frames
        begin = self.crop_begin("reference/crop", index, epoch, present, wanted)
        return crop(self.mel(other, epoch), begin, min(present, wanted))

    def row(self, index: int, epoch: int) -> Row:
        row = Row(
            index=index,
            id=self.ids[index],
            tokens=self.tokens[index],
            mel=self.mel(index, epoch),
            speaker=self.speakers[index],
            language=self.languages[index],
            arrays=self.data.rows[index].arrays,
        )
        if self.case["audio"] == "on" or self.segment_frames:
            row.pcm = self.heard(index, epoch)
        if self.case["reference"] != "none":
            row.reference = self.reference(index, epoch)
        if self.segment_frames:
            row.segment_begin = self.crop_begin("segment", index, epoch, row.num_frames, self.segment_frames)
        return row

    def epoch(self, epoch: int) -> list[Batch]:
        planned = plan_epoch(self.rows, self.order, epoch)
        place = self.place_packed if self.order.packed else self.place_padded
        return [place(each, epoch, index) for index, each in enumerate(planned)]

    def place_padded(self, planned: Planned, epoch: int, index: int) -> Batch:
        whole, frames, tokens = planned.shape
        members = planned.rows + [-1] * (whole - len(planned.rows))
        rows = [self.row(i, epoch) if i >= 0 else Row() for i in members[self.rank :: self.world]]
        for at, row in enumerate(rows):
            row.frame_begin, row.token_begin = at * frames, at * tokens
        ids = [self.ids[i] if i >= 0 else "" for i in members]
        return Batch(epoch, index, (whole // self.world, frames, tokens), rows, ids)

    def place_packed(self, planned: Planned, epoch: int, index: int) -> Batch:
        whole, frames, tokens = planned.shape
        rows: list[Row] = []
        for number, members in enumerate(planned.bins[self.rank :: self.world]):
            frame, token = number * frames, number * tokens
            for member in members:
                row = self.row(member, epoch)
                row.frame_begin, row.token_begin = frame, token
                frame, token = frame + row.num_frames, token + len(row.tokens)
                rows.append(row)
        return Batch(epoch, index, (whole // self.world, frames, tokens), rows, [self.ids[i] for i in planned.rows])


def speech_rule(case: Case, rate_hz: int) -> SpeechRule:
    if case["prepare"] == "trim":
        return SpeechRule(rate_hz, trim_top_db=TRIM_TOP_DB)
    if case["prepare"] in LEVELS:
        return SpeechRule(rate_hz, level=case["prepare"], target=LEVELS[case["prepare"]])
    return SpeechRule(rate_hz)


def speaker_name(case: Case, row_id: str, named: str) -> str:
    """The name that the layout gives, else what a pattern or, where asked for, the id says; else one for all."""
    if case["speakers"] == "off":
        return "default"
    if case["data"] in ("table", "jsonl", "jsonl_segments", "kaldi", "kaldi_segments"):
        return named
    if case["speakers"] == "pattern":
        return row_id[-1]
    if case["speakers"] == "auto":
        return "default"
    parts = row_id.split("_")
    return next((part for part in parts if part.isdigit() or part.startswith(("p", "spk", "speaker"))), parts[0])


def make_augment(case: Case, seed: int, rate_hz: int, noises: tuple[Pcm, ...]) -> Augment | None:
    if case["augment"] == "none":
        return None
    if case["augment"] == "gain":
        return Augment(seed, gain_db=GAIN_DB)
    bank = (white_noise(seed, rate_hz),) if case["augment"] == "white_noise" else noises
    return Augment(seed, noise_probability=NOISE_PROBABILITY, snr_db=SNR_DB, noises=bank)
