/* Tillgate checkout in your page.
 *
 *   <div id="pay"></div>
 *   <script src="https://your-tillgate/embed.js"></script>
 *   <script>
 *     Tillgate.mount("#pay", { reference: "ABCD1234EFGH5678", onCompleted: function (message) { ... } });
 *   </script>
 *
 * or, without a line of script: <script src="https://your-tillgate/embed.js" data-reference="ABCD1234EFGH5678"></script>
 * The checkout is in the language of the customer's browser; lang: "de", or data-lang="de", sets another.
 * The frame's messages come as callbacks (onReady, onResize, onStatus, onCompleted, onFailed, onExpired) and as bubbling DOM events
 * named tillgate:<event> on the element; each message is { source: "service:checkout", event, ... }.
 */
(function () {
  "use strict";

  var SOURCE = "service:checkout";
  var script = document.currentScript;
  var home = new URL(script.src).origin;

  function mount(where, options) {
    var element = typeof where === "string" ? document.querySelector(where) : where;
    if (!element) throw new Error("Tillgate: no such element: " + where);
    if (!/^[A-Z0-9]{16}$/.test(options.reference || "")) throw new Error("Tillgate: reference must be 16 of A-Z and 0-9");
    var origin = options.origin || home;
    var frame = document.createElement("iframe");
    frame.src = origin + "/" + options.reference + "?embed=1&origin=" + encodeURIComponent(window.location.origin);
    if (options.lang) frame.src += "&lang=" + encodeURIComponent(options.lang);
    frame.title = options.title || "Payment";
    frame.allow = "clipboard-write";
    frame.referrerPolicy = "no-referrer";
    frame.style.cssText = "display:block;width:100%;min-height:24rem;border:0;color-scheme:normal";
    frame.height = "640";

    function hear(message) {
      if (message.source !== frame.contentWindow || message.origin !== origin) return;
      var data = message.data;
      if (!data || data.source !== SOURCE || typeof data.event !== "string") return;
      if (data.event === "resize" && data.height > 0) frame.style.height = data.height + "px";
      var callback = options["on" + data.event.charAt(0).toUpperCase() + data.event.slice(1)];
      if (typeof callback === "function") callback(data);
      element.dispatchEvent(new CustomEvent("tillgate:" + data.event, { bubbles: true, detail: data }));
    }

    window.addEventListener("message", hear);
    element.appendChild(frame);
    return {
      frame: frame,
      unmount: function () {
        window.removeEventListener("message", hear);
        frame.remove();
      },
    };
  }

  window.Tillgate = { mount: mount };

  if (script.dataset.reference) {
    var place = document.createElement("div");
    script.parentNode.insertBefore(place, script);
    mount(place, { reference: script.dataset.reference, lang: script.dataset.lang });
  }
})();
