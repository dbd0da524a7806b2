// Copy buttons beside what is to be copied. Without this script the page lacks nothing else.
"use strict";
(() => {
  // Where the browser has no clipboard for this page, the text is selected, for the keyboard.
  async function copy(code) {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      return "Selected: press Ctrl+C";
    }
  }

  for (const figure of document.querySelectorAll("figure.copy")) {
    const code = figure.querySelector("code"), caption = figure.querySelector("figcaption");
    const button = document.createElement("button");
    const label = caption.textContent;
    const said = document.createElement("span");
    said.setAttribute("role", "status");
    said.className = "unseen";
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy: ${label}`);
    button.addEventListener("click", async () => {
      const word = await copy(code);
      button.textContent = word;
      said.textContent = word;
      setTimeout(() => {
        button.textContent = "Copy";
        said.textContent = "";
      }, 2000);
    });
    caption.append(button, said);
  }
})();
