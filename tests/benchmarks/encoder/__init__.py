"""Training and measurement of the question encoder (`causalist/rank/lexical/question_encoder.bin`)."""
