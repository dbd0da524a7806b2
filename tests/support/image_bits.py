# image_bits.py STATE: a line for each image of a state folder: its name, its manifest, its DiffIDs. Manifests name configurations and
# layers by their digests; those are read all the same. What is attached (the commit of the recipes is in it) is no bit of an image.
import glob, hashlib, json, sys

def blob(layout, digest):
    content = open(f"{layout}/blobs/{digest.replace(':', '/')}", "rb").read()
    assert "sha256:" + hashlib.sha256(content).hexdigest() == digest, digest
    return content

for path in sorted(glob.glob(sys.argv[1] + "/images/**/index.json", recursive=True)):
    layout = path[: -len("/index.json")]
    for entry in json.load(open(path))["manifests"]:
        manifest = json.loads(blob(layout, entry["digest"]))
        for layer in manifest["layers"]:
            blob(layout, layer["digest"])
        config = json.loads(blob(layout, manifest["config"]["digest"]))
        # What is attached to an image is no image.
        if "rootfs" in config:
            print(layout[len(sys.argv[1]) :], entry["digest"], *config["rootfs"]["diff_ids"])
