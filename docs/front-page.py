"""A preprocessor of mdBook: links of README, the manual's first page, lead to other pages or to the repository."""

import json
import re
import sys

REPOSITORY = "https://github.com/tuwtree/tuwtree/blob/main/"


def link(match: re.Match[str]) -> str:
    path = match[1]
    is_page = path.startswith("docs/") and path != "docs/SUMMARY.md"
    return f"]({path.removeprefix('docs/') if is_page else REPOSITORY + path})"


if sys.argv[1:2] != ["supports"]:
    _, book = json.load(sys.stdin)
    page = book["items"][0]["Chapter"]
    page["content"] = re.sub(r"\]\((?!https?:)([^)]+)\)", link, page["content"])
    json.dump(book, sys.stdout)
