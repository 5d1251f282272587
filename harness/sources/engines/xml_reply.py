"""Safe parsing of a server's XML."""

from typing import TYPE_CHECKING

from harness.errors import EngineUnavailable

if TYPE_CHECKING:
    from lxml import etree


def parsed(who: str, document: bytes) -> "etree._Element":
    """Parse XML without loading, resolving or expanding anything. Entity declarations are refused: no API sends them.
    `who` names the server in errors.

    Raises:
        EngineUnavailable: broken XML, or entity declarations.
    """
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(document, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise EngineUnavailable(f"{who} sent broken XML; try again later") from error
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and declared.entities():
        raise EngineUnavailable(f"{who} sent XML with entity declarations, which are refused; try again later")
    return root
