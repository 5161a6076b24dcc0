"""The FlowProf paper's tables 2, 3 and 4 from what bench/flowprof.py measured, with the paper's figures beside ours; and what of the
output of `ulc`, `advise` and `flow` goes into them."""

import figures

NOT_RECORDED = "not recorded"
PATTERN_1_MAX = 0.5  # of the waiting, at most so much is left by conflicts: half of it goes


def of_pairs(ulc):
    """How much of the waiting is for sections that conflict, or may: by pairs, weighed by their site's waiting."""
    waited = sum(site["wait_ns"] for site in ulc["sites"])
    needed = sum(site["wait_ns"] * (site["conflict"] + site["unknown"]) / site["pairs"] for site in ulc["sites"] if site["pairs"])
    pairs = sum(site["pairs"] for site in ulc["sites"])
    found = {"pairs": pairs, "unknown": sum(site["unknown"] for site in ulc["sites"]), "foreign": ulc.get("foreign_share") or 0}
    if waited:
        found["conflicts"] = needed / waited
    return found


def of_advice(advice, kinds):
    """The first change of a lock that is a gain, and its gain."""
    for one in advice["improvements"] or []:
        kind = next((kind for kind in kinds if one["what"].startswith(kind)), None)
        if kind and one["verdict"] == "a gain":
            return {"advised": one["what"], "promised": one["gain"]}
    return {"advised": None}


def of_flow(flow, lock):
    """Of the lock (docs/json.md): its waiting if only conflicts, and only flows, keep their order, the pattern, and what is gained at most."""
    row = next((row for row in flow["locks"] or [] if row["lock"] == lock), None)
    if not row:
        return {}
    gain = row["flows_gain"] if "2" in row["pattern"] else row["conflicts_gain"]
    return {"conflicts_flow": row["conflicts_wait"], "flows": row["flows_wait"], "pattern": row["pattern"].split(":")[0], "gain_of_pattern": gain,
            "instead": row["replacement"]}


def percent(value, digits=0):
    return "-" if value is None else f"{100 * value:.{digits}f} %"


def times(value):
    return "-" if value is None else f"{value:.2f}x"


def seconds(value):
    return "-" if value is None else f"{value:.2f} s"


def pattern_words(patterns):
    return " and ".join(str(pattern) for pattern in patterns) or "neither"


def our_pattern(values):
    """By conflicts alone: 1, or what only flows tell apart."""
    if "pattern" in values:
        return values["pattern"]
    if values.get("conflicts") is None:
        return "-"
    return "1" if values["conflicts"] <= PATTERN_1_MAX else "2 or neither"


def table_2(measured, paper, flow):
    header = ["program", "threads waited", "only conflicts", "paper", "only flows", "paper", "pattern", "paper", "pairs not known"]
    rows = []
    for one in measured:
        values, theirs = one.values, paper[one.program["paper"]]
        unknown = values["unknown"] / values["pairs"] if values.get("pairs") else None
        rows.append([f"`{one.program['name']}`", percent(values.get("waiting")), percent(values.get("conflicts_flow", values.get("conflicts"))),
                     percent(theirs["conflicts"]), percent(values.get("flows")) if flow else NOT_RECORDED, percent(theirs["flows"]),
                     our_pattern(values), pattern_words(theirs["patterns"]), percent(unknown)])
    return figures.markdown(header, rows)


def table_3(measured, paper, flow):
    header = ["program", "fix made", "advised first", "its gain", "gain of the pattern, at most", "without the lock, simulated", "unchanged run, simulated",
              "really", "noise", "paper"]
    rows = []
    for one in measured:
        values = one.values
        rows.append([f"`{one.program['name']}`", one.program["fix"], values.get("advised") or "nothing", percent(values.get("promised"), 1),
                     percent(values.get("gain_of_pattern"), 1) if flow else NOT_RECORDED, percent(values.get("without_lock"), 1), percent(values.get("unchanged"), 1), percent(values.get("gain"), 1),
                     percent(values.get("noise"), 1), percent(paper[one.program["paper"]]["gain"])])
    return figures.markdown(header, rows)


def table_4(measured, paper, flow):
    header = ["program", "plain", "paper", "sections", "sets", "flow", "paper", "memory, sets", "flow", "paper", "`ulc`", "`advise`", "`flow`",
              "paper's analysis", "lock profiler", "paper"]
    rows = []
    for one in measured:
        values, theirs = one.values, paper[one.program["paper"]]
        rows.append([f"`{one.program['name']}`", seconds(values.get("run_s")), seconds(theirs["run_s"]),
                     times(values.get("sections_slow_down")), times(values.get("sets_slow_down")),
                     times(values.get("flow_slow_down")) if flow else NOT_RECORDED, times(theirs["slow_down"]),
                     times(values.get("sets_memory")), times(values.get("flow_memory")) if flow else NOT_RECORDED, times(theirs["memory"]),
                     seconds(values.get("ulc_s")), seconds(values.get("advise_s")), seconds(values.get("flow_s")) if flow else NOT_RECORDED,
                     seconds(theirs["analysis_s"]), percent(values.get("profiler"), 1), percent(theirs["profiler"], 1)])
    return figures.markdown(header, rows)


INTRODUCTION = """
Base and twin print the same result, or it is a problem below. Times are of whole processes, the shortest of {runs} runs that took turns; the
load average before the first was {load:.1f}, and other programs had up to {foreign:.0f} % of the cores while one was recorded.{before}
The paper's machine had 10 cores with two threads each, this one is named above; four threads run here. Of the paper's programs H2 and MVStore are the
releases themselves; BigMap, ConsistentHash, UberZip and the contended pieces of finmath-lib are written anew, so that their figures are of the same
locks, not of the same programs.
"""

WORDS_2 = """
Its table 2. *Threads waited*: for locks, of the time of the four threads; the paper took programs with a tenth and more. *Only conflicts*, *only flows*: what is left
of the waiting for locks if sections wait only for those that they conflict with, or that information came from. {how} What is not known counts as a conflict.
"""

HOW_PAIRS = "Without a recording of flows the first is the share of pairs of sections that conflict, weighed by the waiting of their places (`contrafact ulc`)."
HOW_FLOW = "Both by `contrafact flow`."

WORDS_3 = """
Its table 3. *Advised first*: the first change of a lock that `contrafact advise` ranks as a gain. *Gain of the pattern*: of `contrafact flow`, with the
order of conflicts alone (pattern 1) or of flows alone (2). *Without the lock, simulated*: the run without any waiting for
that lock, which bounds what another one gains; *unchanged* is the same simulation with the lock. *Noise*: by how much the two shortest runs of base or twin differ, the larger.
"""

WORDS_4 = """
Its table 4. *Sections*, *sets* and *flow* are one recording each of the classes that waited, as times of the plain run: all acquisitions; what sections touch, in windows;
the flow of information. Memory is the peak, with the recorder's, as times of the plain run's. *Lock profiler*: `contrafact record` alone.
"""


def section(measured, paper, options, load):
    foreign = max([one.values.get("foreign", 0) for one in measured], default=0)
    before = f" Each run and each analysis stood behind `{' '.join(options.before)}`." if options.before else ""
    parts = [figures.paragraph(INTRODUCTION.format(runs=options.runs, load=load, foreign=100 * foreign, before=before)),
             figures.paragraph(WORDS_2.format(how=HOW_FLOW if options.flow else HOW_PAIRS)), table_2(measured, paper, options.flow), "\n\n",
             figures.paragraph(WORDS_3), table_3(measured, paper, options.flow), "\n\n",
             figures.paragraph(WORDS_4), table_4(measured, paper, options.flow), "\n\n"]
    parts.append("\n".join(f"- `{one.program['name']}`: {one.program['what']}." for one in measured))
    problems = [f"- `{one.program['name']}`, {problem}" for one in measured for problem in one.problems]
    parts.append("\n\nProblems: " + ("\n\n" + "\n".join(problems) if problems else "none."))
    return "".join(parts)
