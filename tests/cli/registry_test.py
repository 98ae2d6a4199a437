#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs through a registry and a web server, as docs/operate/fleet-delivery.md tells: pushed by
skopeo to Debian's docker-registry on loopback, and fetched by kiln.

    registry_test.py KILN

Exit codes: 0 passed, 1 failed, 77 there is no skopeo, docker-registry or curl.
"""

import base64
import ctypes
import hashlib
import http.server
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
from functools import partial
from pathlib import Path

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's packages, for other interpreters, too
sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position
try:
    import yaml
    from kubernetes import client as kubernetes
except ImportError:
    kubernetes = None

KILN = str(Path(sys.argv[1]).resolve())
ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "packs" / "golden"
POD = ROOT / "examples" / "kubernetes.yml"
A100 = "a11d3fba8f6063b5"
LOGIN = ("fleet", "secret")


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
    """docker-registry with a folder of its own, at a port that the system gives. `more` are lines of
    its section http, and sections."""

    def __init__(self, folder, more=""):
        self.store = folder / "store"
        config = folder / "registry.yml"
        config.write_text("version: 0.1\nlog: {level: info, formatter: json}\n"
                          f"storage: {{filesystem: {{rootdirectory: {self.store}}}}}\n"
                          f'http:\n  addr: "127.0.0.1:0"\n{more}', encoding="utf-8")
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

    def close(self):
        """Ends it."""
        self.process.terminate()
        self.process.wait()
        self.log.join()
        self.process.stderr.close()


class Web:
    """A web server with a folder, which can cut a file short, or answer with what it had before. With
    a certificate it speaks https, and asks for LOGIN."""

    def __init__(self, folder, certificate=None):
        web = self
        wanted = "Basic " + base64.b64encode(":".join(LOGIN).encode()).decode()
        self.asked = []
        self.cut = None    # a file's name, cut once
        self.stale = {}    # bytes by names

        class Handler(http.server.SimpleHTTPRequestHandler):
            """One request."""

            def do_GET(self):  # the name that http.server wants
                if certificate and self.headers["Authorization"] != wanted:
                    self.send_error(401)
                    return
                name = self.path.rsplit("/", 1)[1]
                web.asked.append(name)
                if name not in web.stale and name != web.cut:
                    super().do_GET()
                    return
                path = Path(folder) / self.path[1:]
                body = web.stale.get(name) or path.read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if name == web.cut:
                    web.cut, body, self.close_connection = None, body[:len(body) // 2], True
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      partial(Handler, directory=folder))
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = (f"http{'s' if certificate else ''}://127.0.0.1:{self.server.server_address[1]}"
                    "/published")
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self):
        """Ends it."""
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Delivery(unittest.TestCase):
    """A published folder with its second revision, and a device's folder."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = Path(self.place.name)
        self.device = self.folder / "device"
        self.device.mkdir()
        for name, golden in (("first", "good-v1.kiln"), ("second", "good-v1-final.kiln")):
            shutil.copy(GOLDEN / golden, self.folder / f"{name}.kiln")
            self.publish(f"{name}.kiln")
            run(KILN, "pack", "slice", f"{name}.kiln", "--target", "A100*", "-o", f"{name}-a100.kiln",
                folder=self.folder)

    def publish(self, pack, *more, code=0):
        """As the next revision."""
        return run(KILN, "fleet", "publish", pack, "--to", "published", *more, folder=self.folder,
                   code=code)

    def fetch(self, url, *more, key=A100, code=0, clock=(), smallest=2):
        """Into the device's folder; what was printed."""
        return run(*clock, KILN, "fleet", "fetch", url, "--cache", "parts", "--target", key,
                   "--min-revision", smallest, "-o", "pack.kiln", *more, folder=self.device, code=code)

    def web(self):
        """A web server, for the test's time."""
        web = Web(self.folder)
        self.addCleanup(web.close)
        return web

    def registry(self, more=""):
        """A registry, for the test's time; its URL."""
        registry = Registry(self.folder, more)
        self.addCleanup(registry.close)
        home = self.folder / "home"
        settings = home / ".config/containers/registries.conf"
        settings.parent.mkdir(parents=True)
        settings.write_text(f'[[registry]]\nlocation = "127.0.0.1:{registry.port}"\ninsecure = {str(not more).lower()}\n')
        (settings.parent / "policy.json").write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
        before = {name: os.environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME")}
        os.environ["HOME"] = str(home)
        os.environ.pop("XDG_CONFIG_HOME", None)
        self.addCleanup(lambda: os.environ.update({k: v for k, v in before.items() if v}))
        return registry, f"docker://127.0.0.1:{registry.port}/kiln:latest"

    def push(self, url):
        """Pushes as the documentation says."""
        run("skopeo", "copy", "--quiet", "dir:published", url, folder=self.folder)

    def check_pack(self, name, pack=None):
        """Whether the device has the slice that `name` is."""
        self.assertEqual((pack or self.device / "pack.kiln").read_bytes(),
                         (self.folder / name).read_bytes())

    def index(self):
        """Of the published folder: its file's name and JSON."""
        manifest = json.loads((self.folder / "published/manifest.json").read_text())
        name = manifest["layers"][0]["digest"].split(":")[1]
        return name, json.loads((self.folder / "published" / name).read_text())

    def test_a_registry_gives_back_what_was_published(self):
        _, url = self.registry()
        self.push(url)
        self.fetch(url)
        self.check_pack("second-a100.kiln")
        parts = self.device / "parts"
        self.assertEqual((parts / "manifest.json").read_bytes(),
                         (self.folder / "published/manifest.json").read_bytes())
        before = {path: path.stat().st_ino for path in parts.iterdir()}
        self.fetch(url)
        self.assertEqual({path: path.stat().st_ino for path in parts.iterdir()}, before,
                         "nothing has changed, and nothing was fetched")
        # A damaged or missing file in the cache costs one fetch.
        delta = next(pack["delta"]["sha256"] for pack in self.index()[1]["packs"]
                     if pack["key_hash"] == A100)
        (parts / delta).write_bytes(b"damaged")
        self.assertIn("7 bytes instead of", self.fetch(url, code=4))
        self.fetch(url)
        self.check_pack("second-a100.kiln")
        self.publish("first.kiln")
        self.push(url)
        self.fetch(url, smallest=3)
        self.check_pack("first-a100.kiln")

    def certificate(self):
        """One that nobody knows, for this machine, and its key."""
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=kiln",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "web.key", "-out", "web.pem",
            folder=self.folder)
        return self.folder / "web.pem", self.folder / "web.key"

    def set_variables(self, **variables):
        """For the rest of the test."""
        saved = os.environ.copy()
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(saved)))
        for name in ("CURL_CA_BUNDLE", "SSL_CERT_DIR"):  # which curl prefers to SSL_CERT_FILE
            os.environ.pop(name, None)
        os.environ.update({name: str(value) for name, value in variables.items()})

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not here")
    def test_https_and_a_login_to_a_web_server(self):
        certificate = self.certificate()
        web = Web(self.folder, certificate)
        self.addCleanup(web.close)
        home = self.folder / "home"
        home.mkdir()
        self.set_variables(HOME=home)
        self.assertIn("curl: (60)", self.fetch(web.url, code=1))
        self.set_variables(SSL_CERT_FILE=certificate[0])
        self.assertIn("401", self.fetch(web.url, code=1))
        (home / ".curlrc").write_text("netrc\n", encoding="ascii")
        (home / ".netrc").write_text("machine 127.0.0.1 login {} password {}\n".format(*LOGIN),
                                     encoding="ascii")
        self.fetch(web.url)
        self.check_pack("second-a100.kiln")

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not here")
    def test_https_and_a_login_to_a_registry(self):
        certificate, key = self.certificate()
        crypt = ctypes.CDLL("libcrypt.so.1").crypt
        crypt.restype = ctypes.c_char_p
        hashed = crypt(LOGIN[1].encode(), b"$2b$05$kilnkilnkilnkilnkilne.").decode()
        (self.folder / "htpasswd").write_text(f"{LOGIN[0]}:{hashed}\n", encoding="ascii")
        registry, url = self.registry(f"""\
  tls:
    certificate: {certificate}
    key: {key}
auth:
  htpasswd:
    realm: kiln
    path: {self.folder}/htpasswd
""")
        login = self.folder / "login.json"
        self.assertIn("x509", self.fetch(url, code=1))
        self.set_variables(SSL_CERT_FILE=certificate)
        self.assertIn("authentication required", self.fetch(url, code=1))
        run("skopeo", "login", "--authfile", login, "--username", LOGIN[0], "--password", LOGIN[1],
            f"127.0.0.1:{registry.port}", folder=self.folder)
        self.set_variables(REGISTRY_AUTH_FILE=login)
        self.push(url)
        self.fetch(url)
        self.check_pack("second-a100.kiln")

    def test_a_registry_that_lacks_it_is_named(self):
        _, url = self.registry()
        self.assertIn("manifest unknown", self.fetch(url, code=1))
        self.assertFalse((self.device / "pack.kiln").exists())

    def test_a_web_server_gives_what_changed(self):
        web = self.web()
        self.fetch(web.url)
        self.check_pack("second-a100.kiln")
        self.assertEqual(len(web.asked), 4, "manifest, index, programs, delta")
        self.fetch(web.url)
        self.assertEqual(len(web.asked), 5, "the manifest")
        self.publish("first.kiln")
        self.fetch(web.url)
        self.assertEqual(len(web.asked), 8, "manifest, index, delta")
        self.check_pack("first-a100.kiln")
        self.assertEqual(len(list((self.device / "parts").iterdir())), 4)
        said = self.fetch(web.url, key="0123456789abcdef")
        self.assertIn("no target has the key 0123456789abcdef: these are the programs alone", said)
        run(KILN, "fleet", "fetch", "published", "-o", "programs.kiln", folder=self.folder)
        self.check_pack("programs.kiln")

    def test_a_cut_file_is_fetched_again_and_finished_ones_are_not(self):
        web = self.web()
        delta = next(pack["delta"]["sha256"] for pack in self.index()[1]["packs"]
                     if pack["key_hash"] == A100)
        web.cut = delta
        said = self.fetch(web.url, code=1)
        self.assertIn("curl: (18)", said)
        self.assertFalse((self.device / "pack.kiln").exists())
        web.asked.clear()
        self.fetch(web.url)
        self.check_pack("second-a100.kiln")
        self.assertEqual(web.asked, ["manifest.json", delta])

    def test_what_a_web_server_changes_is_refused(self):
        web = self.web()
        name, index = self.index()
        for part in (name, index["programs"]["sha256"]):
            right = (self.folder / "published" / part).read_bytes()
            for wrong in (right[:100] + bytes([right[100] ^ 1]) + right[101:], right[:-1]):
                web.stale = {part: wrong}
                shutil.rmtree(self.device / "parts", ignore_errors=True)
                self.fetch(web.url, code=4)
            web.stale = {part: right + b" "}
            self.fetch(web.url, code=1)  # curl stops at the size that is named
        web.stale = {}
        self.fetch(web.url)
        self.check_pack("second-a100.kiln")
        for text in (b"{}", b"[]", b'{"artifactType": 1, "layers": {}}', b"\xff"):
            web.stale = {"manifest.json": text}
            self.assertIn("not a manifest of", self.fetch(web.url, code=4))
        self.check_pack("second-a100.kiln")

    def keys(self, *names):
        """Makes key pairs."""
        for name in names:
            run("minisign", "-GW", "-p", f"{name}.pub", "-s", f"{name}.key", folder=self.folder)

    @unittest.skipUnless(shutil.which("minisign") and shutil.which("faketime"),
                         "minisign or faketime is not here")
    def test_an_old_server_and_a_wrong_clock_are_noticed(self):
        self.keys("a")
        self.publish("second.kiln", "--secret-key", "a.key", "--expires", "2998-01-01")
        shutil.copy(self.folder / "a.pub", self.device / "keys")
        web = self.web()
        self.fetch(web.url, "--keys", "keys")
        manifest = (self.folder / "published/manifest.json").read_bytes()
        said = self.fetch(web.url, "--keys", "keys", code=4,
                          clock=("faketime", "-f", "@2001-01-01 00:00:00"))
        self.assertIn(", and this clock says 2001-01-01: the clock is wrong", said)
        said = self.fetch(web.url, "--keys", "keys", code=4,
                          clock=("faketime", "-f", "@2998-01-02 00:00:00"))
        self.assertIn("revision 3 expired on 2998-01-01, and this clock says 2998-01-02: what was "
                      "published is outdated, or the clock is wrong", said)
        self.check_pack("second-a100.kiln", self.signed_slice())
        self.publish("first.kiln", "--secret-key", "a.key", "--expires", "2998-01-01")
        web.stale = {"manifest.json": manifest}
        said = self.fetch(web.url, "--keys", "keys", code=4, smallest=4)
        self.assertIn("revision 3 is older than the demanded 4", said)

    def signed_slice(self):
        """The device's pack without its signatures."""
        pack = self.folder / "unsigned.kiln"
        run(KILN, "pack", "slice", self.device / "pack.kiln", "--target", "A100*", "-o", pack,
            folder=self.folder)
        return pack

    @unittest.skipUnless(yaml and shutil.which("minisign"), "PyYAML or minisign is not here")
    def test_the_init_container_fetches_and_starts_without_the_registry(self):
        """The commands of examples/kubernetes.yml, for a node with an A100."""
        pod = yaml.safe_load(POD.read_text(encoding="utf-8"))["spec"]["template"]["spec"]
        self.keys("a")
        self.publish("second.kiln", "--secret-key", "a.key", "--expires", "2999-01-01")
        _, url = self.registry()
        self.push(url)
        shutil.copy(self.folder / "a.pub", self.folder / "keys")
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
        script = script.replace("/keys/", f"{self.folder}/")

        def start(repository, code=0):
            return run("env", f"PATH={tools}:{os.environ['PATH']}", f"REPOSITORY={repository}",
                       *fetch["command"], script, folder=self.device, code=code)
        has_devices("")
        start(url, code=1)
        self.assertFalse((self.device / "pack.kiln").exists())
        has_devices(f'{{"key_hash": "{A100}"}}')
        start("docker://127.0.0.1:1/kiln:latest", code=1)  # nothing was fetched before
        start(url)
        self.check_pack("second-a100.kiln", self.signed_slice())
        start("docker://127.0.0.1:1/kiln:latest")
        self.check_pack("second-a100.kiln", self.signed_slice())
        self.assertEqual((self.device / "revision").read_text(encoding="utf-8"), "3\n")

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

    def test_two_operators_at_once_each_get_a_revision(self):
        publish = [str(word) for word in (KILN, "fleet", "publish", "--to", "published", "--json")]
        both = [subprocess.Popen([*publish, f"{name}.kiln"], cwd=self.folder, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                for name in ("first", "second") * 3]
        revisions = sorted(json.loads(process.communicate()[0])["revision"] for process in both)
        self.assertEqual(revisions, [3, 4, 5, 6, 7, 8])
        self.assertEqual(self.index()[1]["revision"], 8)

    def trace(self, fault, command):
        """Runs a command under strace, which makes system calls fail; its exit code."""
        words = ("strace", "-f", "-o", "/dev/null", "-e", f"inject={fault}", KILN, *command)
        return subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True,
                              check=False).returncode

    def check_published(self):
        """Whether every file has its name's digest, and a revision is there."""
        for path in (self.folder / "published").iterdir():
            if len(path.name) == 64:
                self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
        run(KILN, "fleet", "fetch", "published", "--target", A100, "-o", "a.kiln", folder=self.folder)

    def each_fault(self, calls, fault, command):
        """Runs a command with a fault at each call, until it runs to its end; how often it failed.
        What it left is the old manifest or the new one, with all files."""
        if self.trace("fsync:delay_enter=1", ("--version",)) != 0:
            self.skipTest("strace cannot trace here")
        shutil.copytree(self.folder / "published", self.folder / "before")
        manifest = (self.folder / "before/manifest.json").read_bytes()
        failed = 0
        for call in calls:
            for count in range(1, 200):
                shutil.rmtree(self.folder / "published")
                shutil.copytree(self.folder / "before", self.folder / "published")
                if self.trace(f"{call}:{fault}:when={count}", command) == 0:
                    break
                failed += 1
                self.check_published()
                if (self.folder / "published/manifest.json").read_bytes() == manifest:
                    self.check_pack("second-a100.kiln", self.folder / "a.kiln")
                else:  # it was replaced, and the rest of the work follows
                    self.check_pack("first-a100.kiln", self.folder / "a.kiln")
        return failed

    def test_a_killed_command_leaves_the_old_manifest(self):
        publish = ("fleet", "publish", "first.kiln", "--to", "published", "--revision", 3)
        calls = ("rename", "renameat", "mkdir", "fsync", "unlink", "unlinkat")
        self.assertGreater(self.each_fault(calls, "signal=KILL", publish), 20)
        run(KILN, *publish, folder=self.folder)
        self.assertFalse((self.folder / "published/.kiln-publish").exists())
        self.check_published()

    def test_a_full_disk_leaves_the_old_manifest(self):
        publish = ("fleet", "publish", "first.kiln", "--to", "published", "--revision", 3)
        self.assertGreater(self.each_fault(("write,pwrite64,writev",), "error=ENOSPC", publish), 5)
        shutil.copy(self.folder / "second-a100.kiln", self.folder / "device.kiln")
        fetch = ("fleet", "fetch", "published", "--target", A100, "-o", "device.kiln")
        count = 1
        while self.trace(f"write,pwrite64:error=ENOSPC:when={count}", fetch) != 0:
            self.check_pack("second-a100.kiln", self.folder / "device.kiln")
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
    skips.run_cases()
