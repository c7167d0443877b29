"""Markdown as HTML: headings have the anchors that GitHub gives them, and links lead to pages of the site."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from attrs import frozen
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import RegexLexer, words
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, String, Text
from pygments.util import ClassNotFound


@frozen
class Section:
    """What stands below a heading, up to the next one, as text that a search looks at."""

    anchor: str
    title: str
    text: str


_KEYWORDS: Final = (
    *("ASSUME", "CASE", "CHOOSE", "CONSTANT", "CONSTANTS", "DOMAIN", "ELSE", "EXCEPT", "EXTENDS", "IF", "IN"),
    *("INSTANCE", "LET", "LOCAL", "MODULE", "OTHER", "SUBSET", "THEN", "UNION", "VARIABLES", "WITH"),
)


class _Tla(RegexLexer):  # type: ignore[misc] # Pygments has no types
    """TLA+: comments, strings, keywords and the names of what is defined."""

    tokens: Final = {
        "root": [
            (r"\\\*[^\n]*", Comment),
            (r"\(\*", Comment, "comment"),
            (r'"[^"\n]*"', String),
            (words(_KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"^(\w+)(?=[^=\n]*==)", Name.Function),
            (r"\w+|\s+|.", Text),
        ],
        "comment": [(r"\(\*", Comment, "#push"), (r"\*\)", Comment, "#pop"), (r"[^(*]+|.", Comment)],
    }


_FORMAT: Final = HtmlFormatter(nowrap=True)


def code(text: str, language: str) -> Markup:
    """Write a program, or a part of a module of TLA+, with its words marked."""
    try:
        lexer = _Tla() if language == "tla" else get_lexer_by_name(language)
    except ClassNotFound:
        return Markup(f"<pre tabindex=0><code>{escape(text)}</code></pre>")  # noqa: S704 - escaped
    return Markup(f"<pre tabindex=0><code>{highlight(text, lexer, _FORMAT)}</code></pre>")  # noqa: S704 - Pygments escapes


def rendered(text: str, target: Callable[[str], str | None]) -> tuple[Markup, list[Section]]:
    """Give a document as HTML, and its sections.

    `target` says where a link leads in the site: None where it leads nowhere, which leaves its text alone.
    """
    markdown = MarkdownIt("commonmark", {"highlight": lambda part, language, _: str(code(part, language))}).enable(
        "table"
    )
    tokens = markdown.parse(text)
    anchors = _anchors(tokens)
    for token in tokens:
        for child in token.children or ():
            name = {"link_open": "href", "image": "src"}.get(child.type)
            if name is None:
                continue
            if (leads := target(str(child.attrs[name]))) is None:
                child.tag, child.attrs = "span", {}
            else:
                child.attrs[name] = leads
        _close_spans(token.children or [])
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    html = re.sub(
        r"<table>.*?</table>", lambda table: f'<div class="wide" tabindex="0">{table[0]}</div>', html, flags=re.DOTALL
    )
    return Markup(html), [*_sections(tokens, anchors)]  # noqa: S704 - the documents are ours


def _close_spans(children: list[Any]) -> None:
    """Close a link that became a span as one."""
    opened: list[str] = []
    for child in children:
        if child.type == "link_open":
            opened.append(child.tag)
        elif child.type == "link_close":
            child.tag = opened.pop()


def _anchors(tokens: list[Any]) -> dict[int, str]:
    """Give each heading its anchor, as GitHub makes it: by the place of its token."""
    found: dict[int, str] = {}
    times: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            plain = re.sub(r"[^\w -]", "", _plain(tokens[place + 1]).lower()).replace(" ", "-")
            times[plain] = times.get(plain, -1) + 1
            found[place] = f"{plain}-{times[plain]}" if times[plain] else plain
            token.attrSet("id", found[place])
    return found


def _plain(token: Any) -> str:  # noqa: ANN401 - a token of markdown-it, which has no types here
    """Give the text of a token without its marks."""
    return "".join(each.content if each.type != "softbreak" else " " for each in token.children or ())


def _sections(tokens: list[Any], anchors: dict[int, str]) -> Iterator[Section]:
    anchor = title = ""
    parts: list[str] = []
    for place, token in enumerate(tokens):
        if place in anchors:
            if title:
                yield Section(anchor, title, " ".join(parts))
            anchor, title, parts = anchors[place], _plain(tokens[place + 1]), []
        elif token.type in {"inline", "fence", "code_block"} and (place - 1) not in anchors:
            parts.append(_plain(token) if token.type == "inline" else token.content)
    if title:
        yield Section(anchor, title, " ".join(parts))
