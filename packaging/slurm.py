"""Index a fleet by jobs of SLURM, through `dask-jobqueue`.

    pip install 'causalist[fleet]' dask-jobqueue
    python slurm.py FOLDER --jobs 4      # FOLDER has fleet.toml, on a file system that all nodes reach

Set partition, account and network interface as your site has them. Other schedulers: `PBSCluster`, `LSFCluster`, ….
"""

import argparse
import sys
from typing import Any


def make_cluster(**options: Any) -> Any:
    """Return a `SLURMCluster` of which each job is one worker; `options` are those of your site."""
    import dask
    from dask_jobqueue import SLURMCluster

    dask.config.set({
        "distributed.scheduler.allowed-failures": 1,  # a repository that ends two workers has failed
        "distributed.scheduler.worker-saturation": 1.0,  # a worker holds the repository that it indexes, no other
    })  # fmt: skip
    usual = {
        "cores": 1,
        "processes": 1,
        "memory": "4GB",
        "walltime": "02:00:00",
        # Facts and clones of a node stay on its disk.
        "job_script_prologue": ['export XDG_CACHE_HOME="${TMPDIR:-/tmp}/causalist-$USER"'],
    }
    return SLURMCluster(**{**usual, **options})


def main() -> None:
    """Start jobs, index what changed, and end them."""
    from causalist.fleet import Fleet, IndexingOptions

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--queue", help="partition")
    parser.add_argument("--account")
    parser.add_argument("--interface", help="network interface between the nodes, such as ib0")
    given = parser.parse_args()
    with make_cluster(queue=given.queue, account=given.account, interface=given.interface) as cluster:
        cluster.scale(jobs=given.jobs)
        shards = Fleet.open(given.folder).index(options=IndexingOptions(scheduler=cluster.scheduler_address))
    sys.stdout.writelines(f"{shard.name}  {shard.error or 'indexed'}\n" for shard in shards)


if __name__ == "__main__":
    main()
