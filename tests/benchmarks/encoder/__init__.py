"""Training and measurement of the question encoder (`causalist/embed/question_encoder.bin`)."""
