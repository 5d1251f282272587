"""Speed, measured on this machine and beside others: `make bench`. Timings are never asserted in tests; they live here.

python -m benchmarks.cache              exact hit, miss and put beside sqlite3, diskcache and requests-cache
python -m benchmarks.cache --scale      the exact hit from 1,000 to 1,000,000 rows
python -m benchmarks.startup            how long the commands take to start
python -m benchmarks.semantic           the semantic look-up from 1,000 to 100,000 rows beside GPTCache and Chroma
python -m benchmarks.research           a research, cold and warm, with an engine that takes a second
python -m benchmarks.experiments        what the loop of experiments keeps, beside greedy and a t-test, simulated

What is right rather than fast needs data that is no part of the project; name your copy of it:

python -m benchmarks.equivalence --pairs DIR   which questions share an answer, beside cosine cuts, GPTCache, RedisVL
python -m benchmarks.retrieval --scifact DIR   nDCG and recall of the corpus engine, beside BM25 and MiniLM alone
python -m benchmarks.pages --pages FILE        how well the text of pages is extracted, beside trafilatura alone
python -m benchmarks.replay --log FILE         what the cache saves on a query log
"""
