"""Documents and questions for measuring lookups with the real model."""

DOCUMENTS = (
    (
        "GitHub REST API rate limits",
        "Authenticated requests are limited to 5,000 an hour for each user; unauthenticated ones to 60 an hour per "
        "IP address. The headers x-ratelimit-remaining and x-ratelimit-reset tell what is left.",
    ),
    (
        "Python 3.12 release date and main changes",
        "Python 3.12 was released on 2 October 2023. It brings a per-interpreter GIL, more flexible f-strings and "
        "better error messages.",
    ),
    (
        "Population of France in 2023",
        "INSEE counted 68.0 million inhabitants on 1 January 2023, overseas departments included.",
    ),
    (
        "How to enable IPv6 on Ubuntu Linux",
        "Set net.ipv6.conf.all.disable_ipv6 to 0 with sysctl, and add an inet6 stanza to netplan; then run netplan "
        "apply.",
    ),
    (
        "PostgreSQL VACUUM and autovacuum tuning",
        "Autovacuum starts when dead rows exceed autovacuum_vacuum_threshold plus a share of the table. Lower the "
        "scale factor on large tables.",
    ),
    (
        "Kubernetes liveness and readiness probes",
        "A liveness probe restarts a container that hangs; a readiness probe takes the pod out of the service "
        "until it answers.",
    ),
    (
        "Metformin dosage for type 2 diabetes",
        "Adults start with 500 mg twice a day with meals; the maximum is 2,550 mg a day. Check kidney function first.",
    ),
    (
        "Side effects of ibuprofen",
        "Stomach pain, heartburn, nausea; rarely ulcers, bleeding and kidney damage. The risk grows with dose and "
        "duration.",
    ),
    (
        "Retrieval-augmented generation best practices",
        "Chunk by structure, rank with a hybrid of BM25 and dense vectors, rerank the best, cite sources in the "
        "answer.",
    ),
    (
        "AWS Lambda cold start times by runtime",
        "Node.js and Python start in 200 to 400 ms, Java in over a second; SnapStart takes Java to some 300 ms.",
    ),
    (
        "Stripe webhook signature verification",
        "Compute an HMAC-SHA256 of the timestamp and the raw body with the endpoint secret, and compare it in "
        "constant time.",
    ),
    (
        "Git rebase versus merge",
        "Rebase rewrites commits onto another base and gives a linear history; merge keeps both histories with a "
        "merge commit.",
    ),
    (
        "Causes of the French Revolution",
        "Debt after wars, bad harvests, an unequal tax system, and ideas of the Enlightenment led to 1789.",
    ),
    (
        "Redis eviction policies",
        "noeviction, allkeys-lru, allkeys-lfu, volatile-lru, volatile-ttl and others decide which keys go at "
        "maxmemory.",
    ),
    (
        "OAuth 2.0 authorization code flow with PKCE",
        "The client sends a code challenge, and proves it with the verifier when it exchanges the code for a token.",
    ),
    (
        "Transformer attention complexity",
        "Self-attention takes time and memory quadratic in the length of the sequence; FlashAttention makes memory "
        "linear.",
    ),
    (
        "HTTP status code 429 and the Retry-After header",
        "A server that is asked too often answers 429; Retry-After tells the seconds to wait or a date.",
    ),
    (
        "SQLite WAL mode and concurrency",
        "With a write-ahead log readers do not block the writer; there is one writer at a time. Checkpoints move "
        "pages back.",
    ),
    (
        "Docker multi-stage builds",
        "Several FROM lines in one Dockerfile; copy only the artefacts from an earlier stage, so that the image "
        "stays small.",
    ),
    (
        "Mediterranean diet and cardiovascular risk",
        "PREDIMED found about 30 percent fewer events with olive oil or nuts than with a low-fat diet.",
    ),
    (
        "Chroma vector database index parameters",
        "hnsw:space, construction_ef, search_ef and M; cosine must be asked for, the default is squared L2.",
    ),
    (
        "Tokio async runtime scheduling",
        "A multi-threaded work-stealing scheduler; tasks yield at await points, and a budget forces cooperative "
        "yielding.",
    ),
    (
        "Boston University tuition fees",
        "Undergraduate tuition is 65,168 dollars for the year 2023-24; housing and meals come on top.",
    ),
    (
        "React useEffect cleanup functions",
        "The function that an effect returns runs before the next effect and when the component unmounts.",
    ),
    (
        "CRISPR-Cas9 off-target effects",
        "The guide may bind where up to five bases differ; high-fidelity Cas9 variants and shorter guides lessen that.",
    ),
    (
        "Terraform remote state locking",
        "With the S3 backend a DynamoDB table holds the lock; force-unlock frees it when a run has died.",
    ),
    (
        "Bitcoin halving schedule",
        "Every 210,000 blocks the reward halves: 2012, 2016, 2020, 2024; the next one is expected in 2028.",
    ),
    (
        "Nginx reverse proxy timeouts",
        "proxy_connect_timeout, proxy_send_timeout and proxy_read_timeout, each 60 seconds by default.",
    ),
    (
        "COVID-19 vaccine booster recommendations for adults over 65",
        "Adults of 65 and over are advised to have a dose of the updated vaccine in autumn and another one six "
        "months later.",
    ),
    (
        "Pandas groupby aggregation performance",
        "Use built-in aggregations rather than Python functions, categorical keys with observed=True, and sort=False.",
    ),
    ("Convert JSON to YAML with yq", "yq -P turns JSON into YAML; -o json goes the other way."),
    (
        "Migrating from MySQL to PostgreSQL",
        "pgloader reads a MySQL database and writes a PostgreSQL one, with types and indexes.",
    ),
)
"""Title and content each."""

HONEST = (
    ("what is the rate limit of the github rest api", 0), ("github api rate limits", 0),
    ("when was python 3.12 released", 1), ("python 3.12 changes", 1), ("how many people lived in france in 2023", 2),
    ("france population 2023", 2), ("how do I enable ipv6 on ubuntu", 3), ("enable ipv6 linux ubuntu", 3),
    ("how to tune autovacuum in postgresql", 4), ("postgres vacuum tuning", 4),
    ("difference between liveness and readiness probes in kubernetes", 5), ("k8s readiness and liveness probe", 5),
    ("what is the dose of metformin for type 2 diabetes", 6), ("metformin dosage type 2 diabetes adults", 6),
    ("what are the side effects of ibuprofen", 7), ("ibuprofen side effects", 7),
    ("best practices for retrieval augmented generation", 8), ("rag best practices", 8),
    ("how long is a cold start of aws lambda", 9), ("lambda cold start time per runtime", 9),
    ("how to verify stripe webhook signatures", 10), ("verify signature of stripe webhooks", 10),
    ("should I rebase or merge in git", 11), ("git merge vs rebase", 11), ("what caused the french revolution", 12),
    ("french revolution causes", 12), ("which eviction policies does redis have", 13), ("redis eviction policy", 13),
    ("how does the oauth 2.0 authorization code flow with pkce work", 14), ("oauth 2.0 pkce flow", 14),
    ("what is the complexity of attention in transformers", 15), ("transformer self-attention complexity", 15),
    ("what does http status 429 mean", 16), ("retry-after header with http 429", 16),
    ("does sqlite wal mode allow concurrent writers", 17), ("sqlite wal concurrency", 17),
    ("how do docker multi-stage builds work", 18), ("docker multistage build", 18),
    ("does the mediterranean diet lower cardiovascular risk", 19), ("mediterranean diet heart disease risk", 19),
    ("which index parameters does the chroma vector database have", 20), ("chroma index parameters", 20),
    ("how does tokio schedule tasks", 21), ("tokio scheduler", 21), ("how much is tuition at boston university", 22),
    ("boston university tuition", 22), ("when does the useEffect cleanup function run in react", 23),
    ("react useEffect cleanup", 23), ("what are the off-target effects of crispr", 24),
    ("crispr-cas9 off target effects", 24), ("how does terraform lock remote state", 25),
    ("terraform state locking", 25), ("when is the next bitcoin halving", 26), ("bitcoin halving dates", 26),
    ("what are the timeouts of an nginx reverse proxy", 27), ("nginx proxy timeout", 27),
    ("is a covid-19 booster recommended for adults over 65", 28), ("covid-19 booster recommendations over 65", 28),
    ("how to make pandas groupby aggregation faster", 29), ("pandas groupby performance", 29),
)  # fmt: skip
"""Questions, and the number of the document that answers each."""

LOOK_ALIKES = (
    "gitlab api rate limits", "github graphql api rate limits", "when was python 3.11 released",
    "python 3.13 changes", "population of france in 2024", "population of germany in 2023",
    "how to disable ipv6 on ubuntu", "enable ipv6 on windows", "mysql vacuum tuning", "kubernetes startup probes",
    "metformin dosage for type 1 diabetes", "insulin dosage for type 2 diabetes", "side effects of paracetamol",
    "side effects of aspirin", "fine-tuning best practices", "azure functions cold start times",
    "paypal webhook signature verification", "git cherry-pick versus merge", "causes of the russian revolution",
    "consequences of the french revolution", "memcached eviction policies", "oauth 1.0 authorization flow",
    "oauth 2.0 implicit flow", "rnn complexity", "http status code 503", "http status code 404", "mysql concurrency",
    "docker compose networks", "ketogenic diet and cardiovascular risk", "mediterranean diet and dementia",
    "pinecone vector database index parameters", "go runtime scheduling", "boston college tuition fees",
    "boston university acceptance rate", "react useMemo dependencies", "crispr-cas12 off-target effects",
    "terraform provider versions", "ethereum halving schedule", "apache reverse proxy timeouts",
    "covid-19 vaccine booster recommendations for children under 5", "flu vaccine recommendations for adults over 65",
    "pandas merge performance", "how to bake sourdough bread", "weather in paris today", "convert yaml to json",
    "migrating from postgresql to mysql",
)  # fmt: skip
"""Questions about another name, number, version, year, opposite or direction: nothing answers."""

VAGUE = (
    "api rate limits", "rate limits", "population in 2023", "tuition fees", "side effects",
    "vaccine recommendations for adults over 65", "eviction policies", "remote state locking", "halving schedule",
    "reverse proxy timeouts", "webhook signature verification", "causes of the revolution", "cold start times",
    "attention complexity", "index parameters",
)  # fmt: skip
"""Questions that leave out of what: a document about one of them answers at best by chance."""
