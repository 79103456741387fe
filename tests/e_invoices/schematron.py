"""A Schematron of the query language xslt2 as a stylesheet that lists what fails.

Of ISO 19757-3 it knows what the official rules use: includes, lets, functions, patterns, rules and
assertions. Anything else is an error rather than a rule that is passed over.
"""

from pathlib import Path

from lxml import etree

_SCH = "http://purl.oclc.org/dsdl/schematron"
_XSL = "http://www.w3.org/1999/XSL/Transform"
_KNOWN = {"ns", "let", "pattern", "rule", "assert", "report", "title", "phase", "active", "p"}


def stylesheet_of(path: Path) -> str:
    """The text of the stylesheet; its output is `<failures><failure id flag/></failures>`."""
    schema = etree.parse(path).getroot()
    _include(schema, path.parent)
    for element in schema.iter(f"{{{_SCH}}}*"):
        name = etree.QName(element).localname
        if name not in _KNOWN | {"schema", "name", "value-of", "emph", "dir", "span"}:
            raise ValueError(f"{path.name}: {name} isn't known")
    spaces = {item.get("prefix"): item.get("uri") for item in schema.findall(f"{{{_SCH}}}ns")}
    root = etree.Element(
        f"{{{_XSL}}}stylesheet",
        nsmap=_prefixes(schema) | {"xsl": _XSL} | spaces,
        attrib={"version": "2.0"},
    )
    for item in schema.findall(f"{{{_XSL}}}function"):
        root.append(item)
    patterns = schema.findall(f"{{{_SCH}}}pattern")
    for holder in (schema, *patterns):
        for item in holder.findall(f"{{{_SCH}}}let"):
            _put(root, "variable", name=item.get("name"), select=item.get("value"))
    begin = _put(root, "template", match="/")
    failures = etree.SubElement(begin, "failures")
    for number, pattern in enumerate(patterns):
        _put(failures, "apply-templates", select=".", mode=f"p{number}")
        _put_pattern(root, pattern, f"p{number}")
    text: str = etree.tostring(root, encoding="unicode")
    return text


def _prefixes(schema: etree._Element) -> dict[str | None, str]:
    """Those that the file itself declares, its functions among them."""
    declared = {
        prefix: uri for item in schema.iter() for prefix, uri in item.nsmap.items() if prefix
    }
    declared.setdefault("xs", "http://www.w3.org/2001/XMLSchema")  # as other compilers do
    return {prefix: uri for prefix, uri in declared.items() if uri not in (_SCH, _XSL)}


def _include(schema: etree._Element, folder: Path) -> None:
    for item in schema.findall(f"{{{_SCH}}}include"):
        schema.replace(item, etree.parse(folder / item.get("href")).getroot())


def _put_pattern(root: etree._Element, pattern: etree._Element, mode: str) -> None:
    """The first rule of a pattern that a node fits is its only one."""
    _put_way_down(_put(root, "template", match="@*|node()|/", mode=mode, priority="-2"), mode)
    rules = pattern.findall(f"{{{_SCH}}}rule")
    for number, rule in enumerate(rules):
        priority = str(len(rules) - number)
        template = _put(root, "template", match=rule.get("context"), mode=mode, priority=priority)
        for item in rule:
            if not isinstance(item.tag, str):
                continue
            name = etree.QName(item).localname
            if name == "let":
                _put(template, "variable", name=item.get("name"), select=item.get("value"))
            elif name in ("assert", "report"):
                test = item.get("test")
                failed = _put(template, "if", test=f"not({test})" if name == "assert" else test)
                etree.SubElement(
                    failed,
                    "failure",
                    id=item.get("id", ""),
                    flag=item.get("flag", "fatal"),
                )
        _put_way_down(template, mode)


def _put_way_down(template: etree._Element, mode: str) -> None:
    _put(template, "apply-templates", select="@*|node()", mode=mode)


def _put(at: etree._Element, element: str, /, **attributes: str) -> etree._Element:
    return etree.SubElement(at, f"{{{_XSL}}}{element}", attrib=attributes)
