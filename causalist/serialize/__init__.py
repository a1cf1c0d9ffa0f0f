"""JSON documents for programs, built explicitly from `model`, so that its types can change.

In: answers of the pipeline. Out: plain data, the same for the command line, editors, browsers and agents. `answers` has
the documents of queries and status and reads queries, `lookups` has those of look-ups.
"""
