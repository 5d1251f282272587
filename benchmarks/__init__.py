"""Measurements of speed and quality, compared with other programs; see README.md. `make bench` runs them.

python -m benchmarks.cache              exact hit, miss and put; sqlite3, diskcache and requests-cache
python -m benchmarks.cache --scale      the exact hit from 1,000 to 1,000,000 rows
python -m benchmarks.startup            start-up time of the commands
python -m benchmarks.semantic           semantic lookups from 1,000 to 100,000 rows; GPTCache, Chroma
python -m benchmarks.research           a research, cold and warm, with an engine that takes a second
python -m benchmarks.unit_costs         bytes and CPU of one entry, passage, vector and request
python -m benchmarks.scale_model        a capacity model from these costs, up to 10,000 requests a second
python -m benchmarks.experiments        decisions of the experiment loop, greedy and a t-test, simulated

Measurements of quality need data that is not in the project; pass your copy:

python -m benchmarks.equivalence --pairs DIR   which questions share an answer; cosine, GPTCache, RedisVL
python -m benchmarks.retrieval --scifact DIR   nDCG and recall of the corpus engine, BM25 and MiniLM alone
python -m benchmarks.pages --pages FILE        text extraction from pages; trafilatura alone
python -m benchmarks.replay --log FILE         calls that the cache saves on a query log
"""
