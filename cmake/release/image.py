# SPDX-License-Identifier: Apache-2.0
"""A container image as an OCI layout, which skopeo and podman read: one layer, one machine."""

import gzip
import hashlib
import json
import os
import pathlib
import subprocess
import time

# What the programs are linked with, and nothing else: no shell, no driver.
C_LIBRARY = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0")
LOADERS = {"x86_64": "lib64/ld-linux-x86-64.so.2", "aarch64": "lib/ld-linux-aarch64.so.1"}
GO = {"x86_64": "amd64", "aarch64": "arm64"}  # the names that images have for machines


# Of the installed tree what runs; who compiles against Kiln takes the tarball.
PARTS = ("bin", "lib/libkiln_layer.so", "share/kiln/virtual", "share/kiln/known-bad.toml", "LICENSE")


def fill(root, tree, system, machine):
    """Lays out the image's files: the programs in `tree`, and the C library of the folder `system`."""
    for part in PARTS:
        target = root / "opt/kiln" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", str(tree / part), str(target)], check=True)
    libraries = pathlib.Path("lib", f"{machine}-linux-gnu")
    names = [libraries / name for name in C_LIBRARY]
    for name in (*names, pathlib.Path(LOADERS[machine])):
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((system / name).read_bytes())
        target.chmod(0o755)
    (root / "tmp").mkdir()
    notice = pathlib.Path("/usr/share/doc/libc6/copyright")
    if notice.is_file():
        (root / "opt/kiln/LICENSE.libc").write_bytes(notice.read_bytes())


class Layout:
    """A folder with an image."""

    def __init__(self, folder):
        self.blobs = folder / "blobs/sha256"
        self.folder = folder
        self.blobs.mkdir(parents=True)

    def add(self, content, media):
        """Adds a blob; returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        (self.blobs / digest).write_bytes(content)
        return {"mediaType": f"application/vnd.oci.image.{media}", "digest": f"sha256:{digest}",
                "size": len(content)}

    def add_json(self, value, media):
        """Adds a value as JSON; returns its descriptor."""
        return self.add(json.dumps(value, sort_keys=True).encode(), media)

    def add_image(self, layer, machine):
        """Adds an image whose files are in the tar archive `layer`; returns its descriptor."""
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
        platform = {"os": "linux", "architecture": GO[machine]}
        config = self.add_json({
            **platform, "created": created,
            "config": {"Entrypoint": ["/opt/kiln/bin/kiln"], "Env": ["PATH=/opt/kiln/bin", "HOME=/tmp"]},
            "rootfs": {"type": "layers",
                       "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
            "history": [{"created": created, "created_by": "./bootstrap.sh release"}],
        }, "config.v1+json")
        packed = self.add(gzip.compress(layer, 9, mtime=0), "layer.v1.tar+gzip")
        image = self.add_json({"schemaVersion": 2, "config": config, "layers": [packed],
                               "mediaType": "application/vnd.oci.image.manifest.v1+json"},
                              "manifest.v1+json")
        return {**image, "platform": platform}

    def finish(self, images, version):
        """Names the images of all machines as one, by the version."""
        index = self.add_json({"schemaVersion": 2, "manifests": images,
                               "mediaType": "application/vnd.oci.image.index.v1+json"},
                              "index.v1+json")
        index["annotations"] = {"org.opencontainers.image.ref.name": version}
        (self.folder / "index.json").write_text(
            json.dumps({"schemaVersion": 2, "manifests": [index]}), encoding="utf-8")
        (self.folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', encoding="utf-8")
