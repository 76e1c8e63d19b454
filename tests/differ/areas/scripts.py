"""Scripts wherever they run: fields, queries, sorting, scores, updates, aggregations; right ones and wrong ones."""
from areas.queries import query
from world import NUMBERS

INTS = ["1", "2", "7", "-3", "0", "params.n", "params.n", "(int)3.9", "10 / 3", "7 % 4", "1 << 3", "0x1F", "-8 >>> 28", "~5", "5 & 3", "5 | 8", "5 ^ 1", "Integer.MAX_VALUE + 1", "(int)'a'", "'a' as int"]
REALS = ["1.5", "2.0", "-0.5", "1e10", "3.0f", "5d", "1.0 / 3", "0.0 / 0", "params.x", "7 / 2.0", "1e300 * 1e10", "0.1 + 0.2"]
TEXTS = ["'red'", "'Fox runs'", "''", "params.s", "'a,b,c'", "'上海'", "'x' + 1", "'x' + null", "1 + 'x' + 2.0", "'a' + true", "\"q\\\"uote\"", "'-12'", "' pad '"]
LISTS = ["[1, 2, 3]", "[]", "['b', 'a', 'c']", "params.l", "new ArrayList()", "[3, 1, 2]", "[1.5, 2]", "Arrays.asList(new int[] {1, 2})", "[[1], [2, 3]]"]
MAPS = ["['a': 1, 'b': 2]", "[:]", "params.m", "new HashMap(['z': 1])", "['x': ['y': 3]]", "new TreeMap(['b': 1, 'a': 2])"]
TEXT_CALLS = [".length()", ".toUpperCase()", ".substring(1)", ".indexOf('o')", ".contains('o')", ".startsWith('r')", ".replace('o', '0')", ".charAt(0)", ".trim()", ".isEmpty()", ".hashCode()", ".equals('red')", ".compareTo('blue')", ".splitOnToken(',')", ".splitOnToken(',').length",
              ".lastIndexOf('e')", ".toLowerCase()", ".concat('!')", ".endsWith('d')", ".substring(0, 2)", ".codePointAt(0)", ".encodeBase64()", ".equalsIgnoreCase('RED')", ".toCharArray().length", ".chars().sum()", ".foo()", ".length", ".sha1()", ".replaceAll(/o/, m -> '0')"]
LIST_CALLS = [".size()", ".get(0)", "[0]", "[-1]", ".contains(2)", ".stream().mapToInt(x -> x).sum()", ".stream().map(x -> x + 1).collect(Collectors.toList())", ".isEmpty()", ".indexOf(2)", ".hashCode()", ".length", ".sum()", ".subList(0, 1)", ".stream().filter(x -> x > 1).count()", "[5]", ".toString()", ".stream().max(Comparator.naturalOrder()).get()",
              ".collect(x -> x)", ".findAll(x -> x != null)", ".any(x -> x == 1)", ".join('-')", ".stream().map(String::valueOf).collect(Collectors.joining(','))", ".iterator().next()", ".foo", ".get('a')", ".stream().sorted().findFirst().get()", ".stream().reduce(0, (a, b) -> a + b)", ".getLength()", ".stream().distinct().count()", ".groupBy(x -> x)",
              ".stream().collect(Collectors.toMap(x -> x, x -> 1))", ".equals([1, 2, 3])", ".asList()", ".stream().anyMatch(x -> x == 2)", ".stream().skip(1).limit(1).collect(Collectors.toList())", ".each(x -> x)", ".collect(x -> x + 1)", ".split(x -> x == 1)"]
MAP_CALLS = [".size()", ".a", "['a']", ".get('b')", ".containsKey('a')", ".keySet()", ".values()", ".entrySet()", ".getOrDefault('q', 9)", ".q", ".isEmpty()", ".toString()", ".hashCode()", ".x.y", ".keySet().iterator().next()", ".entrySet().stream().map(e -> e.getKey()).collect(Collectors.toList())", ".remove('a')", ".computeIfAbsent('k', k -> 4)", ".q.r", ".collect((k, v) -> k)", ".containsValue(1)",
             ".findAll((k, v) -> v > 1)", ".count((k, v) -> true)", ".equals(['a': 1, 'b': 2])", ".merge('a', 5, (o, n) -> o)"]
MATH = ["Math.max({i}, {i})", "Math.abs({i})", "Math.floor({r})", "Math.round({r})", "Math.sqrt({r})", "Math.pow(2, {i})", "Math.log(10)", "Integer.parseInt('42')", "Double.parseDouble('2.5')", "Integer.toString({i})", "Math.signum({r})", "Long.parseLong('x')", "Integer.valueOf(5)", "Boolean.parseBoolean('true')", "String.valueOf({r})",
        "Math.floorMod(-7, 3)", "Double.isNaN({r})", "Integer.compare({i}, 2)", "Integer.toHexString(255)", "Math.nope(1)", "Double.toString({r})", "Float.parseFloat('1.1')", "Math.ceil({r})", "Math.hypot(3, 4)", "Math.atan2(1, 2)", "Character.isDigit((char)'1')", "Long.MAX_VALUE", "Double.MIN_VALUE", "Integer.bitCount(7)", "Objects.hash([1, 2])", "Objects.equals(1, 1L)", "Optional.of(3).get()"]
DATES = ["ZonedDateTime.parse('2020-02-29T10:00:00Z')", "Instant.ofEpochMilli(1577836800000L)", "LocalDate.of(2020, 2, 29)", "LocalDateTime.of(2020, 1, 2, 3, 4, 5)", "LocalTime.of(10, 30)", "Duration.ofHours(5)", "LocalDate.parse('2021-12-31')", "ZonedDateTime.ofInstant(Instant.ofEpochMilli(0L), ZoneId.of('UTC'))"]
DATE_CALLS = [".getYear()", ".plusDays(1)", ".toString()", ".getMonthValue()", ".getDayOfWeek()", ".toEpochMilli()", ".toInstant().toEpochMilli()", ".toMinutes()", ".getHour()", ".isBefore(LocalDate.of(2021, 1, 1))", ".toLocalDate()", ".format(DateTimeFormatter.ofPattern('yyyy/MM/dd'))", ".getDayOfYear()", ".minusMonths(1)", ".withDayOfMonth(1)", ".getMonth()", ".lengthOfMonth()", ".isLeapYear()",
              ".truncatedTo(ChronoUnit.DAYS)", ".get(ChronoField.DAY_OF_WEEK)", ".withZoneSameInstant(ZoneId.of('Asia/Shanghai'))", ".getDayOfWeekEnum()"]
WRONG = ["1 +", "foo", "x = 1", "return", "int i = 'a'; i", "def x = null; x.y", "null.a", "1 / 0", "[1, 2][5]", "Integer.parseInt('x')", "throw new IllegalArgumentException('no')", "doc['nope'].value", "def f() { f() } f()", "for (;;) {}", "while (true) { int i = 1 }", "int x = 1; int x = 2; x", "new Foo()", "Math.max(1)", "'a' * 2", "!5", "params.none.x", "(String)1", "def l = [1]; l.add(0, 'a'); l[5]",
         "if (1) {return 2}", "break;", "int i; i + 1", "return 1; return 2", "'abc'.substring(9)", "def a = [:]; a.b.c = 1", "java.lang.System.exit(1)", "1 instanceof Foo", "List l = [1]; String s = l.get(0); s", "-", "(", "'unclosed", "/[/", "1L << 65L", "true + 1", "null + null", "def x = 5; x()", "def x; x += 1; x", "char c = 'ab'; c", "byte b = 300; b", "a.b", "doc.x", "doc['k1', 'x']",
         "int f(int a) { return a } f('x')", "int f(int a) { return a } f(1, 2)", "try { 1 / 0 } catch (Exception e) { return e.getMessage() }", "[1].stream().map(x -> x.foo()).collect(Collectors.toList())", "Object o = 1; o + 1", "final int x = 1; x = 2; x", "int[] a = new int[2]; a[3]", "int[] a = new int[-1]; a", "'x'.foo = 1", "params = 1", "ctx", "emit(1)", "_score", "_value", "return null", "", "  ", ";", "{}",
         "1; 2", "def x = 1\nint y = x.z", "String s = null; s.length()", "Iterator it = [].iterator(); it.next()", "new ArrayList(5)", "new HashMap(1)", "this", "x -> x", "Math", "List", "int", "@", "#", "1 2", "if (true) return 1", "'a' == 1 ? 2 : 'b'", "null ?: 3", "params?.n?.x", "5 ?: 3", "1 ? 2 : 3", "long x = 5L; int y = x; y", "int y = 5.5; y", "def y = (int)null; y", "new int[] {1, 'a'}", "1 == 1L", "'1' == 1", "null == 0",
         "[1,2] == [1,2]", "1 === 1.0", "1 !== 2", "1 < 'a'", "null < 1", "'a' < 'b'", "true && 1", "1 in [1]", "def m = [1: 2]; m[1]", "def m = ['a': null]; m.a", "assert true", "switch (1) { case 1: return 2 }"]
BLOCKS = ["int t = 0; for (int i = 0; i < {i}; i++) {{ t += i }} return t", "def l = {l}; def t = ''; for (x in l) {{ t += x }} return t", "for (def x : {l}) {{ if (x == 2) return x }} return -1", "int i = 0; while (i < 5) {{ i++; if (i == 3) {{ break }} }} i", "int i = 0; do {{ i += 2 }} while (i < 7); i", "def f(int a) {{ return a * 2 }} f({i})", "def m = {m}; m.k = {r}; return m",
          "StringBuilder b = new StringBuilder(); b.append('x').append({i}).append({t}); b.toString()", "StringBuilder b = new StringBuilder('abc'); b.insert(1, 'Z'); b.reverse().toString()", "def s = {t}; return s.length() > 2 ? s.substring(0, 2) : s", "if ({b}) {{ return 'y' }} else {{ return 'n' }}", "int x = {i}; x++; ++x; x--; x *= 2; return x", "def l = [3, 1, 2]; Collections.sort(l); l", "def l = {l}; l.sort((a, b) -> b.compareTo(a)); l",
          "def l = new ArrayList(); l.add({i}); l.add({t}); l", "int[] a = new int[3]; a[1] = {i}; a", "def x = {d}; x instanceof List", "String s = {t}; s += 'z'; s", "long a = {i}; a / 2", "def a = {r}; def b = {i}; a + b", "try {{ return {l}.get(7) }} catch (IndexOutOfBoundsException e) {{ return 'caught' }}", "try {{ {w} }} catch (Exception e) {{ return 'c' }}", "Set s = new HashSet(); s.add('b'); s.add('a'); s.add('c'); s", "def m = new HashMap(); for (x in ['zulu', 'alpha', 'mike', 'kilo']) {{ m[x] = x.length() }} return m",
          "def a = 1, b = 2; a + b", "Map m = [:]; m.put('a', 1); m.putAll(['b': 2]); m", "def c = 0; {l}.forEach(x -> {{ c }}); c", "int x = 5; def r = () -> x + 1; r.get()", "Function f = x -> x + 1; f.apply(2)", "boolean b = {b}; !b", "def x = {d}; x.toString()", "def it = {l}.iterator(); def n = 0; while (it.hasNext()) {{ it.next(); n++ }} n", "byte b = (byte)200; b", "char c = 'x'; c + 1", "float f = 1.1f; f", "short s = (short)70000; s", "long l = 1L << 40; l", "double d = 5; d",
          "def x = {i}; x = 'now text'; x", "{l}.getClass()", "return {l}.stream().collect(Collectors.groupingBy(x -> x))", "def d = {z}; d.toString()", "{{ int q = 1 }} 5", "int z = 1; {{ int q = 2; z += q }} z", "def x = 0; for (int i = 0, j = 5; i < j; ++i, --j) {{ x += j }} x", "for (int i = 0; i < 3; ++i) {{ if (i == 1) continue; if (i == 2) return i }} 9", "def x = {d}; return x == {d}"]


def field(draw, world):
    return world.field() if draw.chance(0.3) else draw.choice(["n1", "k1", "d1", world.field(*NUMBERS), world.field("keyword"), world.field("date"), world.field("boolean"), world.field("geo_point"), world.field("ip")])


def document(draw, world):
    """What reads the document's values."""
    f = field(draw, world)
    first = ["doc['{f}'].value", "doc['{f}'].size()", "doc['{f}'].empty", "doc['{f}']", "doc['{f}'].values", "doc['{f}'].length", "doc['{f}'].get(0)", "doc['{f}'][0]", "doc.{f}.value", "doc['{f}'].size() == 0 ? 'none' : doc['{f}'].value", "doc.containsKey('{f}')", "doc['{f}'].contains(1)", "doc['{f}'].isEmpty()", "doc['{f}'].stream().count()", "doc['{f}'].join(',')"]
    of_date = ["doc['{f}'].value.getYear()", "doc['{f}'].value.millis", "doc['{f}'].value.toInstant().toEpochMilli()", "doc['{f}'].value.year", "doc['{f}'].value.getDayOfWeek()", "doc['{f}'].value.dayOfWeekEnum", "doc['{f}'].value.toString()", "doc['{f}'].value.plusDays(3)", "doc['{f}'].value.getMillis()", "doc['{f}'].value.monthValue", "doc['{f}'].value.format(DateTimeFormatter.ISO_DATE)", "doc['{f}'].value.isAfter(doc['{f}'].value)"]
    of_point = ["doc['{f}'].lat", "doc['{f}'].value.lon", "doc['{f}'].arcDistance(31, 121)", "doc['{f}'].planeDistance(0, 0)", "doc['{f}'].geohashDistance('u33')", "doc['{f}'].lats", "doc['{f}'].arcDistanceWithDefault(1, 2, 5)"]
    kind = world.leaves().get(f, {"type": ""})["type"]
    more = of_date if kind.startswith("date") else of_point if kind == "geo_point" else ["doc['{f}'].value + 1", "doc['{f}'].value.length()", "doc['{f}'].value * 2", "doc['{f}'].value.toString()", "doc['{f}'].value == 'red'", "doc['{f}'].value > 3", "Math.abs(doc['{f}'].value)"]
    return draw.choice(first + more).replace("{f}", f)


def expression(draw, world):
    """An expression of any type."""
    part = {"i": lambda: draw.choice(INTS), "r": lambda: draw.choice(REALS), "t": lambda: draw.choice(TEXTS), "l": lambda: draw.choice(LISTS), "m": lambda: draw.choice(MAPS), "b": lambda: draw.choice(["true", "false", "1 < 2", "params.b", "!true"]), "z": lambda: draw.choice(DATES), "w": lambda: draw.choice(WRONG)}
    part["d"] = lambda: part[draw.choice("irtlmb")]()
    made = {k: f() for k, f in part.items()}
    op = draw.choice(["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "+", "===", "&&", "||", "&", "<<"])
    kinds = [lambda: made["i"], lambda: made["r"], lambda: made["t"] + draw.choice(TEXT_CALLS), lambda: made["l"] + draw.choice(LIST_CALLS), lambda: made["m"] + draw.choice(MAP_CALLS), lambda: draw.choice(MATH).format(**made), lambda: made["z"] + draw.choice(DATE_CALLS), lambda: f"{made['d']} {op} {part['d']()}", lambda: f"{made['b']} ? {made['d']} : {part['d']()}", lambda: made["l"],
             lambda: made["m"], lambda: f"(def)({made['d']})", lambda: f"({draw.choice(['int', 'long', 'double', 'String', 'float', 'byte', 'List', 'Object', 'char'])})({made['d']})", lambda: f"{made['d']} instanceof {draw.choice(['Integer', 'String', 'List', 'Map', 'Number', 'def', 'ArrayList'])}", lambda: f"def v = {made['d']}; v {op} {part['d']()}"]
    return draw.choice(kinds)()


def source(draw, world, read=0.4):
    """A script: one that reads documents, computes, runs statements, or is wrong."""
    kind = draw.random()
    if kind < read:
        return document(draw, world)
    if kind < read + (1 - read) * 0.45:
        return draw.choice(["", "return ", ""]) + expression(draw, world)
    if kind < read + (1 - read) * 0.75:
        made = {k: draw.choice(v) for k, v in (("i", INTS), ("r", REALS), ("t", TEXTS), ("l", LISTS), ("m", MAPS), ("b", ["true", "false", "params.b"]), ("z", DATES), ("w", WRONG))}
        made["d"] = made[draw.choice("irtlm")]
        return draw.choice(BLOCKS).format(**made)
    return draw.choice(WRONG)


def params(draw):
    return {"n": draw.choice([0, 2, 5, 2**40]), "x": draw.choice([0.5, -2.25, 3.0]), "s": draw.choice(["red", "", "a b"]), "l": draw.choice([[1, 2], [], ["x"]]), "m": draw.choice([{"a": 1}, {}, {"x": {"y": 2}}]), "b": draw.chance(0.5)}


def script(draw, text):
    if draw.chance(0.05):
        return text
    made = {"source": text, "params": params(draw), **draw.keys(lang=(0.07, lambda: draw.choice(["painless", "painless", "expression", "nope"])))}
    if made.get("lang") == "expression" and "doc" in text:  # the one that is asked may have expressions of another version: a request that reads a field is then never answered
        made["lang"] = "painless"
    return made


def s_fields(draw, world):
    one = lambda: {"script": script(draw, source(draw, world)), **draw.keys(ignore_failure=(0.1, lambda: True))}
    return {"script_fields": {n: one() for n in ["f", "g"][:draw.choice([1, 1, 1, 2])]}, **draw.keys(size=(0.3, lambda: 2))}


def s_query(draw, world):
    text = draw.choice([document(draw, world) + draw.choice([" == 1", " > 2", "", " != null"]), source(draw, world), expression(draw, world) + " == 1"])
    return {"query": {"script": {"script": script(draw, text)}}, "_source": False}


def s_score(draw, world):
    text = draw.choice([source(draw, world), "_score * " + document(draw, world), f"doc['{world.field(*NUMBERS)}'].size() == 0 ? 1 : Math.abs(doc['{world.field(*NUMBERS)}'].size() * 2.5)", "saturation(doc['n1'].size(), 2)", "sigmoid(_score, 2, 1)", "decayNumericLinear(3, 10, 0, 0.5, doc['n1'].size())", "randomScore(1, '_seq_no')", "decayDateGauss('2020-01-01', '10d', '0', 0.5, doc['d1'].value)",
                        "dotProduct([1], 'n1')", "decayGeoExp('0,0', '100km', '0', 0.5, doc['g1'].value)", "_score + params.x", "params._source.n1"])
    s = {"script": script(draw, text)}
    inner = query(draw, world, 0) if draw.chance(0.3) else {"match_all": {}}
    return {"query": draw.choice([{"script_score": {"query": inner, **s}}, {"function_score": {"query": inner, "script_score": s, **draw.keys(boost_mode=(0.3, lambda: "replace"))}}]), "_source": False}


def s_sort(draw, world):
    kind = draw.choice(["number", "string", "number", "version"])
    return {"sort": [{"_script": {"type": kind, "script": script(draw, source(draw, world, 0.6)), **draw.keys(order=(0.5, lambda: draw.choice(["asc", "desc"])), mode=(0.1, lambda: draw.choice(["min", "max"])))}}, "_doc"], "_source": False}


def s_aggs(draw, world):
    s = lambda: script(draw, source(draw, world, 0.7))
    value = lambda: script(draw, draw.choice(["_value + 1", "_value", "_value * params.x", "doc['n1'].size()", source(draw, world)]))
    pipe = lambda: script(draw, draw.choice(["params.a + params.b", "params.a > 1", "a", "params.a / 0", "params.none", "return null", expression(draw, world)]))
    path = {"a": draw.choice(["m", "_count"]), "b": "_count"}
    deep = draw.choice([{"bucket_script": {"buckets_path": path, "script": pipe()}}, {"bucket_selector": {"buckets_path": path, "script": pipe()}}, {"moving_fn": {"buckets_path": "m", "window": 2, "script": draw.choice(["MovingFunctions.max(values)", "values.length", "values[0]", "MovingFunctions.linearWeightedAvg(values)", source(draw, world)])}}])
    return {"size": 0, "aggs": {"a": draw.choice([
        {"terms": {"script": s()}}, {"avg": {"script": s()}}, {"terms": {"field": world.field("keyword", *NUMBERS), "script": value()}}, {"max": {"field": world.field(*NUMBERS), "script": value()}}, {"cardinality": {"script": s()}}, {"histogram": {"script": s(), "interval": 5, "min_doc_count": 1}},
        {"histogram": {"field": "n1", "interval": 10, "min_doc_count": draw.choice([0, 1])}, "aggs": {"m": {"sum": {"field": world.field(*NUMBERS)}}, "p": deep}} if world.leaves()["n1"]["type"] not in ("long", "integer") else {"terms": {"field": "k1"}, "aggs": {"m": {"avg": {"field": "n1"}}, "p": deep}},
        {"terms": {"field": "k1", "order": {"_key": "asc"}}, "aggs": {"m": {"max": {"field": "n1"}}, "p": deep}}, {"top_hits": {"script_fields": {"f": {"script": s()}}, "_source": False, "size": 1}}, {"weighted_avg": {"value": {"script": s()}, "weight": {"field": "n1", "missing": 1}}}])}}


UPDATES = ["ctx._source.n1 = 5", "ctx._source.k1 += 'x'", "ctx.op = 'none'", "ctx.op = 'delete'", "ctx.op = 'foo'", "ctx._source.remove('t1')", "ctx._source.k9 = params.l", "ctx._source.n1 += params.n", "ctx._source.m9 = params.m", "ctx._id = 'x'", "ctx._version = 3", "ctx._source = ['a9': 1]", "ctx._source.d9 = ctx._now > 5", "ctx._source.containsKey('k1') ? 1 : 2", "ctx.foo = 1",
           "ctx._source.x9 = ctx._index + ctx._id + ctx._type", "ctx._source.x9 = ctx._routing", "ctx._source.put('k9', [1, 2])", "ctx._source.keySet().removeIf(k -> k.startsWith('t'))", "if (ctx._source.k1 == null) { ctx.op = 'none' } else { ctx._source.k1 = 'seen' }", "ctx._source.l9 = new HashSet([1])", "ctx._source.z9 = doc['k1'].value", "for (e in ctx._source.entrySet()) { e.setValue(null) }",
           "ctx._source.n1 = ctx._source.n1.toString()", "ctx._source.l9 = [1]; ctx._source.l9.add(params.s)", "ctx._source.d9 = ZonedDateTime.parse('2020-01-01T00:00:00Z')", "ctx._source.self = ctx._source", "ctx.op = null", "ctx._source = null", "ctx._source.remove('k1'); ctx._source.size()"]


def s_update(draw, world):
    text = draw.choice(UPDATES) if draw.chance(0.75) else source(draw, world, 0.2)
    if "return" in text:  # an update gives nothing: where one returns a value of no known type, the real one never answers
        text = draw.choice(UPDATES)
    body = {"script": script(draw, text), **draw.keys(upsert=(0.2, world.document), scripted_upsert=(0.15, lambda: True), _source=(0.4, lambda: True))}
    return "POST", f"/{draw.choice(world.indices)}/_update/{world.any_id()}?refresh=true", body


def request(draw, world):
    if draw.chance(0.2):
        return s_update(draw, world)
    body = draw.choice([s_fields, s_fields, s_fields, s_query, s_score, s_sort, s_aggs])(draw, world)
    return "POST", f"/{world.index()}/_search", body
