"""Calls that queue a job: `ResizeImage::dispatch($id)` or `ResizeJob.perform_later(id)` -> the method that runs later.

The called method is one of a framework. What it runs is a method of the class that it is called on, by a name that the
framework fixes; settings of a language say which (`types.deferred`). A class that has the called method itself, or by a
base of the repository, is no job.
"""

from causalist.graph.infer.inference import Inference
from causalist.graph.resolution_results import ValueKind

# A call that gives the class back, so that what follows is called on it: `ResizeJob.set(wait: 60).perform_later`.
_PASSES_CLASS = (".set()",)


def find_deferred(inference: Inference, file: int, scope: int, chain: str) -> int:
    """Return the method that a called chain runs later, -1 if it queues nothing that the repository defines."""
    program = inference.program
    settings = program.files[file].settings
    if settings is None or not settings.types.deferred:
        return -1
    receiver, _, called = chain.replace("::", ".").rpartition(".")
    method = next((runs for name, runs in settings.types.deferred if name == called), "")
    if not method or not receiver:
        return -1
    for call in _PASSES_CLASS:
        receiver = receiver.removesuffix(call)
    value = inference.infer_chain(file, scope, receiver)
    if value is None or value.kind is not ValueKind.DEFINITION or not program.is_type(value.number):
        return -1
    if program.find_member(value.number, called)[0] >= 0:
        return -1
    return program.find_member(value.number, method)[0]
