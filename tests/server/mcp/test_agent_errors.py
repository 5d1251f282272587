"""Errors for agents name tools, not commands."""

import socket

import pytest

from harness.core.entries import Entry
from harness.core.tables import KnowledgeColumns
from harness.errors import EngineUnavailable, StoreCorrupt
from harness.knowledge.knowledge_documents import decode
from harness.server.mcp.agent_errors import agent_message, agent_payload
from harness.sources.http.request import ask


def test_a_failed_engine_names_a_tool_that_needs_no_network() -> None:
    """An agent cannot choose engines."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(EngineUnavailable) as caught:
        ask("PubMed", f"http://127.0.0.1:{port}/", timeout=5)
    assert "--engine" in str(caught.value)
    payload = agent_payload(caught.value)
    assert payload.code == "engine_unavailable"
    assert "--engine" not in payload.message
    assert payload.message.endswith("check the network, or call library_search, which needs no network")


def test_a_damaged_document_names_the_tool_that_deletes_it() -> None:
    """The command that repairs a database is for its administrator."""
    damaged = Entry("k", "Retries", b"{", 0.0, 1.0, 0.0, KnowledgeColumns("", 1))
    with pytest.raises(StoreCorrupt) as caught:
        decode(damaged)
    assert "`harness" in str(caught.value)
    assert "knowledge_delete" in agent_message(caught.value)
    assert "`" not in agent_message(caught.value)
