# A module of one file cannot declare that it is typed (PEP 561); these stubs do it for search_cache.py.
from harness.cache.script_api import ScriptCache
from harness.core.freshness import DEFAULT_TTL as DEFAULT_TTL

_api: ScriptCache
acached_search = _api.acached_search
aget = _api.aget
aput = _api.aput
cached_search = _api.cached_search
get = _api.get
get_research = _api.get_research
put = _api.put
put_research = _api.put_research

def close() -> None: ...
def main() -> None: ...
