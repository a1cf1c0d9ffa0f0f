"""Query -> entities and facts that seed PageRank."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import lazy_regex
from causalist.errors import UsageError
from causalist.memory.defined_names import fold_words, run_terms
from causalist.memory.entity_ids import entity_id
from causalist.memory.extractors import ALIAS, EntityExtractor, RegexEntityExtractor, Triple, normalize_extraction
from causalist.memory.matrix_splices import Floats
from causalist.memory.walk import Seeding, Snapshot, Variant
from causalist.model.answer import Specificity
from causalist.rank.pagerank import seed_distribution
from causalist.rank.terms import STOP_WORDS

MAX_QUERY_CHARACTERS = 20_000
_MAX_PHRASE_WORDS = 5  # words of a query that may form one name
_MAX_SIMILAR_ENTITIES = 3  # similar entities that replace an unknown one
_WORD = re.compile(r"[^\W_][\w.+#'-]*[\w+#]|[^\W_]")
_MAX_FACTS = 5  # linking_top_k of HippoRAG 2, for facts and for entities

_MIN_QUESTION_WORDS = 3
_MAX_QUESTIONS = 4  # each is ranked; what follows belongs to the last
# Where a further question begins: a comma alone may stand before a part of a sentence that says more of a noun.
_NEXT_QUESTION = lazy_regex(
    r"(?:[:;]|,\s+(?:and|but|or|so))\s+(?=(?:does|do|did)\b|(?:(?:after|against|among|at|between|by|for|from|in|into|of|on|since"
    r"|through|to|under|until|with)\s+)?(?:how|what|when|where|which|who|whom|whose|why)\b)",
    re.IGNORECASE,
)

_PATTERNS = RegexEntityExtractor()

FactFilter = Callable[[str, Sequence[Triple]], Sequence[Triple]]


class LinkedEntities(NamedTuple):
    """Entities of a query. `matches`: entity -> match in (0, 1]; `exact`: entities whose names occur in the query."""

    matches: dict[int, float]
    exact: tuple[int, ...]


def link_query(query: str, snapshot: Snapshot, extractor: EntityExtractor) -> LinkedEntities:
    """Return the entities of a query: those that the extractor finds, and those named by one to five of its words.

    Unknown names that the extractor finds match similar entity names. Other words match inflected names only.
    """
    exact: dict[int, float] = {}
    similar: dict[int, float] = {}
    query_terms = terms_in_vocabulary(query, snapshot) if snapshot.arrays.senses else {}
    names = dict.fromkeys(
        entity_id(entity.name) for entity in normalize_extraction(extractor(query[:MAX_QUERY_CHARACTERS])).entities
    )
    for name in names:
        if name in snapshot.position_by_entity:
            exact.update(_weigh_senses(name, query_terms, snapshot))
        elif name:
            for other, value in _find_similar(name, snapshot).items():
                for position, share in _weigh_senses(other, query_terms, snapshot).items():
                    similar[position] = max(value * share, similar.get(position, 0.0))
    for name in _candidate_names(query):
        if name in snapshot.position_by_entity:
            exact.update(_weigh_senses(name, query_terms, snapshot))
        else:
            # Inflected names only: misspelled ones need the evidence of the extractor.
            for other in snapshot.records.name_similarity.names_with_words(name):
                if other in snapshot.position_by_entity:
                    similar.update(_weigh_senses(other, query_terms, snapshot))
    matches = {**similar, **exact}
    return LinkedEntities(dict(sorted(matches.items())), tuple(sorted(exact)))


def names_something(query: str) -> bool:
    """Return True if a query has a name by its form: capitals, an identifier, a date or a measure.

    Scripts without capitals show no names, so that their queries count as having one.

    >>> [names_something(each) for each in ("How do I stop a crawl?", "Who leads Acme?", "кто знает Ивана", "谁知道")]
    [False, True, True, True]
    """
    text = query[:MAX_QUERY_CHARACTERS]
    if _PATTERNS(text).entities:
        return True
    words = [word for word in text.split() if not word.isascii()]
    return any(word[:1].isupper() or word.lower() == word.upper() for word in words)


def split_questions(query: str) -> list[str]:
    """Return the questions of a query, in English, and the sentence before them; the query alone if it has one.

    >>> split_questions("Which cache is shared, and how long does it live?")
    ['Which cache is shared', 'how long does it live?']
    >>> split_questions("A node lost its disk: which alert fires, and why?")
    ['A node lost its disk', 'which alert fires, and why?']
    >>> split_questions("Who wrote the film, which was shot in Rome?")
    ['Who wrote the film, which was shot in Rome?']
    """
    parts: list[str] = []
    start = 0
    for match in _NEXT_QUESTION.finditer(query[:MAX_QUERY_CHARACTERS]):
        both = query[start : match.start()].split(), query[match.end() : match.end() + 200].split()
        if min(map(len, both)) >= _MIN_QUESTION_WORDS and len(parts) < _MAX_QUESTIONS - 1:
            parts.append(query[start : match.start()])
            start = match.end()
    return [*parts, query[start:]]


def find_plain_words(text: str) -> frozenset[str]:
    """Return the words of a query, folded, that nothing marks as names: no capital, digit, underscore or code span.

    >>> sorted(find_plain_words("Which users may read `default` or max_age on Kraków or v2, and the users' 京都?"))
    ['and', 'may', 'on', 'or', 'read', 'the', 'users']
    """
    is_plain: dict[str, bool] = {}
    for part, chunk in enumerate(text.split("`")):
        for word in re.findall(r"\w+", chunk):
            plain = part % 2 == 0 and word.isalpha() and word.islower()
            for folded in fold_words(word):
                is_plain[folded] = plain and is_plain.get(folded, True)
    return frozenset(word for word, plain in is_plain.items() if plain)


def _weigh_senses(name: str, query_terms: Mapping[int, float], snapshot: Snapshot) -> dict[int, float]:
    """Return the senses of a name with their match, 1 for the likeliest.

    The match is the square of a sense's share of the query's term rarity: terms that its passages contain, without the
    terms of the name. All senses match equally if no term decides.
    """
    senses = snapshot.senses_of(snapshot.position_by_entity[name])
    if len(senses) == 1:
        return {senses[0]: 1.0}
    name_terms = terms_in_vocabulary(name.replace("_", " "), snapshot)
    idf = snapshot.idf
    shares = []
    for sense in senses:
        sense_terms = set(
            snapshot.arrays.forward.gather(snapshot.arrays.passages_by_entity.columns_of(np.array([sense]))[0])[
                0
            ].tolist()
        )
        shares.append(sum(float(idf[term]) for term in query_terms if term in sense_terms and term not in name_terms))
    best = max(shares)
    if not best:
        return dict.fromkeys(senses, 1.0)
    return {sense: (share / best) ** 2 for sense, share in zip(senses, shares, strict=True) if share}


def _find_similar(name: str, snapshot: Snapshot) -> dict[str, float]:
    if snapshot.vectors is not None:
        similarities = snapshot.vectors.nearest(
            snapshot.vectors.embed([name.replace("_", " ")])[0], snapshot.position_by_entity, _MAX_SIMILAR_ENTITIES
        )
    else:
        similarities = {
            other: value
            for other, value in snapshot.records.name_similarity.similar_names(name).items()
            if other in snapshot.position_by_entity
        }
        best = sorted(similarities, key=lambda other: (-similarities[other], other))[:_MAX_SIMILAR_ENTITIES]
        similarities = {other: similarities[other] for other in best}
    return {other: value for other, value in similarities.items() if value >= snapshot.least_similarity}


def _candidate_names(query: str) -> list[str]:
    """Return the ids of all word sequences of a query that may be names. They do not begin or end with a stop word."""
    words = [word.lower() for word in _WORD.findall(query[:MAX_QUERY_CHARACTERS])]
    names: dict[str, None] = {}
    for size in range(min(_MAX_PHRASE_WORDS, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            run = words[start : start + size]
            if run[0] not in STOP_WORDS and run[-1] not in STOP_WORDS:
                name = entity_id(" ".join(run))
                if name:
                    names[name] = None
    return list(names)


def build_seeds(
    linked: LinkedEntities, snapshot: Snapshot, variant: Variant, plain: Floats
) -> NDArray[np.float64] | None:
    """Return the seed distribution over the nodes of the variant's graph, or None if no entity matches.

    `plain`: scores of all passages by plain retrieval, shape (P,), used if the variant seeds passages.
    """
    if not linked.matches:
        return None
    graph = snapshot.memory_walk(variant).graph
    matches = dict.fromkeys(linked.matches, 1.0) if variant.seeding is Seeding.UNIFORM else linked.matches
    counts = None
    if variant.specificity is Specificity.PASSAGES:
        counts = np.zeros(len(graph.totals), dtype=np.int32)
        counts[: graph.n_entities] = snapshot.arrays.passages_by_entity.sizes
    seeds = seed_distribution(matches, graph.shape, variant.specificity, passage_counts=counts)
    return with_passage_seeds(seeds / seeds.max(), graph.n_entities, variant, plain)


def with_passage_seeds(
    seeds: NDArray[np.float64], n_entities: int, variant: Variant, plain: Floats
) -> NDArray[np.float64]:
    """Return the seeds with a seed for every passage, in proportion to its plain score."""
    if variant.has_passages and variant.passage_seed and len(plain) and plain.max() > 0:
        seeds = seeds.copy()
        seeds[n_entities:] += variant.passage_seed * plain / plain.max()
    return np.asarray(seeds / seeds.sum(), dtype=np.float64)


def build_fact_seeds(
    query: str, snapshot: Snapshot, variant: Variant, plain: Floats, keep: FactFilter | None
) -> tuple[NDArray[np.float64] | None, tuple[Triple, ...]]:
    """Return (seed distribution, its facts) as HippoRAG 2 does; (None, ()) if no fact matches the query.

    The five facts nearest to the query give their scores, scaled to [0, 1], to subject and object, divided by the
    number of passages that name these. An entity has the mean over its facts; the five best entities are seeds. `keep`
    may reject facts.
    """
    facts = _collect_facts(snapshot)
    values = _score_facts(query, facts, snapshot)
    best = [i for i in np.lexsort((np.arange(len(values)), -values))[:_MAX_FACTS].tolist() if values[i] > 0]
    chosen = [facts[i] for i in best]
    scale = float(values[best[0]]) if best else 1.0
    score = {fact: float(values[i]) / scale for fact, i in zip(chosen, best, strict=True)}
    if keep is not None and chosen:
        approved = list(keep(query, chosen))
        if any(fact not in score for fact in approved):
            raise UsageError("the fact filter returned a fact that it was not given")
        chosen = [fact for fact in chosen if fact in approved]
    if not chosen:
        return None, ()
    scores_by_entity: dict[int, list[float]] = {}
    n_passages = np.diff(snapshot.arrays.passages_by_entity.indptr)
    for fact in chosen:
        for name in (fact.subject, fact.object):
            entity = snapshot.position_by_entity[name]
            scores_by_entity.setdefault(entity, []).append(score[fact] / max(1, int(n_passages[entity])))
    means = {entity: sum(each) / len(each) for entity, each in scores_by_entity.items()}
    top = sorted(means, key=lambda entity: (-means[entity], entity))[:_MAX_FACTS]
    graph = snapshot.memory_walk(variant).graph
    seeds = np.zeros(len(graph.totals))
    seeds[top] = [means[entity] for entity in top]
    return with_passage_seeds(seeds / seeds.max(), graph.n_entities, variant, plain), tuple(chosen)


def _collect_facts(snapshot: Snapshot) -> list[Triple]:
    """Return the distinct triples by entity ids, each with its highest confidence, in alphabetical order."""
    confidences: dict[tuple[str, str, str], float] = {}
    for position, passage in enumerate(snapshot.arrays.passages):
        for t in snapshot.records.passages[passage].triples:
            if t.predicate == ALIAS:
                continue
            key = (
                snapshot.resolve_mention(position, t.subject),
                t.predicate,
                snapshot.resolve_mention(position, t.object),
            )
            confidences[key] = max(t.confidence, confidences.get(key, 0.0))
    return [Triple(*key, confidence) for key, confidence in sorted(confidences.items())]


def _score_facts(query: str, facts: Sequence[Triple], snapshot: Snapshot) -> Floats:
    """Return the cosines of facts with the query: of vectors, or of terms weighted by rarity."""
    texts = [f"{t.subject} {t.predicate} {t.object}".replace("_", " ") for t in facts]
    if not texts:
        return np.zeros(0)
    if snapshot.vectors is not None:
        from causalist.memory.passage_records import cosines

        return np.maximum(cosines(snapshot.vectors.embed_once(texts), snapshot.vectors.embed([query])[0]), 0.0)
    query_terms = weigh_terms(query, snapshot)
    length = np.sqrt(sum(weight * weight for weight in query_terms.values())) or 1.0
    values = []
    for text in texts:
        text_terms = weigh_terms(text, snapshot)
        norm = np.sqrt(sum(weight * weight for weight in text_terms.values())) or 1.0
        values.append(
            sum(query_terms[t] * text_terms[t] for t in sorted(query_terms.keys() & text_terms.keys()))
            / (norm * length)
        )
    return np.array(values)


def weigh_terms(text: str, snapshot: Snapshot) -> dict[int, float]:
    """Return the known terms of a text with their inverse document frequency."""
    idf = snapshot.idf
    return {term: float(idf[term]) for term in terms_in_vocabulary(text, snapshot)}


def terms_in_vocabulary(text: str, snapshot: Snapshot) -> dict[int, float]:
    """Return the positions of the terms of a text that some passage has, each with weight 1.

    Stop words count only if the text has no other words.
    """
    words = re.findall(r"[^\W_]\w*", text[:MAX_QUERY_CHARACTERS])
    content_words = [word for word in words if word.lower() not in STOP_WORDS] or words
    numbers = snapshot.records.terms.by_string
    weights: dict[int, float] = {}
    for word in content_words:
        for term in run_terms(word, is_query=True):
            number = numbers.get(term, -1)
            position = int(snapshot.arrays.term_ranks[number]) if 0 <= number < len(snapshot.arrays.term_ranks) else -1
            if position >= 0:
                weights[position] = 1.0
    return dict(sorted(weights.items()))
