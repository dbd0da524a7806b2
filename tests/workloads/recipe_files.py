"""A folder with the files that a workload's recipe names, as `kiln bench` lays them out, and the modules in it."""
import json
import os
import re
import shutil
import sys
import tempfile

RECIPES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "recipes")
for part in ("workload", "networks"):
    sys.path.insert(0, os.path.join(RECIPES, "shared", part))
sys.path.insert(0, os.path.join(RECIPES, "shared"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def recipe(workload):
    with open(os.path.join(RECIPES, "workload", workload, "recipe.json")) as file:
        text = re.sub(r"^\s*//.*$", "", file.read(), flags=re.MULTILINE)
    return json.loads(text)["methods"]["source"]


def lay_out(workload):
    """A new folder; the caller removes it."""
    folder = tempfile.mkdtemp()
    method = recipe(workload)
    for name in [method["script"]] + method.get("files", []):
        source = os.path.join(RECIPES, "shared", name[7:]) if name.startswith("shared:") else os.path.join(RECIPES, "workload", workload, name)
        shutil.copy(source, folder)
    return folder
