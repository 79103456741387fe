// Passkeys: a form with data-passkey asks the device for one when it is sent, and carries the answer in its field "passkey".

const toBytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));

function toText(buffer) {
  if (!buffer) return undefined;
  let raw = "";
  for (const byte of new Uint8Array(buffer)) raw += String.fromCharCode(byte);
  return btoa(raw).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

const known = (list) => (list || []).map((one) => ({ ...one, id: toBytes(one.id) }));

async function make(options) {
  const publicKey = {
    ...options,
    challenge: toBytes(options.challenge),
    user: { ...options.user, id: toBytes(options.user.id) },
    excludeCredentials: known(options.excludeCredentials),
  };
  const made = await navigator.credentials.create({ publicKey });
  return answer(made, {
    attestationObject: toText(made.response.attestationObject),
    transports: made.response.getTransports?.() || [],
  });
}

async function use(options) {
  const publicKey = { ...options, challenge: toBytes(options.challenge), allowCredentials: known(options.allowCredentials) };
  const used = await navigator.credentials.get({ publicKey });
  return answer(used, {
    authenticatorData: toText(used.response.authenticatorData),
    signature: toText(used.response.signature),
    userHandle: toText(used.response.userHandle),
  });
}

function answer(credential, response) {
  return {
    id: credential.id,
    rawId: toText(credential.rawId),
    type: credential.type,
    authenticatorAttachment: credential.authenticatorAttachment || undefined,
    clientExtensionResults: credential.getClientExtensionResults(),
    response: { clientDataJSON: toText(credential.response.clientDataJSON), ...response },
  };
}

// The sentences stand in the page, in the reader's language.
function tell(form, name) {
  const place = form.querySelector("[data-passkey-says]");
  const text = place.dataset[name] || "";
  place.textContent = text;
  place.hidden = !text;
}

async function run(form, asked, isQuiet) {
  tell(form, "");
  try {
    const options = JSON.parse(asked);
    const given = form.dataset.passkey === "add" ? await make(options) : await use(options);
    form.elements.passkey.value = JSON.stringify(given);
    form.requestSubmit();
  } catch (error) {
    if (isQuiet) return;
    tell(form, error.name === "InvalidStateError" ? "known" : "none");
  }
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) {
    tell(form, "unsupported");
    continue;
  }
  form.addEventListener("submit", (event) => {
    if (form.elements.passkey.value) return;
    event.preventDefault();
    event.stopPropagation();
    run(form, form.dataset.options, false);
  });
  if ("now" in form.dataset) run(form, form.dataset.options, true);
}

// A form that takes a code or, by this button, a passkey instead.
for (const button of document.querySelectorAll("button[data-passkey-confirm]")) {
  const { form } = button;
  const { code } = form.elements;
  if (!window.PublicKeyCredential) {
    button.hidden = true;
    continue;
  }
  button.addEventListener("click", async () => {
    code.required = false;
    if (form.reportValidity()) await run(form, button.dataset.options, false);
    code.required = true;
  });
}

// A page that comes back from the browser's memory has an answer that was used.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) for (const field of document.querySelectorAll("input[name=passkey]")) field.value = "";
});
