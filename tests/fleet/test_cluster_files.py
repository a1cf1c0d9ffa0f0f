"""The manifests and the script for clusters: what they start is what the pages say, and the parts fit together.

`kubernetes-validate` and the schema of the operator, which need no cluster either, check the fields themselves.
"""

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

pytest.importorskip("fsspec")
pytest.importorskip("yaml")

import yaml

from causalist.cli import main as causalist
from causalist.fleet import parse_size
from causalist.fleet.members import read_fleet_file

PACKAGING = Path(__file__).parents[2] / "packaging"
Document = dict[str, Any]


def documents(name: str) -> list[Document]:
    return list(yaml.safe_load_all((PACKAGING / "kubernetes" / name).read_text(encoding="utf-8")))


def of_kind(kind: str) -> dict[str, Document]:
    return {each["metadata"]["name"]: each for each in documents("fleet.yaml") if each["kind"] == kind}


def pods() -> dict[str, Document]:
    workloads = [*of_kind("Deployment").values(), *of_kind("Job").values()]
    return {each["metadata"]["name"]: each["spec"]["template"] for each in workloads}


def bytes_of(quantity: str) -> int:
    """A quantity of Kubernetes, or of Dask."""
    number, unit = re.fullmatch(r"(\d+)([KMG]i)B?", quantity).groups()  # type: ignore[union-attr]
    return int(number) * 1024 ** ("KMG".index(unit[0]) + 1)


def containers() -> list[tuple[str, Document]]:
    cluster = documents("dask-cluster.yaml")[0]["spec"]
    specs = {name: pod["spec"] for name, pod in pods().items()}
    specs |= {f"operator {name}": cluster[name]["spec"] for name in ("scheduler", "worker")}
    return [(name, container) for name, spec in specs.items() for container in spec["containers"]]


def test_documents_name_a_version_a_kind_and_themselves() -> None:
    kinds = [each["kind"] for each in documents("fleet.yaml")]
    assert kinds == [
        "ConfigMap",
        "PersistentVolumeClaim",
        "Service",
        "NetworkPolicy",
        "Deployment",
        "Deployment",
        "Job",
    ]
    for each in [*documents("fleet.yaml"), *documents("dask-cluster.yaml")]:
        assert re.fullmatch(r"(?:[a-z0-9.]+/)?v1", each["apiVersion"])
        assert re.fullmatch(r"causalist[a-z-]*", each["metadata"]["name"])


@pytest.mark.parametrize(("name", "container"), containers(), ids=[name for name, _ in containers()])
def test_memory_of_every_container_is_bounded(name: str, container: Document) -> None:
    resources = container["resources"]
    limit = bytes_of(resources["limits"]["memory"])
    assert bytes_of(resources["requests"]["memory"]) <= limit
    command = container["command"]
    if "worker" in command:
        given = command[command.index("--memory-limit") + 1]
        assert 0.75 * limit < bytes_of(given) < 0.95 * limit  # the nanny acts first
        assert command[command.index("--nthreads") + 1] == "1"
        assert parse_size(given) == bytes_of(given) * 10**6 // 2**20  # Dask reads MiB, as this test does


def test_selectors_find_their_pods() -> None:
    labels = {name: pod["metadata"]["labels"] for name, pod in pods().items()}
    for name, each in of_kind("Deployment").items():
        wanted = each["spec"]["selector"]["matchLabels"].items()
        assert [other for other, own in labels.items() if wanted <= own.items()] == [name]
    (service,) = of_kind("Service").values()
    wanted = service["spec"]["selector"].items()
    assert [name for name, own in labels.items() if wanted <= own.items()] == ["causalist-scheduler"]
    (policy,) = of_kind("NetworkPolicy").values()
    ((rule,),) = (each["from"] for each in policy["spec"]["ingress"])
    for selector in (policy["spec"]["podSelector"], rule["podSelector"]):
        assert all(selector["matchLabels"].items() <= own.items() for own in labels.values())


def test_workers_and_the_command_reach_the_scheduler_and_the_store() -> None:
    (service,) = of_kind("Service").values()
    (port,) = service["spec"]["ports"]
    address = f"tcp://{service['metadata']['name']}:{port['port']}"
    by_name = {name: pod["spec"]["containers"][0] for name, pod in pods().items()}
    assert address in by_name["causalist-worker"]["command"] and address in by_name["causalist-index"]["command"]
    ports = {each["name"]: each["containerPort"] for each in by_name["causalist-scheduler"]["ports"]}
    command = by_name["causalist-scheduler"]["command"]
    assert str(ports[port["targetPort"]]) == command[command.index("--port") + 1] == "8786"
    for name in ("causalist-worker", "causalist-index"):
        spec = pods()[name]["spec"]
        volumes = {each["name"]: each for each in spec["volumes"]}
        mounts = {each["mountPath"]: volumes[each["name"]] for each in by_name[name]["volumeMounts"]}
        assert mounts["/store"]["persistentVolumeClaim"]["claimName"] in of_kind("PersistentVolumeClaim")
        environment = {each["name"]: each["value"] for each in by_name[name]["env"]}
        assert "emptyDir" in mounts[environment["XDG_CACHE_HOME"]]


def test_the_list_is_one_and_the_command_takes_its_options(tmp_path: Path) -> None:
    ((name, config),) = of_kind("ConfigMap").items()
    (tmp_path / "fleet.toml").write_text(config["data"]["fleet.toml"])
    file = read_fleet_file(tmp_path / "fleet.toml")
    assert file.store == "/store" and [each.name for each in file.members] == ["encode/httpx"]
    spec = pods()["causalist-index"]["spec"]
    command = spec["containers"][0]["command"]
    place = next(each["mountPath"] for each in spec["containers"][0]["volumeMounts"] if each["name"] == "fleet")
    assert command[command.index("--fleet") + 1] == place
    assert next(each for each in spec["volumes"] if each["name"] == "fleet")["configMap"]["name"] == name
    assert command[0] == "causalist"
    group = causalist
    for word in command[1:3]:
        assert isinstance(group, click.Group)
        group = group.get_command(click.Context(group), word)  # type: ignore[assignment]
    group.make_context("index", command[3:], resilient_parsing=False)


def test_the_operator_gets_the_same_cluster() -> None:
    (cluster,) = documents("dask-cluster.yaml")
    spec, by_name = cluster["spec"], {name: pod["spec"]["containers"][0] for name, pod in pods().items()}
    assert f"{cluster['metadata']['name']}-scheduler" in of_kind("Service")  # the operator names its service so
    for part in ("scheduler", "worker"):
        (own,) = spec[part]["spec"]["containers"]
        other = by_name[f"causalist-{part}"]
        assert [own[key] for key in ("image", "env", "resources")] == [
            other[key] for key in ("image", "env", "resources")
        ]
    ports = {each["name"] for each in spec["scheduler"]["spec"]["containers"][0]["ports"]}
    assert {each["targetPort"] for each in spec["scheduler"]["service"]["ports"]} == ports
    assert spec["scheduler"]["service"]["selector"]["dask.org/cluster-name"] == cluster["metadata"]["name"]


def test_the_image_has_the_extra_and_git_and_no_root() -> None:
    lines = (PACKAGING / "kubernetes" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    (install,) = (line for line in lines if "pip install" in line)
    (extras,) = re.findall(r"/src\[([\w,]+)\]", install)
    given = tomllib.loads((PACKAGING.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras == "fleet" and extras in given
    assert any("apt-get install" in line and line.rstrip("\\ ").endswith("git") for line in lines)
    users = {str(pod["spec"]["securityContext"]["runAsUser"]) for pod in pods().values()}
    assert [line.split()[1] for line in lines if line.startswith("USER")] == sorted(users)


def test_the_fields_are_those_of_kubernetes() -> None:
    validate = pytest.importorskip("kubernetes_validate")
    for each in documents("fleet.yaml"):
        validate.validate(each, validate.latest_version(), strict=True)
    wrong = documents("fleet.yaml")[4]
    wrong["spec"]["template"]["spec"]["containers"][0]["memory"] = "4Gi"
    with pytest.raises(validate.ValidationError):
        validate.validate(wrong, validate.latest_version(), strict=True)


def test_a_job_of_slurm_is_one_worker() -> None:
    pytest.importorskip("dask_jobqueue")
    spec = importlib.util.spec_from_file_location("slurm", PACKAGING / "slurm.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.make_cluster(queue="short", interface="lo") as cluster:
        script = cluster.job_script()
        assert cluster.scheduler_address in script
    lines = script.splitlines()
    assert {"#SBATCH -p short", "#SBATCH -n 1", "#SBATCH --cpus-per-task=1", "#SBATCH -t 02:00:00"} <= set(lines)
    assert 'export XDG_CACHE_HOME="${TMPDIR:-/tmp}/causalist-$USER"' in lines
    assert "--nthreads 1" in lines[-1] and "--memory-limit 3.73GiB" in lines[-1]
