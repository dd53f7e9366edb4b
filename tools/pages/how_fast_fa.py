"""The Persian twin of "How fast is it, and against what": the same records, the same tables."""

import re
from collections.abc import Sequence
from typing import Any

from bench.peers import feed_report
from tools.pages import how_fast, results

DIGITS = str.maketrans("0123456789,.", "۰۱۲۳۴۵۶۷۸۹٬٫")
NUMBER = re.compile(r"[\d,.]+(?: %)?")

HEAD = """<div dir="rtl" lang="fa">

# چقدر سریع است، و در برابر چه

<!-- Written by `python3 -m tools.make_pages` from bench/results; edit that, not this. -->

هر عدد این صفحه را یکی از فرمان‌های همین مخزن چاپ کرده است؛ دستگاه، تاریخ و فرمان کنارش آمده‌اند. نسبت‌ها فقط بین
لودرهایی معتبرند که در همان دقیقه‌ها و روی همان هسته‌ها اجرا شده‌اند.
"""

METHOD = """## چگونه اندازه گرفته شد

- همه همان گفته‌های صدای داخلی را، که طولشان نزدیک به LJSpeech است، از page cache گرم می‌خوانند. مل‌های ذخیره‌شده برای
  رقیب‌ها float32 هستند: فایل `.npy`، برای MosaicML Streaming شاردهای MDS، و برای WebDataset شاردهای tar با قالب تنسور
  خودش؛ Lhotse فهرستی دارد که به فایل‌ها اشاره می‌کند. شاردها صداها را هم در خود دارند و پیش از هر زمان‌گیری نوشته
  می‌شوند. برای استوکر مل‌ها رکوردهایی با چک‌سام (checksum) هستند؛ استوکر موقع خواندن همهٔ چک‌سام‌ها را بررسی می‌کند.
- همه دسته‌های ۳۲تایی با پدینگ و ۸۰ باند تحویل می‌دهند، با float32 مگر جایی که f16 نوشته شده باشد؛ مصرف‌کننده از هر ردیف
  یک مقدار می‌خواند و دستهٔ بعد را می‌خواهد. نسبت‌ها بین ردیف‌هایی است که float32 می‌خوانند و float32 تحویل می‌دهند.
  `stoker native f16` با float16 می‌خواند و تحویل می‌دهد، که پیش‌فرض استوکر و نصف بایت‌هاست؛ مقایسه نمی‌شود.
- پیش از زمان‌گیری، اولین دستهٔ هر لودر ردیف به ردیف با ویژگی‌های استوکر مقایسه می‌شود. اگر نخواند، اجرا تمام می‌شود.
- هر رقیب اول تنظیم می‌شود (تعداد فرایند و نخ، و هر چه دیگر دارد) و با بهترین تنظیمش مسابقه می‌دهد. DALI و tf.data مل
  خودشان را دارند؛ بقیه از `torch.stft` استفاده می‌کنند، سریع‌ترین مل در دسترسشان. `whole_batches` در SPDL به جای یک گفته
  یک دستهٔ کامل را یک کار می‌کند؛ `buckets` تعداد گروه‌های طول است که Lhotse گفته‌ها را در آن‌ها می‌چیند.
- لودرها به نوبت اجرا می‌شوند. یک کار ثابت پیش و پس از هر اجرا نشان می‌دهد دستگاه سرگرم کار دیگری بوده است یا نه؛ چنین
  اجراهایی شمرده می‌شوند و تا وقت هست تکرار می‌شوند. `CV` انحراف معیار فاصلهٔ دسته‌ها تقسیم بر میانگین آن است: اول با
  بیشترین سرعت، که در آن دسته‌های آمادهٔ بافر پشت سر هم برداشته می‌شوند، و بعد با مصرف‌کننده‌ای که نه‌دهم سرعتی را می‌خواهد
  که همان لودر همین حالا نشان داد، و در طول گام خود می‌خوابد، مثل نخ آموزش وقتی GPU کار می‌کند. معطلی سهمی از وقت این
  مصرف‌کننده است که منتظر می‌ماند.
- حافظه آن است که درخت فرایندها برای خود نگه می‌دارد، صفحه‌های anonymous و shared، بدون page cache.
- رقیب‌ها دسته‌های تصادفی را تا بلندترین گفته پدینگ می‌دهند و حدود ۱٫۴ برابر فریم می‌نویسند. استوکر گفته‌های هم‌طول را در یک
  دسته می‌گذارد، مثل Lhotse با `buckets`؛ این هم بخشی از عدد آن‌هاست.
- رقیبی که اجرا نشده است ردیفی دارد که دلیلش را می‌گوید. زیر هر جدول هر ستونی آمده است که در آن رقیبی از استوکر
  جلوتر است.
- `stoker (Python)` حلقه‌ای روی `stoker.Feed` است، همان فید از راه بستهٔ Python؛ مثل رقیب‌ها اندازه گرفته می‌شود.
- `stoker native` خود فید است؛ `stoker naive` چیزی است که `--disable-native-loading` می‌دهد: گفته‌ها یکی پس از دیگری روی
  نخ فراخواننده، مثل یک اسکریپت ساده. `autotune` تعداد نخ را به tf.data می‌سپارد.
"""

RESUME = """## متوقف شد، و با تعداد دیگری کارگر ادامه داد

پس از شش دسته وضعیت ذخیره می‌شود و لودر تازه‌ای با تنظیم دیگر از آن ادامه می‌دهد. `torch DataLoader` و WebDataset وضعیت
ندارند؛ `StatefulDataLoader` از torchdata جای لودر را می‌گیرد. وضعیت Lhotse وضعیت سمپلر آن است، که از کارگرها جلوتر
می‌رود. جدول همان را می‌آورد که هر کدام چاپ کرده است.
"""

DAMAGE = """## یک فایل خراب در میان ۶۴ فایل

گفته وقتی نادرست شمرده می‌شود که مل آن مل فایل سالم نباشد. برای استوکر، مل خراب یعنی فایل خرابی در کش آن؛
برای MosaicML Streaming و WebDataset یعنی شاردی خراب. همه با رفتار پیش‌فرض خود در برابر خطا اجرا شدند. به WebDataset و
Lhotse می‌شود گفت آنچه را نمی‌توانند بخوانند کنار بگذارند. SPDL خودش این کار را می‌کند و در لاگ می‌نویسد: یک گفته را، وقتی
هر گفته یک کار جداست، مثل اینجا، ولی یک دستهٔ کامل را وقتی کار همان دسته است.
"""

AGAIN = """## روی دستگاه شما

</div>

<!-- not run: takes minutes and downloads the peers -->
```sh
make peers
stoker bench peers --quick
```

<div dir="rtl" lang="fa">

فرمان اول برای هر رقیب یک محیط جدا می‌سازد (حدود ۵ گیگابایت دانلود، یک بار)، مسابقه را اجرا می‌کند و
`bench/results/peers-feed.json` را می‌نویسد؛ فرمان دوم فقط نشان می‌دهد که همه چیز کار می‌کند. صفحهٔ دیگری این عددها را با
توان خود دستگاه مقایسه می‌کند: [چه سهمی از حد سخت‌افزار](share-of-the-hardware-limit.md).

</div>
"""

NO_RACE = "هنوز مسابقه‌ای ثبت نشده است؛ `make peers` یکی اجرا می‌کند.\n"
PATHS = {"cached": "مل از کش", "files": "مل از فایل صوتی، در حین اجرا"}
HEADS = (
    *("لودر", "تنظیم", "کلیپ در ثانیه، بهترین", "میانه", "ثانیهٔ CPU برای هزار کلیپ", "CV فاصله‌ها"),
    *("CV در نه‌دهم سرعتش", "معطلی در آن"),
    *("اولین دسته، میلی‌ثانیه", "از شروع فرایند، ثانیه", "حافظه، مگابایت", "پدینگ"),
)
TUNING_HEADS = ("مسیر", "لودر", "تنظیم‌های امتحان‌شده، کلیپ در ثانیه در یک اجرای کوتاه")
RESUME_HEADS = ("لودر", "متوقف شد با", "ادامه داد با", "چه شد", "وضعیت، بایت")
DAMAGE_HEADS = ("خرابی", "لودر", "از ۶۴ گفته چه تحویل شد", "چه گفت", "فایل را نام برد")
MEL_HEADS = ("برنامه", "میانه", "بهترین")
GPU_MEL_HEADS = ("برنامه", "طول‌هایش", "کلیپ در ثانیه", "استوکر با طول‌های نابرابر، کلیپ در ثانیه", "چند برابر")
GPU_FEED_HEADS = ("چه", "بهترین torch DataLoader", "کلیپ در ثانیه", "استوکر، کلیپ در ثانیه", "چند برابر")
# What the tables of the English page say in words.
SAID = {
    "goes on with the very next batch": "دقیقاً با دستهٔ بعد ادامه می‌دهد",
    "cannot: it saves no state": "نمی‌تواند: وضعیتی ذخیره نمی‌کند",
    feed_report.NOT_IN_RACE: "در این مسابقه شرکت نکرد",
    "nothing": "هیچ",
    "yes": "بله",
    "no": "نه",
    "sound cut in half": "صدایی که نصفه شده",
    "sound without its header": "صدایی بدون هدر",
    "mel cut in half": "ملی که نصفه شده",
    "one bit of a mel flipped": "یک بیت مل برعکس شده",
    "equal": "برابر",
    "ragged, padded": "نابرابر، با پدینگ",
    "mels from a cache, float32": "مل از کش، float32",
    "mels from a cache, float16": "مل از کش، float16",
    "sound files, mel on the CPU, float16": "فایل صوتی، مل روی CPU، float16",
    "sound files, mel on the GPU, float16": "فایل صوتی، مل روی GPU، float16",
}
COUNTED = (
    (
        re.compile(r"goes on elsewhere without a message: (\d+) utterances missing, (\d+) seen before"),
        r"بی هیچ پیامی از جای دیگری ادامه می‌دهد: \1 گفته جا افتاده، \2 تا تکراری",
    ),
    (re.compile(r"(\d+) utterances, all correct"), r"\1 گفته، همه درست"),
    (re.compile(r"(\d+) utterances, (\d+) of them wrong"), r"\1 گفته، \2 تا نادرست"),
    (re.compile(r"stopped after (\d+)"), r"پس از \1 گفته ایستاد"),
    (re.compile(r"(\d+) workers, pinned"), r"\1 کارگر، حافظهٔ pinned"),
    (re.compile(r"(\d+) workers"), r"\1 کارگر"),
)


def in_persian(cell: str) -> str:
    """Numbers in Persian digits, the tables' own words in Persian; names, settings and quotes as they are."""
    if NUMBER.fullmatch(cell):
        return cell.replace(" %", "٪").translate(DIGITS)
    for pattern, text in COUNTED:
        if pattern.fullmatch(cell):
            return pattern.sub(text, cell).translate(DIGITS)
    return SAID.get(cell, cell)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return feed_report.table(heads, [[in_persian(cell) for cell in row] for row in rows])


def race_cells(row: feed_report.Row) -> list[str]:
    name, setting, *numbers = feed_report.race_cells(row)
    return [name, f"`{setting}`", *numbers]


def ratio_lines(report: dict[str, Any], path: str) -> str:
    peer = feed_report.best_peer(report, path)
    if peer is None:
        return ""
    lines = []
    for name, (best, median) in feed_report.ratios(report, path).items():
        best_text, median_text = f"{best:.1f}".translate(DIGITS), f"{median:.1f}".translate(DIGITS)
        rival = feed_report.label_of(peer["name"])
        lines.append(
            f"- {feed_report.label_of(name)}: {best_text} برابر {rival}، بهترین رقیب (با میانه‌ها: {median_text} برابر)"
        )
    if not lines:
        lines.append("- نسبتی نیست: در این مسابقه استوکر ردیفی ندارد که مثل رقیب‌ها float32 بخواند و float32 تحویل دهد.")
    return "\n".join(lines + ahead_lines(report, path)) + "\n"


def ahead_lines(report: dict[str, Any], path: str) -> list[str]:
    if feed_report.compared_row(report, path) is None:
        return []
    lines = []
    for column, own, peers in feed_report.ahead_of_stoker(report, path):
        named = "، ".join(f"{name} {in_persian(figure)}" for name, figure in peers)
        lines.append(f"- جلوتر از stoker native f32 ({in_persian(own)}) در «{HEADS[column]}»: {named}")
    return lines or ["- هیچ رقیبی در هیچ ستونی از stoker native f32 جلوتر نیست."]


def smaller_states_line(report: dict[str, Any]) -> str:
    states = feed_report.smaller_states(report)
    named = "، ".join(f"{name} ({in_persian(f'{size:,}')} بایت)" for name, size in states)
    return f"با وضعیتی کوچک‌تر از استوکر: {named}.\n" if states else ""


def race_parts(report: dict[str, Any]) -> list[str]:
    rounds, disturbed = (str(report[key]).translate(DIGITS) for key in ("rounds", "disturbed_runs"))
    clips = f"{report['clips']:,}".translate(DIGITS)
    parts = [
        f"![کلیپ در ثانیه برای هر لودر، همان‌طور که در جدول‌ها آمده است](../pictures/peers-feed.svg)\n\n"
        f"{results.source_line(report)}؛ هر کدام {rounds} بار به نوبت، {clips} گفته؛ "
        f"در {disturbed} اجرا دستگاه سرگرم کار دیگری بود.\n"
    ]
    if not report["complete"]:
        missing = "; ".join(f"{row['name']} {row['path']}: {row['why']}" for row in report["not_run"])
        parts.append(f"**این مسابقه کامل نیست**: {missing or 'متوقف شد'}.\n")
    for path, title in PATHS.items():
        rows = [race_cells(row) for row in feed_report.rows_of(report, path)]
        rows += [feed_report.missing_cells(name, why) for name, why in feed_report.missing_peers(report, path)]
        parts += [f"## {title}\n", table(HEADS, rows), ratio_lines(report, path)]
    return parts


def tuning_part(report: dict[str, Any]) -> list[str]:
    return ["## هر رقیب با چه تنظیم‌هایی امتحان شد\n", feed_report.tuning_table(report, TUNING_HEADS)]


def trial_parts(report: dict[str, Any]) -> list[str]:
    resumed = table(RESUME_HEADS, [feed_report.resume_cells(row) for row in report["resume"]])
    damaged = table(DAMAGE_HEADS, [feed_report.damage_cells(row) for row in report["damage"]])
    return [part for part in (RESUME, resumed, smaller_states_line(report), DAMAGE, damaged) if part]


def mel_part() -> list[str]:
    record = results.load("peers-mel")
    if record is None:
        return []
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    rounds = str(record["rounds"]).translate(DIGITS)
    source = f"{results.source_line(record)}؛ {rounds} دور به نوبت؛ {versions}. کلیپ ۶٫۵۷۴ ثانیه‌ای در هر ثانیهٔ CPU.\n"
    return ["## فقط مل، روی یک هسته\n", source, table(MEL_HEADS, how_fast.mel_rows(record))]


def gpu_mel_part() -> list[str]:
    record = results.load("gpu-mel")
    if record is None or "peers" not in record:
        return []
    source = results.source_line(record | {"command": "python3 bench/peers/gpu_mel.py"})
    return [
        "## فقط مل، روی GPU\n",
        f"{source}؛ float32 در هر دو طرف، نمونه‌ها و مل‌ها در حافظهٔ GPU؛ "
        f"کرنل `{record['stoker_kernel']}` استوکر طول‌های نابرابر می‌گیرد.\n",
        table(GPU_MEL_HEADS, how_fast.gpu_mel_rows(record)),
    ]


def gpu_feed_part() -> list[str]:
    record = results.load("gpu-feed-peers")
    if record is None or "ways" not in record:
        return []
    clips, ahead = (str(record[key]).translate(DIGITS) for key in ("batch_clips", "ahead_batches"))
    return [
        "## torch DataLoader به GPU\n",
        f"{results.source_line(record)}؛ torch {record['torch']}؛ دسته‌های {clips}تایی؛ "
        f"هر دو میزبان {ahead} دسته از GPU جلوترند.\n",
        table(GPU_FEED_HEADS, how_fast.gpu_feed_rows(record)),
    ]


def persian() -> str:
    report = results.load("peers-feed")
    parts = [HEAD]
    parts += [*race_parts(report), METHOD, *tuning_part(report), *trial_parts(report)] if report else [NO_RACE]
    parts += [*mel_part(), *gpu_mel_part(), *gpu_feed_part(), AGAIN]
    return "\n".join(part.rstrip() + "\n" for part in parts)
