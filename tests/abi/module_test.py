"""The Python module over the C interface: module_test.py STATE, a state folder whose current snapshot has the mapping of tf_snow.json
(KILN_DOCUMENT); KILN is the program that publishes more."""
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest

import kiln

STATE = pathlib.Path(sys.argv.pop())
DOCUMENT = pathlib.Path(os.environ["KILN_DOCUMENT"]).read_text(encoding="utf-8")
IMAGE = "docker://modakopt/modak:tensorflow-2.1-gpu-src"


def publish(code, application):
    mapping = {"opt_dsl_code": code, "app_name": application, "enable_opt_build": True, "container_name": "site/" + code, "container_type": "docker"}
    file = STATE.parent / (code + ".json")
    file.write_text(json.dumps([mapping]), encoding="utf-8")
    subprocess.run([os.environ["KILN"], "--state", STATE, "index", "import", file], check=True, stdout=subprocess.DEVNULL)


def question(application):
    return {"optimisation": {"enable_opt_build": True, "app_type": "ai_training", "app_type-ai_training": {"config": {"ai_framework": application}}}}


class Golden(unittest.TestCase):
    def test_what_modak_answers_to_its_own_documents(self):
        folder = pathlib.Path(os.environ["KILN_DOCUMENT"]).parent
        state = STATE.parent / "golden"
        subprocess.run([os.environ["KILN"], "--state", state, "index", "import", folder / "mappings/modak.json"], check=True, stdout=subprocess.DEVNULL)
        mpich = "docker://ethcscs/mpich:ub1804_cuda101_mpi314_gnugprof"
        wanted = {"tf_snow": IMAGE, "tf_resnet": IMAGE, "mpi_solver": mpich, "mpi_test": mpich, "mpi_test_egi": "docker://ethcscs/openmpi:3.1.3"}
        with kiln.Registry(state) as registry:
            for name, image in wanted.items():
                text = (folder / (name + ".json")).read_text(encoding="utf-8")
                self.assertEqual(registry.reference(text, host="any", lenient=True), image, name)
            with self.assertRaises(kiln.NoMatch):
                registry.reference((folder / "get_optimisation_non_existent.json").read_text(encoding="utf-8"), host="any", lenient=True)


class Answers(unittest.TestCase):
    def setUp(self):
        self.registry = kiln.Registry(STATE)
        self.addCleanup(self.registry.close)

    def test_a_document_is_text_bytes_or_a_mapping(self):
        for document in (DOCUMENT, DOCUMENT.encode(), json.loads(DOCUMENT)):
            self.assertEqual(self.registry.reference(document, host="any"), IMAGE)

    def test_the_answer_is_that_of_the_command_line(self):
        command = [os.environ["KILN"], "--state", STATE, "select", "--dsl", os.environ["KILN_DOCUMENT"], "--host", "any"]
        printed = subprocess.run([*command, "--json"], check=True, stdout=subprocess.PIPE).stdout
        self.assertEqual(self.registry.select(DOCUMENT, host="any"), json.loads(printed))
        printed = subprocess.run([*command, "--explain"], check=True, stdout=subprocess.PIPE).stdout
        self.assertEqual(self.registry.explain(DOCUMENT, host="any"), printed.decode())

    def test_a_host_is_a_name_or_a_description(self):
        self.assertEqual(self.registry.reference(DOCUMENT, host="zen4,nvidia:sm_90"), IMAGE)
        self.assertEqual(self.registry.reference(DOCUMENT, host={"cpu": "zen4", "accelerators": ["nvidia:sm_90"]}), IMAGE)
        with self.assertRaises(kiln.NoMatch) as miss:
            self.registry.select(DOCUMENT, host="zen4")
        self.assertIsNone(miss.exception.answer["selected"])
        self.assertIn("needs nvidia; host has no accelerator", str(miss.exception))

    def test_no_file_is_opened_for_a_host(self):
        with self.assertRaises(kiln.InputError) as refused:
            self.registry.reference(DOCUMENT, host="/etc/passwd")
        self.assertIn("there is no target '/etc/passwd'", str(refused.exception))

    def test_what_is_wrong_is_said(self):
        for wrong, kind, words in (
            ({"dsl": "{}"}, kiln.InputError, "document:1:1: error: the document names no application"),
            ({"dsl": "["}, kiln.InputError, "document:1:2: error: not valid JSON"),
            ({"dsl": b"\xff\xfe"}, kiln.InputError, "document:1:1"),
            ({"dsl": ""}, kiln.InputError, "document"),
            ({"dsl": "[" * 100000}, kiln.InputError, "document:1:"),
            ({"dsl": DOCUMENT, "format": "iso"}, kiln.UsageError, "unknown format: expected tag, digest, oci or sif"),
            ({"dsl": DOCUMENT, "snapshot": -1}, kiln.UsageError, "the number of a snapshot is negative"),
            ({"dsl": DOCUMENT, "snapshot": 999999}, kiln.NoMatch, "there is no snapshot 999999"),
            ({"dsl": DOCUMENT.replace('"xla"', '"xlla"')}, kiln.InputError, "did you mean 'xla'"),
        ):
            with self.assertRaises(kind) as refused:
                self.registry.reference(**{"host": "any", **wrong})
            self.assertIn(words, str(refused.exception))
            self.assertEqual(refused.exception.code, kind.code)

    def test_an_index_that_is_not_there_is_a_store_error(self):
        nowhere = kiln.Registry(STATE.parent / "nowhere")
        with self.assertRaises(kiln.StoreError) as refused:
            nowhere.reference(DOCUMENT)
        self.assertIn("there is no index in", str(refused.exception))
        self.assertEqual(nowhere.snapshot(), 0)
        with self.assertRaises(kiln.StoreError):
            nowhere.images()
        with self.assertRaises(kiln.Error) as refused:
            kiln.Registry(STATE, share="/nowhere")
        self.assertEqual(refused.exception.code, 5)

    def test_a_new_snapshot_is_seen_and_the_old_one_can_be_asked(self):
        before = self.registry.snapshot()
        with self.assertRaises(kiln.NoMatch):
            self.registry.reference(question("horovod"), host="any")
        publish("code-%d" % (before + 1), "horovod")
        self.assertEqual(self.registry.snapshot(), before + 1)
        self.assertEqual(self.registry.reference(question("horovod"), host="any"), "docker://site/code-%d" % (before + 1))
        with self.assertRaises(kiln.NoMatch):
            self.registry.reference(question("horovod"), host="any", snapshot=before)
        self.assertEqual([one["number"] for one in self.registry.snapshots()][:2], [before + 1, before])
        self.assertEqual(len(self.registry.images()), len(self.registry.images(before)) + 1)
        subprocess.run([os.environ["KILN"], "--state", STATE, "index", "rollback", str(before)], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.registry.snapshot(), before)

    def test_an_index_that_was_made_again_is_seen(self):
        self.registry.reference(DOCUMENT, host="any")
        os.remove(STATE / "index.db")
        with self.assertRaises(kiln.StoreError):
            self.registry.reference(DOCUMENT, host="any")
        subprocess.run([os.environ["KILN"], "--state", STATE, "index", "recover"], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.registry.reference(DOCUMENT, host="any"), IMAGE)

    def test_threads_ask_one_registry_while_snapshots_come(self):
        wrong, stop = [], threading.Event()

        def ask():
            while not stop.is_set():
                try:
                    answer = self.registry.reference(DOCUMENT, host="any")
                except kiln.Error as error:
                    answer = error
                if answer != IMAGE:
                    wrong.append(answer)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for number in range(5):
            publish("thread-%d" % number, "other")
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_job_has_its_script(self):
        job = self.registry.job(DOCUMENT, host="any", scheduler="torque")
        self.assertEqual((job["answer"], job["scheduler"]), (IMAGE, "torque"))
        self.assertIn("#PBS -l nodes=1:ppn=40:gpus=1", job["job_script"])
        machines = {"name": "here", "scheduler": "slurm", "partitions": {"gpu": {"nnodes": 2}}}
        self.assertIn("#SBATCH --partition=gpu\n", self.registry.job(DOCUMENT, infrastructure=machines)["job_script"])
        for wrong in ({"infrastructure": "none"}, {"scheduler": "lsf"}, {"runtime": "lxc"}, {"snapshot": -1}):
            with self.assertRaises(kiln.UsageError):
                self.registry.job(DOCUMENT, host="any", **wrong)
        with self.assertRaises(kiln.InputError):
            self.registry.job({"job": {"job_options": {"node_count": 0}}})
        with self.assertRaises(kiln.NoMatch):
            self.registry.job(question("nothing"), host="any")

    def test_closing_twice_is_no_mistake(self):
        with kiln.Registry(STATE) as registry:
            registry.close()
        with self.assertRaises(kiln.UsageError):
            registry.reference(DOCUMENT)

    def test_a_question_is_counted(self):
        counted = STATE / "demand.jsonl"
        before = counted.read_text(encoding="utf-8").count("\n") if counted.exists() else 0
        self.registry.reference(DOCUMENT, host="any")
        self.assertEqual(counted.read_text(encoding="utf-8").count("\n"), before + 1)


if __name__ == "__main__":
    unittest.main()
