"""Walks over shards against the walk over one graph of all: `python -m tests.benchmarks.fleet.walks FOLDER`.

Seeds are those of some questions in the repositories that are chosen for them. Printed are the L1 distance to the exact
walk of the joined graph, the bound that the walk states, the rounds, and the shards that were opened.
"""

import argparse
import time

import numpy as np

from causalist.fleet import Fleet, FleetView
from causalist.fleet.joined import GraphPart, join_graphs
from causalist.fleet.walk import walk_across
from causalist.model.answer import AskOptions
from causalist.rank.pagerank import personalized_pagerank
from tests.benchmarks.fleet.choose import make_questions

DAMPING = 0.85
N_QUESTIONS = 10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    fleet = Fleet.open(folder)
    view = FleetView.of(fleet.file, fleet.store)
    names = view.catalog.names
    parts = [GraphPart(name, view.repository(name).index) for name in names]
    began = time.perf_counter()
    joined = join_graphs(parts, view.across.between(names))
    transition = joined.transition
    n_edges, n_links = len(view.across), len(joined.graph.edges)
    print(f"{len(names)} repositories, {len(joined.graph.nodes)} nodes, {n_links} edges, {n_edges} of them across; "
          f"joined in {time.perf_counter() - began:.2f} s")  # fmt: skip
    for epsilon in (1e-6, 1e-8, 1e-10, 1e-11, 1e-12):
        distances, bounds, rounds, opened, seconds = [], [], [], [], []
        for question in list(make_questions(view))[:N_QUESTIONS]:
            seeds = {}
            for chosen in view.catalog.choose(question.text, 3, view.across):
                found = view.repository(chosen.name).attempt(question.text, AskOptions()).ranking.seeds
                if found.any():
                    seeds[chosen.name] = chosen.share * found
            start = np.zeros(len(joined.graph.nodes))
            for part, places in zip(joined.parts, joined.places, strict=True):
                if part.name in seeds:
                    start[places] = seeds[part.name]
            exact = personalized_pagerank(transition, start / start.sum(), damping=DAMPING, tolerance=1e-12).scores
            began = time.process_time()
            walk = walk_across(seeds, view.columns, damping=DAMPING, epsilon=epsilon, max_shards=len(names))
            seconds.append(time.process_time() - began)
            rest = exact.copy()
            for part, places in zip(joined.parts, joined.places, strict=True):
                if part.name in walk.scores:
                    rest[places] -= walk.scores[part.name]
            for name, nodes in walk.unopened.items():
                for node, mass in nodes.items():
                    rest[joined.place(name, node)] -= mass
            distances.append(float(np.abs(rest).sum()))
            bounds.append(walk.bound)
            rounds.append(walk.n_rounds)
            opened.append(len(walk.scores))
        print(f"epsilon {epsilon:g}: distance at most {max(distances):.1e} (stated {max(bounds):.1e}), rounds "
              f"{max(rounds)}, shards {max(opened)}, processor {np.median(seconds):.3f} s")  # fmt: skip


if __name__ == "__main__":
    main()
