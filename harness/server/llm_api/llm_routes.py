"""Routes below `/v1`. They are not in this server's API description: OpenAI's describes them.

https://platform.openai.com/docs/api-reference/chat
"""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from harness.errors import ModelRefused, NotFound
from harness.server.llm_api.chat import chat_response
from harness.server.llm_api.embeddings import embeddings_response
from harness.server.llm_api.llm_errors import PREFIX, refusal_response
from harness.server.llm_api.llm_requests import model_names
from harness.server.route_dependencies import RequestApp

OWNER = "harness"
SUPPORTED = "only POST /v1/chat/completions, POST /v1/embeddings and GET /v1/models are supported"

router = APIRouter(prefix=PREFIX, include_in_schema=False)


@router.post("/chat/completions")
async def chat_completions(request: Request, app: RequestApp) -> Response:
    """Answer a chat completion from the cache, else from the language model's endpoint."""
    try:
        return await chat_response(request, app)
    except ModelRefused as error:
        return refusal_response(error)


@router.post("/embeddings")
async def embeddings(request: Request, app: RequestApp) -> Response:
    """Answer with the vectors of texts from the cache, and of the others from the embedding model's endpoint."""
    try:
        return await embeddings_response(request, app)
    except ModelRefused as error:
        return refusal_response(error)


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
