#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs through a registry, as docs/operate/fleet-delivery.md tells: pushed by skopeo to Debian's
docker-registry on loopback, fetched with plain HTTP and by kiln.

    registry_test.py KILN

Exit codes: 0 passed, 1 failed, 77 there is no skopeo, docker-registry or curl.
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

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's packages, for other interpreters, too
try:
    import yaml
    from kubernetes import client as kubernetes
except ImportError:
    kubernetes = None

KILN = str(Path(sys.argv[1]).resolve())
ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "packs" / "golden"
TINY = Path(__file__).resolve().parent / "fixtures" / "tiny" / "tiny.toml"
POD = ROOT / "examples" / "kubernetes.yml"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
PROGRAMS_TYPE = "application/vnd.kiln.programs.v1"
A100 = "a11d3fba8f6063b5"


def object_of(kind, value):
    """The object that Kubernetes's own client makes of a document, which refuses one without a
    required member. Members that it does not know, and values of another type, fail here."""
    if kind.startswith("list["):
        return [object_of(kind[5:-1], item) for item in value]
    if kind.startswith("dict("):
        return {name: object_of(kind[5:-1].split(", ")[1], item) for name, item in value.items()}
    if not hasattr(kubernetes, kind):
        assert kind == "object" or type(value).__name__ == kind, f"{value!r} is no {kind}"
        return value
    model = getattr(kubernetes, kind)
    names = {name: attribute for attribute, name in model.attribute_map.items()}
    assert set(value) <= set(names), f"{kind} has no {set(value) - set(names)}"
    return model(**{names[name]: object_of(model.openapi_types[names[name]], item)
                    for name, item in value.items()})


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

    def fetching_device(self, mirror):
        """A folder, and what fetches there for a tag and a key."""
        device = self.folder / "device"
        device.mkdir()

        def fetch(tag, key, *keys, code=0, clock=(), smallest=2):
            words = [word for name in keys for word in ("--keys", name)]
            return run(*clock, KILN, "pack", "fetch", f"http://127.0.0.1:{mirror.port}/v2/kiln",
                       "--cache", "parts", "--tag", tag, "--target", key, *words, "--min-revision",
                       smallest, "-o", "pack.kiln", folder=device, code=code)
        return device, fetch

    def test_kiln_fetches_resumes_and_falls_back(self):
        self.push("latest")
        mirror = self.mirror()
        device, fetch = self.fetching_device(mirror)
        mirror.cut_after = 1000
        fetch("latest", A100, code=1)
        fetch("latest", A100)
        self.assertEqual(mirror.ranges, [None, "bytes=1000-", None])
        self.check_pack(device / "pack.kiln", "second-a100.kiln")
        said = fetch("latest", "0123456789abcdef")
        self.assertIn("no target has the key 0123456789abcdef: these are the programs alone", said)
        self.assertEqual(len(list((device / "parts/blobs/sha256").iterdir())), 4)
        run(KILN, "pack", "fetch", "oci:layout", "-o", "programs.kiln", folder=self.folder)
        self.check_pack(device / "pack.kiln", "programs.kiln")
        self.assertIn("the tag latest is of revision 2, which is older than the demanded 3",
                      fetch("latest", A100, code=4, smallest=3))
        self.check_pack(device / "pack.kiln", "programs.kiln")

    def sign_layout(self, expires):
        """Two keys, both of which must sign, and the tag latest, signed until that day."""
        lines = ["kiln keys 1", "version 1", "expires 2999-01-01", "threshold 2"]
        for name in ("a", "b", "c"):
            run("minisign", "-G", "-W", "-p", f"{name}.pub", "-s", f"{name}.key", folder=self.folder)
        lines += [f"key {self.public(name)}" for name in ("a", "b")]
        (self.folder / "keys").write_text("\n".join(lines) + "\n", encoding="utf-8")
        run(KILN, "pack", "keys", "oci:layout", "keys", *self.secrets("ab"), folder=self.folder)
        self.sign_latest("ab", expires)
        for tag in ("keys", "latest.signed", "latest"):
            self.push(tag)

    def public(self, name):
        """The line of a public key."""
        return (self.folder / f"{name}.pub").read_text(encoding="utf-8").splitlines()[1]

    @staticmethod
    def secrets(names):
        """Options for these keys."""
        return [word for name in names for word in ("--secret-key", f"{name}.key")]

    def sign_latest(self, names, expires, revision="r2"):
        """Signs the tag latest."""
        run(KILN, "pack", "tag", "oci:layout", revision, "latest", *self.secrets(names),
            "--expires", expires, folder=self.folder)

    @unittest.skipUnless(shutil.which("minisign"), "minisign is not here")
    def test_kiln_follows_signed_tags_and_keys_that_change(self):
        self.sign_layout("2999-01-01")
        mirror = self.mirror()
        device, fetch = self.fetching_device(mirror)
        shutil.copy(self.folder / "keys", device / "keys")
        fetch("latest", A100, "keys")
        self.check_pack(device / "pack.kiln", "second-a100.kiln")
        blobs = len(mirror.ranges)
        fetch("latest", "004184c8e5543d42", "keys")  # another driver's target
        self.assertEqual(len(mirror.ranges), blobs + 1, "only its delta is fetched")
        fetch("latest", A100, "keys")
        # The key b is revoked, and c takes its place; who holds b then signs nothing more.
        text = (self.folder / "keys").read_text(encoding="utf-8")
        text = text.replace("version 1", "version 2").replace(self.public("b"), self.public("c"))
        (self.folder / "keys.2").write_text(text, encoding="utf-8")
        run(KILN, "pack", "keys", "oci:layout", "keys.2", *self.secrets("abc"), folder=self.folder)
        self.push("keys")
        said = fetch("latest", A100, "keys", code=4)
        self.assertIn("the tag latest is signed by 1 of the 2 required keys of version 2", said)
        self.assertEqual((device / "keys").read_text(encoding="utf-8"), text)
        self.check_pack(device / "pack.kiln", "second-a100.kiln")
        self.sign_latest("ac", "2999-01-01")
        self.push("latest.signed")
        fetch("latest", A100, "keys")
        # A forged tag changes nothing: only the signed one counts.
        self.push("r1", "latest")
        fetch("latest", A100, "keys")
        self.check_pack(device / "pack.kiln", "second-a100.kiln")

    @unittest.skipUnless(yaml and shutil.which("minisign"), "PyYAML or minisign is not here")
    def test_the_init_container_fetches_and_starts_without_the_registry(self):
        """The commands of examples/kubernetes.yml, for a node with an A100."""
        pod = yaml.safe_load(POD.read_text(encoding="utf-8"))["spec"]["template"]["spec"]
        self.sign_layout("2999-01-01")
        mirror = self.mirror()
        device, _ = self.fetching_device(mirror)
        shutil.copy(self.folder / "keys", device / "keys.1")
        tools = self.folder / "tools"
        tools.mkdir()

        def has_devices(text):
            (tools / "kiln").write_text(
                '#!/bin/sh\ncase "$1" in\n  devices) echo \'{"devices": [%s]}\' ;;\n'
                '  *) exec %s "$@" ;;\nesac\n' % (text, KILN), encoding="utf-8")
            (tools / "kiln").chmod(0o755)
        (fetch,) = pod["initContainers"]
        (script,) = fetch["args"]
        self.assertIn("/keys/", script)
        script = script.replace("/keys/", "")

        def start(repository, code=0):
            return run("env", f"PATH={tools}:{os.environ['PATH']}", f"REPOSITORY={repository}",
                       *fetch["command"], script, folder=device, code=code)
        has_devices("")
        start(f"http://127.0.0.1:{mirror.port}/v2/kiln", code=1)
        self.assertFalse((device / "pack.kiln").exists())
        has_devices(f'{{"key_hash": "{A100}"}}')
        start("http://127.0.0.1:1/v2/kiln", code=1)  # nothing was fetched before
        start(f"http://127.0.0.1:{mirror.port}/v2/kiln")
        self.check_pack(device / "pack.kiln", "second-a100.kiln")
        start("http://127.0.0.1:1/v2/kiln")
        self.check_pack(device / "pack.kiln", "second-a100.kiln")
        self.assertEqual((device / "revision").read_text(encoding="utf-8"), "2\n")

    @unittest.skipUnless(kubernetes, "Kubernetes's client for Python or PyYAML is not here")
    def test_the_pod_is_whole(self):
        """It has what Kubernetes asks for, by the types of its own client."""
        document = yaml.safe_load(POD.read_text(encoding="utf-8"))
        self.assertEqual((document["apiVersion"], document["kind"]), ("apps/v1", "Deployment"))
        spec = object_of("V1Deployment", document).spec
        self.assertEqual(spec.selector.match_labels, spec.template.metadata.labels)
        pod = spec.template.spec
        containers = pod.init_containers + pod.containers
        self.assertEqual({mount.name for container in containers
                          for mount in container.volume_mounts},
                         {volume.name for volume in pod.volumes})
        packs = {variable.name: variable.value for variable in pod.containers[0].env}
        self.assertEqual(packs["KILN_PACK"], "/kiln/pack.kiln")
        for at, wrong in ((("spec",), {"template": {}}), (("spec", "replicas"), "two"),
                          (("metadata", "nmae"), "application")):
            other = json.loads(json.dumps(document))
            place = other
            for name in at[:-1]:
                place = place[name]
            place[at[-1]] = wrong
            with self.assertRaises((AssertionError, ValueError), msg=at):
                object_of("V1Deployment", other)

    @unittest.skipUnless(shutil.which("minisign") and shutil.which("faketime"),
                         "minisign or faketime is not here")
    def test_a_frozen_mirror_and_a_wrong_clock_are_noticed(self):
        self.sign_layout("2998-01-01")
        device, fetch = self.fetching_device(self.mirror())
        shutil.copy(self.folder / "keys", device / "keys")
        fetch("latest", A100, "keys")
        said = fetch("latest", A100, "keys", code=4, clock=("faketime", "-f", "@2001-01-01 00:00:00"))
        self.assertIn(", and this clock says 2001-01-01: the clock is wrong", said)
        said = fetch("latest", A100, "keys", code=4, clock=("faketime", "-f", "@2998-01-02 00:00:00"))
        self.assertIn("the tag latest expired on 2998-01-01, and this clock says 2998-01-02: "
                      "the layout is outdated, or the clock is wrong", said)
        self.check_pack(device / "pack.kiln", "second-a100.kiln")

    def test_two_operators_at_once_each_get_a_revision(self):
        publish = [str(word) for word in (KILN, "pack", "publish", "--to", "oci:layout", "--json")]
        both = [subprocess.Popen([*publish, f"{name}.kiln"], cwd=self.folder, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                for name in ("first", "second") * 3]
        revisions = sorted(json.loads(process.communicate()[0])["revision"] for process in both)
        self.assertEqual(revisions, [3, 4, 5, 6, 7, 8])
        listed = json.loads(run(KILN, "pack", "list", "oci:layout", "--json", folder=self.folder))
        self.assertEqual([row["revision"] for row in listed["revisions"]], [1, 2, *revisions])

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

    def trace(self, fault, command):
        """Runs a command under strace, which makes system calls fail; its exit code."""
        words = ("strace", "-f", "-o", "/dev/null", "-e", f"inject={fault}", KILN, *command)
        return subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True,
                              check=False).returncode

    def check_layout(self):
        """Whether every blob has its digest, and both revisions are there."""
        for path in (self.folder / "layout/blobs/sha256").iterdir():
            self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
        run(KILN, "pack", "fetch", "oci:layout", "--tag", "r2", "--target", A100, "-o", "a.kiln",
            folder=self.folder)
        self.check_pack(self.folder / "a.kiln", "second-a100.kiln")

    def each_fault(self, calls, fault, command, changes=()):
        """Runs a command with a fault at each call, until it runs to its end; how often it failed.
        What it left is the old index, or after `changes` the new one, with all blobs."""
        if self.trace("fsync:delay_enter=1", ("--version",)) != 0:
            self.skipTest("strace cannot trace here")
        index = self.folder / "layout/index.json"
        before = index.read_bytes()
        failed = 0
        for call in calls:
            for count in range(1, 200):
                if self.trace(f"{call}:{fault}:when={count}", command) == 0:
                    break
                failed += 1
                if index.read_bytes() != before:
                    self.assertIn(call, changes)
                self.check_layout()
            index.write_bytes(before)
            shutil.rmtree(self.folder / "layout/.kiln-publish", ignore_errors=True)
        return failed

    def test_a_killed_command_leaves_the_old_index(self):
        steps = ("rename", "renameat", "mkdir", "fsync")
        # The index is replaced at once, and its folder then synced.
        publish = ("pack", "publish", "first.kiln", "--to", "oci:layout", "--revision", 3)
        self.assertGreater(self.each_fault(steps, "signal=KILL", publish, ("fsync",)), 20)
        run(KILN, *publish, folder=self.folder)
        tag = ("pack", "tag", "oci:layout", "r3", "latest")
        self.assertGreater(self.each_fault(steps, "signal=KILL", tag, ("fsync",)), 3)
        # A removal that is killed leaves blobs, which the next one removes.
        shutil.copytree(self.folder / "layout", self.folder / "copy")
        remove = ("pack", "remove", "oci:layout", "r1")
        failed = 0
        for call in ("unlink", "unlinkat", *steps):
            for count in range(1, 100):
                shutil.rmtree(self.folder / "layout")
                shutil.copytree(self.folder / "copy", self.folder / "layout")
                if self.trace(f"{call}:signal=KILL:when={count}", remove) == 0:
                    break
                failed += 1
                self.check_layout()
        self.assertGreater(failed, 5)

    def test_a_full_disk_leaves_the_old_index(self):
        publish = ("pack", "publish", "first.kiln", "--to", "oci:layout", "--revision", 3)
        full = self.each_fault(("write,pwrite64,writev",), "error=ENOSPC", publish)
        self.assertGreater(full, 5)
        run(KILN, *publish, folder=self.folder)
        shutil.copy(self.folder / "first-a100.kiln", self.folder / "device.kiln")
        fetch = ("pack", "fetch", "oci:layout", "--tag", "r2", "--target", A100, "-o", "device.kiln")
        count = 1
        while self.trace(f"write,pwrite64:error=ENOSPC:when={count}", fetch) != 0:
            self.check_pack(self.folder / "device.kiln", "first-a100.kiln")
            count += 1
        self.assertGreater(count, 1)


if __name__ == "__main__":
    for tool in ("skopeo", "docker-registry", "curl"):
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
