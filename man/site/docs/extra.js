// names the search, and lets the keyboard scroll wide tables
addEventListener("load", () => {
  document.querySelector(".md-search").setAttribute("aria-label", "Search")
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) table.tabIndex = 0
})
