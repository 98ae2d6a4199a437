#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs through a registry, as docs/operate/fleet-delivery.md tells: pushed by skopeo to Debian's
docker-registry on loopback, fetched with plain HTTP.

    registry_test.py KILN

Exit codes: 0 passed, 1 failed, 77 there is no skopeo, docker-registry, curl or jq.
"""

import hashlib
import http.client
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

KILN = str(Path(sys.argv[1]).resolve())
ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "packs" / "golden"
TINY = Path(__file__).resolve().parent / "fixtures" / "tiny" / "tiny.toml"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
PROGRAMS_TYPE = "application/vnd.kiln.programs.v1"
A100 = "a11d3fba8f6063b5"


def skip(reason):
    """Ends the script."""
    print(f"SKIP: {reason}")
    sys.exit(77)


def run(*words, folder, code=0):
    """Runs a command to its end; what it printed to both."""
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode != code:
        raise AssertionError(f"{words}: {done.returncode}, not {code}: {done.stderr}")
    return done.stdout + done.stderr


class Registry:
    """docker-registry with a folder of its own, at a port that the system gives."""

    def __init__(self, folder):
        self.store = folder / "store"
        config = folder / "registry.yml"
        config.write_text("version: 0.1\nlog: {level: info, formatter: json}\n"
                          f"storage: {{filesystem: {{rootdirectory: {self.store}}}}}\n"
                          'http: {addr: "127.0.0.1:0"}\n', encoding="utf-8")
        self.process = subprocess.Popen(["docker-registry", "serve", config],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True)
        self.port = None
        for line in self.process.stderr:
            if "listening on 127.0.0.1:" in line:
                self.port = int(line.split("listening on 127.0.0.1:")[1].split('"')[0].split(",")[0])
                break
        if self.port is None:
            raise AssertionError("docker-registry did not start")
        self.log = threading.Thread(target=self.process.stderr.read, daemon=True)
        self.log.start()

    def blob(self, digest):
        """Where it keeps a blob."""
        name = digest.split(":")[1]
        return self.store / "docker/registry/v2/blobs/sha256" / name[:2] / name / "data"

    def close(self):
        """Ends it."""
        self.process.terminate()
        self.process.wait()
        self.log.join()
        self.process.stderr.close()


class Mirror:
    """Passes requests on to a registry; closes the connection after so many bytes of the next
    blob, or answers for a tag with what it had before."""

    def __init__(self, port):
        mirror = self
        self.cut_after = None
        self.stale = {}
        self.ranges = []

        class Handler(http.server.BaseHTTPRequestHandler):
            """One request."""

            def do_GET(self):  # the name that http.server wants
                if self.path in mirror.stale:
                    status, headers, body = mirror.stale[self.path]
                else:
                    status, headers, body = request(port, self.path, dict(self.headers))
                if "/blobs/" in self.path:
                    mirror.ranges.append(self.headers.get("Range"))
                self.send_response(status)
                for name in ("Content-Type", "Docker-Content-Digest", "Content-Range"):
                    if name in headers:
                        self.send_header(name, headers[name])
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if "/blobs/" in self.path and mirror.cut_after is not None:
                    body, mirror.cut_after = body[:mirror.cut_after], None
                    self.close_connection = True
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self):
        """Ends it."""
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def request(port, path, headers):
    """Status, headers and body; of a cut connection what came."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        try:
            body = response.read()
        except http.client.IncompleteRead as cut:
            body = cut.partial
        return response.status, dict(response.headers), body
    finally:
        connection.close()


class Refused(Exception):
    """What a device does not take."""


class Device:
    """What docs/operate/fleet-delivery.md tells a device to do."""

    def __init__(self, port, folder, smallest=1):
        self.port = port
        self.folder = folder
        self.smallest = smallest
        self.requests = 0
        folder.mkdir()

    def manifest(self, tag):
        """The manifest that a tag names, if it is new enough."""
        status, headers, body = request(self.port, f"/v2/kiln/manifests/{tag}",
                                        {"Accept": MANIFEST_TYPE})
        if status != 200:
            raise Refused(f"status {status}")
        digest = "sha256:" + hashlib.sha256(body).hexdigest()
        named = tag if tag.startswith("sha256:") else headers["Docker-Content-Digest"]
        if digest != named:
            raise Refused(f"the manifest's digest is not {named}")
        manifest = json.loads(body)
        revision = int(manifest["annotations"]["vnd.kiln.revision"])
        if revision < self.smallest:
            raise Refused(f"revision {revision} is older than {self.smallest}")
        return manifest

    def blob(self, layer):
        """Fetches a blob, from where it was cut; its file."""
        path = self.folder / layer["digest"].split(":")[1]
        while (have := path.stat().st_size if path.exists() else 0) < layer["size"]:
            headers = {"Range": f"bytes={have}-"} if have else {}
            status, _, body = request(self.port, f"/v2/kiln/blobs/{layer['digest']}", headers)
            self.requests += 1
            if status not in (200, 206):
                raise Refused(f"status {status}")
            with open(path, "ab" if status == 206 else "wb") as out:
                out.write(body)
        if "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest() != layer["digest"]:
            path.unlink()
            raise Refused(f"the blob's digest is not {layer['digest']}")
        return path

    def pack(self, tag, key):
        """The pack of the target with that key; of the programs alone without one."""
        manifest = self.manifest(tag)
        programs = next(x for x in manifest["layers"] if x["mediaType"] == PROGRAMS_TYPE)
        delta = next(x for x in manifest["layers"] if x["mediaType"] != PROGRAMS_TYPE
                     and x["annotations"].get("vnd.kiln.key") == key)
        pack = self.folder / "pack.kiln"
        run(KILN, "pack", "apply", self.blob(programs), self.blob(delta), "-o", pack, folder=self.folder)
        blake2b = hashlib.blake2b(pack.read_bytes(), digest_size=32).hexdigest()
        assert blake2b == delta["annotations"]["vnd.kiln.pack.blake2b"]
        self.smallest = max(self.smallest, int(manifest["annotations"]["vnd.kiln.revision"]))
        return pack


class Delivery(unittest.TestCase):
    """Two revisions in one layout, and a registry that has them."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = Path(self.place.name)
        for name, golden in (("first", "good-v1.kiln"), ("second", "good-v1-final.kiln")):
            shutil.copy(GOLDEN / golden, self.folder / f"{name}.kiln")
            run(KILN, "pack", "publish", f"{name}.kiln", "--to", "oci:layout", folder=self.folder)
            run(KILN, "pack", "slice", f"{name}.kiln", "--target", "A100*", "-o", f"{name}-a100.kiln",
                folder=self.folder)
        self.registry = Registry(self.folder)
        self.addCleanup(self.registry.close)

    def push(self, tag, as_tag=None, code=0):
        """Pushes as the documentation says."""
        return run("skopeo", "--insecure-policy", "copy", "--dest-tls-verify=false",
                   f"oci:{self.folder}/layout:{tag}",
                   f"docker://127.0.0.1:{self.registry.port}/kiln:{as_tag or tag}",
                   folder=self.folder, code=code)

    def mirror(self):
        """A mirror of the registry, for the test's time."""
        mirror = Mirror(self.registry.port)
        self.addCleanup(mirror.close)
        return mirror

    def check_pack(self, pack, name):
        """Whether it is the slice that `name` is."""
        self.assertEqual(pack.read_bytes(), (self.folder / name).read_bytes())

    def layers(self, tag="latest"):
        """Of the layout, by mediaType and key."""
        index = json.loads((self.folder / "layout/index.json").read_text(encoding="utf-8"))
        digest = next(x["digest"] for x in index["manifests"]
                      if x["annotations"]["org.opencontainers.image.ref.name"] == tag)
        text = (self.folder / "layout/blobs/sha256" / digest[7:]).read_text(encoding="utf-8")
        return {x["annotations"].get("vnd.kiln.key", x["mediaType"]): x
                for x in json.loads(text)["layers"]}

    def test_each_revision_is_fetched_by_tag_and_by_digest(self):
        for tag in ("r1", "latest"):
            self.push(tag)
        device = Device(self.registry.port, self.folder / "device")
        self.check_pack(device.pack("r1", A100), "first-a100.kiln")
        self.assertEqual(device.requests, 2)
        self.check_pack(device.pack("latest", A100), "second-a100.kiln")
        self.assertEqual(device.requests, 3, "the programs are there already")
        self.assertEqual(device.smallest, 2)
        published = json.loads(run(KILN, "pack", "publish", "second.kiln", "--to", "oci:layout",
                                   "--revision", "2", "--json", folder=self.folder))
        self.check_pack(device.pack(published["digest"], A100), "second-a100.kiln")

    def test_a_device_that_the_pack_lacks_has_the_programs(self):
        run(KILN, "compile", TINY, "-o", "base.kiln", folder=self.folder)
        run(KILN, "pack", "publish", "base.kiln", "--to", "oci:layout", "--tag", "base", folder=self.folder)
        self.push("base")
        pack = Device(self.registry.port, self.folder / "device").pack("base", None)
        self.assertIn("sound", run(KILN, "pack", "verify", pack, folder=self.folder))

    def test_a_cut_connection_is_resumed(self):
        self.push("latest")
        mirror = self.mirror()
        mirror.cut_after = 1000
        device = Device(mirror.port, self.folder / "device")
        self.check_pack(device.pack("latest", A100), "second-a100.kiln")
        self.assertEqual(mirror.ranges, [None, "bytes=1000-", None])

    def test_the_documented_script_fetches_and_resumes(self):
        text = (ROOT / "docs/operate/fleet-delivery.md").read_text(encoding="utf-8")
        device = self.folder / "device"
        device.mkdir()
        (device / "fetch.sh").write_text(text.split("```sh\n")[1].split("```")[0], encoding="utf-8")
        run(KILN, "compile", TINY, "-o", "base.kiln", folder=self.folder)
        run(KILN, "pack", "publish", "base.kiln", "--to", "oci:layout", folder=self.folder)
        self.push("latest")
        mirror = self.mirror()
        fetch = ("env", f"PATH={Path(KILN).parent}:{os.environ['PATH']}", "sh", "fetch.sh",
                 f"http://127.0.0.1:{mirror.port}/v2/kiln", "latest", "any")
        mirror.cut_after = 1000
        run(*fetch, folder=device, code=18)  # curl's "partial file"
        self.assertIn("sound", run(*fetch, folder=device))
        self.assertEqual(mirror.ranges, [None, "bytes=1000-", None])
        self.assertEqual((device / "smallest-revision").read_text(encoding="utf-8"), "3\n")
        (device / "smallest-revision").write_text("4\n", encoding="utf-8")
        self.assertIn("revision 3 is older than 4", run(*fetch, folder=device, code=1))

    def test_a_stale_tag_is_refused(self):
        self.push("r1", "latest")
        path = "/v2/kiln/manifests/latest"
        old = request(self.registry.port, path, {"Accept": MANIFEST_TYPE})
        self.push("latest")
        mirror = self.mirror()
        device = Device(mirror.port, self.folder / "device")
        self.check_pack(device.pack("latest", A100), "second-a100.kiln")
        mirror.stale[path] = old
        with self.assertRaisesRegex(Refused, "revision 1 is older than 2"):
            device.pack("latest", A100)
        self.check_pack(device.folder / "pack.kiln", "second-a100.kiln")

    def test_a_revision_that_is_rolled_back_is_refused(self):
        self.push("latest")
        device = Device(self.registry.port, self.folder / "device")
        device.pack("latest", A100)
        self.push("r1", "latest")  # the tag itself leads back
        with self.assertRaisesRegex(Refused, "revision 1 is older than 2"):
            device.pack("latest", A100)
        said = run(KILN, "pack", "fetch", "oci:layout", "--tag", "r1", "--target", A100,
                   "--min-revision", 2, "-o", "none.kiln", folder=self.folder, code=4)
        self.assertIn("the tag r1 is of revision 1, which is older than the demanded 2", said)
        said = run(KILN, "pack", "publish", "first.kiln", "--to", "oci:layout", "--revision", 1,
                   folder=self.folder, code=2)
        self.assertIn("revision 1 is older than 2, which is published", said)

    def test_a_tampered_layer_is_refused(self):
        self.push("latest")
        layers = self.layers()
        device = Device(self.registry.port, self.folder / "device")
        for layer in (layers[PROGRAMS_TYPE], layers[A100]):
            stored = self.registry.blob(layer["digest"])
            right = stored.read_bytes()
            stored.write_bytes(right[:300] + bytes([right[300] ^ 1]) + right[301:])
            with self.assertRaisesRegex(Refused, "the blob's digest is not " + layer["digest"]):
                device.pack("latest", A100)
            stored.write_bytes(right)
        self.check_pack(device.pack("latest", A100), "second-a100.kiln")

    def test_a_manifest_that_is_not_its_digest_is_refused(self):
        self.push("latest")
        mirror = self.mirror()
        path = "/v2/kiln/manifests/latest"
        status, headers, body = request(self.registry.port, path, {"Accept": MANIFEST_TYPE})
        mirror.stale[path] = status, headers, body.replace(b'"2"', b'"9"')
        device = Device(mirror.port, self.folder / "device")
        with self.assertRaisesRegex(Refused, "the manifest's digest is not sha256:"):
            device.pack("latest", A100)

    def test_a_layout_with_a_wrong_digest_is_refused(self):
        layer = self.layers()[PROGRAMS_TYPE]
        path = self.folder / "layout/blobs/sha256" / layer["digest"][7:]
        right = path.read_bytes()
        path.write_bytes(right[:300] + bytes([right[300] ^ 1]) + right[301:])
        fetch = ("pack", "fetch", "oci:layout", "--target", A100, "-o", "none.kiln")
        for words in (fetch, ("pack", "publish", "first.kiln", "--to", "oci:layout")):
            said = run(KILN, *words, folder=self.folder, code=4)
            self.assertIn(f", and the layout says {layer['digest']}", said)
        self.push("latest", code=1)
        path.write_bytes(right)
        run(KILN, *fetch, folder=self.folder)

    def test_a_publish_that_is_killed_leaves_the_old_index(self):
        try:
            run("strace", "-o", "/dev/null", "true", folder=self.folder)
        except (AssertionError, FileNotFoundError):
            self.skipTest("strace cannot trace here")
        before = (self.folder / "layout/index.json").read_bytes()
        publish = (KILN, "pack", "publish", "first.kiln", "--to", "oci:layout", "--revision", 3)
        killed = 0
        for call in ("rename", "renameat", "mkdir", "fsync"):
            for count in range(1, 100):
                done = subprocess.run(
                    [str(word) for word in ("strace", "-f", "-o", "/dev/null", "-e",
                                            f"inject={call}:signal=KILL:when={count}", *publish)],
                    cwd=self.folder, capture_output=True, check=False)
                if done.returncode == 0:
                    break
                killed += 1
                after = (self.folder / "layout/index.json").read_bytes()
                if after != before:  # it was replaced at once, and the folder not yet synced
                    self.assertEqual(call, "fsync")
                run(KILN, "pack", "fetch", "oci:layout", "--tag", "r2", "--target", A100, "-o", "a.kiln",
                    folder=self.folder)
                self.check_pack(self.folder / "a.kiln", "second-a100.kiln")
            (self.folder / "layout/index.json").write_bytes(before)
            shutil.rmtree(self.folder / "layout/.kiln-publish", ignore_errors=True)
            for path in (self.folder / "layout/blobs/sha256").iterdir():
                self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
        self.assertGreater(killed, 20)
        run(*publish, folder=self.folder)


if __name__ == "__main__":
    for tool in ("skopeo", "docker-registry", "curl", "jq"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not here")
    try:
        socket.create_server(("127.0.0.1", 0)).close()
    except OSError as why:
        skip(f"there is no loopback: {why}")
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.skipped:
        skip(result.skipped[0][1])
