"""A test that makes several attempts, and passes with some of them failed, says how many did: `./dev test` counts them
(tools/not_measured.py). None is made again until it passes."""


def report(what, failed, attempts):
    print(f"attempts: {failed} of {attempts} failed: {what}", flush=True)
