"""Speed, measured on this machine and beside others: `make bench`. Timings are never asserted in tests; they live here.

python -m benchmarks.cache              exact hit, miss and put beside sqlite3, diskcache and requests-cache
python -m benchmarks.cache --scale      the exact hit from 1,000 to 1,000,000 rows
python -m benchmarks.startup            how long the commands take to start
"""
