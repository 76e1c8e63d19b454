"""Several serai-nodes as one cluster, for tests."""
import threading
import time

from node import Node, free_port, wait_for


class Cluster:
    """N nodes on this machine, named n1 ... ; the data folders are kept across restarts. The last `coordinating` of them have no
    other role. `hosts`: addresses of the nodes, instead of ports of 127.0.0.1."""

    def __init__(self, n=3, conf=None, coordinating=0, hosts=None, **settings):
        self.hosts = hosts or ["127.0.0.1"] * n
        self.ports = [9300 if hosts else free_port() for _ in range(n)]
        self.settings = {
            "discovery.seed_hosts": ",".join(f"{h}:{p}" for h, p in zip(self.hosts, self.ports)),
            "cluster.initial_master_nodes": ",".join(f"n{i + 1}" for i in range(n - coordinating)),
            **settings,
        }
        self.conf = conf
        self.nodes = [self.new_node(f"n{i + 1}", p, h) for i, (h, p) in enumerate(zip(self.hosts, self.ports))]
        for node in self.nodes[n - coordinating:]:
            node.settings["node.roles"] = "coordinating"

    def new_node(self, name, port, host="127.0.0.1"):
        settings = {"node.name": name, "transport.port": port, **self.settings}
        if host != "127.0.0.1":
            settings["network.host"] = host
        node = Node(conf=self.conf, host=host, port=9200 if host != "127.0.0.1" else None, **settings)
        node.name = name
        return node

    def start(self):
        """All at once: none answers before a master is elected."""
        self.together(lambda node: node.start(), self.nodes)
        self.wait_nodes(len(self.nodes))
        return self

    @staticmethod
    def together(act, nodes):
        failures = []

        def one(node):
            try:
                act(node)
            except Exception as e:  # noqa: BLE001 - told below
                failures.append(e)

        threads = [threading.Thread(target=one, args=(n,)) for n in nodes]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if failures:
            raise failures[0]

    def alive(self):
        return [n for n in self.nodes if n.process is not None and n.process.poll() is None]

    def node(self, name):
        return next(n for n in self.nodes if n.name == name)

    def wait_nodes(self, count):
        """Every node that runs knows of `count` nodes and of a master."""
        for node in self.alive():
            wait_for(f"{count} nodes at {node.name}",
                     lambda: node.call("GET", "/_cluster/health")[1].get("number_of_nodes") == count)

    def wait_green(self, index="", **query):
        node = self.alive()[0]
        status, answer = node.call("GET", f"/_cluster/health/{index}?wait_for_status=green&timeout=240s&wait_for_no_relocating_shards=true")
        assert status == 200, answer

    def healthy(self, index, seconds):
        """Waits until every node says that all nodes are there and the index is green. Returns how long that took; fails after
        so many seconds."""
        begin = time.monotonic()
        said = {}

        def ok(node):
            left = max(1, int(begin + seconds - time.monotonic()))
            query = f"wait_for_status=green&wait_for_nodes={len(self.nodes)}&wait_for_no_relocating_shards=true&timeout={left}s"
            try:
                status, said[node.name] = node.call("GET", f"/_cluster/health/{index}?{query}")
            except OSError as e:
                status, said[node.name] = 0, repr(e)
            return status == 200 and said[node.name]["status"] == "green"

        for node in self.nodes:
            while not ok(node):
                if time.monotonic() - begin > seconds:
                    raise AssertionError(f"not green after {seconds} s: {said}\n{self.shards_text(index)}")
                time.sleep(0.05)
        return time.monotonic() - begin

    def shards_text(self, index):
        """For people."""
        for node in self.alive():
            try:
                return str(node.call("GET", f"/_cat/shards/{index}?h=shard,prirep,state,node,unassigned.reason,unassigned.details", timeout=5)[1])
            except OSError:
                pass
        return ""

    def ids(self):
        """Names by id."""
        state = self.alive()[0].call("GET", "/_cluster/state/nodes")[1]
        return {i: n["name"] for i, n in state["nodes"].items()}

    def master(self):
        """The node that leads, as the first one that knows says."""
        for node in self.alive():
            state = node.call("GET", "/_cluster/state/master_node,nodes")[1]
            if state.get("master_node") in state.get("nodes", {}):
                return self.node(state["nodes"][state["master_node"]]["name"])
        raise AssertionError("no node knows of a master")

    def copies(self, index):
        """[(shard, whether it is the primary, id of its node, name of its node)] of all active copies."""
        names = self.ids()
        state = self.alive()[0].call("GET", f"/_cluster/state/routing_table/{index}")[1]
        shards = state["routing_table"]["indices"][index]["shards"]
        return [(int(n), c["primary"], c["node"], names.get(c["node"])) for n, all_ in shards.items() for c in all_
                if c["state"] in ("STARTED", "RELOCATING")]

    def holding(self, index, primary):
        """Nodes with a primary, or with a replica."""
        return [self.node(name) for name in sorted({c[3] for c in self.copies(index) if c[1] == primary})]

    def documents(self, index, shard, node_id, via):
        """What one copy has: {id: (sequence number, term, version, source)}."""
        found = {}
        body = {"size": 2000, "sort": ["_doc"], "version": True, "seq_no_primary_term": True}
        status, page = via.call("POST", f"/{index}/_search?scroll=1m&preference=_shards:{shard}%7C_only_nodes:{node_id}", body)
        while True:
            assert status == 200 and page["_shards"]["failed"] == 0, (status, page)
            hits = page["hits"]["hits"]
            for h in hits:
                assert h["_id"] not in found, f"{h['_id']} is twice in shard {shard} on {node_id}"
                found[h["_id"]] = (h["_seq_no"], h["_primary_term"], h["_version"], h["_source"])
            if not hits:
                break
            status, page = via.call("POST", "/_search/scroll", {"scroll": "1m", "scroll_id": page["_scroll_id"]})
        via.call("DELETE", "/_search/scroll", {"scroll_id": page["_scroll_id"]})
        return found

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        for n in self.nodes:
            try:
                if kind is None:
                    n.stop()
            finally:
                n.clean_up()
