// What changes by itself is looked at again while somebody looks: every 4 seconds at first, every 20 after two minutes.

const QUICK = 4000;
const SLOW = 20000;
const began = Date.now();

function look() {
  if (document.visibilityState === "visible") {
    for (const part of document.querySelectorAll("[data-refreshes]")) part.dispatchEvent(new CustomEvent("refresh"));
  }
  if (document.querySelector("[data-refreshes]")) setTimeout(look, Date.now() - began < 120000 ? QUICK : SLOW);
}

setTimeout(look, QUICK);

// The menu of the phone closes when a room is chosen or Escape is pressed.
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && document.querySelector(".folded > details[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});

// The room one is in stands in sight, however low the window.
const room = document.querySelector(".frame > .side a[aria-current]");
if (room) {
  const side = room.closest(".side");
  const below = room.getBoundingClientRect().bottom - side.getBoundingClientRect().bottom;
  if (below > 0) side.scrollTop += below + side.clientHeight / 3;
}
