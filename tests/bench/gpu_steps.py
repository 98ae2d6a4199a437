#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The steps of gpu.sh: each runs kiln, says what it saw, and leaves JSON in the folder of work.

    gpu_steps.py STEP --kiln KILN --device GLOB --work WORK [--limit SECONDS]

Exit 0 where all went well, 1 where something failed; `figures` prints the table of the goals from
what the other steps left.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import startup_table

ALSO = "sm_100,sm_120"
DAMAGED = 60      # packs with a damaged binary
ROUNDS = 30       # of kiln_startup, where the time is enough
FEWEST_ROUNDS = 3
STARTS = 3        # with an overlay
SIDE = 64         # of a problem with rows
LENGTH = 4096     # of a problem without
MOST_LINES = 12   # of one kind


def say_some(lines, indent="  "):
    """Prints the first lines, and how many there are beyond them."""
    for line in lines[:MOST_LINES]:
        print(indent + line)
    if len(lines) > MOST_LINES:
        print(f"{indent}and {len(lines) - MOST_LINES} more")


class Steps:
    """What the steps share."""

    def __init__(self, options):
        self.kiln, self.device, self.work = str(options.kiln), options.device, options.work
        self.startup = str(options.kiln.with_name("kiln_startup"))
        self.limit = options.limit
        self.began = time.monotonic()
        self.trying = os.environ.get("KILN_GPU_TRY", "") not in ("", "0")
        self.processes = os.cpu_count() or 1

    # Files.

    def save(self, name, value):
        (self.work / f"{name}.json").write_text(json.dumps(value, indent=1) + "\n",
                                                encoding="utf-8")

    def saved(self, name):
        """What a step left, or None."""
        try:
            return json.loads((self.work / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def pack(self, name):
        return str(self.work / f"{name}.kiln")

    # Kiln.

    def call(self, *words, program=None):
        """A finished process, with what it printed as text."""
        return subprocess.run([program or self.kiln, *words], capture_output=True, text=True,
                              check=False, errors="replace")

    def call_json(self, *words):
        """What read_json() gives of kiln."""
        return self.read_json(self.call(*words, "--json"))

    @staticmethod
    def read_json(done):
        """The JSON that a process printed, what it complained about, and its exit code."""
        try:
            return json.loads(done.stdout), done.stderr.strip(), done.returncode
        except ValueError:
            return None, done.stderr.strip() or done.stdout.strip(), done.returncode

    def inspect(self, name):
        found, error, _ = self.call_json("pack", "inspect", self.pack(name))
        if found is None:
            sys.exit(f"{self.pack(name)}: {error}")
        return found

    def build(self, output, *words):
        """What `kiln build` says of itself as JSON; its complaints are printed."""
        begin = time.monotonic()
        result, errors, code = self.call_json("build", self.pack("base"), "--device", self.device,
                                              "-o", self.pack(output), "--timeout", "60", *words)
        say_some(errors.splitlines())
        if result is None:
            sys.exit(f"kiln build ended with {code}")
        result["exit_code"], result["seconds"] = code, time.monotonic() - begin
        print(f"  {result['compiled']} compiled, {result['skipped']} not for the device, "
              f"{len(result['failures'])} failed, in {result['seconds']:.0f} s")
        return result

    def run(self, program, size, *words):
        """One `kiln run`: {"exit", "error", "report", ...}."""
        result, errors, code = self.call_json("run", program, "--device", self.device, "--size",
                                              size, *words)
        report = (result or {}).get("report") or {}
        return {"exit": code, "error": errors, "program": program,
                "variant": report.get("variant"), "rung": report.get("rung", "none"),
                "final": report.get("final"), "milliseconds": report.get("milliseconds"),
                "launch_ms": (result or {}).get("host_nanoseconds", 0) / 1e6,
                "rungs": report.get("rungs", []), "check": (result or {}).get("check")}

    def run_all(self, jobs):
        """Many of them beside each other."""
        with ThreadPoolExecutor(self.processes) as pool:
            return list(pool.map(lambda job: self.run(*job), jobs))


def size_of(program):
    """A small problem, with as many sides as the program's own."""
    sides = program["sizes"][0] if program["sizes"] else [SIDE, SIDE, 1]
    if sides[2] > 1:
        return f"{SIDE}x{SIDE}x{SIDE}"
    return f"{SIDE}x{SIDE}" if sides[1] > 1 else str(LENGTH)


def sizes_of(pack):
    return {program["name"]: size_of(program) for program in pack["programs"]}


def stand_ins_of(pack, name):
    """The other variants of the same program with the same source, options and kernels."""
    (program,) = [p for p in pack["programs"] if p["name"] == name.split("/")[0]]
    (own,) = [v["hash"] for v in program["variants"] if v["name"] == name.split("/")[1]]
    return [v["name"] for v in program["variants"]
            if v["hash"] == own and v["name"] != name.split("/")[1]]


def is_final(binary):
    return binary["provenance"]["finish"]["final"] == "yes"


def finality(binary):
    finish = binary["provenance"]["finish"]
    return f"{finish['final']}: {finish['why_not_final']}"


def describe_targets(pack):
    """Lines: what each target of a pack holds."""
    lines = []
    for target in pack["targets"]:
        binaries = target["binaries"]
        lines.append(f"{target['label']} {target['model']}: {len(binaries)} binaries, "
                     f"{sum(map(is_final, binaries))} final; "
                     f"{len(target['intermediates'])} intermediates")
    return lines


def step_build(steps):
    """The finished pack: how many of its variants are exact and final."""
    result = steps.build("finished", "--fresh")
    pack = steps.inspect("finished")
    say_some(describe_targets(pack))
    binaries = [b for target in pack["targets"] for b in target["binaries"]]
    wanted = result["compiled"] + result["reused"] + len(result["failures"])
    final = sum(map(is_final, binaries))
    print(f"  {final} of {wanted} variants for this device are exact and final")
    say_some([f"{b['variant']} is not final, {finality(b)}" for b in binaries if not is_final(b)])
    sizes = [b["blob"]["raw_size"] for b in binaries]
    steps.save("build", {**result, "wanted": wanted, "final": final, "bytes": sum(sizes)})
    return 0 if final == wanted and wanted > 0 else 1


def step_launches(steps):
    """Every variant of the finished pack, loaded and launched and compared with its reference."""
    pack = steps.inspect("finished")
    sizes = sizes_of(pack)
    built = steps.saved("build")
    names = sorted({b["variant"] for target in pack["targets"] for b in target["binaries"]})
    jobs = []
    for name in names:
        program, variant = name.split("/")
        jobs.append((program, sizes[program], "--variant", variant, "--pack",
                     steps.pack("finished")))
    results = steps.run_all(jobs)
    for i, (name, result) in enumerate(zip(names, results)):
        # A binary is named after the first variant of its source and options; the device may lack
        # what that one needs and run another.
        for twin in stand_ins_of(pack, name) if " needs " in result["error"] else []:
            if result["exit"] == 0:
                break
            program = name.split("/")[0]
            result = results[i] = steps.run(program, sizes[program], "--variant", twin, "--pack",
                                            steps.pack("finished"))
    bad = [f"{name}: exit {r['exit']}, rung {r['rung']}, final {r['final']} {r['error']}"
           for name, r in zip(names, results)
           if r["exit"] != 0 or r["rung"] != "exact" or r["final"] is not True]
    wanted = built["wanted"] if built else len(names)
    print(f"  {len(names) - len(bad)} of {wanted} variants load exact and final, and give the "
          "reference's values")
    say_some(bad)
    steps.save("launches", {"good": len(names) - len(bad), "wanted": wanted, "results": results})
    return 1 if bad or len(names) != wanted else 0


def step_startup(steps):
    """kiln_startup: one round for a first table, then as many as the time allows."""
    def measure(rounds):
        begin = time.monotonic()
        result, errors, code = steps.read_json(
            steps.call(steps.pack("finished"), "--device", steps.device, "--rounds", str(rounds),
                       program=steps.startup))
        if result is None:
            sys.exit(f"kiln_startup ended with {code}: {errors}")
        steps.save("startup", result)
        return result, time.monotonic() - begin
    result, seconds = measure(1)
    left = steps.limit - (time.monotonic() - steps.began) - 5
    # Of the first run about half was its round, the rest was done once.
    rounds = min(int(os.environ.get("ROUNDS", ROUNDS)), int(left / (0.5 * seconds)))
    if "error" not in result["devices"][0] and rounds >= FEWEST_ROUNDS:
        result, _ = measure(rounds)
    rows = [("device", row) for row in result["devices"]]
    print(startup_table.table(rows, result["rounds"]))
    return 1 if any("error" in row for _, row in rows) else 0


def step_plain(steps):
    """A pack built again without finishing: the rung it loads on, and what that costs."""
    result = steps.build("plain", "--fresh", "--no-finish")
    pack = steps.inspect("plain")
    say_some(describe_targets(pack))
    sizes = sizes_of(pack)
    runs = {}
    for name in ("plain", "finished"):
        runs[name] = [steps.run(program, sizes[program], "--pack", steps.pack(name))
                      for program in sorted(sizes)]
    wanted = "exact" if steps.trying else "intermediate"
    good = [r for r in runs["plain"] if r["exit"] == 0 and r["rung"] == wanted]
    sums = {name: sum((r["milliseconds"] or 0) + r["launch_ms"] for r in all_)
            for name, all_ in runs.items()}
    print(f"  {len(good)} of {len(sizes)} programs load on the rung {wanted}; loads and first "
          f"launches, a process each, together: {sums['plain']:.1f} ms, from the finished pack "
          f"{sums['finished']:.1f} ms")
    say_some([f"{r['program']}: exit {r['exit']}, rung {r['rung']} {r['error']}"
              for r in runs["plain"] if r not in good])
    steps.save("plain", {"build": result, "rung": wanted, "good": len(good),
                         "programs": len(sizes), "first_results_ms": sums, "runs": runs})
    return 0 if len(good) == len(sizes) else 1


def step_also(steps):
    """Code for later architectures, put into a copy of the finished pack."""
    shutil.copy2(steps.pack("finished"), steps.pack("also"))
    result = steps.build("also", "--gpu-arch", ALSO)
    pack = steps.inspect("also")
    say_some(describe_targets(pack))
    failures = [f"{f['job']}: {f['error']}" for f in result["failures"]]
    print(f"  the linker made {sum(len(t['binaries']) for t in pack['targets'][1:])} binaries of "
          f"other architectures, and refused {len(failures)}")
    steps.save("also", {"targets": describe_targets(pack), "failures": failures})
    return 0


def step_overlay(steps):
    """Starts in a row from the base pack: what the first compiled the next ones find."""
    shutil.rmtree(steps.work / "overlay", ignore_errors=True)
    base = steps.inspect("base")
    rows = []
    for start in range(STARTS):
        run = steps.run("laplace", sizes_of(base)["laplace"], "--pack", steps.pack("base"),
                        "--overlay", str(steps.work / "overlay"))
        rows.append(run)
        print(f"  start {start + 1}: {run['rung']}, {run['milliseconds']} ms, final "
              f"{run['final']}, exit {run['exit']} {run['error']}")
    print(steps.call("overlay", "show", str(steps.work / "overlay")).stdout.rstrip())
    steps.save("overlay", rows)
    later = rows[1:]
    good = all(r["exit"] == 0 for r in rows) and all(
        r["rung"] == "overlay" and r["final"] is True for r in later)
    return 0 if good else 1


def damage(steps, index, binaries, sizes, content):
    """Writes a pack with one damaged binary, runs its variant, and says how that ended."""
    draw = random.Random(index)
    binary = binaries[index % len(binaries)]
    blob = binary["blob"]
    damaged = bytearray(content)
    for _ in range(1 << draw.randrange(7)):
        damaged[blob["offset"] + draw.randrange(blob["stored_size"])] ^= draw.randrange(1, 256)
    path = steps.work / f"damaged-{index}.kiln"
    path.write_bytes(damaged)
    program, variant = binary["variant"].split("/")
    words = ["--without", "il,source"] if index % 4 == 3 else []
    run = steps.run(program, sizes[program], "--variant", variant, "--pack", str(path), *words)
    path.unlink()
    text = run["error"] + json.dumps(run["rungs"])
    run["died"] = run["exit"] not in (0, 1) or "signal" in text or "no answer in time" in text
    return run


def step_damaged(steps):
    """Packs with a damaged binary: another rung serves, or a plain refusal; nothing dies."""
    pack = steps.inspect("finished")
    sizes = sizes_of(pack)
    binaries = [b for target in pack["targets"] for b in target["binaries"]]
    if not binaries:
        sys.exit("the pack has no binaries")
    random.Random(1).shuffle(binaries)
    content = Path(steps.pack("finished")).read_bytes()
    with ThreadPoolExecutor(steps.processes) as pool:
        runs = list(pool.map(lambda i: damage(steps, i, binaries, sizes, content),
                             range(DAMAGED)))
    died = [r for r in runs if r["died"]]
    wrong = [r for r in runs if not r["died"] and r["rung"] == "exact"]
    rungs = sorted({r["rung"] for r in runs})
    served = ", ".join(f"{sum(r['rung'] == rung for r in runs)} by {rung}" for rung in rungs)
    print(f"  {len(runs)} damaged packs: {served}; {len(died)} died, {len(wrong)} loaded the "
          "damaged binary")
    say_some([f"{r['program']}/{r['variant']}: exit {r['exit']} {r['error']}"
              for r in died + wrong])
    steps.save("damaged", {"runs": len(runs), "died": len(died), "wrong": len(wrong),
                           "served": served})
    return 1 if died or wrong else 0


def step_opencv(steps):
    """OpenCV's first calls, where a Python here has cv2."""
    script = Path(__file__).resolve().parent / "opencv_start.py"
    said = "no python3"
    for python in ("python3", "/usr/bin/python3"):
        if not shutil.which(python):
            continue
        done = subprocess.run([python, str(script), "--rounds", "1" if steps.trying else "5"],
                              capture_output=True, text=True, check=False)
        said = (done.stdout.strip() or done.stderr.strip())
        if done.returncode == 0:
            result = json.loads(done.stdout)
            print(f"  OpenCV {result['opencv']}, nine first calls: "
                  f"{result['empty_cache']['sum_ms']:.1f} ms from source, "
                  f"{result['warm_cache']['sum_ms']:.1f} ms from its own cache")
            steps.save("opencv", result)
            return 0
    print(f"  {said.splitlines()[-1] if said else 'no answer'}")
    return 0 if said.startswith("SKIP") else 1


def figure(goal, measured, met):
    return {"goal": goal, "measured": measured, "met": met}


def startup_figures(row):
    """The goals for the start to the first results."""
    times = {way: row[way]["results_ms"] for way in startup_table.WAYS}
    if not row["executes"]:
        return [figure("first results", "the device executes nothing", False)]
    late = [f"{f['program']}/{f['variant']}" for f in startup_table.compiling_late(row)]
    per_program = {way: 1000 * (times[way] - times["floor"]) / row["programs"]
                   for way in ("kiln", "overlay")}
    rows = [figure(f"{row['programs']} programs from source, for comparison",
                   f"{times['source']:.1f} ms", None)]
    for way, name in (("kiln", "Kiln"), ("overlay", "the overlay's second start")):
        faster = times["driver"] / times[way]
        rows += [figure(f"{name} to the first results: at most 8 ms", f"{times[way]:.2f} ms",
                        times[way] <= 8),
                 figure(f"{name}: at least 100 times less than the driver's binaries",
                        f"{faster:.0f} times, of {times['driver']:.1f} ms", faster >= 100),
                 figure(f"{name} above the floor: at most 150 us a program",
                        f"{per_program[way]:.1f} us, above {times['floor']:.2f} ms",
                        per_program[way] <= 150)]
    rows.append(figure("no program compiles at its first launch",
                       ", ".join(late) or "none does", not late))
    return rows


def overlay_figure(rows):
    text = ", ".join(f"{r['rung']} {r['milliseconds']} ms" for r in rows)
    good = all(r["rung"] == "overlay" and r["final"] is True and r["exit"] == 0 for r in rows[1:])
    return figure("starts with an overlay: later ones from it, final", text, good)


def all_figures(steps):
    """The rows of the last table, from what the steps left; None: that step left nothing."""
    build, launches, startup = (steps.saved(name) for name in ("build", "launches", "startup"))
    plain, overlay, damaged = (steps.saved(name) for name in ("plain", "overlay", "damaged"))
    opencv, also = steps.saved("opencv"), steps.saved("also")
    missing = "the step left nothing"
    rows = [figure("binaries exact and final: all variants for the device",
                   f"{build['final']} of {build['wanted']}" if build else missing,
                   bool(build) and build["final"] == build["wanted"]),
            figure("variants launched, exact, with the reference's values: all",
                   f"{launches['good']} of {launches['wanted']}" if launches else missing,
                   bool(launches) and launches["good"] == launches["wanted"])]
    row = startup["devices"][0] if startup else {"error": missing}
    if "error" in row:
        rows.append(figure("first results", row["error"], False))
    else:
        rows += startup_figures(row)
    rows.append(figure("a pack without finishing loads, a rung below",
                       f"{plain['good']} of {plain['programs']} programs on {plain['rung']}, "
                       f"{plain['first_results_ms']['plain']:.0f} ms" if plain else missing,
                       bool(plain) and plain["good"] == plain["programs"]))
    rows.append(overlay_figure(overlay) if overlay else figure("overlay", missing, False))
    rows.append(figure("damaged binaries: none kills, none is loaded",
                       f"{damaged['died']} died, {damaged['wrong']} loaded, of {damaged['runs']}"
                       if damaged else missing,
                       bool(damaged) and damaged["died"] + damaged["wrong"] == 0))
    if also:
        rows.append(figure(f"code for {ALSO}, never run",
                           f"{len(also['targets']) - 1} targets, {len(also['failures'])} refused",
                           None))
    if opencv:
        rows.append(figure("OpenCV's nine first calls, for comparison",
                           f"{opencv['empty_cache']['sum_ms']:.0f} ms, from its cache "
                           f"{opencv['warm_cache']['sum_ms']:.0f} ms", None))
    return rows


def step_figures(steps):
    """One table: goal, measured, met."""
    rows = all_figures(steps)
    words = {True: "yes", False: "NO", None: "-"}
    wide = max(len(row["goal"]) for row in rows)
    print(f"{'goal':{wide}}  {'met':3}  measured")
    for row in rows:
        print(f"{row['goal']:{wide}}  {words[row['met']]:3}  {row['measured']}")
    steps.save("figures", rows)
    if steps.trying:
        print("KILN_GPU_TRY: this is no NVIDIA GPU, and its figures are not judged.")
        return 0
    return 0 if all(row["met"] is not False for row in rows) else 1


def main():
    steps = {name[5:]: call for name, call in globals().items() if name.startswith("step_")}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=sorted(steps))
    parser.add_argument("--kiln", required=True, type=Path)
    parser.add_argument("--device", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--limit", type=float, default=600)
    options = parser.parse_args()
    return steps[options.step](Steps(options))


if __name__ == "__main__":
    sys.exit(main())
