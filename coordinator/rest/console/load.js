// Load and latency from two samples of the nodes' counters. Pure.

const KEPT = 60;

export class Load {
  constructor() {
    this.nodes = new Map(); // id -> { sample, queries, writes, queryMs, writeMs }
    this.history = { queries: [], writes: [], queryMs: [], writeMs: [] };
  }

  /** `stats`: the member "nodes" of /_nodes/stats; `now` in ms. */
  add(stats, now) {
    const sum = { queries: 0, writes: 0, query: 0, queryTime: 0, write: 0, writeTime: 0 };
    const next = new Map();
    for (const [id, s] of Object.entries(stats)) {
      const sample = { now, query: s.indices.search.query_total, queryTime: s.indices.search.query_time_in_millis,
        write: s.indices.indexing.index_total + s.indices.indexing.delete_total, writeTime: s.indices.indexing.index_time_in_millis };
      const before = this.nodes.get(id)?.sample;
      const figures = { sample, cpu: s.process.cpu.percent, memory: s.jvm.mem.heap_used_in_bytes, docs: s.indices.docs.count, queue: s.thread_pool.search?.queue ?? 0,
        disk: 1 - s.fs.total.available_in_bytes / s.fs.total.total_in_bytes, diskFree: s.fs.total.available_in_bytes, queries: 0, writes: 0 };
      if (before && sample.query >= before.query && sample.write >= before.write) { // a process that began anew counts from zero
        const seconds = (now - before.now) / 1000;
        const d = Object.fromEntries(["query", "queryTime", "write", "writeTime"].map((k) => [k, sample[k] - before[k]]));
        Object.assign(figures, { queries: d.query / seconds, writes: d.write / seconds });
        for (const k of Object.keys(d)) sum[k] += d[k];
        sum.queries += figures.queries;
        sum.writes += figures.writes;
      }
      next.set(id, figures);
    }
    this.nodes = next;
    const push = (name, v) => { this.history[name] = [...this.history[name], v].slice(-KEPT); };
    push("queries", sum.queries);
    push("writes", sum.writes);
    push("queryMs", sum.query ? sum.queryTime / sum.query : null);
    push("writeMs", sum.write ? sum.writeTime / sum.write : null);
  }
}
