"""A client that openapi-python-client made of /openapi.json asks kiln serve: `serve_client.py FOLDER PORT TOKEN`, where FOLDER has it
as kiln_client, with the question in question.json beside it."""
import json
import sys

folder, port, token = sys.argv[1:4]
sys.path.insert(0, folder)

from kiln_client import AuthenticatedClient, Client  # noqa: E402
from kiln_client.api.index import images, snapshots  # noqa: E402
from kiln_client.api.job import job  # noqa: E402
from kiln_client.api.peer import container_mapping, get_image, infrastructures, new_container_mapping, new_infrastructure, optimise  # noqa: E402
from kiln_client.api.select import explain, select  # noqa: E402
from kiln_client.api.service import health  # noqa: E402
from kiln_client.models import Failure, Infrastructure, JobDocument, Mapping, Question, SelectFormat, Selection  # noqa: E402

client = Client(base_url=f"http://127.0.0.1:{port}")
writer = AuthenticatedClient(base_url=f"http://127.0.0.1:{port}", token=token)
with open(f"{folder}/question.json", encoding="utf-8") as file:
    asked = json.load(file)
REFERENCE = "docker://modakopt/modak:tensorflow-2.1-gpu-src"

assert health.sync(client=client).snapshot == 1
answer = select.sync(client=client, body=Question.from_dict(asked), format_=SelectFormat.TAG, limit=3)
assert isinstance(answer, Selection) and answer.answer == REFERENCE, answer
missed = select.sync_detailed(client=client, body=Question.from_dict(asked), host="zen4")
assert missed.status_code == 404 and missed.parsed.error.message == "no image matches", missed
wrong = select.sync_detailed(client=client, body=Question.from_dict({}))
assert wrong.status_code == 400 and isinstance(wrong.parsed, Failure) and wrong.parsed.error.code == "bad_request", wrong
assert REFERENCE in explain.sync(client=client, body=Question.from_dict(asked))

filled = get_image.sync(client=client, body=JobDocument.from_dict({"job": asked}))
assert filled.job.to_dict()["application"]["container_runtime"] == REFERENCE
mapping = Mapping(opt_dsl_code="made-by-client", app_name="mpich", container_name="ethcscs/mpich:3.1.4")
refused = new_container_mapping.sync_detailed(client=writer.__class__(base_url=f"http://127.0.0.1:{port}", token="x"), body=mapping)
assert refused.status_code == 401 and refused.parsed.detail, refused
assert new_container_mapping.sync(client=writer, body=mapping).opt_dsl_code == "made-by-client"
assert container_mapping.sync("made-by-client", client=client).container_name == "ethcscs/mpich:3.1.4"
assert [one.number for one in snapshots.sync(client=client)] == [2, 1]
page = images.sync(client=client, limit=1)
assert page.total == 2 and len(page.images) == 1, page
machines = Infrastructure.from_dict({"name": "hlrs", "configuration": {"scheduler": "slurm", "partitions": {"gpu": {"nnodes": 2}}}})
assert new_infrastructure.sync(client=writer, body=machines).name == "hlrs"
assert new_infrastructure.sync_detailed(client=writer, body=machines).status_code == 409
assert [one.name for one in infrastructures.sync(client=client)] == ["hlrs"]
document = {"job": {**asked, "application": {"executable": "./a"}, "target": {"name": "hlrs"}}}
scripts = optimise.sync(client=client, body=JobDocument.from_dict(document)).job.to_dict()
assert scripts["application"]["container_runtime"] == REFERENCE and "#SBATCH --partition=gpu\n" in scripts["job_script"], scripts
made = job.sync(client=client, body=Question.from_dict(document))
assert made.job_script == scripts["job_script"] and made.answer == REFERENCE, made
