"""JSON documents: what every door hands to programs, built by hand from `model/` so that its types stay free to change.

In: answers of the facade. Out: plain data, the same for the command line, editors, browsers and agents. `answers` holds
the document of a question, `lookups` those of what is looked up, `layers` that of the layering.
"""
