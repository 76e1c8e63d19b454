"""Definitions of aggregations with one thing wrong in them, wherever it is: every parameter of every type."""
import copy

from draw import ODD, _places

AVG = {"avg": {"field": "n1"}}
NAMED = {"match": {"t1": "red"}}
OWN = [
    {"terms": {"field": "k1", "missing": "m", "size": 3, "shard_size": 5, "min_doc_count": 1, "order": [{"_count": "asc"}, {"m": "desc"}], "show_term_doc_count_error": True, "collect_mode": "breadth_first", "include": ["a", "b"], "exclude": "b.*"}, "aggs": {"m": AVG}},
    {"terms": {"field": "n1", "include": {"partition": 0, "num_partitions": 2}}}, {"rare_terms": {"field": "k1", "max_doc_count": 2, "precision": 0.01, "include": "a.*", "exclude": ["b"]}},
    {"significant_terms": {"field": "k1", "min_doc_count": 1, "background_filter": NAMED, "mutual_information": {"include_negatives": True, "background_is_superset": False}}}, {"significant_terms": {"field": "k1", "min_doc_count": 1, "gnd": {"background_is_superset": False}}},
    {"histogram": {"field": "n1", "interval": 5, "offset": 1, "min_doc_count": 1, "keyed": True, "missing": 0, "order": {"_key": "desc"}, "extended_bounds": {"min": 0, "max": 10}, "hard_bounds": {"min": 0, "max": 100}}},
    {"date_histogram": {"field": "d1", "calendar_interval": "month", "time_zone": "+08:00", "offset": "+6h", "keyed": False, "min_doc_count": 1, "order": {"_count": "asc"}, "hard_bounds": {"min": "2019-01-01", "max": "2022-01-01"}}}, {"date_histogram": {"field": "d1", "fixed_interval": "30d", "min_doc_count": 1}},
    {"auto_date_histogram": {"field": "d1", "buckets": 3, "time_zone": "+01:00"}}, {"variable_width_histogram": {"field": "n1", "buckets": 3, "shard_size": 20, "initial_buffer": 10}}, {"range": {"field": "n1", "ranges": [{"from": 1, "to": 5}, {"key": "x", "from": 5}], "keyed": True, "missing": 1}}, {"date_range": {"field": "d1", "ranges": [{"from": "2020-01-01", "to": "2021"}, {"key": "x", "from": "2020-06-01||/y"}], "keyed": True}},
    {"ip_range": {"field": "ip1", "ranges": [{"from": "10.0.0.0", "to": "11.0.0.0"}, {"key": "x", "mask": "10.0.0.0/8"}], "keyed": True}}, {"geo_distance": {"field": "g1", "origin": {"lat": 31, "lon": 121}, "unit": "km", "distance_type": "plane", "ranges": [{"to": 5}, {"from": 5, "to": 1000, "key": "x"}]}},
    {"geohash_grid": {"field": "g1", "precision": 3, "size": 5, "bounds": {"top_left": "50,100", "bottom_right": "20,130"}}}, {"geotile_grid": {"field": "g1", "precision": 3, "bounds": {"top": 50, "left": 100, "bottom": 20, "right": 130}}}, {"filters": {"filters": {"x": {"term": {"k1": "a"}}, "y": NAMED}, "other_bucket": True}},
    {"filters": {"filters": [{"term": {"k1": "a"}}, NAMED]}}, {"adjacency_matrix": {"filters": {"x": {"term": {"k1": "a"}}, "y": NAMED}, "separator": "|"}}, {"missing": {"field": "n1"}}, {"nested": {"path": "ne"}, "aggs": {"r": {"reverse_nested": {}}}}, {"sampler": {"shard_size": 2}, "aggs": {"m": AVG}},
    {"diversified_sampler": {"field": "k1", "shard_size": 3, "max_docs_per_value": 1, "execution_hint": "map"}, "aggs": {"m": AVG}}, {"composite": {"sources": [{"x": {"terms": {"field": "k1", "order": "desc", "missing_bucket": True}}}, {"y": {"histogram": {"field": "n1", "interval": 5}}}], "size": 2, "after": {"x": "b", "y": 1}}},
    {"composite": {"sources": [{"x": {"date_histogram": {"field": "d1", "calendar_interval": "month", "format": "yyyy-MM", "time_zone": "+08:00", "offset": "1h"}}}, {"y": {"geotile_grid": {"field": "g1", "precision": 4}}}], "after": {"x": "2020-01", "y": "4/8/8"}}}, {"avg": {"field": "n1", "missing": 1, "format": "0.0"}},
    {"avg": {"script": {"source": "1"}, "value_type": "long"}}, {"extended_stats": {"field": "n1", "sigma": 1.5}}, {"cardinality": {"field": "k1", "precision_threshold": 10}}, {"percentiles": {"field": "n1", "percents": [1, 50], "keyed": False, "tdigest": {"compression": 50}}},
    {"percentiles": {"field": "n1", "hdr": {"number_of_significant_value_digits": 2}}}, {"percentile_ranks": {"field": "n1", "values": [1, 5], "keyed": False}}, {"median_absolute_deviation": {"field": "n1", "compression": 50}}, {"geo_bounds": {"field": "g1", "wrap_longitude": False}}, {"geo_centroid": {"field": "g1"}},
    {"weighted_avg": {"value": {"field": "n1", "missing": 1}, "weight": {"script": "1"}}}, {"top_hits": {"from": 0, "size": 1, "version": True, "_source": {"includes": ["k1"]}, "sort": [{"n1": "desc"}], "docvalue_fields": [{"field": "d1"}], "script_fields": {"s": {"script": "1"}}, "fields": ["k1"]}}]
PARENTS = [
    {"derivative": {"buckets_path": "m", "unit": "1d", "gap_policy": "skip", "format": "0.0"}}, {"cumulative_sum": {"buckets_path": "m", "format": "0.0"}}, {"moving_fn": {"buckets_path": "m", "window": 3, "script": "MovingFunctions.max(values)", "shift": 1}}, {"serial_diff": {"buckets_path": "m", "lag": 1, "gap_policy": "insert_zeros"}},
    {"bucket_script": {"buckets_path": {"x": "m", "y": "_count"}, "script": {"source": "params.x + params.y"}, "gap_policy": "skip"}}, {"bucket_selector": {"buckets_path": {"x": "m"}, "script": "params.x > 1"}}, {"bucket_sort": {"sort": [{"m": {"order": "desc"}}, "_key"], "from": 0, "size": 2}},
    {"moving_avg": {"buckets_path": "m", "window": 2, "model": "holt", "settings": {"alpha": 0.5, "beta": 0.3}, "predict": 1}}]
SIBLINGS = [{"avg_bucket": {"buckets_path": "h>m", "gap_policy": "skip", "format": "0.0"}}, {"extended_stats_bucket": {"buckets_path": "h>m", "sigma": 1}}, {"percentiles_bucket": {"buckets_path": "h>m", "percents": [50, 90], "keyed": False}}, {"min_bucket": {"buckets_path": ["h>m"]}}]
# Numbers and bounds so large make buckets that nobody counts.
HARMLESS = [o for o in ODD if o != 1e30]


def spoilt(draw, definition):
    """A copy with one place of it left out, renamed, doubled, added to, or with an odd value."""
    out = copy.deepcopy(definition)
    holder, key = draw.choice(list(_places(out)))
    kind = draw.randrange(8)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = [holder[key]] * draw.choice([1, 2])
    elif kind == 2 and isinstance(holder, dict):
        holder[draw.choice(["unknown", f"{key}x", ""])] = holder.pop(key)
    elif kind == 3 and isinstance(holder, dict):
        holder[draw.choice(["boost", "field", "size", "_name"])] = draw.choice([1, "k", {}, None, []])
    else:
        holder[key] = copy.deepcopy(draw.choice(HARMLESS))
    return out


def request(draw, world):
    histogram = lambda **below: {"histogram": {"field": "n1", "interval": 1e9}, "aggs": {"m": AVG, **below}}
    kind = draw.random()
    if kind < 0.75:
        aggs = {"a": spoilt(draw, draw.choice(OWN))}
    elif kind < 0.92:
        aggs = {"h": histogram(p=spoilt(draw, draw.choice(PARENTS)))}
    else:
        aggs = {"h": histogram(), "s": spoilt(draw, draw.choice(SIBLINGS))}
    return "POST", f"/{world.index()}/_search", {"size": 0, "aggs": aggs}
