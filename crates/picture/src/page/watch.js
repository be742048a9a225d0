// Counts what goes wrong on this page, where programs and people can see it: attributes of <html>.
"use strict";
(() => {
  const page = document.documentElement.dataset;
  page.errors = "0";
  const note = (message) => {
    page.errors = String(Number(page.errors) + 1);
    page.lastError = String(message);
  };
  // In the capture phase, errors of elements that cannot be loaded arrive, too.
  addEventListener("error", (event) => note(event.message || event.target), true);
  addEventListener("unhandledrejection", (event) => note(event.reason));
  addEventListener("securitypolicyviolation", (event) => note(event.violatedDirective));
})();
