"""python.sh and find_module.py: the right Python for the image's framework, and ranks where they can be launched."""
import ast
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

import recipe_files


class PythonScript(unittest.TestCase):
    def setUp(self):
        self.folder = recipe_files.lay_out("mnist-cnn")
        self.addCleanup(shutil.rmtree, self.folder)
        self.bin = os.path.join(self.folder, "bin")
        os.mkdir(self.bin)
        for name in ("sh", "env", "sed", "nproc", "dirname"):
            os.symlink(shutil.which(name), os.path.join(self.bin, name))

    def program(self, name, text):
        path = os.path.join(self.bin, name)
        if os.path.lexists(path):
            os.remove(path)  # it is a link to the machine's own, which would be written over
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text + "\n")
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def run_script(self, framework, *arguments, **environment):
        settings = dict({"PATH": self.bin, "KILN_FRAMEWORK_NAME": framework}, **environment)
        done = subprocess.run(["sh", "-eu", "./python.sh"] + list(arguments), cwd=self.folder, env=settings, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True)
        return done.returncode, done.stdout, done.stderr

    def test_the_first_python_that_has_the_module(self):
        self.program("python3", "exit 1")  # of the system, without the framework
        self.program("python", 'echo "python $*"')
        self.assertEqual((0, "python find_module.py torch\npython train.py mnist_cnn\n", ""),
                         self.run_script("pytorch", "train.py", "mnist_cnn"))

    def test_a_launcher_of_the_framework_starts_it(self):
        self.program("python3", 'echo "python3 $*"')
        self.assertEqual((0, "python3 find_module.py torch\npython3 -m torch.backends.xeon.run_cpu train.py mlp\n", ""),
                         self.run_script("pytorch", "train.py", "mlp", KILN_BENCH_LAUNCHER="torch.backends.xeon.run_cpu"))

    def test_no_python_has_it(self):
        self.program("python3", "exit 1")
        status, output, errors = self.run_script("mxnet", "train.py")
        self.assertEqual((1, "", "python.sh: no Python on the PATH has the module mxnet\n"), (status, output, errors))

    def test_a_module_is_found_without_loading_it(self):
        self.program("python3", 'exec %s -B "$@"' % sys.executable)
        for name, text in (("jax", "raise SystemExit('loaded')"), ("shown", "import os; print(os.path.exists('jax.py'))")):
            with open(os.path.join(self.folder, name + ".py"), "w") as file:
                file.write(text)
        self.assertEqual((0, "True\n", ""), self.run_script("jax", "shown.py"))

    def test_ranks_of_pytorch_share_the_processors(self):
        self.program("nproc", "echo 8")
        self.program("python3", 'echo "$OMP_NUM_THREADS: $*"')
        status, output, _ = self.run_script("pytorch", "train.py", KILN_BENCH_RANKS="2", OMP_NUM_THREADS="")
        self.assertEqual((0, "4: launch_pytorch.py --nnodes 1 --node_rank 0 --nproc_per_node 2 --master_addr 127.0.0.1 "
                             "--master_port 29517 train.py"), (status, output.splitlines()[-1]))
        status, output, _ = self.run_script("pytorch", "train.py", KILN_BENCH_RANKS="2", OMP_NUM_THREADS="3")
        self.assertEqual("3:", output.splitlines()[-1].split()[0])

    def test_ranks_of_tensorflow_need_horovod(self):
        self.program("nproc", "echo 8")
        self.program("python3", '[ "$*" != "find_module.py horovod" ]')
        self.assertEqual((1, "", "python.sh: this image has no Horovod: one rank only\n"),
                         self.run_script("tensorflow", "train.py", KILN_BENCH_RANKS="2"))

    def test_ranks_of_horovod_are_started_by_mpi(self):
        self.program("nproc", "echo 8")
        self.program("python3", "exit 0")
        status, output, errors = self.run_script("tensorflow", "train.py", KILN_BENCH_RANKS="2")
        self.assertEqual((1, "", "mpirun.sh: this image has no mpirun\n"), (status, output, errors))
        self.program("mpirun.mpich", 'echo "$OMP_NUM_THREADS: $*"')
        self.assertEqual((0, "4: -n 2 python3 train.py\n", ""), self.run_script("tensorflow", "train.py", KILN_BENCH_RANKS="2"))
        self.program("mpirun.openmpi", 'if [ "$1" = --version ]; then echo "mpirun (Open MPI) 4.1.4"; else echo "$OMPI_MCA_btl: $*"; fi')
        self.assertEqual((0, "self,vader: --oversubscribe --bind-to none -n 2 python3 train.py\n", ""),
                         self.run_script("tensorflow", "train.py", KILN_BENCH_RANKS="2"))

    def test_ranks_of_others_are_refused(self):
        self.program("nproc", "echo 8")
        self.program("python3", "exit 0")
        status, _, errors = self.run_script("jax", "train.py", KILN_BENCH_RANKS="2")
        self.assertEqual((1, "python.sh: no launcher of ranks is known for jax\n"), (status, errors))


class PythonTwo(unittest.TestCase):
    """No Python 2 is here to ask, so the files are looked at for what it does not know."""

    NEWER = ("step_jax.py", "step_onnxruntime.py", "onnx_network.py")  # their frameworks have left it
    UNKNOWN = (ast.JoinedStr, ast.MatMult, ast.AnnAssign, ast.Nonlocal, ast.YieldFrom, ast.AsyncFunctionDef, ast.NamedExpr)

    def faults(self, text):
        found = [] if text.isascii() else ["a letter that is not ASCII"]
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, self.UNKNOWN):
                found.append(type(node).__name__)
            elif isinstance(node, ast.arguments) and (node.kwonlyargs or node.posonlyargs):
                found.append("arguments by name or place alone")
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
                found.append("super()")
            elif isinstance(node, ast.Assign) and any(isinstance(part, ast.Starred) for target in node.targets for part in ast.walk(target)):
                found.append("a starred target")
            elif isinstance(node, ast.Raise) and node.cause is not None:
                found.append("raise from")
            elif isinstance(node, (ast.FunctionDef, ast.Lambda)) and getattr(node, "returns", None):
                found.append("an annotation")
        return found

    def test_knows_all_that_is_written(self):
        for part in ("workload", "networks"):
            folder = os.path.join(recipe_files.RECIPES, "shared", part)
            for name in sorted(os.listdir(folder)):
                if name.endswith(".py") and name not in self.NEWER:
                    with open(os.path.join(folder, name)) as file:
                        self.assertEqual([], self.faults(file.read()), name)

    def test_what_is_newer_is_noticed(self):
        for text in ("f'{x}'", "a @ b", "x: int = 1", "def f(*, a): pass", "super().f()", "a, *b = c", "raise A from b", "'ä'", "def f() -> int: pass"):
            self.assertEqual(1, len(self.faults(text)), text)


if __name__ == "__main__":
    unittest.main()
