import subprocess
subprocess.check_call(["gcc", "-march=native", "a.c"])
