"""How well questions that people wrote are answered; the files beside this one say over which documents, and how.

    python -m tests.benchmarks.memory.asked FOLDER FILE.tsv [--weights W,W,...] [--show]

FOLDER holds the documents that FILE names. Figures as in `multihop.py`, and the mean of the first right page's
reciprocal rank. `--weights`: others for `hippo`, in the order of `causalist.memory.retrieval.SIGNALS`.
"""
