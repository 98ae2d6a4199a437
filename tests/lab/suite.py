# SPDX-License-Identifier: Apache-2.0
"""A small test runner: scenarios named by sentences, phases with times, some work side by side."""

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor


class Skipped(Exception):
    """This scenario cannot run here; the text says why."""


class Failed(Exception):
    """What a scenario saw that is not as it must be."""


def expect(condition, reason):
    """Fails the scenario unless the condition holds."""
    if not condition:
        raise Failed(reason)


class Suite:
    """Runs scenarios and keeps their outcomes.

    A scenario is a function that returns nothing or a remark, and raises Skipped or Failed. What
    passed is printed where `verbose` is set, and counted otherwise; the rest always is, failures
    once more at the end.
    """

    def __init__(self, jobs, verbose=True):
        self._jobs = jobs
        self._verbose = verbose
        self._failures = []
        self._counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
        self._phases = []

    @property
    def failed(self):
        """Whether any scenario failed."""
        return self._counts["FAIL"] > 0

    @contextlib.contextmanager
    def phase(self, title):
        """Scenarios that belong together; the time they took is printed."""
        print(f"\n== {title}", flush=True)
        start = time.monotonic()
        passed = self._counts["PASS"]
        yield
        seconds = time.monotonic() - start
        self._phases.append((title, seconds))
        print(f"   {self._counts['PASS'] - passed} passed, {seconds:.1f} s", flush=True)

    def check(self, sentence, scenario, *arguments):
        """Runs one scenario; whether it passed."""
        return self._record(sentence, *_outcome(scenario, *arguments))

    def check_each(self, subjects, sentence, scenario):
        """Runs `scenario(subject)` for every subject; `sentence` has a place for its name.

        Returns the subjects that passed. Subjects are names.
        """
        with ThreadPoolExecutor(self._jobs) as pool:
            outcomes = [pool.submit(_outcome, scenario, subject) for subject in subjects]
            return [subject for subject, outcome in zip(subjects, outcomes)
                    if self._record(sentence.format(subject), *outcome.result())]

    def summarise(self):
        """Prints the times and the counts."""
        print("\ntimes")
        for title, seconds in self._phases:
            print(f"   {seconds:6.1f} s  {title}")
        print(f"   {sum(seconds for _, seconds in self._phases):6.1f} s  together")
        counts = ", ".join(f"{count} {word}" for word, count in self._counts.items())
        print(f"\nscenarios: {counts}", *self._failures, sep="\n", flush=True)

    def _record(self, sentence, word, remark, seconds):
        """Counts and prints one outcome."""
        self._counts[word] += 1
        text = remark.strip().replace("\n", "\n        ")
        line = f"{word} {seconds:5.1f} s  {sentence}" + (f": {text}" if text else "")
        if word != "PASS" or self._verbose:
            print(line, flush=True)
        if word == "FAIL":
            self._failures.append(line)
        return word == "PASS"


def _outcome(scenario, *arguments):
    """PASS, FAIL or SKIP, a remark, and the seconds it took."""
    start = time.monotonic()
    word, remark = _judged(scenario, *arguments)
    return word, remark, time.monotonic() - start


def _judged(scenario, *arguments):
    """PASS, FAIL or SKIP and a remark."""
    try:
        return "PASS", scenario(*arguments) or ""
    except Skipped as reason:
        return "SKIP", str(reason)
    except Failed as reason:
        return "FAIL", str(reason)
    except Exception as error:  # an unforeseen answer is a failure of this scenario alone
        return "FAIL", f"{type(error).__name__}: {error}"
