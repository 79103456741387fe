// Times in the reader's own zone. Without it they stand in UTC, and say so.

const { lang } = document.documentElement;
const form = new Intl.DateTimeFormat(lang === "en" ? "en-GB" : `${lang}-u-nu-latn`, {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short",
});

function show() {
  for (const time of document.querySelectorAll("time")) {
    if (!/\d:\d\d/.test(time.textContent)) continue; // a day is the same day for everybody
    const text = form.format(new Date(time.dateTime)).replace(/ (\S+)$/, "\u00a0$1"); // the zone stays with its time
    if (time.textContent !== text) time.textContent = text;
  }
}

document.addEventListener("htmx:after:swap", show);
show();
