"""Routes below `/v1`. They are not in this server's API description: OpenAI's describes them.

https://platform.openai.com/docs/api-reference/chat
"""

from fastapi import APIRouter
from starlette.responses import JSONResponse

from harness.errors import NotFound
from harness.server.llm_api import chat, embeddings
from harness.server.llm_api.llm_errors import PREFIX
from harness.server.llm_api.llm_requests import model_names
from harness.server.route_dependencies import RequestApp

OWNER = "harness"
SUPPORTED = "only POST /v1/chat/completions, POST /v1/embeddings and GET /v1/models are supported"

router = APIRouter(prefix=PREFIX, include_in_schema=False)


router.add_api_route(chat.PATH, chat.chat_response, methods=["POST"])
router.add_api_route(embeddings.PATH, embeddings.embeddings_response, methods=["POST"])


@router.get("/models")
def models(app: RequestApp) -> JSONResponse:
    """List the models that the settings name."""
    data = [{"id": name, "object": "model", "created": 0, "owned_by": OWNER} for name in model_names(app.settings)]
    return JSONResponse({"object": "list", "data": data})


@router.api_route("/{_path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
def not_supported() -> None:
    """Refuse all other requests.

    Raises:
        NotFound: always.
    """
    raise NotFound(SUPPORTED)
