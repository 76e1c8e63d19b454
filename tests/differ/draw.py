"""Random choices under a seed, and how a good request is spoilt."""
import copy
import random

ODD = [None, "", "x", "1", -1, 0, 1, 3, 1.5, 1e30, 2147483648, True, False, [], {}, ["a"], [1, 2], {"a": 1}, {"x": {"y": 1}}, "2020-01-01", "*", "true", "10.0.0.1", [[]], [None]]


class Draw(random.Random):
    def chance(self, p):
        return self.random() < p

    def some(self, values, least, most):
        """Between `least` and `most` of them, none twice."""
        values = list(values)
        return self.sample(values, min(len(values), self.randint(least, most)))

    def keys(self, **maybe):
        """Options: name -> (probability, function that makes the value)."""
        return {k: make() for k, (p, make) in maybe.items() if self.chance(p)}

    def spoilt(self, body):
        """A copy of the body with one thing wrong with it."""
        body = copy.deepcopy(body)
        places = list(_places(body))
        if not places:
            return self.choice(["", "{", "[]", "null", "{}}", '{"a"}', "xyz"])
        holder, key = self.choice(places)
        kind = self.randrange(6)
        if kind == 0 and isinstance(holder, dict):
            holder[self.choice([key + "x", "unknown", key.upper(), ""])] = holder.pop(key)
        elif kind == 1 and isinstance(holder, dict):
            holder[self.choice(["boost", "_name", "foo", "query", "field", "size"])] = self.choice(ODD)
        elif kind == 2:
            holder[key] = [holder[key]]
        elif kind == 3:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(self.choice(ODD))
        return body


def _places(value):
    """(holder, key) of every value in a body."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for k, v in list(items):
        yield value, k
        yield from _places(v)
