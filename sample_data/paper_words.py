"""The vocabulary of paper titles: what each research field talks about, and the templates that say it."""

from dataclasses import dataclass

from phrases import phrases


@dataclass(frozen=True)
class Field:
    """What one research field talks about."""

    name: str
    problems: tuple[str, ...]
    settings: tuple[str, ...]
    techniques: tuple[str, ...]
    activities: tuple[str, ...]
    artifacts: tuple[str, ...]


DATABASES = Field(
    "databases",
    phrases("""
        query optimization | view maintenance | join processing | concurrency control | schema matching
        data cleaning | duplicate detection | similarity search | nearest neighbor search | top-k query processing
        selectivity estimation | index selection | crash recovery | transaction management | skyline computation
        data integration | schema evolution | approximate query answering | integrity checking | query rewriting
        provenance tracking | access control | range aggregation | buffer management | spatial join evaluation
        keyword search | view selection | update propagation | query result ranking | physical design tuning
    """),
    phrases("""
        in data warehouses | over data streams | in parallel database systems | over xml documents
        in object-oriented databases | in main-memory databases | over uncertain data | in peer-to-peer systems
        in multidatabase systems | over moving objects | in deductive databases | in spatial databases
        on column stores | on multicore processors | over graph-structured data | in temporal databases
        on flash storage | in mediator systems | over heterogeneous sources | in data-intensive applications
    """),
    phrases("""
        bitmap indexes | wavelet synopses | multidimensional histograms | signature files | adaptive sampling
        semantic caching | materialized views | bloom filters | locality-sensitive hashing | cost-based pruning
        space-filling curves | path summaries | multi-version locking | hash partitioning | functional dependencies
        tree signatures | query feedback | partial indexes | inverted lists | referential constraints
    """),
    phrases("""
        answering queries using cached views | indexing moving points | querying semistructured data
        maintaining histograms incrementally | evaluating recursive queries | publishing relational data as xml
        clustering large spatial datasets | joining massive relations | estimating join sizes
        processing continuous queries | compressing relational tables | cleaning noisy sensor readings
        reconciling conflicting records | translating object queries | loading warehouses without downtime
    """),
    phrases("query processor | storage manager | query language | active rule system | data exchange tool | benchmark"),
)

LEARNING = Field(
    "learning",
    phrases("""
        feature selection | text classification | frequent pattern mining | anomaly detection | link prediction
        model selection | density estimation | collaborative filtering | density-based clustering | rule induction
        dimensionality reduction | structured prediction | sequence labeling | outlier detection | active learning
        cost-sensitive learning | concept drift detection | time series classification | subgroup discovery
        preference elicitation | policy search | semi-supervised clustering | ensemble pruning | metric learning
    """),
    phrases("""
        in high-dimensional spaces | from imbalanced data | in relational domains | on large sparse datasets
        under label noise | in non-stationary environments | with few labeled examples | in social networks
        from clickstream logs | in bioinformatics | under privacy constraints | with missing values
        in partially observable domains | from multiple views | on resource-limited devices
    """),
    phrases("""
        support vector machines | gaussian processes | random projections | bayesian networks | boosted decision stumps
        spectral methods | hidden markov models | conditional random fields | kernel density estimates | bagged trees
        variational inference | graph kernels | latent topic models | nearest shrunken centroids | string kernels
        recursive partitioning | minimum description length | monte carlo sampling | self-organizing maps
    """),
    phrases("""
        mining closed itemsets | learning from positive examples | discovering temporal rules | learning to rank
        detecting communities in citation graphs | combining weak classifiers | clustering categorical attributes
        explaining black-box predictions | learning bayesian structure from data | predicting customer churn
        summarizing event sequences | transferring knowledge between tasks | pruning decision trees
    """),
    phrases("classifier | mining workbench | probabilistic model | clustering toolkit | recommender"),
)

RETRIEVAL = Field(
    "retrieval",
    phrases("""
        query expansion | document clustering | passage retrieval | web crawling | relevance feedback
        entity resolution | web page classification | question answering | cross-language retrieval | link analysis
        spam filtering | result diversification | index compression | wrapper induction | name disambiguation
        ontology alignment | snippet generation | personalized ranking | near-duplicate page detection
        distributed retrieval
    """),
    phrases("""
        in digital libraries | on the web | in enterprise collections | over hidden web sources | in email archives
        in news streams | for mobile users | in question forums | over scientific literature | in product catalogs
        in multilingual collections | on desktop archives | in patent collections
    """),
    phrases("""
        language models | anchor text | click logs | latent semantic indexing | term proximity | query logs
        random walks | suffix arrays | shallow parsing | string edit distance | user profiles | tag co-occurrence
        visual page segmentation | statistical translation | shingling
    """),
    phrases("""
        extracting tables from web pages | matching names across sources | crawling the hidden web
        caching search engine results | summarizing news threads | finding experts in organizations
        annotating pages with ontologies | predicting query difficulty | tracking topics over time
        merging ranked lists | searching source code
    """),
    phrases("search engine | focused crawler | annotation tool | test collection | metasearch broker"),
)

SYSTEMS = Field(
    "systems",
    phrases("""
        load balancing | process migration | fault tolerance | cache coherence | job scheduling | garbage collection
        intrusion detection | power management | checkpointing | data replication | deadlock detection
        failure diagnosis | memory management | file system consistency | virtual machine placement
        performance isolation | byzantine agreement | software rejuvenation | disk scheduling
        state machine replication
    """),
    phrases("""
        in distributed systems | on clusters of workstations | in wide-area file systems
        on shared-memory multiprocessors
        in multi-tier web services | in real-time systems | in grid environments | on network-attached disks
        in virtualized data centers | in embedded devices | in mobile computing | for interactive applications
        in publish/subscribe systems
    """),
    phrases("""
        logical clocks | optimistic logging | speculative execution | lease-based caching | gossip protocols
        erasure codes | log-structured layouts | copy-on-write snapshots | quorum systems | hardware counters
        admission control | lottery scheduling | binary rewriting | shadow paging | consistent hashing
    """),
    phrases("""
        debugging distributed programs | recovering from operator mistakes | tracing requests across services
        scheduling jobs with deadlines | sharing memory between workstations | tolerating slow replicas
        verifying file system invariants | measuring kernel latency | restarting components cheaply
        isolating untrusted extensions
    """),
    phrases("file system | operating system kernel | object store | tracing tool | message broker | scheduler"),
)

NETWORKS = Field(
    "networks",
    phrases("""
        congestion control | multicast routing | topology control | bandwidth allocation | packet classification
        traffic engineering | handoff management | medium access control | route discovery | clock synchronization
        worm containment | data aggregation | location tracking | admission control | path restoration
        packet scheduling | service discovery | traffic matrix estimation | channel assignment | overlay construction
    """),
    phrases("""
        in wireless sensor networks | in mobile ad hoc networks | in optical networks | over lossy links
        in vehicular networks
        in cellular networks | in overlay networks | on backbone links | in mesh networks | in delay-tolerant networks
        over satellite channels | in content distribution networks | in heterogeneous access networks
    """),
    phrases("""
        network coding | directional antennas | token buckets | random linear codes | passive measurements
        bloom filter digests | geographic forwarding | fair queueing | active probing | game-theoretic pricing
        randomized backoff | source routing | explicit feedback | cooperative relaying | flow sampling
    """),
    phrases("""
        measuring end-to-end delay | routing around failures | streaming video to many receivers
        locating mobile hosts | inferring link loss rates | saving energy by sleeping radios
        detecting denial-of-service attacks | sharing spectrum among operators | modeling self-similar traffic
        provisioning virtual private networks
    """),
    phrases("routing protocol | network simulator | measurement platform | transport protocol | monitoring tool"),
)

FIELDS = (DATABASES, DATABASES, LEARNING, RETRIEVAL, SYSTEMS, NETWORKS)  # databases twice: the sample leans that way

QUALITIES = phrases("""
    efficient | scalable | adaptive | incremental | robust | distributed | cost-based | approximate | online | practical
    semantic | secure | decentralized | progressive | interactive | self-tuning | lightweight | parallel | declarative
    workload-aware | fast | optimal | energy-aware | hierarchical | probabilistic
""")

TITLES = phrases("""
    {quality} {problem} {setting} | {quality} {problem} {setting} | {problem} {setting} using {technique}
    {technique} for {quality} {problem} | {technique} for {problem} {setting}
    using {technique} for {problem} {setting}
    {system}: {a_quality} {artifact} for {problem} | {system}: {quality} {problem} {setting}
    on the complexity of {problem} {setting} | on the use of {technique} for {problem}
    towards {quality} {problem} {setting} | {a_quality} approach to {problem} {setting}
    {problem} {setting}: a survey | {problem} {setting}: issues and approaches
    {problem} {setting}: theory and practice
    an experimental evaluation of {technique} for {problem} | a performance study of {problem} {setting}
    {activity} {setting} | {activity} with {technique} | {activity}: {a_quality} approach
    {quality} algorithms for {problem}
    combining {technique} and {technique2} for {problem} | a framework for {problem} {setting}
    the design and implementation of {system}, {a_quality} {artifact} | {problem} with {technique}
    a case for {technique} {setting} | lessons from building {a_quality} {artifact} | {problem} without {technique}
    beyond {technique}: {quality} {problem} {setting} | evaluating {technique} for {problem} {setting}
    applying {technique} to {problem} | supporting {problem} {setting} | open problems in {problem} {setting}
    the limits of {problem} {setting} | a unified model of {problem} {setting} | {problem} {setting} through {technique}
""")

SERIES = phrases("""
    an overview of the {system} system | {problem} in {system} | {problem2} in {system}
    the {system} project: a retrospective
    {technique} in the {system} {artifact} | {activity} with {system} | experiences with {problem} in {system}
""")

SEQUELS = phrases("""
    {title} revisited | {title}: part ii | {title}: a second look | more on {title} | {title}: ten lessons learned
    {title} (part ii) | {title}: further results | {title} reconsidered | a note on {title}
""")

SYSTEM_HEADS = phrases("""
    ar | bel | cor | dar | el | fal | gar | hel | ir | jun | kal | lo | mer | nim
    or | pel | quin | ras | sel | tar | ul | ver | wil | xan
""")
SYSTEM_TAILS = phrases("abase | astra | axis | edo | ette | ica | idea | ion | ira | isto | ora | otus | ium | una")
