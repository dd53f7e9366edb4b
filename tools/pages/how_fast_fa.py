"""The Persian twin of "How fast is it, and against what": the same records, the same tables."""

from typing import Any

from bench.peers import feed_report
from tools.pages import results

DIGITS = str.maketrans("0123456789,.", "۰۱۲۳۴۵۶۷۸۹٬٫")

HEAD = """<div dir="rtl" lang="fa">

# چقدر سریع است، و در برابر چه

<!-- Written by `python3 -m tools.make_pages` from bench/results; edit that, not this. -->

هر عددِ این صفحه را یکی از فرمان‌های همین مخزن چاپ کرده و تاریخ، دستگاه و فرمانش کنارش آمده است. نسبت‌ها
فقط میان بارکننده‌هایی معتبر است که در همان دقیقه‌ها و روی همان هسته‌ها اجرا شده‌اند.
"""

METHOD = """## چگونه اندازه گرفتیم

- همه همان گفته‌های صدای درون‌ساخته را از حافظهٔ نهانِ سیستم‌عامل می‌خوانند؛ درازایشان نزدیک به LJSpeech
  است. مل‌های آماده برای دیگران فایل `.npy` با float32 است و برای استوکر رکوردهایی با جمع آزمون، که
  هنگام خواندن تک‌تک سنجیده می‌شود.
- همه دسته‌های ۳۲تایی با ۸۰ نوار تحویل می‌دهند، همه float32 مگر آنجا که f16 نوشته شده است؛ و مصرف‌کننده
  از هر ردیف مقداری می‌خواند و دستهٔ بعد را می‌خواهد. نسبت‌ها تنها میان ردیف‌هایی است که float32
  می‌خوانند و float32 تحویل می‌دهند.
- پیش از زمان‌گیری، نخستین دستهٔ هر بارکننده با ویژگی‌های استوکر مقایسه می‌شود. اگر یکی نباشد، عددی چاپ
  نمی‌شود.
- نخست بهترین تنظیمِ هر رقیب (شمار فرایندها و نخ‌ها) پیدا می‌شود و با همان اجرا می‌شود.
- بارکننده‌ها به نوبت اجرا می‌شوند. کاری ثابت پیش و پس از هر دور نشان می‌دهد که دستگاه سرگرم کار دیگری بوده
  است یا نه؛ چنین دورهایی شمرده و تا وقت هست تکرار می‌شود.
- رقیبان هر دستهٔ تصادفی را تا درازترین گفته‌اش پر می‌کنند و برای هر گفته نزدیک به ۱٫۴ برابر قاب
  می‌نویسند. استوکر گفته‌های هم‌اندازه را کنار هم می‌گذارد؛ این هم بخشی از عدد آن است.
- `stoker native` همان خوراک است؛ `stoker naive` آن است که `--disable-native-loading` می‌دهد: گفته‌ها یکی پس
  از دیگری روی نخِ خودِ فراخواننده، مانند یک برنامهٔ ساده.
"""

AGAIN = """## روی دستگاه شما

</div>

<!-- not run: takes minutes and downloads the peers -->
```sh
make peers
stoker bench peers --quick
```

<div dir="rtl" lang="fa">

فرمان نخست برای هر رقیب محیطی جدا می‌سازد (یک بار، نزدیک به ۳ گیگابایت دانلود)، مسابقه را برگزار می‌کند
و نتیجه را در `bench/results/peers-feed.json` می‌گذارد؛ فرمان دوم تنها نشان می‌دهد که همه چیز کار
می‌کند. آنچه هر کتابخانه پس از توقف و با فایلِ خراب کرد و گفت، در [صفحهٔ انگلیسی](../guide/how-fast.md)
آمده است.

</div>
"""

NO_RACE = "هنوز مسابقه‌ای ثبت نشده است؛ `make peers` یکی برگزار می‌کند.\n"
PATHS = {"cached": "مل از حافظهٔ نهان", "files": "مل از فایل صوتی، در همان لحظه"}
HEADS = (
    "بارکننده",
    "تنظیم",
    "بهترین، گفته در ثانیه",
    "میانه",
    "ثانیهٔ پردازنده برای هزار گفته",
    "CV فاصله‌ها",
    "نخستین دسته، میلی‌ثانیه",
    "از آغاز فرایند، ثانیه",
    "حافظه، مگابایت",
    "پرکردن",
)


def persian_cells(row: feed_report.Row) -> list[str]:
    """Numbers in Persian digits; names and settings stay as they are typed."""
    name, setting, *numbers = feed_report.race_cells(row)
    return [name, f"`{setting}`", *(number.replace(" %", "٪").translate(DIGITS) for number in numbers)]


def ratio_lines(report: dict[str, Any], path: str) -> str:
    peer = feed_report.best_peer(report, path)
    if peer is None:
        return ""
    lines = []
    for name, (best, median) in feed_report.ratios(report, path).items():
        best_text, median_text = f"{best:.1f}".translate(DIGITS), f"{median:.1f}".translate(DIGITS)
        rival = feed_report.label_of(peer["name"])
        lines.append(f"- {name}: {best_text} برابرِ {rival}، سریع‌ترین رقیب (با میانه‌ها: {median_text} برابر)")
    if not lines:
        lines.append(
            "- نسبتی نوشته نشد: در این مسابقه ردیفی از استوکر نیست که مانند رقیبان float32 بخواند و تحویل دهد."
        )
    return "\n".join(lines) + "\n"


def race_parts(report: dict[str, Any]) -> list[str]:
    rounds = str(report["rounds"]).translate(DIGITS)
    clips = f"{report['clips']:,}".translate(DIGITS)
    parts = [
        f"![گفته در ثانیه برای هر بارکننده، همان‌گونه که در جدول‌ها آمده است](../pictures/peers-feed.svg)\n\n"
        f"{results.source_line(report)}؛ هر کدام {rounds} بار به نوبت، {clips} گفته.\n"
    ]
    for path, title in PATHS.items():
        rows = [persian_cells(row) for row in feed_report.rows_of(report, path)]
        parts += [f"## {title}\n", feed_report.table(HEADS, rows), ratio_lines(report, path)]
    return parts


def persian() -> str:
    report = results.load("peers-feed")
    parts = [HEAD, *([*race_parts(report), METHOD] if report else [NO_RACE]), AGAIN]
    return "\n".join(part.rstrip() + "\n" for part in parts)
