"""`ask --explain`: what each score is made of, for people."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from causalist.model.answer import Answer, PageRankInfo
    from causalist.model.scores import Hit, Hop


# Generators whose work is more than one step.
_STEPS_OF = {"pagerank": ("pagerank", "places")}


def explanation(answer: "Answer") -> list[str]:
    """Lines, best hit first: the signals that make the score, the seeds that make the PageRank, the way from one."""
    walk = answer.pagerank
    walked = (
        f"damping {walk.damping:g}, {walk.iterations} iterations, residual {walk.residual:.1e}, {walk.rung}"
        f"{_bound(walk)}"
        if walk
        else "not walked"
    )
    lines = [f"explanation: route {answer.route.value}; PageRank {walked}"]
    lines += ["", *_generators(answer), "", *_timings(answer)]
    for rank, hit in enumerate(answer.results, 1):
        lines += ["", *_of_hit(rank, hit)]
    return lines


def _bound(walk: "PageRankInfo") -> str:
    return "" if walk.bound is None else f", at most {walk.bound:.1e} from the exact one in all"


def _generators(answer: "Answer") -> list[str]:
    """How many candidates each generator found, and how long that took."""
    from causalist.rank import GENERATORS

    lines = ["generators         candidates        ms"]
    for name, found in answer.generators.items():
        spent = sum(answer.timings_ms.get(f"candidates.{step}", 0.0) for step in _STEPS_OF.get(name, (name,)))
        told = f"{found:>10}  {spent:>8.1f}" if found is not None else f"{'not run':>10}  {'':>8}"
        lines.append(f"   {name:<14}  {told}  {GENERATORS[name]}")
    return lines


def _timings(answer: "Answer") -> list[str]:
    """Stages, and their steps further in."""
    lines = ["stages and steps          ms"]
    for name, spent in answer.timings_ms.items():
        stage, _, step = name.partition(".")
        lines.append(f"   {f'  {step}' if step else stage:<16}{spent:>9.1f}")
    return lines


def _of_hit(rank: int, hit: "Hit") -> list[str]:
    lines = [f"#{rank} {hit.id}  score {hit.score:.4f}  pagerank {hit.pagerank:.2e}"]
    for reason in hit.reasons:
        # Of what only the graph found the reason is the PageRank, which stands above.
        value = f"{reason.value:+.4f}" if reason.signal != "pagerank" else "       "
        lines.append(f"   {value}  {reason.signal:<15}  {reason.detail}".rstrip())
    if hit.seeds:
        lines.append("   from     " + ", ".join(f"{seed.share:.0%} {seed.node}" for seed in hit.seeds))
    if len(hit.path_from_seed) > 1:
        lines.append("   way      " + hit.path_from_seed[0].node)
        lines += [f"            {_hop(hop)}" for hop in hit.path_from_seed[1:]]
    return lines


def _hop(hop: "Hop") -> str:
    where = f"  ({hop.path}:{hop.line})" if hop.path and hop.line else ""
    return f"{hop.edge} → {hop.node}{where}"
