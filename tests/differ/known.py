"""Differences that stand by decision: docs/rest-compatibility.md has each with its reason."""
import json
import re

# What is not offered|are not offered here is refused by words of its own (docs/rest-compatibility.md): the text of Serai's refusal.
NOT_OFFERED = re.compile(r"is not supported|are not supported|is not offered|are not offered here")

# Where Java fails by accident: Serai says what is wrong with the request.
ACCIDENTS = {"null_pointer_exception", "class_cast_exception", "not_x_content_exception", "illegal_state_exception", "array_index_out_of_bounds_exception", "index_out_of_bounds_exception", "array_store_exception", "unsupported_operation_exception", "negative_array_size_exception", "string_index_out_of_bounds_exception"}

# Settings of the cluster that are null.
NO_OBJECT = "Failed to parse object: expecting token of type [START_OBJECT] but found [VALUE_NULL]"

# Queries that are not offered: _validate says that they are not valid, and not always why.
MISSING_QUERIES = re.compile(r'"(more_like_this|geo_shape|shape|rank_feature)":')

# Texts that show an object of Java, its class or its module, or its buffer.
OF_JAVA = re.compile(r"\[Source: |Unable to obtain Instant from TemporalAccessor|@[0-9a-f]{5,8}\b|\bin (unnamed )?module |org\.elasticsearch\.[a-z]+\.[\w.$]+|failed to create query: null$|nested: UnsupportedOperationException;;|nested: ArrayIndexOutOfBoundsException;;")

# The query that a negative boost stands in, as Elasticsearch writes queries.
OF_BOOST = re.compile(r"negative \[boost\] are not allowed in \[")

# A beginning one shorter than `index_prefixes` has them: Elasticsearch's own query for it cannot be used.
SHORT_PREFIX = '"this.rewriteMethod" is null'
NULL_POINTER = {"type": "null_pointer_exception", "reason": None}  # the same, once Java has compiled what throws it

# A method of Java in the stack of a script's error.
JAVA_FRAME = re.compile(r"[\w.$/<>]+\([\w. ]+(:\d+)?\)")


def is_refusal(want, got):
    """Refused as a whole, or by the shards that were asked."""
    failed = got[0] >= 400 or (isinstance(got[1], dict) and (got[1].get("_shards", {}).get("failed") or "responses" in got[1] or got[1].get("valid") is False))
    return bool(failed) and bool(NOT_OFFERED.search(json.dumps(got[1], ensure_ascii=False)))


def is_verified(want, got):
    """What Java's verifier refuses of the code that painless makes: it runs here."""
    return want[0] == 400 and '"verify_error"' in json.dumps(want[1])


# Where a text stops to be a date, and why.
UNPARSED = re.compile(r"could not be parsed(: Invalid value [^\]]*| at index \d+)?|\bDateTime(Parse)?Exception\[[^\]]*\]|Invalid value in '[^']*'|nested: |[\];]")


def is_other_place(place, want, got):
    """Two texts that refuse the same date in the same words, up to where it stops to be one."""
    here, there = at(want, place), at(got, place)
    return isinstance(here, str) and isinstance(there, str) and here != there and "could not be parsed" in here and "failed to parse date field" in here + there and UNPARSED.sub("", here) == UNPARSED.sub("", there)


def is_now_query(place, want, got):
    """The query of a range with `now`, which has a name of its own."""
    here, there = at(want, place), at(got, place)
    plain = lambda t: re.sub(r"\+?DateRangeIncludingNowQuery\(([^()]*)\)", r"\1", t).replace(" #DocValuesFieldExistsQuery [field=_primary_term]", "")
    return place.endswith(".explanation") and isinstance(here, str) and isinstance(there, str) and "DateRangeIncludingNowQuery" in here and plain(here) == plain(there)


def is_other_cast(place, want, got):
    """The error of a value that a method does not take, of no type that is known before it runs."""
    above, _, leaf = place.rpartition(".")
    here, there = at(want, above), at(got, above)
    return leaf in ("type", "reason") and isinstance(here, dict) and isinstance(there, dict) and here.get("type") == "wrong_method_type_exception" and there.get("type") in ("class_cast_exception", "illegal_state_exception")


def is_tied(place, want, got):
    """Another bucket of significant_terms than the one of the same score that stands there, or that `size` left out."""
    steps = place.split(".")
    for i, step in enumerate(steps[:-1]):
        if step != "buckets" or not steps[i + 1].isdigit():
            continue
        here, there = (at(b, ".".join(steps[:i + 1])) for b in (want, got))
        n = int(steps[i + 1])
        if all(isinstance(l, list) and len(l) > n and all(isinstance(b, dict) and "bg_count" in b for b in l) for l in (here, there)):
            scores = [b.get("score") for b in here]
            if scores == [b.get("score") for b in there] and here[n].get("key") != there[n].get("key") and (scores.count(scores[n]) > 1 or n == len(scores) - 1):
                return True
    return False


def is_invalid_here(body, got):
    return isinstance(got[1], dict) and got[1].get("valid") is False and bool(MISSING_QUERIES.search(json.dumps(body, ensure_ascii=False)))


def is_accident(want, got):
    """500 by an accident of Java, where Serai has 400."""
    error = want[1].get("error") if isinstance(want[1], dict) else None
    return want[0] == 500 and 400 <= got[0] < 500 and isinstance(error, dict) and any(c.get("type") in ACCIDENTS or NO_OBJECT in str(c.get("reason")) for c in causes(error))


# One of several mistakes of a request: a parameter that is not known, a key twice in an object, a type of 7.x that cannot be.
ONE_MISTAKE = re.compile(r"contains unrecognized parameters?: \[|Duplicate field '|mapping type name \[\S+ can't start with '_'")


def is_twice_wrong(want, got, body):
    """Refused by both, by one of them for such a mistake: the other names what else is wrong. Or for a body of blanks alone."""
    texts = [json.dumps(a[1]) for a in (want, got)]
    return want[0] == got[0] == 400 and (sum(bool(ONE_MISTAKE.search(t)) for t in texts) == 1 or (isinstance(body, str) and body.isspace()))


def causes(error):
    """An error, and what caused it, of all shards."""
    for e in [error, *error.get("root_cause", []), *(f.get("reason", {}) for f in error.get("failed_shards", []))]:
        while isinstance(e, dict):
            yield e
            e = e.get("caused_by")


def at(body, place):
    """What stands at a place that a difference names, or None."""
    for step in place.split("."):
        if isinstance(body, dict) and step in body:
            body = body[step]
        elif isinstance(body, list) and step.isdigit() and int(step) < len(body):
            body = body[int(step)]
        else:
            return None
    return body


def is_reordered(want, got):
    """The same clauses of a printed query, in another order: that of Java's maps where names collide in them."""
    return all(isinstance(t, str) for t in (want, got)) and sorted(filter(None, re.split(r"[ |()]+", want))) == sorted(filter(None, re.split(r"[ |()]+", got)))


def is_set(want, got):
    """The same values, in the order of a set of Java's, which changes with each run."""
    return all(isinstance(t, str) and ("must be one of [[" in t or "allowed: [" in t) for t in (want, got)) and sorted(re.findall(r"\w+", want)) == sorted(re.findall(r"\w+", got))


def sorted_details(node):
    """An explanation without the order of its parts, and with few digits."""
    text = " ".join(sorted(filter(None, re.split(r"[ |()]+", str(node.get("description"))))))
    return [float(f"{float(node.get('value', 0)):.4g}"), text, sorted((sorted_details(d) for d in node.get("details", [])), key=json.dumps)]


def is_reordered_explanation(place, want, got):
    """The same explanation with its parts in another order: that of clauses which a map seeded by the time has joined."""
    steps = place.split(".")
    for i, step in enumerate(steps):
        if step in ("_explanation", "explanation"):
            here, there = at(want, ".".join(steps[:i + 1])), at(got, ".".join(steps[:i + 1]))
            return isinstance(here, dict) and isinstance(there, dict) and sorted_details(here) == sorted_details(there)
    return False


def is_java_text(place, want, got):
    """A text that shows an object of Java; or the error of a shard, or of an item, that is an accident of Java."""
    here = at(want, place)
    if is_set(here, at(got, place)) or (isinstance(here, dict) and here.get("type") == "invocation_target_exception"):
        return True
    if place.rpartition(".")[2] in ("explanation", "description") and is_reordered(here, at(got, place)):
        return True
    if isinstance(here, str) and isinstance(at(got, place), str) and (OF_JAVA.search(here) or OF_BOOST.search(here)):
        return True
    above = at(want, place.rpartition(".")[0])
    if place.endswith(".status") and isinstance(above, dict) and above.get("status") == 500:  # of an item of a bulk
        above = above.get("error")
    return isinstance(above, dict) and above.get("type") in ACCIDENTS and "reason" in above


# Parts of analyzers that cut or stem by a dictionary that is not there; and IK, where the one that is asked is of another build than the recorded one.
OTHER_TOKENS = re.compile(r'"(kstem|light_english|lightEnglish|thai|ik_smart|ik_max_word)"')


def is_other_token(place, body):
    """A token of `_analyze` from one of these."""
    return "tokens" in place.split(".") and bool(OTHER_TOKENS.search(json.dumps(body, ensure_ascii=False)))


def lone_mins(body):
    """Whether `min` of a field that nobody has ("nope", the generator's name for it) is all that stands below an aggregation."""
    if isinstance(body, dict):
        below = body.get("aggs", body.get("aggregations"))
        if isinstance(below, dict) and len(below) == 1 and body.keys() - {"aggs", "aggregations", "size", "query"}:
            only = next(iter(below.values()))
            if isinstance(only, dict) and isinstance(only.get("min"), dict) and only["min"].get("field") == "nope" and "missing" not in only["min"]:
                return True
        return any(lone_mins(v) for v in body.values())
    return isinstance(body, list) and any(map(lone_mins, body))


def is_java_frame(place, want, got):
    """A `script_stack` that is the same but for the methods of Java in it."""
    above, stack, _ = place.partition("script_stack")
    if not stack:
        return False
    wanted, found = at(want, above + stack), at(got, above + stack)
    return isinstance(wanted, list) and isinstance(found, list) and [f for f in wanted if not JAVA_FRAME.fullmatch(f)] == found


def is_better(want, got):
    """A right request that is served, or a wrong one that is refused, where Elasticsearch fails, or finds nothing."""
    texts = [json.dumps(a[1], ensure_ascii=False) for a in (want, got)]
    return (want[0] == 400 and got[0] == 200 and "addr is of illegal length" in texts[0]) or (want[0] == 200 and got[0] == 400 and "Required [id, max]" in texts[1])


def is_served(want, got):
    """500 by an accident of Java over what needs none: a null where nothing was asked for, values of fields of several types, columns that are not there."""
    error = want[1].get("error") if isinstance(want[1], dict) else None
    return want[0] == 500 and got[0] == 200 and isinstance(error, dict) and any(SERVED.search(f"{c.get('type')}: {c.get('reason')}") for c in causes(error))


def is_served_by_shards(want, got):
    """The same, of some of the shards that were asked: those that failed there have their hits here."""
    shards = [a[1].get("_shards") if isinstance(a[1], dict) else None for a in (want, got)]
    if want[0] != 200 or got[0] != 200 or not all(isinstance(s, dict) for s in shards) or shards[1].get("failed"):
        return False
    reasons = [f.get("reason", {}) for f in shards[0].get("failures", [])]
    return bool(reasons) and all(any(SERVED.search(f"{c.get('type')}: {c.get('reason')}") for c in causes(r)) for r in reasons)


# A stored keyword in the plain highlighter: the bytes of a Java object.
HEX_BYTES = re.compile(r"\[[0-9a-f]{2}( [0-9a-f]{2})*\]")


def is_stored_keyword(place, want, got):
    here = at(want, place)
    return ".highlight." in place and isinstance(here, str) and bool(HEX_BYTES.fullmatch(here)) and isinstance(at(got, place), str)


def is_null_pointer(want, got, body):
    """A query by the beginning of a word that cannot be built for an accident of Java that says nothing, where Serai answers."""
    error = want[1].get("error") if isinstance(want[1], dict) else None
    return want[0] == 400 and got[0] == 200 and isinstance(error, dict) and any(c == NULL_POINTER for c in causes(error)) and re.search(r"prefix|\*", json.dumps(body)) is not None


SERVED = re.compile(r'null_pointer_exception: (Input string is null|None|.*because "value" is null)|array_index_out_of_bounds_exception: Index \d+ out of bounds for length \d+|class_cast_exception: class java\.lang\.|illegal_state_exception: (unexpected docvalues type NONE|Can.t merge suggest (result|entries))')

# Fields that have no columns at all: which of them a pattern meets first is a matter of a map of Java's.
NO_COLUMNS = re.compile(r"ielddata is (not supported on field \[_|unsupported on fields of type)|Text fields are not optimised")


# The beginning of a value that is no base64: where reading it ended.
BAD_BASE64 = re.compile(r"of type \[binary\] in document with id '.*'\. Preview of field's value")


# Fields whose mappings cannot be merged.
NO_MERGE = re.compile(r"^mapper \[.*\] cannot be changed from type|^can't merge a non object mapping|^object mapping \[.*\] can't be changed")


def is_other_field(place, want, got):
    here, there = at(want, place), at(got, place)
    return isinstance(here, str) and isinstance(there, str) and any(p.search(here) and p.search(there) for p in (NO_COLUMNS, NO_MERGE, BAD_BASE64))


def is_other_end(place, want, got):
    """A text whose end is left out: what of a request is waited for in vain; or which of several shards that failed was the last to say so."""
    here, there = at(want, place), at(got, place)
    if not isinstance(here, str) or not isinstance(there, str):
        return False
    return here.startswith(there + ", request: [") or {here, there} <= SHARDS_FAILED or {here, there} <= PHASES


SHARDS_FAILED = {"all shards failed", "Partial shards failure"}
PHASES = {"can_match", "query"}

# A mapping type of 7.x beside `_doc`.
OTHER_TYPE = re.compile(r"the final mapping would have more than 1 type")


def is_regex_text(place, want, got):
    """What is wrong with a regular expression, in the words of another library."""
    here, there = at(want, place), at(got, place)
    parents = [at(b, place.rpartition(".")[0]) for b in (want, got)]
    typed = all(isinstance(p, dict) and p.get("type") == "pattern_syntax_exception" for p in parents)
    return isinstance(here, str) and isinstance(there, str) and (typed or ("U_REGEX_" in there and " near index " in here))


def is_other_type(want, got):
    return bool(OTHER_TYPE.search(json.dumps([want[1], got[1]])))


def is_other_order(path, want, got):
    """Rows of `_cat` where nothing says their order: Elasticsearch has them as they lie in hash maps."""
    if not path.startswith("/_cat/"):
        return False
    rows = lambda body: sorted(json.dumps(r, sort_keys=True) for r in (body if isinstance(body, list) else [re.sub(r" +", " ", l.strip()) for l in body.splitlines()]))
    by = re.search(r"[?&]s=([^&]*)", path)
    return all(isinstance(b, (str, list)) for b in (want, got)) and rows(want) == rows(got) and (not by or ties(by.group(1), want, got))


def ties(by, want, got):
    """Whether each row of a listing in JSON, or none that shows a column it is sorted by, has the same values there: then only ties lie otherwise."""
    columns = [c.split(":")[0] for c in by.split(",")]
    if isinstance(want, str):
        return True
    return [[r.get(c) for c in columns] for r in want] == [[r.get(c) for c in columns] for r in got]


# What a program's own structures need in memory.
SIZE_IN_MEMORY = re.compile(r"(^|\.)(fielddata|completion)\.(\w+_in_bytes|fields(\..*)?)$")

# The indices of an alias where one is wanted.
SEVERAL = re.compile(r"(?<=more than one index associated with it \[)[^]]*")


def is_same_set(place, want, got):
    """The same text but for the order of the indices that an alias has."""
    texts = [at(body, place) for body in (want, got)]
    return all(isinstance(t, str) and SEVERAL.search(t) for t in texts) and len({SEVERAL.sub(lambda m: ", ".join(sorted(m.group().split(", "))), t) for t in texts}) == 1


# Columns of range fields: bytes that no client can read.
OF_RANGES = re.compile(r"fielddata is unsupported on fields of type \[\w+_range\]|ranges have no printed doc values")
UNREADABLE = re.compile("[\x00-\x1f\ud800-\udfff]")


def is_range_column(place, want, got, body):
    """What is shown of the column of a range field, in a script's field."""
    here = at(want, place)
    return ".fields." in place and at(got, place) is None and isinstance(here, str) and bool(UNREADABLE.search(here)) and "script_fields" in json.dumps(body)


# A script that reads the column of a range field (the generator's `r1`).
SCRIPT_OF_RANGE = re.compile(r"""\bdoc(\.|\[\\*['"])r\d""")


# The store that copies of an index came from which was closed meanwhile.
FIRST_STORE = re.compile(r"\bempty_store\b", re.I)


def is_first_store(place, want, got):
    here, there = at(want, place), at(got, place)
    if isinstance(want, str) and isinstance(got, str) and place.isdigit():  # a line of a listing
        here, there = (body.splitlines()[int(place)] if int(place) < len(body.splitlines()) else None for body in (want, got))
    squeezed = lambda t: re.sub(r" +", " ", t.strip())
    return isinstance(here, str) and isinstance(there, str) and here != there and squeezed(FIRST_STORE.sub(lambda m: "EXISTING_STORE" if m.group().isupper() else "existing_store", there)) == squeezed(here)


# A join explained for a document that the search does not find: Elasticsearch goes by the id alone, or fails.
OF_JOIN = re.compile(r'"has_(child|parent)"')


def is_join_explained(path, want, got, body):
    failed = want[0] == 500 and 'because \\"scorer\\" is null' in json.dumps(want[1])
    matched = isinstance(want[1], dict) and isinstance(got[1], dict) and want[1].get("matched") is True and got[1].get("matched") is False
    return "/_explain/" in path and bool(OF_JOIN.search(json.dumps(body))) and (failed or matched)


def is_unanswered(want, got):
    """No answer, as Java ended with an Error that nobody catches: here there is one."""
    return not want[0] and "no answer" in str(want[1]) and bool(got[0])


# The letter of Modified Julian days in a date format.
JULIAN_DAYS = "Unknown pattern letter: g"

# Queries that are printed after they were rewritten: boosting, a box over the date line, what matches nothing, clauses that are the same.
REWRITTEN = re.compile(r"scored by boost\(queryboost\(|ConstantScore\((\S+):\[[^]]*\],\[-180\.0 TO [^]]*\] \1:|MatchNoDocsQuery|BinaryDocValuesRangeQuery\(fieldName=,")


def is_rewritten(place, want, got):
    """The text of such a query, or anything in the explanation of it, with the same score."""
    here, there = at(want, place), at(got, place)
    steps = place.split(".")
    for i, step in enumerate(steps[:-1]):
        if step in ("_explanation", "explanation"):
            whole = [at(b, ".".join(steps[:i + 1])) for b in (want, got)]
            if all(isinstance(w, dict) for w in whole) and whole[0].get("value") == whole[1].get("value") and "scored by boost(queryboost(" in json.dumps(whole[0]):
                return True
    if steps[-1] not in ("explanation", "description") or not isinstance(here, str) or not isinstance(there, str):
        return False
    words = [set(re.findall(r"\[[0-9a-f ]+\]|\w+", t)) - {"ConstantScore"} for t in (here, there)]
    return bool(REWRITTEN.search(here)) or ("_id:" in here and words[0] == words[1])


# Where a document lies, in an explanation.
DOC_NUMBER = re.compile(r"(?<= in )\d+(?=\)| )|(?<=doesn't match id )\d+")


def is_other_number(place, want, got):
    """The same explanation of a document that lies at another number in its segment."""
    here, there = at(want, place), at(got, place)
    return place.rpartition(".")[2] in ("description", "explanation") and isinstance(here, str) and isinstance(there, str) and DOC_NUMBER.sub("", here) == DOC_NUMBER.sub("", there)


def is_late_cast(want, got):
    """A value of java.time that a method does not take: refused where the script runs, not where it is compiled."""
    return want[0] == got[0] == 400 and "Cannot cast from [java.time." in json.dumps(want[1]) and "Cannot cast java.time." in json.dumps(got[1])


# Places in errors about a template's text that has characters beyond ASCII.
PLACES = re.compile(r"\[\d+:\d+\]|(line|column): \d+")


def is_template_place(place, want, got, body, path):
    here, there = at(want, place), at(got, place)
    if "/template" not in path or json.dumps(body, ensure_ascii=False).isascii():
        return False
    return place.rpartition(".")[2] in ("col", "line") or (isinstance(here, str) and isinstance(there, str) and PLACES.sub("", here) == PLACES.sub("", there))


def is_typed_line(body):
    """A bulk with a line that names a mapping type of 7.x."""
    return isinstance(body, list) and any(isinstance(m, dict) and m.get("_type", "_doc") != "_doc" for l in body if isinstance(l, dict) for m in l.values())


def is_range_refusal(got):
    """The refusal of such a column, of the whole or of some of the shards."""
    shards = got[1].get("_shards") if isinstance(got[1], dict) else None
    refused = got[1] if got[0] == 400 else shards.get("failures") if isinstance(shards, dict) else None
    return bool(OF_RANGES.search(json.dumps(refused)))


def unnamed(want, got, diffs, body=None, path=""):
    """What of the differences of two answers (status, body) to a request with this path and body was not decided."""
    if is_range_refusal(got) or (UNREADABLE.search(str(want[1])) and SCRIPT_OF_RANGE.search(json.dumps(body))):
        return []
    if diffs and (is_other_order(path, want[1], got[1]) or is_join_explained(path, want, got, body)):
        return []
    if diffs and (is_unanswered(want, got) or is_typed_line(body) or is_late_cast(want, got) or (want[0] == 200 and JULIAN_DAYS in json.dumps(got[1])) or is_other_type(want, got) or is_twice_wrong(want, got, body) or is_refusal(want, got) or is_accident(want, got) or is_served(want, got) or is_verified(want, got) or is_better(want, got) or is_invalid_here(body, got) or is_null_pointer(want, got, body) or is_served_by_shards(want, got) or SHORT_PREFIX in json.dumps(want[1]).replace('\\"', '"')):
        return []
    if "/_search_shards" in path:
        diffs = [d for d in diffs if ".filter." not in d[0]]
    return [d for d in diffs if not is_stored_keyword(d[0], want[1], got[1]) and not is_other_number(d[0], want[1], got[1]) and not is_rewritten(d[0], want[1], got[1]) and not is_template_place(d[0], want[1], got[1], body, path) and not is_reordered_explanation(d[0], want[1], got[1]) and not is_other_field(d[0], want[1], got[1]) and not is_tied(d[0], want[1], got[1]) and not is_other_place(d[0], want[1], got[1]) and not is_now_query(d[0], want[1], got[1]) and not is_other_cast(d[0], want[1], got[1]) and not is_java_text(d[0], want[1], got[1]) and not is_java_frame(d[0], want[1], got[1]) and not is_other_token(d[0], body) and not is_range_column(d[0], want[1], got[1], body)
            and not is_other_end(d[0], want[1], got[1]) and not is_regex_text(d[0], want[1], got[1]) and not SIZE_IN_MEMORY.search(d[0]) and not is_first_store(d[0], want[1], got[1]) and not is_same_set(d[0], want[1], got[1]) and not (d[0].startswith("aggregations.") and lone_mins(body))]
